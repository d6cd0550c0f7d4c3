// numpy/reductions.hpp -- sum prod max min mean var std all any argmax argmin cumsum, over some axes or all.
#pragma once
#include "axes.hpp"

namespace fx::inline v0 {

namespace numpy {
// axis: 0, {0, -1}, or fx::none for all; keepdims: reduced axes stay, with size 1.
struct ReduceOptions {
  detail::Axes axis = {};
  bool keepdims = false;
};
// The variance divides by the number of elements less ddof.
struct VarOptions {
  detail::Axes axis = {};
  bool keepdims = false;
  double ddof = 0;
};
// Without an axis: the position in row-major order.
struct ArgOptions {
  detail::Axis axis = {};
  bool keepdims = false;
  DType dtype = i32;
};
// Without an axis: over the elements in row-major order. reverse: sums from the end.
struct CumOptions {
  detail::Axis axis = {};
  bool reverse = false;
};
}  // namespace numpy

namespace detail {
using ReduceVal = Val (*)(Val, const Dims&);

// x is reduced by f; must: an empty set of elements has no answer.
constexpr Val reduced(Val x, const numpy::ReduceOptions& o, std::string_view who, Loc loc, ReduceVal f,
                      bool must = false) {
  const Type t = type_of(x);
  const Dims axes = axes_of(o.axis, t, who, loc);
  if (must && t.is_static() && count_along(t.dims, axes) == 0 && numel(without(t.dims, axes)) != 0)
    fail(ErrorCode::shape, message(who, t, "has no elements to choose from along the reduced axes"), loc);
  Val y = f(x, axes);
  return o.keepdims ? reshape(y, with_ones(t.dims, axes)) : y;
}
constexpr Array reduce(const Operand& x, const numpy::ReduceOptions& o, std::string_view who, ReduceVal f,
                       bool must = false) {
  return record_unary(x, [&](Val v) { return reduced(v, o, who, x.loc, f, must); });
}

constexpr void need_float(const Type& t, std::string_view who, Loc loc) {
  need_dtype(floats, t, who, "is no floating-point value; convert it with fx::convert(x, fx::f32)", loc);
}
// The sum over axes divided by their number of elements less `missing`.
constexpr Val mean_along(Val x, const Dims& axes, double missing = 0) {
  const double n = double(count_along(type_of(x).dims, axes));
  return reduce_sum(x, axes) / Val(n - missing);
}
constexpr Val mean_val(Val x, const Dims& axes) { return mean_along(x, axes); }

// Two passes: the mean, then the mean square of what is left.
constexpr Val variance(Val x, const numpy::VarOptions& o, std::string_view who, Loc loc) {
  const Type t = type_of(x);
  need_float(t, who, loc);
  need_sizes(t, who, loc);
  const Dims axes = axes_of(o.axis, t, who, loc);
  Val centred = x - broadcast_to(reshape(mean_along(x, axes), with_ones(t.dims, axes)), t.dims);
  Val y = mean_along(centred * centred, axes, o.ddof);
  return o.keepdims ? reshape(y, with_ones(t.dims, axes)) : y;
}

constexpr Val truth(Val x) { return type_of(x).dtype == boolean ? x : ne(x, 0.0); }
constexpr Val all_val(Val x, const Dims& axes) { return reduce_min(truth(x), axes); }
constexpr Val any_val(Val x, const Dims& axes) { return reduce_max(truth(x), axes); }

constexpr Val flattened(Val x) { return reshape(x, Dims{numel(type_of(x))}); }

constexpr Array arg_reduce(const Operand& x, const numpy::ArgOptions& o, std::string_view who,
                           Val (*f)(Val, int, DType)) {
  return record_unary(x, [&](Val v) {
    const Type t = type_of(v);
    if (!o.axis.given) need_sizes(t, who, x.loc);
    const int axis = o.axis.given ? axis_of(o.axis.v, t, who, x.loc) : 0;
    const Val from = o.axis.given ? v : flattened(v);
    if (type_of(from).dims[axis] == 0) fail(ErrorCode::shape, message(who, t, "has no elements to choose from"), x.loc);
    Val y = f(from, axis, o.dtype);
    if (!o.keepdims) return y;
    return reshape(y, o.axis.given ? with_ones(t.dims, Dims{axis}) : Dims(t.rank(), 1));
  });
}
}  // namespace detail

namespace numpy {

// The sum over axes, in x's dtype. Errors: bool (dtype: convert first), an axis x does not have (shape).
constexpr Array sum(Array::Op x, const ReduceOptions& o = {}) { return detail::reduce(x, o, "np::sum", &reduce_sum); }
// The product over axes, in x's dtype.
constexpr Array prod(Array::Op x, const ReduceOptions& o = {}) {
  return detail::reduce(x, o, "np::prod", &reduce_prod);
}
// The largest and the smallest element; a NaN wins. Errors (shape): no elements.
constexpr Array max(Array::Op x, const ReduceOptions& o = {}) {
  return detail::reduce(x, o, "np::max", &reduce_max, true);
}
constexpr Array min(Array::Op x, const ReduceOptions& o = {}) {
  return detail::reduce(x, o, "np::min", &reduce_min, true);
}
// The sum divided by the number of elements; NaN for none. Errors (dtype): integers and bool: convert first.
constexpr Array mean(Array::Op x, const ReduceOptions& o = {}) {
  return detail::record_unary(x, [&](Val v) {
    detail::need_float(type_of(v), "np::mean", x.loc);
    detail::need_sizes(type_of(v), "np::mean", x.loc);
    return detail::reduced(v, o, "np::mean", x.loc, &detail::mean_val);
  });
}
// The mean square distance from the mean, in two passes. Errors as mean.
constexpr Array var(Array::Op x, const VarOptions& o = {}) {
  return detail::record_unary(x, [&](Val v) { return detail::variance(v, o, "np::var", x.loc); });
}
// The square root of the variance; its gradient is not finite where the variance is 0.
constexpr Array std(Array::Op x, const VarOptions& o = {}) {
  return detail::record_unary(x, [&](Val v) { return fx::sqrt(detail::variance(v, o, "np::std", x.loc)); });
}
// Whether all, or any, elements are true (numbers: not zero), as bool.
constexpr Array all(Array::Op x, const ReduceOptions& o = {}) {
  return detail::reduce(x, o, "np::all", &detail::all_val);
}
constexpr Array any(Array::Op x, const ReduceOptions& o = {}) {
  return detail::reduce(x, o, "np::any", &detail::any_val);
}
// The position of the first largest (smallest) element; the first NaN counts as such. i32 unless said.
constexpr Array argmax(Array::Op x, const ArgOptions& o = {}) {
  return detail::arg_reduce(x, o, "np::argmax", [](Val v, int axis, DType d) { return fx::argmax(v, axis, d); });
}
constexpr Array argmin(Array::Op x, const ArgOptions& o = {}) {
  return detail::arg_reduce(x, o, "np::argmin", [](Val v, int axis, DType d) { return fx::argmin(v, axis, d); });
}
// Running sums along an axis, in one chain of additions.
constexpr Array cumsum(Array::Op x, const CumOptions& o = {}) {
  return detail::record_unary(x, [&](Val v) {
    if (!o.axis.given) detail::need_sizes(type_of(v), "np::cumsum", x.loc);
    const int axis = o.axis.given ? detail::axis_of(o.axis.v, type_of(v), "np::cumsum", x.loc) : 0;
    return fx::cumsum(o.axis.given ? v : detail::flattened(v), axis, o.reverse);
  });
}

}  // namespace numpy
}  // namespace fx::inline v0
