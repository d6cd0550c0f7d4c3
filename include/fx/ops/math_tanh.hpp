// ops/math_tanh.hpp -- tanh over an emission value V (ops/scalar.hpp), by the addition theorem.
#pragma once
#include "math_exp.hpp"

namespace fx::inline v0 {
namespace detail::math {

// tanh(r) / r = 1 + r^2 (...), |r| <= 0.32: minimax with coefficients of the type.
template <class V>
constexpr V tanh_poly(V r2) {
  if constexpr (Of<V>::single)
    return poly(r2, {-0.3333297f, 0.1331099f, -0.050016314f});
  else
    return poly(r2, {-0.33333333333333176, 0.13333333333281797, -0.053968253910507316, 0.02186948540343983,
                     -0.008863141323796433, 0.003590471463643005, -0.0014388169786937803, 0.0004943775371076972});
}
// The addition theorem: tanh(c + r) = (m + p t) / (p + m t) for t = tanh(r), where p, m = z + 1, z - 1 and z = exp(2c).
// c is a multiple of ln(2)/2, so that z is a power of two; it is 0 down to x = -0.31, where the result is t. near is
// close to -tanh(c), and only the difference from it is divided, so that the roundings of the quotient weigh little.
// x = -|x|, which takes no negations; the result is tanh |x|, and 1 from 9 (f64: 20) on.
template <class V>
constexpr V tanh_negative(V x) {
  using T = typename V::type;
  constexpr int fraction = 4;  // bits after the point in the sum with the magic number: -0.32 < r < 0.04
  constexpr T zero = Of<V>::magic / (1 << fraction) + Of<V>::bias;
  const V y = at_least(x, Of<V>::single ? -10 : -22);
  const auto i = bits(fma(y, V::c(2 * Of<V>::log2e), V::c(zero + T(0.875)))) & Bits<V>::c(~((1 << fraction) - 1));
  const V r = fma(from_bits<V>(i) - V::c(zero), V::c(T(-0.34657359027997265471)), y), r2 = r * r;
  const V t = fma(r * r2, tanh_poly(r2), r), z = from_bits<V>(shl(i, Bits<V>::c(Of<V>::mant - fraction)));
  const V p = z + num<V>(1), m = z - num<V>(1), near = fma(z, num<V>(-0.9375), num<V>(0.9375));
  return near - fma(fma(near, m, p), t, fma(near, p, m)) / fma(m, t, p);
}
// Max 1.17 in f32, over every float; 1.36 in f64.
template <class V>
constexpr V tanh(V x) {
  const auto sign = Bits<V>::c(Of<V>::sign);
  const V y = tanh_negative(from_bits<V>(bits(x) | sign));
  return from_bits<V>(bits(y) | (bits(x) & sign));
}

}  // namespace detail::math
}  // namespace fx::inline v0
