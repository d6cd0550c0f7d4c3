// ops/math_tanh.hpp -- tanh over an emission value V (ops/scalar.hpp): polynomials by interval in f32, the
// addition theorem in f64.
#pragma once
#include "math_exp.hpp"

namespace fx::inline v0 {
namespace detail::math {

// tanh(start + t) = c[0] + c[1] t + ... + c[6] t^6 for each of the intervals that start at 0, 1/4, 1/2, 3/4, 1, 3/2, 2,
// 5/2, 3, 4, 5, 6, 7, 9 and 11: where |x| + 1 has the same exponent and the same two bits after it. Those bits are the
// index, so that the first interval is at 12. c[0] is rounded, the others are minimax with coefficients of the type
// (Sollya's fpminimax); in the first interval c[0] = 0, c[1] = 1 and c[2] = 0, which keeps tiny numbers.
inline constexpr float tanh_table[7][16] = {
    {0.7615942f, 0.90514827f, 0.9640276f, 0.9866143f, 0.9950548f, 0.9993293f, 0.9999092f, 0.9999877f, 0.99999833f,
     0.99999994f, 1, 1, 0, 0.24491866f, 0.46211717f, 0.63514894f},
    {0.41997436f, 0.18070665f, 0.07065082f, 0.026592225f, 0.009866039f, 0.0013409534f, 0.00018158497f, 2.457751e-05f,
     3.3259596e-06f, 5.948681e-08f, 0, 0, 1, 0.94001484f, 0.78644776f, 0.5965858f},
    {-0.3198782f, -0.16358493f, -0.068113185f, -0.026224717f, -0.009820742f, -0.001346825f, -0.00018599938f,
     -2.7032864e-05f, -2.9391697e-06f, 1.773774e-06f, 0, 0, 0, -0.23021111f, -0.36346668f, -0.37887818f},
    {0.104027875f, 0.08809503f, 0.042162135f, 0.01687005f, 0.006489101f, 0.0009337753f, 0.00014933542f, 3.219619e-05f,
     9.240446e-07f, -5.8795235e-06f, 0, 0, -0.33330643f, -0.25739115f, -0.09329721f, 0.040674973f},
    {0.02535498f, -0.026559187f, -0.018166691f, -0.0073311245f, -0.0031466805f, -0.00053392566f, -0.00012542753f,
     -4.492706e-05f, 4.920876e-07f, 6.886386e-06f, 0, 0, -0.0007894167f, 0.14399305f, 0.1565299f, 0.11066768f},
    {-0.04049048f, 0.0017216584f, 0.0054575806f, 0.0013879398f, 0.0010869566f, 0.00024853993f, 8.638185e-05f,
     3.947646e-05f, -4.6253228e-07f, -3.4269442e-06f, 0, 0, 0.14133985f, 0.054509938f, 0.0023771534f, -0.10951943f},
    {0.013669074f, 0.0010543237f, -0.0010113586f, 0.00042310564f, -0.00020018416f, -6.2671046e-05f, -2.7403672e-05f,
     -1.3684528e-05f, 9.81934e-08f, 6.1547416e-07f, 0, 0, -0.034266144f, -0.044974867f, -0.07985106f, 0.07278281f}};
// Of |x|; beyond 9.5 it is 1.
template <class V>
constexpr V tanh_short(V a) {
  constexpr int shift = Of<V>::mant - 2;
  const V x = at_most(a, 9.5f), one = num<V>(1);
  const auto b = bits(x + one), i = shr(b, Bits<V>::c(shift));
  const V t = x - (from_bits<V>(b & Bits<V>::c(~0u << shift)) - one), t2 = t * t;
  auto c = [&](int k) { return pick(tanh_table[k], i); };
  const V low = fma(c(2), t, c(1)), middle = fma(c(4), t, c(3)), high = fma(c(6), t, c(5));
  return fma(fma(fma(high, t2, middle), t2, low), t, c(0));
}
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
// Max 1.16 in f32, over every float; 1.36 in f64.
template <class V>
constexpr V tanh(V x) {
  const auto sign = Bits<V>::c(Of<V>::sign);
  V y;
  if constexpr (Of<V>::single)
    y = tanh_short(abs(x));
  else
    y = tanh_negative(from_bits<V>(bits(x) | sign));
  return from_bits<V>(bits(y) | (bits(x) & sign));
}

}  // namespace detail::math
}  // namespace fx::inline v0
