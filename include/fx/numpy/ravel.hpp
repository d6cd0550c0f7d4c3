// numpy/ravel.hpp -- tree::ravel: the leaves of a pytree as one vector, and the way back.
#pragma once
#include "../operators.hpp"
#include "../pytree.hpp"

namespace fx::inline v0 {

namespace detail {
// Checks that the leaves are floats of one dtype and returns it; f32 for no leaves.
template <class T>
constexpr DType ravel_dtype(const T& t, Loc loc) {
  DType d = f32;
  int leaf = 0;
  tree::for_each_leaf(t, [&](const Array& a) {
    const Type& own = a.type(loc);
    if (leaf++ == 0) d = own.dtype;
    if (is_float(own.dtype) && own.dtype == d && own.is_static()) return;
    Str s("tree::ravel: leaf ");
    s.num(leaf - 1);
    if (!FX_CONSTANT_EVALUATED()) {
      s += " (";
      s += tree::paths(t)[std::size_t(leaf - 1)];
      s += ')';
    }
    s += " is ";
    put(s, own);
    s += is_float(own.dtype) && own.dtype != d ? ", and the first leaf has another dtype; convert them to one"
         : own.is_static()                     ? "; only floating-point leaves can be raveled"
                                               : "; symbolic sizes cannot be raveled in this version";
    fail(own.is_static() ? ErrorCode::dtype : ErrorCode::unsupported, s, loc);
  });
  return d;
}
constexpr Val ravel_all(Recording& r, DType d) {
  if (r.vals.empty()) return zeros(r.b(), {d, Dims{0}});
  for (Val& v : r.vals) v = reshape(v, Dims{numel(type_of(v))});
  return concatenate(r.vals, 0);
}
constexpr Vec<NodeRef> unravel_all(const Array& flat, DType d, const Vec<Dims>& shapes, Loc loc) {
  std::int64_t n = 0, at = 0;
  for (const Dims& s : shapes) n += numel(s);
  const Type want{d, Dims{n}};
  if (!(flat.type(loc) == want)) {
    Str s("tree::ravel: unravel takes ");
    put(s, want);
    s += ", got ";
    put(s, flat.type(loc));
    fail(ErrorCode::shape, s, loc);
  }
  const Operand operands[] = {Operand(flat, loc)};
  Recording r(operands, loc);
  Vec<Val> parts;
  for (const Dims& s : shapes) {
    parts.push_back(reshape(slice_dim(r.vals[0], 0, at, at + numel(s)), s));
    at += numel(s);
  }
  return r.results(parts);
}

// A function: a vector -> a tree like the one that was raveled. It holds shapes and no values.
template <class T>
struct Unravel {
  T like;
  Vec<Dims> shapes;
  DType dtype;
  constexpr T operator()(const Array& flat, Loc where = Loc::here()) const {
    const Vec<NodeRef> parts = unravel_all(flat, dtype, shapes, where);
    int i = 0;
    return tree::unflatten(like, [&] { return Array(parts[i++]); });
  }
};
}  // namespace detail

namespace tree {

// pair(the elements of all leaves in order as one vector, the function back from such a vector).
// Errors: leaves that are no floats or of several dtypes (dtype).
template <class T>
constexpr std::pair<Array, detail::Unravel<T>> ravel(const T& t, Loc where = Loc::here()) {
  using namespace fx::detail;
  Unravel<T> back{t, {}, ravel_dtype(t, where)};
  Vec<NodeRef> nodes;
  for_each_leaf(back.like, [&](Array& a) {
    back.shapes.push_back(a.shape(where));
    nodes.push_back(node_ref(a, where));
    a = Array();
  });
  Recording r(nodes, where);
  return {r.result(ravel_all(r, back.dtype)), std::move(back)};
}

}  // namespace tree
}  // namespace fx::inline v0
