// nn/activations.hpp -- relu sigmoid softplus silu gelu.
#pragma once
#include "../numpy/axes.hpp"

namespace fx::inline v0::nn {

// x where it is positive, else 0; NaN stays NaN. Its gradient at 0 is 0.
constexpr Array relu(Array::Op x) {
  return detail::record_unary(x, [](Val v) { return select(le(v, 0.0), 0.0, v); });
}
// 1 / (1 + exp(-x)).
constexpr Array sigmoid(Array::Op x) { return logistic(x); }
// log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|)), which neither overflows nor cancels. Its gradient is sigmoid(x).
constexpr Array softplus(Array::Op x) {
  // min(x, -x) and not -|x|: at 0 its derivative is the mean of both sides, 0, and that of max(x, 0) is 1/2.
  return detail::record_unary(x, [](Val v) { return maximum(v, 0.0) + log1p(exp(minimum(v, -v))); });
}
// x * sigmoid(x).
constexpr Array silu(Array::Op x) {
  return detail::record_unary(x, [](Val v) { return v * logistic(v); });
}
// x times the normal distribution function, in the tanh approximation of Hendrycks and Gimpel, "Gaussian error linear
// units" (2016), as JAX's default.
constexpr Array gelu(Array::Op x) {
  return detail::record_unary(x, [](Val v) {
    constexpr double sqrt_2_over_pi = 0.79788456080286535588;
    Val inner = (v + integer_pow(v, 3) * 0.044715) * sqrt_2_over_pi;
    return v * ((tanh(inner) + 1.0) * 0.5);
  });
}

}  // namespace fx::inline v0::nn
