// ops/math_exp.hpp -- exponentials and logarithms over an emission value V (ops/scalar.hpp), float or double.
//
// Straight-line, fma explicit, no libm: the same bits in every world. Polynomials without a source are minimax with
// coefficients of type T (Sollya's fpminimax). Errors in ulp are the largest measured by tests/test_math.cpp.
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
// Unlike a minimum, keeps NaN.
template <class V>
constexpr V at_most(V x, typename V::type hi) {
  return select(lt(V::c(hi), x), V::c(hi), x);
}
template <class V>
constexpr V clamp(V x, typename V::type lo, typename V::type hi) {
  return at_most(select(lt(x, V::c(lo)), V::c(lo), x), hi);
}
template <class V>
constexpr V copysign(V x, V sign) {
  const auto s = Bits<V>::c(Of<V>::sign);
  return from_bits<V>((bits(x) & ~s) | (bits(sign) & s));
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
// p * 2^n, for n of nearest() and |n| < 2 bias. Two steps: the first is exact, so that a subnormal result rounds once.
template <class V>
constexpr V scale(V p, Bits<V> i) {
  using C = Of<V>;
  const auto mant = Bits<V>::c(C::mant), one = Bits<V>::c(1);
  const auto n = i - Bits<V>::c(fp::bits(C::magic) - 2 * C::bias), half = shr(n, one);
  return p * from_bits<V>(shl(half, mant)) * from_bits<V>(shl(n - half, mant));
}
// 2^-n, for n of nearest() and n < bias.
template <class V>
constexpr V pow2_neg(Bits<V> i) {
  return from_bits<V>(shl(Bits<V>::c(fp::bits(Of<V>::magic) + Of<V>::bias) - i, Bits<V>::c(Of<V>::mant)));
}

// (exp(r) - 1 - r) / r^2, |r| <= ln(2)/2.
template <class V>
constexpr V exp_poly(V r) {
  if constexpr (Of<V>::single)
    return poly(r, {0.5f, 0.16666667163372039794921875f, 4.1666507720947265625e-2f, 8.333177305757999420166e-3f,
                    1.39308650977909564971923828125e-3f, 1.99723072000779211521148681640625e-4f});
  else
    return poly(
        r, {0.5, 0.1666666666666667129259593593815225, 4.1666666666666678231489839845381e-2,
            8.33333333332588778452620914549e-3, 1.3888888888876978373876358574534e-3, 1.984126987545337507737197307e-4,
            2.480158734244867914110564037e-5, 2.755725476112369740771063151e-6, 2.755725697210666810158354645e-7,
            2.510543967297323834653312952e-8, 2.092036344381381293170599591e-9});
}
// 2^n exp(r), |r| <= ln(2)/2.
template <class V>
constexpr V exp_reduced(V r, Bits<V> i) {
  return scale(fma(r * r, exp_poly(r), r) + num<V>(1), i);
}
template <class V>
constexpr V exp_clamp(V x) {
  return Of<V>::single ? clamp(x, -105, 90) : clamp(x, -748, 711);
}
// Cody-Waite reduction by ln 2, minimax polynomial.
template <class V>
constexpr V exp(V x) {
  x = exp_clamp(x);
  const auto [n, i] = nearest(x, Of<V>::log2e);
  return exp_reduced(fma(n, V::c(-Of<V>::ln2_low), fma(n, V::c(-Of<V>::ln2), x)), i);
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
  const auto [hi, lo] = fast_two_sum(r, fma(r * r, exp_poly(r), (x0 - r) - w));
  return {hi, lo, n, i};
}
// a + b + low, as a pair; |a| >= |b| or a = 0.
template <class V>
constexpr Pair<V> sum(V a, V b, V low) {
  const auto [hi, lo] = fast_two_sum(a, b);
  return {hi, lo + low};
}

// As fdlibm: 2^n ((1 - 2^-n) + (exp(r) - 1)).
template <class V>
constexpr V expm1(V x) {
  const auto e = exp_parts(Of<V>::single ? clamp(x, -20, 90) : clamp(x, -40, 711));
  const V one = num<V>(1), s = select(lt(e.n, num<V>(64)), pow2_neg<V>(e.i), num<V>(0));
  const auto [hi, lo] = sum(one - s, e.hi, e.lo);
  return select(eq(x, num<V>(0)), x, scale(hi + lo, e.i));
}

// (exp(2x) - 1) / (exp(2x) + 1) with both scaled by 2^-n and carried as pairs, and one step that corrects the quotient.
template <class V>
constexpr V tanh(V x) {
  const V a = abs(x);
  const auto e = exp_parts(at_most(a + a, Of<V>::single ? 20 : 40));
  const V one = num<V>(1), s = pow2_neg<V>(e.i);
  const auto one_s = fast_two_sum(one, s);
  const auto above = sum(one - s, e.hi, e.lo), below = sum(one_s.hi, e.hi, one_s.lo + e.lo);
  const V inv = one / below.hi, q = above.hi * inv;
  return copysign(fma(fma(-q, below.hi, above.hi) + fma(-q, below.lo, above.lo), inv, q), x);
}

// exp(-|x|) or 1, over 1 + exp(-|x|) as a pair: neither end loses bits.
template <class V>
constexpr V logistic(V x) {
  const V e = math::exp(-abs(x)), one = num<V>(1);
  const auto [d, low] = fast_two_sum(one, e);
  const V y = select(lt(x, num<V>(0)), e, one) / d;
  return fma(-y, low, y);
}

// x = 2^k m, m in [sqrt(1/2), sqrt(2)), for positive finite x; inv = 2^-k for normal x < 2^bias.
template <class V>
struct Split {
  V m, k, inv;
};
template <class V>
constexpr Split<V> split(V x) {
  using C = Of<V>;
  using T = typename V::type;
  constexpr auto root = fp::bits(T(0.70710678118654752440));
  constexpr T up = C::pow2(C::mant + 2), big = C::pow2(C::mant);
  const auto mant = Bits<V>::c(C::mant);
  const Mask<V> tiny = lt(x, V::c(C::pow2(1 - C::bias)));
  const auto b = bits(select(tiny, x * V::c(up), x)) + Bits<V>::c(C::one - root), e = shr(b, mant);
  const V origin = select(tiny, V::c(big + (C::bias + C::mant + 2)), V::c(big + C::bias));
  return {from_bits<V>((b & Bits<V>::c(C::mant_mask)) + Bits<V>::c(root)),
          from_bits<V>(e | Bits<V>::c(fp::bits(big))) - origin, from_bits<V>(shl(Bits<V>::c(2 * C::bias) - e, mant))};
}
// log(1 + f) + k ln 2 + low, 1 + f in [sqrt(1/2), sqrt(2)). Float: minimax polynomial arranged as in Cephes. Double:
// the series in s = f / (2 + f), arranged as in fdlibm.
template <class V>
constexpr V log_reduced(V f, V k, V low) {
  const V z = f * f, kl = fma(k, V::c(Of<V>::ln2_low), low);
  if constexpr (Of<V>::single) {
    const V p = poly(f, {0.333333313465118408203125f, -0.24999980628490447998046875f, 0.2000068128108978271484375f,
                         -0.1666918694972991943359375f, 0.1425131857395172119140625f, -0.123960316181182861328125f,
                         0.116328060626983642578125f, -0.116638265550136566162109375f, 7.341714948415756e-2f});
    return fma(k, V::c(Of<V>::ln2), f + fma(z, num<V>(-0.5), fma(f * z, p, kl)));
  } else {
    const V s = f / (num<V>(2) + f), s2 = s * s, h = num<V>(0.5) * z;
    const V p = s2 * poly(s2, {0.66666666666666696272613990004174, 0.399999999998992772365369319231831468,
                               0.285714286262102046265454191598, 0.222222110905232361766081794484,
                               0.181828924628691213083442335119, 0.153316108420233188081027718, 0.146177971198767994});
    return fma(k, V::c(Of<V>::ln2), f - (h - fma(s, h + p, kl)));
  }
}
// y = log(x - from) where that is a number; else what it is: -inf at from, NaN below it, inf and NaN as they come.
template <class V>
constexpr V log_domain(V y, V x, V from) {
  const V inf = V::c(Of<V>::inf);
  y = select(lt(x, inf), y, x);
  return select(le(x, from), select(eq(x, from), -inf, V::c(Of<V>::nan)), y);
}
template <class V>
constexpr V log(V x) {
  const auto [m, k, unused] = split(x);
  return log_domain(log_reduced(m - num<V>(1), k, num<V>(0)), x, num<V>(0));
}
// log(u) + c / u with u + c = 1 + x exactly (as fdlibm); u = 2^k (1 + f), and 1 / (1 + f) is needed roughly only.
template <class V>
constexpr V log1p(V x) {
  const V one = num<V>(1), zero = num<V>(0), u = one + x, x1 = u - one;
  const V c = (one - (u - x1)) + (x - x1);
  const auto [m, k, inv] = split(u);
  const Mask<V> near = eq(k, zero);
  const V f = select(near, x, m - one);
  const V low = select(lt(u, num<V>(0x1p64)) & ~near, c * (inv * fma(f, f - one, one)), zero);
  return select(eq(x, zero), x, log_domain(log_reduced(f, k, low), x, -one));
}

// log(x) to about 1.3 times the bits of V, for positive finite x: 2 atanh(s) + k ln 2, s = (m - 1) / (m + 1), the
// leading terms in double-V arithmetic (fdlibm's and SLEEF's pow).
template <class V>
constexpr Pair<V> log_pair(V x) {
  using T = typename V::type;
  const auto [m, k, unused] = split(x);
  const V one = num<V>(1), f = m - one, third = V::c(T(1) / 3);
  const auto d = fast_two_sum(one, m);
  const V inv = one / d.hi, s = f * inv, sl = inv * fma(-s, d.lo, fma(-s, d.hi, f));
  const V z = s * s, zl = fma(s + s, sl, fma(s, s, -z));
  V p;
  if constexpr (Of<V>::single)
    p = poly(z, {0.2000000774860382080078125f, 0.1428107321262359619140625f, 0.1152556836605072021484375f});
  else
    p = poly(
        z, {0.2, 0.142857142857131635960143967168, 0.111111111113840893560578138022, 9.0909090777919183305850982730e-2,
            7.69230492256361420011501195404e-2, 6.667071984426560515846205134949e-2,
            5.860588277599139417350926350991e-2, 5.79401737599257241062566947675e-2});
  const auto t = sum(third, z * p, V::c(Of<V>::single ? T(-9.934107758e-9) : T(1.850371707708594e-17)));
  const V v = s * z, vl = fma(s, zl, fma(sl, z, fma(s, z, -v)));
  const V w = v * t.hi, wl = fma(v, t.lo, fma(vl, t.hi, fma(v, t.hi, -w)));
  const auto a = fast_two_sum(k * V::c(Of<V>::ln2), s + s), b = fast_two_sum(a.hi, w + w);
  const V low = sl + wl;
  return fast_two_sum(b.hi, fma(k, V::c(Of<V>::ln2_low), low + low) + (a.lo + b.lo));
}
// exp(y log |x|) in double-V arithmetic, then C99's special cases.
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
  const auto [n, i] = nearest(pc, C::log2e);
  V r = exp_reduced(fma(n, V::c(-C::ln2), pc) + fma(n, V::c(-C::ln2_low), low), i);

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
