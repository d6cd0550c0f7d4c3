// numpy/index_plan.hpp -- what the subscripts of x(...) mean: a strided box of x, index Arrays, and the result's axes.
//
// NumPy's rules: integers and slices select a box; Arrays of indices broadcast together, integers beside them take
// part, and their dimensions stand where they stood if they are neighbours, else in front.
#pragma once
#include "selection.hpp"

namespace fx::inline v0 {
namespace detail {

inline constexpr int max_subscripts = 9;

struct IndexPlan {
  Type x;
  Dims start, size, step;  // the box: elements start + k * step, k < size, for steps above 0
  Dims reversed;           // its dimensions that are read from the end
  Dims dropped;            // its dimensions of integers
  Dims indexed;            // its dimensions of index Arrays
  Vec<NodeRef> indices;    // the Arrays
  Vec<int> entries;        // the result's axes but those of the indices: a dimension of x, or -1 for a new axis
  int block = 0;           // how many entries precede the axes of the indices
  Loc loc;

  constexpr bool whole() const {
    for (int k = 0; k < size.n; ++k)
      if (start[k] != 0 || size[k] != x.dims[k]) return false;
    return true;
  }
  constexpr bool strided() const {
    for (std::int64_t s : step)
      if (s != 1) return true;
    return false;
  }
  // The result's shape; without new axes: what gather gives.
  constexpr Dims shape(const Dims& index_shape, bool new_axes) const {
    Dims r;
    for (int e = 0; e <= entries.size(); ++e) {
      if (e == block && !indexed.empty())
        for (int k = 0; k < index_shape.n; ++k) r.push_back(index_shape.dim(k));
      if (e == entries.size()) break;
      if (entries[e] >= 0) r.push_back(size.dim(entries[e]));
      if (entries[e] < 0 && new_axes) r.push_back(1);
    }
    return r;
  }
  // The dimension numbers of the gather from the box, or the scatter into it.
  constexpr IndexDims gather_dims(int index_rank, bool clamp) const {
    IndexDims d;
    d.clamp = clamp;
    d.index_map = indexed;
    for (int k = 0; k < size.n; ++k) {
      const bool inside = indexed.contains(k) || dropped.contains(k);
      d.window.push_back(inside ? Dim(1) : size.dim(k));
      if (inside) d.collapsed.push_back(k);
    }
    int before = 0, kept = 0;
    for (int e = 0; e < entries.size(); ++e) {
      if (entries[e] >= 0) ++kept;
      if (e < block) before = kept;
    }
    for (int j = 0; j < kept; ++j) d.window_dims.push_back(j < before ? j : j + index_rank);
    return d;
  }
};

// Reads subscripts from left to right.
struct IndexPlanner {
  IndexPlan p;
  bool arrays = false;                               // there are some: then integers belong to them
  enum { none_yet, inside, after } seen = none_yet;  // the run of index Arrays and integers

  constexpr void new_axis() {
    if (seen == inside) seen = after;
    p.entries.push_back(-1);
  }
  constexpr void select(std::int64_t start, Dim size, std::int64_t step) {
    p.start.push_back(start);
    p.size.push_back(size);
    p.step.push_back(step);
  }
  constexpr void keep(std::int64_t start, Dim size, std::int64_t step) {
    if (seen == inside) seen = after;
    p.entries.push_back(p.size.n);
    select(start, size, step);
  }
  constexpr void advanced() {
    if (seen == none_yet) p.block = p.entries.size();
    if (seen == after) p.block = 0;
    if (seen != after) seen = inside;
  }
  constexpr Dim dim() const { return p.x.dims.dim(p.size.n); }
  constexpr std::int64_t size(Loc loc) const {
    if (dim().is_static()) return dim().v;
    fail(ErrorCode::unsupported,
         message("x(...)", p.x, "has a symbolic size, of which this version takes only fx::all"), loc);
    return 0;
  }

  constexpr void integer(std::int64_t i, Loc loc) {
    const std::int64_t n = size(loc);
    if (i < -n || i >= n) {
      Str s("x(...): index ");
      (s.num(i) += " is out of range for axis ").num(p.size.n) += " of size ";
      s.num(n) += " of ";
      put(s, p.x);
      fail(ErrorCode::value, s, loc);
    }
    if (arrays) advanced();
    p.dropped.push_back(p.size.n);
    select(i < 0 ? i + n : i, 1, 1);
  }
  static constexpr std::int64_t bound(const SliceBound& b, std::int64_t open, std::int64_t n, std::int64_t low,
                                      std::int64_t high) {
    if (!b.given) return open;
    const std::int64_t v = b.v < 0 ? b.v + n : b.v;
    return v < low ? low : v > high ? high : v;
  }
  // Python's slice.indices().
  constexpr void slice(const SliceBounds& b, Loc loc) {
    if (!b.start.given && !b.stop.given && !b.step.given) return keep(0, dim(), 1);
    const std::int64_t n = size(loc);
    std::int64_t by = b.step.given ? b.step.v : 1;
    if (by == 0) fail(ErrorCode::value, "x(...): the step of a slice is 0", loc);
    if (by < -n - 1) by = -n - 1;
    if (by > n + 1) by = n + 1;
    const bool back = by < 0;
    const std::int64_t from = bound(b.start, back ? n - 1 : 0, n, back ? -1 : 0, back ? n - 1 : n),
                       to = bound(b.stop, back ? -1 : n, n, back ? -1 : 0, back ? n - 1 : n);
    const std::int64_t gap = back ? from - to : to - from;
    const std::int64_t step = back ? -by : by, count = gap > 0 ? (gap - 1) / step + 1 : 0;
    if (back && count > 1) p.reversed.push_back(p.size.n);
    keep(count == 0 ? 0 : back ? from + (count - 1) * by : from, count, count > 1 ? step : 1);
  }
  constexpr void array(const NodeRef& indices, Loc loc) {
    const Type& t = indices->type;
    if (t.dtype == boolean)
      fail(ErrorCode::dtype,
           "x(...): the size of x(mask) would depend on the values of the mask; use np::where(mask, x, other)", loc);
    need_indices(t, "x(...)", loc);
    const std::int64_t n = size(loc);
    advanced();
    p.indexed.push_back(p.size.n);
    p.indices.push_back(indices);
    select(0, n, 1);
  }
  constexpr void ellipsis(int axes) {
    if (seen == inside) seen = after;
    for (; axes > 0; --axes) keep(0, dim(), 1);
  }
};

// Errors: too many subscripts, two ellipses (shape); an integer outside (value); a mask or floats as indices (dtype).
constexpr IndexPlan index_plan(const Type& x, Span<const Subscript* const> subs) {
  IndexPlanner r;
  r.p.x = x;
  r.p.loc = subs[0]->loc;
  int axes = 0, ellipses = 0;
  for (const Subscript* s : subs) {
    axes += s->kind == Subscript::integer || s->kind == Subscript::slice || s->kind == Subscript::array;
    ellipses += s->kind == Subscript::ellipsis;
    r.arrays = r.arrays || s->kind == Subscript::array;
  }
  if (ellipses > 1) fail(ErrorCode::shape, "x(...): more than one fx::ellipsis", r.p.loc);
  if (axes > x.rank()) {
    Str s("x(...): ");
    s.num(axes) += axes == 1 ? " subscript for " : " subscripts for ";
    put(s, x);
    s += ", which has ";
    s.num(x.rank()) += x.rank() == 1 ? " axis" : " axes";
    fail(ErrorCode::shape, s, r.p.loc);
  }
  for (const Subscript* s : subs) {
    switch (s->kind) {
      case Subscript::absent: break;
      case Subscript::integer: r.integer(s->at, s->loc); break;
      case Subscript::slice: r.slice(s->bounds, s->loc); break;
      case Subscript::newaxis: r.new_axis(); break;
      case Subscript::ellipsis: r.ellipsis(x.rank() - axes); break;
      case Subscript::array: r.array(s->node, s->loc); break;
    }
  }
  if (!ellipses) r.ellipsis(x.rank() - axes);
  return std::move(r.p);
}

}  // namespace detail
}  // namespace fx::inline v0
