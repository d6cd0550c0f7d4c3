// numpy/shape.hpp -- the same elements under other axes: reshape ravel transpose swapaxes moveaxis expand_dims squeeze
// broadcast_to.
#pragma once
#include "axes.hpp"

namespace fx::inline v0 {

namespace detail {
// The shape with its -1 replaced by what is left over.
constexpr Dims resolved_shape(const Type& t, const Dims& shape, Loc loc) {
  constexpr std::string_view who = "np::reshape";
  Dims r = shape;
  int open = -1;
  std::int64_t rest = 1;
  for (int i = 0; i < shape.n; ++i) {
    if (!shape.dim(i).is_negative()) {
      if (rest >= 0) rest = shape.dim(i).is_static() ? checked_mul(rest, shape[i]) : -1;
      continue;
    }
    if (shape[i] != -1 || open >= 0) {
      Str s = message(who);
      s += shape[i] == -1 ? "only one size may be -1" : "a size is negative";
      fail(ErrorCode::shape, s, loc);
    }
    open = i;
  }
  if (open < 0) return r;
  need_sizes(t, who, loc);
  const std::int64_t n = numel(t);
  if (rest <= 0 || n % rest != 0) {
    Str s = message(who, t, "has ");
    s.num(n) += " elements, which ";
    s.num(rest) += " does not divide";
    fail(ErrorCode::shape, s, loc);
  }
  r[open] = n / rest;
  return r;
}
constexpr Dims axes_to_front(int rank, const Dims& from, const Dims& to) {
  Dims perm(rank, -1);
  for (int i = 0; i < from.n; ++i) perm[int(to[i])] = from[i];
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    if (perm[i] >= 0) continue;
    while (from.contains(next)) ++next;
    perm[i] = next++;
  }
  return perm;
}
constexpr Val expanded(Val x, const Axes& axes, std::string_view who, Loc loc) {
  const Type t = type_of(x);
  if (t.rank() + axes.list.n > max_rank) fail(ErrorCode::shape, message(who, t, "would have more than 8 axes"), loc);
  Dims at = axis_list(axes.list, t.rank() + axes.list.n, t, who, loc), shape = t.dims;
  sort_dims(at);
  for (std::int64_t a : at) shape.insert(int(a), 1);
  return reshape(x, shape);
}
constexpr Val squeezed(Val x, const Axes& axes, Loc loc) {
  const Type t = type_of(x);
  Dims gone;
  if (axes.all) {
    for (int i = 0; i < t.rank(); ++i)
      if (t.dims[i] == 1) gone.push_back(i);
  } else {
    gone = axis_list(axes.list, t.rank(), t, "np::squeeze", loc);
  }
  for (std::int64_t a : gone) {
    if (t.dims[int(a)] == 1) continue;
    Str s = message("np::squeeze", t, "has size ");
    put(s, t.dims.dim(int(a)));
    (s += " along axis ").num(a) += ", and only axes of size 1 can go";
    fail(ErrorCode::shape, s, loc);
  }
  return reshape(x, without(t.dims, gone));
}
}  // namespace detail

namespace numpy {

// The elements in row-major order under another shape; one size may be -1: what is left over. Errors (shape): another
// number of elements.
constexpr Array reshape(Array::Op x, const Dims& shape) {
  return detail::record_unary(x, [&](Val v) {
    const Dims want = detail::resolved_shape(type_of(v), shape, x.loc);
    return fx::reshape(v, want);
  });
}
// The elements in row-major order as a vector.
constexpr Array ravel(Array::Op x) { return reshape(x, Dims{-1}); }
// Axis i of the result is axis axes[i] of x; without axes: in reverse order. Errors (shape): no permutation.
constexpr Array transpose(Array::Op x, const detail::Axes& axes = {}) {
  return detail::record_unary(x, [&](Val v) {
    const Type& t = type_of(v);
    Dims perm;
    for (int i = t.rank(); axes.all && i-- > 0;) perm.push_back(i);
    if (!axes.all) perm = detail::axis_list(axes.list, t.rank(), t, "np::transpose", x.loc);
    return detail::permuted(v, perm);
  });
}
// Two axes change places.
constexpr Array swapaxes(Array::Op x, std::int64_t a, std::int64_t b) {
  return detail::record_unary(x, [&](Val v) {
    const Type& t = type_of(v);
    const int i = detail::axis_of(a, t, "np::swapaxes", x.loc), j = detail::axis_of(b, t, "np::swapaxes", x.loc);
    Dims perm = detail::others(t.rank(), {});
    std::swap(perm[i], perm[j]);
    return detail::permuted(v, perm);
  });
}
// Axes `from` come to stand at `to`, the others keep their order. Errors (shape): lists of different lengths.
constexpr Array moveaxis(Array::Op x, const detail::Axes& from, const detail::Axes& to) {
  return detail::record_unary(x, [&](Val v) {
    const Type& t = type_of(v);
    const Dims i = detail::axis_list(from.list, t.rank(), t, "np::moveaxis", x.loc),
               j = detail::axis_list(to.list, t.rank(), t, "np::moveaxis", x.loc);
    if (i.n != j.n) fail(ErrorCode::shape, "np::moveaxis: takes as many places as axes", x.loc);
    return detail::permuted(v, detail::axes_to_front(t.rank(), i, j));
  });
}
// New axes of size 1 at these places of the result.
constexpr Array expand_dims(Array::Op x, const detail::Axes& axes) {
  return detail::record_unary(x, [&](Val v) { return detail::expanded(v, axes, "np::expand_dims", x.loc); });
}
// Without these axes, or without all axes of size 1. Errors (shape): an axis of another size.
constexpr Array squeeze(Array::Op x, const detail::Axes& axes = {}) {
  return detail::record_unary(x, [&](Val v) { return detail::squeezed(v, axes, x.loc); });
}
// x repeated to the shape, aligned at the right. Errors (shape): a size that is neither 1 nor the one wanted.
constexpr Array broadcast_to(Array::Op x, const Dims& shape) {
  return detail::record_unary(x,
                              [&](Val v) { return detail::broadcast_to_checked(v, shape, "np::broadcast_to", x.loc); });
}

}  // namespace numpy
}  // namespace fx::inline v0
