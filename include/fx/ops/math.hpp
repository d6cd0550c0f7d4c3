// ops/math.hpp -- the mathematical functions over an emission value V (ops/scalar.hpp): exponentials and logarithms
// from math_exp.hpp, tanh from math_tanh.hpp, and here rsqrt, sin, cos and erf_inv.
#pragma once
#include "math_tanh.hpp"

namespace fx::inline v0 {
namespace detail::math {

// Two roundings: max 1.49, over every float.
template <class V>
constexpr V rsqrt(V x) {
  return num<V>(1) / sqrt(x);
}

// The first 1216 bits after the binary point of 1 / (2 pi).
inline constexpr std::uint64_t turn_bits[] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8,
    0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d,
    0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b,
    0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea};

// The window of 1 / (2 pi) that matters for numbers x = m 2^e (m an integer), for a block of consecutive e from e0 on:
// bits up to weight 2^-e0 give whole turns and are dropped; the rest is cut into four numbers part[0..3], the first so
// short that x part[0] less its whole turns is exact. Scaled by 2^up, lest the last ones underflow.
template <class T>
struct Turns {
  using C = Const<T>;
  static constexpr int log_block = C::single ? 3 : 4, blocks = C::single ? 16 : 64, up = C::single ? 64 : 200;
  static constexpr int first = C::mant + 3 - (1 << log_block);  // bits of part[0]
  T part[4][blocks]{};

  constexpr Turns() {
    for (int b = 0; b < blocks; ++b) {
      int from = ((b + blocks) << log_block) - (C::bias + C::mant);  // e0
      for (int p = 0; p < 4; ++p) {
        const int n = p ? C::mant + 1 : first;
        part[p][b] = T(cut(from, n)) * C::pow2(up - (from + n));
        from += n;
      }
    }
  }
  // The n bits of weights 2^-(from + 1) .. 2^-(from + n), as an integer.
  static constexpr std::uint64_t cut(int from, int n) {
    if (from < 0) return from + n <= 0 ? 0 : cut(0, from + n);
    const int w = from / 64, s = from % 64;
    const std::uint64_t head = turn_bits[w] << s, tail = s ? turn_bits[w + 1] >> (64 - s) : 0;
    return (head | tail) >> (64 - n);
  }
};
template <class T>
inline constexpr Turns<T> turns{};

// a = |x|; x = (4 j + q) pi/2 + hi + lo, |hi| <= pi/4 (1 + eps), q in the low two bits of i. Payne-Hanek in floating
// point: the fractional part of x / (2 pi) as an unevaluated sum, exact to 2^-58 (float) or 2^-130 (double) turns.
template <class V>
struct Quadrant {
  V hi, lo;
  Bits<V> i;
};
template <class V>
constexpr Quadrant<V> quadrant(V x, V a) {
  using T = typename V::type;
  using W = Turns<T>;
  constexpr const W& t = turns<T>;
  // The field of the exponent is block * 2^log_block + ..., the blocks' lower half being |x| < 2: one window for all.
  V p[4];
  const auto field = Bits<V>::c(Of<V>::mant + W::log_block);
  if constexpr (Of<V>::single) {
    const V two = num<V>(2);
    const auto index = shr(bits(select(lt(a, two), two, a)), field);  // and 16 more
    for (int k = 0; k < 4; ++k) p[k] = pick(t.part[k], index);
  } else {
    const auto block = (shr(bits(x), field) & Bits<V>::c(2 * W::blocks - 1)) - Bits<V>::c(W::blocks);
    for (int k = 0; k < 4; ++k) p[k] = lookup(t.part[k], W::blocks, bitcast<std::int64_t>(block));
  }

  const V xs = x * V::c(Of<V>::pow2(-W::up));
  const V a0 = fma(xs, p[0], -rint(xs * p[0]));  // exact
  const V y1 = xs * p[1], a1 = y1 - rint(y1);    // exact
  const auto [n, i] = nearest(a0 + a1, T(4));
  const auto f = fast_two_sum(fma(n, num<V>(-0.25), a0), a1);  // x / (2 pi) less whole quarters, leading terms
  const V y2 = xs * p[2];
  const auto g = fast_two_sum(fma(xs, p[1], -y1), y2);
  const V rest = fma(xs, p[3], fma(xs, p[2], -y2) + g.lo) + f.lo;
  const auto h = fast_two_sum(f.hi, g.hi);
  const auto r = fast_two_sum(h.hi, h.lo + rest);
  const V tau = V::c(T(6.283185307179586476925));
  const V tau_low = V::c(Of<V>::single ? T(-1.7484555314695172e-7) : T(2.4492935982947064e-16));
  const V hi = r.hi * tau;
  return {hi, fma(r.lo, tau, fma(r.hi, tau_low, fma(r.hi, tau, -hi))), i};
}
// sin(x + turn pi/2), a = |x|; minimax polynomials arranged as fdlibm's __kernel_sin and __kernel_cos. Max 0.83.
template <class V>
constexpr V sin_quarter(V x, V a, int turn) {
  const auto q = quadrant(x, a);
  const V r = q.hi, z = r * r, h = num<V>(0.5) * z, one = num<V>(1), w = one - h;
  V s, c;
  if constexpr (Of<V>::single) {
    s = poly(z, {-0.16666667f, 0.008333397f, -0.00019861292f, 2.9217092e-06f});
    c = poly(z, {0.041666668f, -0.0013889049f, 2.4852765e-05f, -3.213022e-07f});
  } else {
    s = poly(z, {-0.16666666666666666, 0.00833333333333131, -0.0001984126983708634, 2.755731622356832e-06,
                 -2.505115138316042e-08, 1.591927597914086e-10});
    c = poly(z, {0.041666666666666664, -0.0013888888888887061, 2.4801587298460354e-05, -2.7557317158347916e-07,
                 2.087612784297271e-09, -1.1381543392970092e-11});
  }
  s = r + fma(z * r, s, q.lo * w);
  c = w + (((one - w) - h) + fma(z * z, c, -(r * q.lo)));
  const auto n = q.i + Bits<V>::c(typename Bits<V>::type(turn)), two = Bits<V>::c(2);
  const V y = select(eq(n & Bits<V>::c(1), Bits<V>::c(0)), s, c);
  return from_bits<V>(bits(y) ^ shl(n & two, Bits<V>::c(8 * sizeof(typename V::type) - 2)));
}
// The products in quadrant() underflow for tiny x, and -0 loses its sign: there sin(x) is x.
template <class V>
constexpr V sin(V x) {
  const V a = abs(x);
  return select(lt(a, num<V>(Of<V>::single ? 0x1p-12 : 0x1p-27)), x, sin_quarter(x, a, 0));
}
template <class V>
constexpr V cos(V x) {
  const V a = Of<V>::single ? abs(x) : x;
  return sin_quarter(a, a, 1);
}

// A polynomial with coefficients a where m, else b.
template <class V, int n>
constexpr V poly(Mask<V> m, V x, const typename V::type (&a)[n], const typename V::type (&b)[n]) {
  V r = select(m, V::c(a[n - 1]), V::c(b[n - 1]));
  for (int i = n - 2; i >= 0; --i) r = fma(r, x, a[i] == b[i] ? V::c(a[i]) : select(m, V::c(a[i]), V::c(b[i])));
  return r;
}
// Rational minimax approximations (own Remez fits) with selected coefficients: for |x| <= mid of erf_inv(x) / x - 1 in
// terms of mid^2 - x^2, beyond it of erf_inv(x) - t in terms of t = sqrt(-log(1 - |x|)), much as in Wichura's AS 241.
// (Giles 2012 takes more coefficients: 59 for the precision of double.) Max 2.96.
template <class V>
constexpr V erf_inv(V x) {
  constexpr bool single = Of<V>::single;
  const V a = abs(x), one = num<V>(1), mid = num<V>(single ? 0.6875 : 0.859375);
  const Mask<V> central = le(a, mid);
  const V r = sqrt(-math::log(one - a)), t = select(central, (mid - a) * (mid + a), r);
  V p, q;
  if constexpr (single) {
    p = poly(central, t, {0.0387940332f, -0.359448582f, -0.691801846f, -0.20101966f, 0.0f},
             {-0.0216345005f, -0.84636879f, -0.720527053f, -0.0177791398f, 0.000389951572f});
    q = poly(central, t, {1.0f, 2.65320635f, 1.85220325f, 0.278876722f},
             {1.0f, 1.12927616f, 1.83158088f, 0.459706843f});
  } else {
    p = poly(
        central, t,
        {0.21239146615262616, 1.5592364947051718, 2.1395803399379405, -8.453910793823765, -28.3498223639602,
         -29.31366922743231, -11.289494348545025, -1.243874513181422, -0.004302653628792649},
        {-0.00043773226304637605, -0.9937428047538761, -1.2768376649899766, -2.010339085058707, -1.1867266040529618,
         -0.17222609436307232, -0.005823630354795841, -1.1794632803883457e-05, 4.757926355831752e-08});
    q = poly(central, t,
             {1.0, 11.841610610408855, 54.627805386548545, 124.44547906250793, 146.66842210732514, 85.7104265953857,
              21.601441113260062, 1.6366324051264072},
             {1.0, 2.12422779885588, 4.0338762026808475, 3.986803859683183, 3.2792715779322306, 1.0191137521032516,
              0.09647229733357009, 0.0022002937739986745});
  }
  const V y = fma(select(central, a, one), p / q, select(central, a, r));
  return copysign(select(eq(a, one), V::c(Of<V>::inf), y), x);
}

}  // namespace detail::math
}  // namespace fx::inline v0
