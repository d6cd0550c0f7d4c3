// base/fp.hpp -- bit-exact IEEE-754 operations on float and double that constant evaluation can do on every compiler.
//
// The *_soft functions hold the algorithms (integers, or arithmetic that cannot fail); the plain names use them in
// constant evaluation and the hardware at run time. No compiler accepts inf - inf or x / 0 in a constant expression,
// g++ refuses overflow as well, clang every NaN result, and none has all of fma, sqrt and rint there.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "../config.hpp"

namespace fx::inline v0 {
namespace detail::fp {

__extension__ typedef unsigned __int128 u128;  // NOLINT(modernize-use-using): `using` cannot be an extension

template <class T>
concept Real = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <Real T>
using uint_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

constexpr auto bits(Real auto v) { return std::bit_cast<uint_of<decltype(v)>>(v); }
template <Real T>
constexpr T from_bits(uint_of<T> u) {
  return std::bit_cast<T>(u);
}

template <Real T>
struct Format {
  using U = uint_of<T>;
  static constexpr int mant = sizeof(T) == 4 ? 23 : 52;       // stored mantissa bits
  static constexpr int emin = sizeof(T) == 4 ? -149 : -1074;  // exponent of the smallest subnormal
  static constexpr int emax = sizeof(T) == 4 ? 128 : 1024;    // 2^emax is the first power that overflows
  static constexpr U sign_bit = U(1) << (8 * sizeof(T) - 1);
  static constexpr U quiet_bit = U(1) << (mant - 1);
  static constexpr U inf_bits = U(sign_bit - 1) >> mant << mant;
  static constexpr U nan_bits = inf_bits | quiet_bit;
  static constexpr T nan() { return from_bits<T>(nan_bits); }
  static constexpr T inf(bool neg) { return from_bits<T>(inf_bits | (neg ? sign_bit : 0)); }
  static constexpr T pow2(int e) { return from_bits<T>(U(e + emax - 1) << mant); }  // for normal results
  // Added to a whole number, it leaves that and twice the bias in the low bits.
  static constexpr T scale_magic = from_bits<T>((U(emax - 1 + mant) << mant | U(1) << (mant - 1)) + 2 * (emax - 1));
};

constexpr bool signbit(Real auto v) { return bits(v) & Format<decltype(v)>::sign_bit; }
template <Real T>
constexpr T abs(T v) {
  return from_bits<T>(bits(v) & ~Format<T>::sign_bit);
}
template <Real T>
constexpr T copysign(T v, T sign) {
  return from_bits<T>((bits(v) & ~Format<T>::sign_bit) | (bits(sign) & Format<T>::sign_bit));
}
constexpr bool is_nan(Real auto v) { return bits(abs(v)) > Format<decltype(v)>::inf_bits; }
constexpr bool is_inf(Real auto v) { return bits(abs(v)) == Format<decltype(v)>::inf_bits; }
// The NaN that an operation on a and b returns when one of them is a NaN: the first one, made quiet (x86's rule).
template <Real T>
constexpr T first_nan(T a, T b) {
  return from_bits<T>(bits(is_nan(a) ? a : b) | Format<T>::quiet_bit);
}

// The number (-1)^neg * m * 2^e. Where bits were dropped below m, its last bit is set ("sticky"), which is all that
// rounding must know of them.
struct Wide {
  bool neg = false;
  u128 m = 0;
  int e = 0;
};

constexpr int width(u128 m) {
  const auto high = std::uint64_t(m >> 64);
  return high ? 64 + int(std::bit_width(high)) : int(std::bit_width(std::uint64_t(m)));
}
constexpr u128 shift_right_sticky(u128 m, int s) {
  if (s >= 128) return m != 0;
  return (m >> s) | ((m >> s << s) != m);
}

// The exact value of a finite v; m keeps the format's own scale, so that its parity is the parity of the bits.
template <Real T>
constexpr Wide decode(T v) {
  using F = Format<T>;
  const uint_of<T> u = bits(abs(v)), field = u >> F::mant;
  if (!field) return {signbit(v), u, F::emin};
  return {signbit(v), u - ((field - 1) << F::mant), F::emin + int(field) - 1};
}

// The T nearest to w (ties to even), with gradual underflow and overflow to inf.
template <Real T>
constexpr T round_pack(Wide w) {
  using F = Format<T>;
  using U = uint_of<T>;
  const U sign = w.neg ? F::sign_bit : U(0);
  if (!w.m) return from_bits<T>(sign);
  int last = width(w.m) - (F::mant + 1) + w.e;  // exponent of the result's last bit
  if (last < F::emin) last = F::emin;
  if (last >= F::emax - F::mant) return F::inf(w.neg);
  const int s = last - w.e;
  if (s > 128) return from_bits<T>(sign);
  u128 q = s <= 0 ? w.m << -s : s < 128 ? w.m >> s : u128(0);
  if (s > 0) {
    const u128 rest = s < 128 ? w.m - (q << s) : w.m, half = u128(1) << (s - 1);
    q += rest > half || (rest == half && (q & 1));
  }
  // q's top bit adds one to the exponent field; so does a carry out of rounding, up to the bits of inf.
  return from_bits<T>(sign | U((U(last - F::emin) << F::mant) + U(q)));
}

// w with its top bit at bit 125: the two bits above leave room for a carry.
constexpr Wide normalize(Wide w) {
  const int s = 126 - width(w.m);
  return {w.neg, w.m << s, w.e - s};
}

template <Real T>
constexpr T fma_soft(T a, T b, T c) {
  if (is_nan(a) || is_nan(b)) return first_nan(a, b);
  if (is_nan(c)) return first_nan(c, c);
  const bool neg = signbit(a) != signbit(b);
  if (is_inf(a) || is_inf(b)) {
    if (a == 0 || b == 0 || (is_inf(c) && signbit(c) != neg)) return Format<T>::nan();
    return Format<T>::inf(neg);
  }
  if (is_inf(c)) return c;
  if (a == 0 || b == 0) return a * b + c;
  const Wide da = decode(a), db = decode(b), dc = decode(c);
  const Wide product = {neg, da.m * db.m, da.e + db.e};
  if (!dc.m) return round_pack<T>(product);
  const Wide x = normalize(product), y = normalize(dc);
  const bool swap = x.e < y.e || (x.e == y.e && x.m < y.m);
  const Wide &big = swap ? y : x, &small = swap ? x : y;
  // Only shifts over 20 places lose bits, and then the sticky bit is far below the rounding.
  const u128 m = shift_right_sticky(small.m, big.e - small.e);
  const Wide sum = {big.neg, big.neg == small.neg ? big.m + m : big.m - m, big.e};
  return sum.m ? round_pack<T>(sum) : T(0);
}

template <Real T>
constexpr T sqrt_soft(T v) {
  if (is_nan(v)) return first_nan(v, v);
  if (v == 0) return v;
  if (signbit(v)) return Format<T>::nan();
  if (is_inf(v)) return v;
  Wide w = normalize(decode(v));
  if (w.e % 2) w = {false, w.m >> 1, w.e + 1};
  // m is in [2^124, 2^126): Newton's steps from a linear guess (off by 6 % at most) end on floor(root) or one above.
  std::uint64_t r = (std::uint64_t(w.m >> 64) + (std::uint64_t(1) << 61)) / 3 * 4;
  for (int i = 0; i < 4; ++i) r = std::uint64_t((w.m / r + r) >> 1);
  if (u128(r) * r > w.m) --r;
  return round_pack<T>({false, u128(r) << 1 | (u128(r) * r != w.m), w.e / 2 - 1});
}

template <Real T>
constexpr T rint_soft(T v) {
  constexpr T big = Format<T>::pow2(Format<T>::mant);  // from here on every value is an integer
  if (!(abs(v) < big)) return is_nan(v) ? first_nan(v, v) : v;
  return copysign((abs(v) + big) - big, v);
}
template <Real T>
constexpr T trunc_soft(T v) {
  using F = Format<T>;
  const int e = int(bits(abs(v)) >> F::mant) - (F::emax - 1);
  if (e < 0) return copysign(T(0), v);
  if (e >= F::mant) return is_nan(v) ? first_nan(v, v) : v;
  return from_bits<T>(bits(v) >> (F::mant - e) << (F::mant - e));
}
template <Real T>
constexpr T floor_soft(T v) {
  const T t = trunc_soft(v);
  return t > v ? t - 1 : t;
}

// Plain operators wherever they cannot fail in constant evaluation; elsewhere a scaled copy tells if they overflow.
template <Real T>
constexpr T add_soft(T a, T b) {
  using F = Format<T>;
  constexpr T half = F::pow2(F::emax - 1);
  if (abs(a) < half && abs(b) < half) return a + b;
  if (is_nan(a) || is_nan(b)) return first_nan(a, b);
  if (is_inf(a)) return is_inf(b) && a != b ? F::nan() : a;
  if (is_inf(b)) return b;
  return abs(a / 2 + b / 2) >= half ? F::inf(signbit(a)) : a + b;
}
template <Real T>
constexpr T sub_soft(T a, T b) {
  return is_nan(b) ? first_nan(a, b) : add_soft(a, -b);
}
template <Real T>
constexpr T mul_soft(T a, T b) {
  using F = Format<T>;
  constexpr T safe = F::pow2(F::emax / 2 - 1), down = F::pow2(-F::emax / 2);
  if (abs(a) < safe && abs(b) < safe) return a * b;
  if (is_nan(a) || is_nan(b)) return first_nan(a, b);
  const T inf = F::inf(signbit(a) != signbit(b));
  if (is_inf(a) || is_inf(b)) return a == 0 || b == 0 ? F::nan() : inf;
  return abs((a * down) * (b * down)) >= 1 ? inf : a * b;
}
template <Real T>
constexpr T div_soft(T a, T b) {
  using F = Format<T>;
  constexpr T safe = F::pow2(F::emax / 2 - 1), down = F::pow2(-F::emax / 2);
  if (abs(a) < safe && abs(b) > down) return a / b;
  if (is_nan(a) || is_nan(b)) return first_nan(a, b);
  const T inf = F::inf(signbit(a) != signbit(b));
  if (is_inf(a)) return is_inf(b) ? F::nan() : inf;
  if (b == 0) return a == 0 ? F::nan() : inf;
  // No quotient lies between the largest number and 2^emax, so exact scaling decides.
  return abs(b) < 1 && abs(a * down) >= abs(b / down) ? inf : a / b;
}

// The remainder with the sign of a, exact (C's fmod): long division of the integers, 64 bits at a time.
template <Real T>
constexpr T rem_soft(T a, T b) {
  if (is_nan(a) || is_nan(b)) return first_nan(a, b);
  if (is_inf(a) || b == 0) return Format<T>::nan();
  const Wide x = decode(a), y = decode(b);
  if (is_inf(b) || y.e - x.e > 64) return a;  // y.m is not 0, so that |b| > |a|
  if (y.e > x.e) return round_pack<T>({x.neg, x.m % (y.m << (y.e - x.e)), x.e});
  u128 r = x.m % y.m;
  for (int left = x.e - y.e; left > 0 && r; left -= 64) r = (r << (left < 64 ? left : 64)) % y.m;
  return round_pack<T>({x.neg, r, y.e});
}

template <class To, Real From>
constexpr To to_int(From v) {
  constexpr auto max = static_cast<To>(std::make_unsigned_t<To>(-1) >> std::is_signed_v<To>);
  constexpr auto min = static_cast<To>(~max);
  constexpr From low = From(min), past = From(max / 2 + 1) * 2;  // exact: powers of two, or 0
  return is_nan(v) ? To(0) : v <= low ? min : v >= past ? max : static_cast<To>(v);
}
// Between float and double; a NaN keeps the top of its payload and becomes quiet, as in hardware.
template <Real To, Real From>
constexpr To resize_soft(From v) {
  if (!is_nan(v)) return static_cast<To>(v);
  const std::uint64_t payload = std::uint64_t(bits(v)) << (64 - Format<From>::mant) >> (64 - Format<To>::mant);
  return copysign(from_bits<To>(uint_of<To>(payload) | Format<To>::nan_bits), signbit(v) ? To(-1) : To(1));
}

// The public doors: *_soft in constant evaluation, the hardware at run time.
#define FX_FP_UNARY(name)                                         \
  template <Real T>                                               \
  constexpr T name(T v) {                                         \
    if (__builtin_is_constant_evaluated()) return name##_soft(v); \
    if constexpr (sizeof(T) == 4) return __builtin_##name##f(v);  \
    return T(__builtin_##name(v));                                \
  }
#define FX_FP_BINARY(name, op)                                             \
  template <Real T>                                                        \
  constexpr T name(T a, T b) {                                             \
    return __builtin_is_constant_evaluated() ? name##_soft(a, b) : a op b; \
  }
FX_FP_UNARY(sqrt)
FX_FP_UNARY(rint)
FX_FP_UNARY(floor)
FX_FP_UNARY(trunc)
FX_FP_BINARY(add, +)
FX_FP_BINARY(sub, -)
FX_FP_BINARY(mul, *)
FX_FP_BINARY(div, /)
#undef FX_FP_UNARY
#undef FX_FP_BINARY

template <Real T>
constexpr T fma(T a, T b, T c) {
  if (__builtin_is_constant_evaluated()) return fma_soft(a, b, c);
  if constexpr (sizeof(T) == 4) return __builtin_fmaf(a, b, c);
  return T(__builtin_fma(a, b, c));
}
// a * 2^n for a whole n, |n| < 2 (emax - 1). One rounding if a 2^floor(n / 2) is exact; a is NaN if n is.
template <Real T>
constexpr T scale(T a, T n) {
  using F = Format<T>;
  using U = uint_of<T>;
  const U i = bits(add(n, F::scale_magic));
  const U half = U(i << (F::mant - 1)) & F::inf_bits;
  return mul(mul(a, from_bits<T>(half)), from_bits<T>(U(i << F::mant) - half));
}
template <Real T>
constexpr T rem(T a, T b) {
  if (__builtin_is_constant_evaluated()) return rem_soft(a, b);
  if constexpr (sizeof(T) == 4) return __builtin_fmodf(a, b);
  return T(__builtin_fmod(a, b));
}
template <Real T>
constexpr bool lt(T a, T b) {
  return a < b;
}
template <Real T>
constexpr bool le(T a, T b) {
  return a <= b;
}
template <Real T>
constexpr bool eq(T a, T b) {
  return a == b;
}

// Never undefined: float to int truncates, clamps, and makes NaN 0; to bool asks "is not zero" (NaN: true); int to int
// wraps; everything to float rounds to nearest even, double overflowing to inf.
template <class To, class From>
constexpr To convert(From v) {
  if constexpr (std::is_same_v<To, From>) return v;
  if constexpr (std::is_same_v<To, bool>) return v != From(0);
  if constexpr (Real<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) return to_int<To>(v);
  if constexpr (Real<From> && Real<To>)
    if (__builtin_is_constant_evaluated()) return resize_soft<To>(v);
  return static_cast<To>(v);
}

}  // namespace detail::fp
}  // namespace fx::inline v0
