// ops/math_exp.hpp -- exponentials and logarithms over an emission value V (ops/scalar.hpp), float or double.
//
// Straight-line, fma explicit, no libm: the same bits in every world. Polynomials are minimax with coefficients of the
// type itself (Sollya's fpminimax). "Max" is the largest error seen, in ulp, over every 7th float and 20 million
// doubles.
#pragma once
#include <type_traits>

#include "scalar.hpp"

namespace fx::inline v0 {
namespace detail::math {

template <class V>
using Bits = typename V::template rebind<decltype(fp::bits(typename V::type()))>;
template <class V>
using Mask = typename V::template rebind<bool>;

template <class V>
constexpr Bits<V> bits(V v) {
  return bitcast<typename Bits<V>::type>(v);
}
template <class V>
constexpr V from_bits(Bits<V> b) {
  return bitcast<typename V::type>(b);
}

// What the algorithms know of a format.
template <class T>
struct Const {
  using U = decltype(fp::bits(T()));
  static constexpr bool single = sizeof(T) == 4;
  static constexpr int mant = single ? 23 : 52, bias = single ? 127 : 1023;
  static constexpr U one = U(bias) << mant, mant_mask = (U(1) << mant) - 1, sign = U(1) << (8 * sizeof(T) - 1);
  static constexpr T pow2(int e) { return fp::from_bits<T>(U(e + bias) << mant); }
  static constexpr T inf = pow2(bias + 1), nan = fp::from_bits<T>(fp::bits(inf) | U(1) << (mant - 1));
  // Adding it rounds to an integer, which then stands in the low bits.
  static constexpr T magic = T(1.5) * pow2(mant);
  static constexpr T log2e = T(0x1.71547652b82fep0);
  // ln 2 = ln2 + ln2_low; ln2 is short, so that n ln2 is exact for the exponent n of any number.
  static constexpr T ln2 = single ? T(0x1.62e4p-1) : T(0x1.62e42fefa38p-1);
  static constexpr T ln2_low = single ? T(1.42860682030941723212e-6) : T(5.497923018708371174712471e-14);
};
template <class V>
using Of = Const<typename V::type>;

// A number that is exact in every T.
template <class V>
constexpr V num(double v) {
  return V::c(typename V::type(v));
}
// c[0] + c[1] x + c[2] x^2 + ...
template <class V, int n>
constexpr V poly(V x, const typename V::type (&c)[n]) {
  V r = V::c(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) r = fma(r, x, V::c(c[i]));
  return r;
}
// Unlike a minimum and a maximum, these keep NaN.
template <class V>
constexpr V at_most(V x, typename V::type hi) {
  return select(lt(V::c(hi), x), V::c(hi), x);
}
template <class V>
constexpr V at_least(V x, typename V::type lo) {
  return select(lt(x, V::c(lo)), V::c(lo), x);
}
template <class V>
constexpr V clamp(V x, typename V::type lo, typename V::type hi) {
  return at_most(at_least(x, lo), hi);
}
template <class V>
constexpr V copysign(V x, V sign) {
  constexpr auto s = Of<V>::sign;
  return from_bits<V>((bits(x) & Bits<V>::c(~s)) | (bits(sign) & Bits<V>::c(s)));
}
// hi + lo = a + b exactly, for |a| >= |b| or a a multiple of b's last bit (Dekker's Fast2Sum).
template <class V>
struct Pair {
  V hi, lo;
};
template <class V>
constexpr Pair<V> fast_two_sum(V a, V b) {
  const V s = a + b;
  return {s, b - (s - a)};
}

// n = the integer nearest to x * scale, as a number and in the low bits of i (above them i is the magic's).
template <class V>
struct Nearest {
  V n;
  Bits<V> i;
};
template <class V>
constexpr Nearest<V> nearest(V x, typename V::type scale) {
  const V m = V::c(Of<V>::magic), t = fma(x, V::c(scale), m);
  return {t - m, bits(t)};
}
// 2^-n, for n of nearest() and n < bias.
template <class V>
constexpr V pow2_neg(Bits<V> i) {
  return from_bits<V>(shl(Bits<V>::c(fp::bits(Of<V>::magic) + Of<V>::bias) - i, Bits<V>::c(Of<V>::mant)));
}

// exp(r), |r| <= ln(2)/2.
template <class V>
constexpr V exp_poly(V r) {
  if constexpr (Of<V>::single)
    return poly(r, {1.0f, 1.0f, 0.4999999f, 0.16666521f, 0.041668963f, 0.008368671f, 0.0013782479f});
  else
    return poly(r, {1.0, 1.0, 0.5000000000000011, 0.16666666666666424, 0.04166666666652703, 0.008333333333487042,
                    0.0013888888944319463, 0.0001984126952250896, 2.4801492475252935e-05, 2.755757223451541e-06,
                    2.7630447587760214e-07, 2.500451401172012e-08});
}
template <class V>
constexpr V exp_clamp(V x) {
  return Of<V>::single ? clamp(x, -105, 90) : clamp(x, -748, 711);
}
// Cody-Waite reduction by ln 2, minimax polynomial. Max 0.90.
template <class V>
constexpr V exp(V x) {
  x = exp_clamp(x);
  const V n = nearest(x, Of<V>::log2e).n;
  return scale(exp_poly(fma(n, V::c(-Of<V>::ln2_low), fma(n, V::c(-Of<V>::ln2), x))), n);
}

// (exp(r) - 1 - r) / r^2, |r| <= ln(2)/2.
template <class V>
constexpr V expm1_poly(V r) {
  if constexpr (Of<V>::single)
    return poly(r, {0.5f, 0.16666667f, 0.041666508f, 0.008333177f, 0.0013930865f, 0.00019972307f});
  else
    return poly(r, {0.5, 0.1666666666666667, 0.04166666666666668, 0.008333333333325888, 0.0013888888888876978,
                    0.00019841269875453375, 2.480158734244868e-05, 2.7557254761123697e-06, 2.755725697210667e-07,
                    2.510543967297324e-08, 2.0920363443813813e-09});
}
// exp(x) = 2^n (1 + hi + lo), |hi| <= 0.42, with more than the precision of V; i holds n as nearest() does.
template <class V>
struct ExpParts {
  V hi, lo, n;
  Bits<V> i;
};
template <class V>
constexpr ExpParts<V> exp_parts(V x) {
  const auto [n, i] = nearest(x, Of<V>::log2e);
  const V x0 = fma(n, V::c(-Of<V>::ln2), x), w = n * V::c(Of<V>::ln2_low), r = x0 - w;
  const auto [hi, lo] = fast_two_sum(r, fma(r * r, expm1_poly(r), (x0 - r) - w));
  return {hi, lo, n, i};
}
// a + b + low, as a pair; |a| >= |b| or a = 0.
template <class V>
constexpr Pair<V> sum(V a, V b, V low) {
  const auto [hi, lo] = fast_two_sum(a, b);
  return {hi, lo + low};
}

// As fdlibm: 2^n ((1 - 2^-n) + (exp(r) - 1)). Max 1.13.
template <class V>
constexpr V expm1(V x) {
  const auto e = exp_parts(Of<V>::single ? clamp(x, -20, 90) : clamp(x, -40, 711));
  const V one = num<V>(1), s = select(lt(e.n, num<V>(64)), pow2_neg<V>(e.i), num<V>(0));
  const auto [hi, lo] = sum(one - s, e.hi, e.lo);
  return select(eq(x, num<V>(0)), x, scale(hi + lo, e.n));
}

// exp(-|x|) or 1, over 1 + exp(-|x|) as a pair: neither end loses bits. Max 1.97, over every float; the sum of the
// roundings is below 2.
template <class V>
constexpr V logistic(V x) {
  const V e = math::exp(-abs(x)), one = num<V>(1);
  const auto [d, low] = fast_two_sum(one, e);
  const V y = select(lt(x, num<V>(0)), e, one) / d;
  return fma(-y, low, y);
}

// The number made of e that stands for k = 0.
template <class T>
inline constexpr T k_origin = Const<T>::pow2(Const<T>::mant) + Const<T>::bias;
// x = 2^k m, m in [sqrt(1/2), sqrt(2)), for positive normal x and origin = k_origin; e = k + bias, an integer.
template <class V>
struct Split {
  V m, k;
  Bits<V> e;
};
template <class V>
constexpr Split<V> split_normal(V x, V origin) {
  using C = Of<V>;
  constexpr auto root = fp::bits(typename V::type(0.70710678118654752440));
  const auto b = bits(x) + Bits<V>::c(C::one - root), e = shr(b, Bits<V>::c(C::mant));
  return {from_bits<V>((b & Bits<V>::c(C::mant_mask)) + Bits<V>::c(root)),
          from_bits<V>(e | Bits<V>::c(fp::bits(C::pow2(C::mant)))) - origin, e};
}
// The same for any positive finite x, but for e.
template <class V>
constexpr Split<V> split(V x) {
  using C = Of<V>;
  using T = typename V::type;
  constexpr int up = C::mant + 2;
  const Mask<V> tiny = lt(x, V::c(C::pow2(1 - C::bias)));
  return split_normal(select(tiny, x * V::c(C::pow2(up)), x), select(tiny, V::c(k_origin<T> + up), V::c(k_origin<T>)));
}
// log(1 + f) + k ln 2 + low, 1 + f in [sqrt(1/2), sqrt(2)). Float: minimax polynomial arranged as in Cephes. Double:
// the series in s = f / (2 + f), arranged as in fdlibm.
template <class V>
constexpr V log_reduced(V f, V k, V low) {
  const V z = f * f, kl = fma(k, V::c(Of<V>::ln2_low), low);
  if constexpr (Of<V>::single) {
    const V p = poly(f, {0.3333333f, -0.2499998f, 0.20000681f, -0.16669187f, 0.14251319f, -0.123960316f, 0.11632806f,
                         -0.116638266f, 0.07341715f});
    return fma(k, V::c(Of<V>::ln2), f + fma(z, num<V>(-0.5), fma(f * z, p, kl)));
  } else {
    const V s = f / (num<V>(2) + f), s2 = s * s, h = num<V>(0.5) * z;
    const V p = s2 * poly(s2, {0.666666666666667, 0.3999999999989928, 0.28571428626210205, 0.22222211090523236,
                               0.1818289246286912, 0.1533161084202332, 0.14617797125896773});
    return fma(k, V::c(Of<V>::ln2), f - (h - fma(s, h + p, kl)));
  }
}
// y = log(x - from) where that is a number; else what it is: -inf at from, NaN below it, inf and NaN as they come.
template <class V>
constexpr V log_domain(V y, V x, double from) {
  const V f = num<V>(from), inf = V::c(Of<V>::inf), below = V::c(-Of<V>::inf);
  y = select(lt(x, inf), y, x);
  return select(le(x, f), select(eq(x, f), below, V::c(Of<V>::nan)), y);
}
// Max 0.87.
template <class V>
constexpr V log(V x) {
  const auto [m, k, e] = split(x);
  return log_domain(log_reduced(m - num<V>(1), k, num<V>(0)), x, 0);
}
// log(u) + c / u with u + c = 1 + x exactly (as fdlibm); u = 2^k (1 + f), and 1 / (1 + f) is needed roughly only.
// Max 0.89.
template <class V>
constexpr V log1p(V x) {
  const V one = num<V>(1), zero = num<V>(0), u = one + x, x1 = u - one;
  const V c = (one - (u - x1)) + (x - x1);
  const auto [m, k, e] = split_normal(u, V::c(k_origin<typename V::type>));
  const Mask<V> near = eq(k, zero);
  const V f = select(near, x, m - one);
  const V inv_u = fma(f, f - one, one) * from_bits<V>(shl(Bits<V>::c(2 * Of<V>::bias) - e, Bits<V>::c(Of<V>::mant)));
  const V low = select(lt(u, num<V>(0x1p64)) & ~near, c * inv_u, zero);
  return select(eq(x, zero), x, log_domain(log_reduced(f, k, low), x, -1));
}

// log(x) to about 1.3 times the bits of V, for positive finite x: 2 atanh(s) + k ln 2, s = (m - 1) / (m + 1), the
// leading terms in double-V arithmetic (fdlibm's and SLEEF's pow).
template <class V>
constexpr Pair<V> log_pair(V x) {
  using T = typename V::type;
  const auto [m, k, e] = split(x);
  const V one = num<V>(1), f = m - one, third = V::c(T(1) / 3);
  const auto d = fast_two_sum(one, m);
  const V inv = one / d.hi, s = f * inv, sl = inv * fma(-s, d.lo, fma(-s, d.hi, f));
  const V z = s * s, zl = fma(s + s, sl, fma(s, s, -z));
  V p;
  if constexpr (Of<V>::single)
    p = poly(z, {0.20000008f, 0.14281073f, 0.11525568f});
  else
    p = poly(z, {0.2, 0.14285714285713164, 0.1111111111138409, 0.09090909077918399, 0.07692304922563614,
                 0.0666707198442656, 0.058605882775991394, 0.057940173759925724});
  const auto t = sum(third, z * p, V::c(Of<V>::single ? T(-9.934107758e-9) : T(1.850371707708594e-17)));
  const V v = s * z, vl = fma(s, zl, fma(sl, z, fma(s, z, -v)));
  const V w = v * t.hi, wl = fma(v, t.lo, fma(vl, t.hi, fma(v, t.hi, -w)));
  const auto a = fast_two_sum(k * V::c(Of<V>::ln2), s + s), b = fast_two_sum(a.hi, w + w);
  const V low = sl + wl;
  return fast_two_sum(b.hi, fma(k, V::c(Of<V>::ln2_low), low + low) + (a.lo + b.lo));
}
// exp(y log |x|) in double-V arithmetic, then C99's special cases. Max 1.09, over 80 million pairs.
template <class V>
constexpr V pow(V x, V y) {
  using C = Of<V>;
  const V zero = num<V>(0), one = num<V>(1), inf = V::c(C::inf), a = abs(x);
  // Any larger y gives the same, and this one no inf - inf.
  const auto far = C::pow2(C::single ? 40 : 70);
  const V yc = clamp(y, -far, far);
  const auto l = log_pair(a);
  const V p = yc * l.hi, pc = exp_clamp(p);
  const V low = select(eq(pc, p), fma(yc, l.lo, fma(yc, l.hi, -p)), zero);
  const V n = nearest(pc, C::log2e).n;
  V r = scale(exp_poly(fma(n, V::c(-C::ln2), pc) + fma(n, V::c(-C::ln2_low), low)), n);

  const V half = num<V>(0.5) * y;
  const Mask<V> whole = eq(floor(y), y), odd = whole & ne(floor(half), half), is_inf = eq(a, inf);
  r = select(lt(x, zero) & ~whole, V::c(C::nan), r);
  r = select(eq(a, zero) | is_inf, select(lt(y, zero) ^ is_inf, inf, zero), r);
  r = from_bits<V>(bits(r) | select(odd, bits(x) & Bits<V>::c(C::sign), Bits<V>::c(0)));
  r = select(ne(x, x) | ne(y, y), x + y, r);
  return select(eq(x, one) | eq(y, zero), one, r);
}

}  // namespace detail::math
}  // namespace fx::inline v0
