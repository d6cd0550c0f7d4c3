// numpy/indexing.hpp -- x(...) reads a part of x, x.at(...).set(v) and .add(v) give x with a part written.
//
//   x(3)  x(-1, fx::slice(0, 4, 2))  x(fx::ellipsis, fx::newaxis)  x(indices, fx::all)
//
// Outside the range: integers are an Error; Arrays of indices read the nearest element and write nothing. Negative ones
// count from the end, once.
#pragma once
#include "index_plan.hpp"

namespace fx::inline v0 {

namespace detail {
// What a plan does, on values of one recording.
struct Indexing {
  Recording& r;
  const IndexPlan& p;
  Val index_rows{};  // the indices: [..., one per indexed dimension]
  Dims index_shape{};

  // indices: the index Arrays in the recording.
  constexpr Indexing(Recording& recording, const IndexPlan& plan, Span<const Val> indices) : r(recording), p(plan) {
    if (indices.empty()) return;
    bool mixed = false;
    for (const Val& i : indices) {
      index_shape = broadcast_dims(index_shape, type_of(i).dims, "x(...): index Arrays", p.loc);
      mixed = mixed || type_of(i).dtype != type_of(indices[0]).dtype;
    }
    Dims row = index_shape;
    row.push_back(1);
    Vec<Val> parts;
    for (int j = 0; j < indices.size(); ++j) {
      Val i = wrapped(indices[j], p.x.dims[int(p.indexed[j])]);
      if (mixed) i = convert(i, i64);
      parts.push_back(reshape(broadcast_to(i, index_shape), row));
    }
    index_rows = parts.size() == 1 ? parts[0] : concatenate(parts, index_shape.n);
  }
  constexpr bool indexed() const { return !p.indexed.empty(); }
  constexpr IndexDims dims(bool clamp) const { return p.gather_dims(index_shape.n, clamp); }

  // Where the box starts. Outside a trace a changing start is an input, so that loops keep their executable.
  constexpr Vec<Val> starts() const {
    Vec<Val> v;
    for (int k = 0; k < p.start.n; ++k) {
      const bool fixed = p.size[k] == p.x.dims[k] || !changes();
      v.push_back(fixed ? r.b().literal(i64, to_bits(p.start[k])) : r.number(Operand(p.start[k], p.loc), i64));
    }
    return v;
  }
  constexpr bool changes() const { return r.eager() && !FX_CONSTANT_EVALUATED(); }

  constexpr Val flipped(Val v) const { return p.reversed.empty() ? v : rev(v, p.reversed); }
  constexpr Val read_box(Val x) const {
    if (p.whole()) return x;
    if (changes() && !p.strided()) return dynamic_slice(x, starts(), p.size);
    Dims limit = p.start;
    for (int k = 0; k < limit.n; ++k) limit[k] += p.size[k] > 0 ? (p.size[k] - 1) * p.step[k] + 1 : 0;
    return slice(x, p.start, limit, p.step);
  }
  constexpr Val write_box(Val x, Val box) const {
    if (p.whole()) return box;
    if (numel(p.size) == 0) return x;
    return p.strided() ? scatter_box(x, box) : dynamic_update_slice(x, box, starts());
  }
  // One index per strided dimension and start; windows along the others.
  constexpr Val scatter_box(Val x, Val box) const {
    IndexDims d;
    Dims rows;
    for (int k = 0; k < p.size.n; ++k) {
      const bool single = p.step[k] != 1;
      d.index_map.push_back(k);
      d.window.push_back(single ? Dim(1) : p.size.dim(k));
      if (single) rows.push_back(p.size[k]);
      (single ? d.collapsed : d.window_dims).push_back(k);
    }
    Dims row = rows;
    row.push_back(1);
    Vec<Val> parts;
    for (int k = 0, j = 0; k < p.size.n; ++k) {
      Builder& b = r.b();
      Val start = b.literal(i64, to_bits(p.start[k]));
      if (p.step[k] == 1) {
        parts.push_back(broadcast_to(start, row));
      } else {
        Val i = iota(b, i64, rows, j++) * b.literal(i64, to_bits(p.step[k])) + start;
        parts.push_back(reshape(i, row));
      }
    }
    return scatter(x, concatenate(parts, rows.n), box, d);
  }

  constexpr Val read(Val x) const {
    Val v = flipped(read_box(x));
    if (indexed()) v = gather(v, index_rows, dims(true));
    return reshape(v, p.shape(index_shape, true));
  }
  // v broadcast to what x(...) gives, in the shape that the write needs.
  constexpr Val update(Val v, std::string_view who, Loc loc) const {
    v = broadcast_to_checked(v, p.shape(index_shape, true), who, loc);
    return indexed() ? reshape(v, p.shape(index_shape, false)) : flipped(reshape(v, p.size));
  }
  constexpr Val set(Val x, Val v, Loc loc) const {
    Val u = update(v, "x.at(...).set", loc);
    if (!indexed()) return write_box(x, u);
    return write_box(x, flipped(scatter(flipped(read_box(x)), index_rows, u, dims(false))));
  }
  constexpr Val add(Val x, Val v, Loc loc) const {
    Val u = update(v, "x.at(...).add", loc);
    if (!indexed()) return write_box(x, read_box(x) + u);
    return write_box(x, flipped(scatter_add(flipped(read_box(x)), index_rows, u, dims(false))));
  }
};

enum class IndexWrite { set, add };

constexpr Array read_at_here(const NodeRef& x, Span<const Subscript* const> subs) {
  const IndexPlan p = index_plan(x->type, subs);
  Vec<NodeRef> nodes{x};
  nodes.append(p.indices);
  Recording r(nodes, p.loc);
  const Indexing i(r, p, Span<const Val>(r.vals.data() + 1, r.vals.size() - 1));
  return r.result(i.read(r.vals[0]));
}
// sole: nobody else holds x, so its memory may become the result's.
constexpr Array write_at_here(const NodeRef& x, Span<const Subscript* const> subs, const Operand& v, IndexWrite how,
                              bool sole) {
  const IndexPlan p = index_plan(x->type, subs);
  Vec<NodeRef> nodes{x};
  nodes.append(p.indices);
  if (!v.is_scalar()) nodes.push_back(node_ref(*v.array, v.loc));
  Recording r(nodes, v.loc);
  const Val value = v.is_scalar() ? r.number(v, x->type.dtype) : r.vals.back();
  need_same_dtype(x->type, type_of(value), how == IndexWrite::set ? "x.at(...).set" : "x.at(...).add", v.loc);
  const Indexing i(r, p, Span<const Val>(r.vals.data() + 1, p.indices.size()));
  const Val outs[] = {how == IndexWrite::set ? i.set(r.vals[0], value, v.loc) : i.add(r.vals[0], value, v.loc)};
  const Node* const donated[] = {x.get()};
  return Array(r.results(outs, Span<const Node* const>(donated, sole))[0]);
}

// At run time these are compiled once.
Array read_at_run_time(const NodeRef& x, Span<const Subscript* const> subs);
Array write_at_run_time(const NodeRef& x, Span<const Subscript* const> subs, const Operand& v, IndexWrite how,
                        bool sole);
#if FX_BODIES
FX_INLINE Array read_at_run_time(const NodeRef& x, Span<const Subscript* const> subs) {
  return at_line(subs[0]->loc, [&] { return read_at_here(x, subs); });
}
FX_INLINE Array write_at_run_time(const NodeRef& x, Span<const Subscript* const> subs, const Operand& v, IndexWrite how,
                                  bool sole) {
  return at_line(v.loc, [&] { return write_at_here(x, subs, v, how, sole); });
}
#endif
constexpr Array read_at(const NodeRef& x, Span<const Subscript* const> subs) {
  if (FX_CONSTANT_EVALUATED()) return read_at_here(x, subs);
  return read_at_run_time(x, subs);
}
constexpr Array write_at(const NodeRef& x, Span<const Subscript* const> subs, const Operand& v, IndexWrite how,
                         bool sole) {
  if (FX_CONSTANT_EVALUATED()) return write_at_here(x, subs, v, how, sole);
  return write_at_run_time(x, subs, v, how, sole);
}
}  // namespace detail

// A place in an Array: x.at(1, fx::slice(2, 5)). `x` itself never changes.
class At {
  Array x_;
  Vec<detail::Subscript> subs_;

  constexpr Array write(const detail::Operand& v, detail::IndexWrite how, bool sole) const {
    const Vec<const detail::Subscript*> subs = pointers();
    return detail::write_at(node_ref(x_, v.loc), subs, v, how, sole);
  }
  constexpr Vec<const detail::Subscript*> pointers() const {
    Vec<const detail::Subscript*> p;
    for (const detail::Subscript& s : subs_) p.push_back(&s);
    return p;
  }
  constexpr bool sole() const { return !x_.empty() && node_ref(x_)->use_count() == 1; }

 public:
  constexpr At(Array x, Span<const detail::Subscript* const> subs) : x_(std::move(x)) {
    for (const detail::Subscript* s : subs) subs_.push_back(*s);
  }
  // The Array with v here: a number, or an Array of x's dtype that broadcasts to x(...). Of several values for one
  // element the last one stays. Errors: as x(...), another dtype (dtype), a shape that does not broadcast (shape).
  constexpr Array set(Array::Op v) const& { return write(v, detail::IndexWrite::set, false); }
  constexpr Array set(Array::Op v) && { return write(v, detail::IndexWrite::set, sole()); }
  // The Array with v added here; an element that is named several times gets all of them. Errors as set.
  constexpr Array add(Array::Op v) const& { return write(v, detail::IndexWrite::add, false); }
  constexpr Array add(Array::Op v) && { return write(v, detail::IndexWrite::add, sole()); }
  // What x(...) gives.
  constexpr Array get(Loc where = Loc::here()) const {
    const Vec<const detail::Subscript*> subs = pointers();
    return detail::read_at(node_ref(x_, where), subs);
  }
};

constexpr Array Array::operator()(Sub a, Sub b, Sub c, Sub d, Sub e, Sub f, Sub g, Sub h, Sub i) const {
  const detail::Subscript* const subs[] = {&a, &b, &c, &d, &e, &f, &g, &h, &i};
  return detail::read_at(node_ref(*this, a.loc), subs);
}
constexpr At Array::at(Sub a, Sub b, Sub c, Sub d, Sub e, Sub f, Sub g, Sub h, Sub i) const& {
  const detail::Subscript* const subs[] = {&a, &b, &c, &d, &e, &f, &g, &h, &i};
  return At(*this, subs);
}
constexpr At Array::at(Sub a, Sub b, Sub c, Sub d, Sub e, Sub f, Sub g, Sub h, Sub i) && {
  const detail::Subscript* const subs[] = {&a, &b, &c, &d, &e, &f, &g, &h, &i};
  return At(std::move(*this), subs);
}

}  // namespace fx::inline v0
