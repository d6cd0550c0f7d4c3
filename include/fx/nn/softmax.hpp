// nn/softmax.hpp -- logsumexp softmax log_softmax one_hot.
//
// All subtract the largest element first, so that exp cannot overflow; it counts as a constant in derivatives, which is
// exact because every shift gives the same result. A largest element that is not finite is replaced by 0.
#pragma once
#include "../numpy/creation.hpp"
#include "../numpy/reductions.hpp"

namespace fx::inline v0 {

namespace nn {
// Over which axis, or axes.
struct SoftmaxOptions {
  detail::Axes axis = -1;
};
}  // namespace nn

namespace detail {
// x shifted so that its largest element along axes is 0; `peak` keeps the axes with size 1.
struct Shifted {
  Val x, peak;
};
constexpr Shifted shift_to_peak(Val x, const Dims& axes) {
  const Dims shape = type_of(x).dims;
  Val peak = stop_gradient(reshape(reduce_max(x, axes), with_ones(shape, axes)));
  Val finite = lt(abs(peak), Val(__builtin_inf()));
  peak = select(finite, peak, 0.0);
  return {x - broadcast_to(peak, shape), peak};
}
// The sum of exp(x) along axes, which stay with size 1.
constexpr Val sum_exp(Val x, const Dims& axes) {
  return reshape(reduce_sum(exp(x), axes), with_ones(type_of(x).dims, axes));
}
template <class F>
constexpr Array over_axes(const Operand& x, const Axes& axis, std::string_view who, F&& f) {
  return record_unary(x, [&](Val v) {
    const Type t = type_of(v);
    need_float(t, who, x.loc);
    return f(v, axes_of(axis, t, who, x.loc));
  });
}
}  // namespace detail

namespace nn {

// log(sum(exp(x))) over axes, all unless said; -inf for no elements. Errors: integers (dtype), an axis that is not
// there (shape).
constexpr Array logsumexp(Array::Op x, const numpy::ReduceOptions& o = {}) {
  return detail::over_axes(x, o.axis, "nn::logsumexp", [&](Val v, const Dims& axes) {
    const detail::Shifted s = detail::shift_to_peak(v, axes);
    Val y = log(detail::sum_exp(s.x, axes)) + s.peak;
    return o.keepdims ? y : reshape(y, detail::without(type_of(v).dims, axes));
  });
}
// exp(x) * (1 / sum(exp(x))) over an axis, the last unless said: one division a row. Errors as logsumexp.
constexpr Array softmax(Array::Op x, const SoftmaxOptions& o = {}) {
  return detail::over_axes(x, o.axis, "nn::softmax", [](Val v, const Dims& axes) {
    Val e = exp(detail::shift_to_peak(v, axes).x);
    Val sum = reshape(reduce_sum(e, axes), detail::with_ones(type_of(v).dims, axes));
    return e * broadcast_to(1.0 / sum, type_of(v).dims);
  });
}
// log(softmax(x)), without forming it. Errors as logsumexp.
constexpr Array log_softmax(Array::Op x, const SoftmaxOptions& o = {}) {
  return detail::over_axes(x, o.axis, "nn::log_softmax", [](Val v, const Dims& axes) {
    Val shifted = detail::shift_to_peak(v, axes).x;
    return shifted - broadcast_to(log(detail::sum_exp(shifted, axes)), type_of(v).dims);
  });
}
// For each index a row of n numbers with 1 at its place: shape [..., n], f32 unless said. An index outside gives a row
// of 0. Errors: indices that are no integers (dtype), n < 0 (shape).
constexpr Array one_hot(Array::Op indices, std::int64_t n, DType dtype = f32) {
  return detail::record_unary(indices, [&](Val i) {
    constexpr std::string_view who = "nn::one_hot";
    const Type t = type_of(i);
    detail::need_dtype(integers & computed, t, who, "is no index; indices are i32, i64, u32 or u64", indices.loc);
    if (t.rank() == max_rank)
      fail(ErrorCode::shape, detail::message(who, t, "would have more than 8 axes"), indices.loc);
    Type out{dtype, t.dims};
    out.dims.push_back(Dim(n));
    detail::check_new(out, who, indices.loc);
    Dims places;
    for (int k = 0; k < t.rank(); ++k) places.push_back(k);
    Val row = broadcast_in_dim(i, out.dims, places);
    return convert(eq(row, iota(*i.b, t.dtype, out.dims, t.rank())), dtype);
  });
}

}  // namespace nn
}  // namespace fx::inline v0
