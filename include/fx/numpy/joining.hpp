// numpy/joining.hpp -- Arrays put together and elements moved along axes: concatenate stack flip roll pad.
#pragma once
#include "shape.hpp"

namespace fx::inline v0 {

namespace numpy {
// How many elements to add before and after, on every axis or axis by axis: 1, {1, 2}, {{1, 2}, {0, 0}}.
struct PadWidths {
  struct Pair {
    std::int64_t before, after;
  };
  bool same = true;  // the first pair counts for every axis
  int n = 0;
  Pair axis[max_rank]{};
  template <detail::Integer T>
  constexpr PadWidths(T width) : axis{{std::int64_t(width), std::int64_t(width)}} {}
  constexpr PadWidths(std::int64_t before, std::int64_t after) : axis{{before, after}} {}
  constexpr PadWidths(std::initializer_list<Pair> list) : same(false) {
    for (const Pair& p : list)
      if (n < max_rank) axis[n++] = p;
  }
};
}  // namespace numpy

namespace detail {
// concatenate and stack of what r records.
constexpr Array joined(Recording& r, std::int64_t axis, bool stacked, Loc loc) {
  const std::string_view who = stacked ? "np::stack" : "np::concatenate";
  if (r.vals.empty()) {
    Str s = message(who);
    s += "takes at least one Array";
    fail(ErrorCode::value, s, loc);
  }
  const Type first = type_of(r.vals[0]);
  const int dim = axis_of(axis, first.rank() + stacked, first, who, loc);
  for (Val& v : r.vals) {
    const Type t = type_of(v);
    need_same_dtype(first, t, who, loc);
    bool ok = t.rank() == first.rank();
    for (int i = 0; ok && i < t.rank(); ++i) ok = t.dims[i] == first.dims[i] || (!stacked && i == dim);
    if (!ok) {
      Str s = message(who, first, "and ");
      put(s, t);
      s += stacked ? " must have one shape" : " may differ in size only along axis ";
      if (!stacked) s.num(dim);
      fail(ErrorCode::shape, s, loc);
    }
    if (!stacked) continue;
    Dims shape = t.dims;
    shape.insert(dim, 1);
    v = reshape(v, shape);
  }
  return r.result(concatenate(r.vals, dim));
}
constexpr Array joined(std::initializer_list<Operand> xs, std::int64_t axis, bool stacked, Loc loc) {
  Recording r(Span<const Operand>(xs.begin(), int(xs.size())), loc);
  return at_line(loc, [&] { return joined(r, axis, stacked, loc); });
}
constexpr Array joined(Span<const Array> xs, std::int64_t axis, bool stacked, Loc loc) {
  Vec<NodeRef> nodes;
  for (const Array& x : xs) nodes.push_back(node_ref(x, loc));
  Recording r(nodes, loc);
  return at_line(loc, [&] { return joined(r, axis, stacked, loc); });
}
// `take` elements moved from the end of an axis to its front.
constexpr Val rolled(Val x, std::int64_t shift, int axis) {
  const std::int64_t n = type_of(x).dims[axis];
  if (n == 0) return x;
  const std::int64_t by = (shift % n + n) % n;
  if (by == 0) return x;
  const Val parts[] = {slice_dim(x, axis, n - by, n), slice_dim(x, axis, 0, n - by)};
  return concatenate(parts, axis);
}
constexpr Val padded(Val x, Val value, const numpy::PadWidths& w, Loc loc) {
  const Type t = type_of(x);
  if (!w.same && w.n != t.rank()) {
    Str s = message("np::pad", t, "has ");
    s.num(t.rank()) += " axes, and widths are given for ";
    s.num(w.n);
    fail(ErrorCode::shape, s, loc);
  }
  Dims low, high;
  for (int i = 0; i < t.rank(); ++i) {
    const numpy::PadWidths::Pair p = w.axis[w.same ? 0 : i];
    if (p.before < 0 || p.after < 0) fail(ErrorCode::value, "np::pad: a width is negative; use x(fx::slice(...))", loc);
    low.push_back(p.before);
    high.push_back(p.after);
  }
  need_same_dtype(t, type_of(value), "np::pad", loc);
  return pad(x, value, low, high, Dims(t.rank(), 0));
}
}  // namespace detail

namespace numpy {

// The Arrays one after the other along an axis: concatenate({a, b}, 1). Errors: none given (value), scalars or shapes
// that differ elsewhere (shape), dtypes that differ (dtype).
constexpr Array concatenate(std::initializer_list<detail::Operand> xs, std::int64_t axis = 0, Loc where = Loc::here()) {
  return detail::joined(xs, axis, false, where);
}
constexpr Array concatenate(Span<const Array> xs, std::int64_t axis = 0, Loc where = Loc::here()) {
  return detail::joined(xs, axis, false, where);
}
// The Arrays, all of one shape, along a new axis. Errors as concatenate.
constexpr Array stack(std::initializer_list<detail::Operand> xs, std::int64_t axis = 0, Loc where = Loc::here()) {
  return detail::joined(xs, axis, true, where);
}
constexpr Array stack(Span<const Array> xs, std::int64_t axis = 0, Loc where = Loc::here()) {
  return detail::joined(xs, axis, true, where);
}
// The elements in reverse order along some axes, or all.
constexpr Array flip(Array::Op x, const detail::Axes& axes = {}) {
  return detail::record_unary(x, [&](Val v) {
    const Dims d = detail::axes_of(axes, type_of(v), "np::flip", x.loc);
    return d.empty() ? v : rev(v, d);
  });
}
// Elements moved by `shift` places along each of the axes, from the end to the front; without axes: in row-major order.
constexpr Array roll(Array::Op x, std::int64_t shift, const detail::Axes& axes = {}) {
  return detail::record_unary(x, [&](Val v) {
    const Type t = type_of(v);
    detail::need_sizes(t, "np::roll", x.loc);
    if (axes.all) return fx::reshape(detail::rolled(fx::reshape(v, Dims{numel(t)}), shift, 0), t.dims);
    for (std::int64_t a : detail::axis_list(axes.list, t.rank(), t, "np::roll", x.loc))
      v = detail::rolled(v, shift, int(a));
    return v;
  });
}
// x with `value` around it: pad(x, 1), pad(x, {1, 2}), pad(x, {{1, 2}, {0, 0}}, 7). Errors: widths for another number
// of axes (shape), negative ones (value).
constexpr Array pad(Array::Op x, const PadWidths& widths, Array::Op value = 0) {
  return detail::record_with(x, value, [&](Val v, Val fill) { return detail::padded(v, fill, widths, x.loc); });
}

}  // namespace numpy
}  // namespace fx::inline v0
