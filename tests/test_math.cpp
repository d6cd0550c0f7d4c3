// The functions of ops/math.hpp against libm in twice the precision, stored bits and special values; the operations of
// ops/scalar.hpp, at run time and in constant evaluation.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fx/ops/math.hpp>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using fx::detail::Scalar;
namespace math = fx::detail::math;
using f32 = float;
using f64 = double;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
using Lim = std::numeric_limits<T>;
template <class T>
using Word = std::conditional_t<sizeof(T) == 4, u32, u64>;
template <class T>
constexpr T inf = Lim<T>::infinity();
template <class T>
constexpr T nan = Lim<T>::quiet_NaN();

template <class T>
constexpr Word<T> bits(T v) {
  return std::bit_cast<Word<T>>(v);
}
// A value the optimizer knows nothing of.
template <class T>
T opaque(T v) {
  volatile T o = v;
  return o;
}

struct Random {
  u64 state = 1;
  u64 operator()() {  // splitmix64
    u64 z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  f64 unit() { return f64((*this)() >> 11) * 0x1p-53; }
};

#define FN(name) [](auto... x) { return math::name(x...); }

// |got - want| in units of the last place of T at want. Past the largest number want counts as the next power of two.
template <class T, class L>
f64 ulps(T got, L want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : inf<f64>;
  if (std::isinf(T(want)) && std::isinf(got)) return std::signbit(want) == std::signbit(got) ? 0 : inf<f64>;
  if (std::isinf(want)) return inf<f64>;
  int e = 0;
  std::frexp(want, &e);
  int last = want == 0 ? Lim<T>::min_exponent : e;
  if (last < Lim<T>::min_exponent) last = Lim<T>::min_exponent;
  if (last > Lim<T>::max_exponent) last = Lim<T>::max_exponent;
  const L past = std::copysign(std::ldexp(L(1), Lim<T>::max_exponent), L(got));
  return f64(std::fabs(((std::isinf(got) ? past : L(got)) - want) / std::ldexp(L(1), last - Lim<T>::digits)));
}

// The largest error, and where.
struct Worst {
  f64 error = 0, x = 0, y = 0;
  void see(f64 e, f64 at, f64 at2 = 0) {
    if (!(e <= error)) *this = {e, at, at2};
  }
};
#define CHECK_WORST(w, bound)                                \
  do {                                                       \
    INFO("at ", (w).x, " ", (w).y, ": ", (w).error, " ulp"); \
    CHECK((w).error <= (bound));                             \
  } while (0)

// Every 2003rd float.
template <class F, class R>
Worst sweep32(F f, R ref) {
  Worst w;
  for (u64 b = 0; b < u64(1) << 32; b += 2003) {
    const f32 x = std::bit_cast<f32>(u32(b));
    w.see(ulps(f(Scalar<f32>::c(x)).v, ref(f64(x))), f64(x));
  }
  return w;
}
// Random bit patterns, uniform numbers in [lo, hi] and down towards 0, and the neighbours of difficult points.
template <class F, class R>
Worst sweep64(F f, R ref, f64 lo, f64 hi, const std::vector<f64>& difficult) {
  Worst w;
  Random r;
  auto see = [&](f64 x) { w.see(ulps(f(Scalar<f64>::c(x)).v, ref((long double)x)), x); };
  for (int i = 0; i < 200000; ++i) see(std::bit_cast<f64>(r()));
  for (int i = 0; i < 100000; ++i) see((lo + (hi - lo) * r.unit()) * (i % 2 ? 1 : std::ldexp(1, -int(r() % 60))));
  for (f64 d : difficult)
    for (int i = -8; i <= 8; ++i) see(std::bit_cast<f64>(u64(i64(bits(d)) + i)));
  return w;
}
std::vector<f64> multiples(f64 step, int n) {
  std::vector<f64> v;
  for (int i = -n; i <= n; ++i)
    if (i) v.push_back(i * step);
  return v;
}

template <class L>
L erf_inv_ref(L x) {
  const L a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * inf<L> : nan<L>;
  if (a < L(1e-6)) return x * (std::sqrt(std::acos(L(-1))) / 2) * (1 + std::acos(L(-1)) / 12 * x * x);
  // Winitzki's approximation (2e-3), then Halley's steps, each cubing the error.
  const L w = std::log((1 - a) * (1 + a)), h = L(4.330746750799873) + w / 2;
  L y = std::sqrt(std::sqrt(h * h - w / L(0.147)) - h);
  for (int i = 0; i < 3; ++i) {
    const L error = a < L(0.5) ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const L s = error / (2 / std::sqrt(std::acos(L(-1))) * std::exp(-y * y));
    y -= s / (1 + y * s);
  }
  return std::copysign(y, x);
}

TEST_CASE("accuracy over the whole range") {
  const f64 ln2 = 0.69314718055994530942, pi = 3.14159265358979323846;
#define ACCURACY(name, bound, reference, lo, hi, ...)                \
  SUBCASE(#name) {                                                   \
    auto ref = [](auto x) { return decltype(x)(reference); };        \
    CHECK_WORST(sweep32(FN(name), ref), bound);                      \
    CHECK_WORST(sweep64(FN(name), ref, lo, hi, __VA_ARGS__), bound); \
  }
  ACCURACY(exp, 1.5, std::exp(x), -745, 710, multiples(ln2 / 2, 2200))
  ACCURACY(expm1, 1.5, std::expm1(x), -40, 710, multiples(ln2 / 2, 2200))
  ACCURACY(tanh, 1.5, std::tanh(x), -20, 20, multiples(ln2 / 4, 120))
  ACCURACY(logistic, 2.0, 1 / (1 + std::exp(-x)), -745, 40, multiples(ln2 / 2, 2200))
  ACCURACY(log, 1.5, std::log(x), 0, 3, {1, 0.7071067811865476, 1.4142135623730951, 2, 2.2250738585072014e-308})
  ACCURACY(log1p, 1.5, std::log1p(x), -1, 3, {-1, -0.2928932188134525, 0.41421356237309515, 1, 2, 4, 9007199254740992})
  ACCURACY(sin, 1.5, std::sin(x), -100, 100, multiples(pi / 2, 1000))
  ACCURACY(cos, 1.5, std::cos(x), -100, 100, multiples(pi / 2, 1000))
  ACCURACY(rsqrt, 1.5, 1 / std::sqrt(x), 0, 4, {1, 2, 4})
  ACCURACY(erf_inv, 4, erf_inv_ref(x), -1, 1, {0.859375, 0.5, 1, -1, 0.9999, 1e-300})
#undef ACCURACY
}
TEST_CASE("erf_inv near 1") {
  Worst w;
  Random r;
  for (int i = 0; i < 100000; ++i) {
    const f64 x = 1 - std::ldexp(r.unit(), -int(r() % 53));
    w.see(ulps(math::erf_inv(Scalar<f64>::c(x)).v, erf_inv_ref((long double)x)), x);
  }
  CHECK_WORST(w, 4);
}
TEST_CASE("sin and cos of huge numbers near multiples of pi/2") {
  Worst w;
  Random r;
  for (int i = 0; i < 20000; ++i) {
    // Multiples of double's pi/2 below 2^53 pi/2, and their neighbours.
    const f64 k = std::rint(std::ldexp(r.unit(), int(r() % 53))), near = k * 1.57079632679489661923;
    for (f64 x : {near, std::nextafter(near, 0), std::nextafter(near, inf<f64>)}) {
      w.see(ulps(math::sin(Scalar<f64>::c(x)).v, std::sin((long double)x)), x);
      w.see(ulps(math::cos(Scalar<f64>::c(x)).v, std::cos((long double)x)), x);
    }
  }
  CHECK_WORST(w, 1.5);
}
template <class T, class L>
Worst sweep_pow(int n, L log_max) {
  Worst w;
  Random r;
  for (int i = 0; i < n; ++i) {
    T x = std::bit_cast<T>(Word<T>(r())), y = std::bit_cast<T>(Word<T>(r()));
    if (i % 4) {  // results over all magnitudes
      x = std::fabs(x);
      if (i % 4 == 2) x = T(1 + (r.unit() - 0.5) * std::ldexp(1, -int(r() % Lim<T>::digits)));
      y = T((2 * r.unit() - 1) * f64(log_max / std::log(L(x))));
      if (i % 4 == 3) y = std::rint(y);
      if (i % 8 == 3) x = -x;
    }
    w.see(ulps(math::pow(Scalar<T>::c(x), Scalar<T>::c(y)).v, std::pow(L(x), L(y))), f64(x), f64(y));
  }
  return w;
}
TEST_CASE("pow over the whole range") {
  CHECK_WORST((sweep_pow<f32, long double>(400000, 104)), 4);
  CHECK_WORST((sweep_pow<f64, long double>(400000, 745)), 4);
}

// Correctly rounded by mpmath: not libm's word.
TEST_CASE("known values") {
  struct Known {
    f64 x, y;
  };
#define KNOWN(name, bound, ...) \
  for (Known k : std::initializer_list<Known>{__VA_ARGS__}) CHECK(ulps(FN(name)(Scalar<f64>::c(k.x)).v, k.y) <= bound)
  KNOWN(sin, 1, {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8}, {0x1.6ac5b262ca1ffp+849, 1},
        {1e22, -0x1.b453ab76bf397p-1}, {0x1p+1000, -0x1.460b8ae1c886ep-3}, {411557987, 0x1.5ca4c2eec7d5cp-29},
        {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, {0x1.921fb54442d18p+0, 1});
  KNOWN(cos, 1, {0x1.fffffffffffffp+1023, -0x1.fffe62ecfab75p-1}, {0x1.6ac5b262ca1ffp+849, -0x1.14ae72e6ba22fp-61},
        {1e22, 0x1.0be2cef01c8f4p-1}, {0x1p+1000, 0x1.f9785160c8815p-1}, {0x1.921fb54442d18p+1, -1},
        {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, {0, 1});
  KNOWN(exp, 1, {1, 0x1.5bf0a8b145769p+1}, {709.782712893384, 0x1.fffffffffff2ap+1023},
        {-708.5, 0x0.e6cf6d08897acp-1022}, {-745.1, 0x1p-1074});
  KNOWN(log, 1, {10, 0x1.26bb1bbb55516p+1}, {0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
        {0x1p-1074, -0x1.74385446d71c3p+9}, {1e-310, -0x1.64e69394d9508p+9});
  KNOWN(log1p, 1, {1e-16, 1e-16}, {1e-5, 0x1.4f8aea9ae7317p-17}, {-0x1.fffffffffffffp-1, -0x1.25e4f7b2737fap+5},
        {1e300, 0x1.5963447f87fb5p+9});
  KNOWN(tanh, 1, {0.1, 0x1.983d7795f413ap-4}, {0.5, 0x1.d9353d7568af3p-2}, {19, 0x1.fffffffffffffp-1});
  KNOWN(erf_inv, 2, {0.5, 0x1.e861fbb24c00ap-2}, {0.99, 0x1.d2466082bb20ep+0},
        {0x1.fffffffffffffp-1, 0x1.7744f8f74e94ap+2}, {-0.859375, -0x1.0ab9e32aec812p+0});
#undef KNOWN
  // The float nearest to a multiple of pi/2.
  CHECK(ulps(math::cos(Scalar<f32>::c(16367173 * 0x1p72f)).v, -0x1.bbdd52a58eafbp-30) <= 1);
}

template <class T>
constexpr bool same(T a, T b) {
  return bits(a) == bits(b) || (a != a && b != b);
}
TEST_CASE_TEMPLATE("special values", T, f32, f64) {
  const T big = Lim<T>::max(), tiny = Lim<T>::denorm_min();
  struct Case {
    T x, y;
  };
#define SPECIAL(name, ...) \
  for (Case k : std::initializer_list<Case>{__VA_ARGS__}) CHECK(same(FN(name)(Scalar<T>::c(opaque(k.x))).v, k.y))
  SPECIAL(exp, {inf<T>, inf<T>}, {-inf<T>, 0}, {nan<T>, nan<T>}, {0, 1}, {T(-0.0), 1}, {big, inf<T>}, {-big, 0},
          {tiny, 1});
  SPECIAL(expm1, {inf<T>, inf<T>}, {-inf<T>, -1}, {nan<T>, nan<T>}, {0, 0}, {T(-0.0), T(-0.0)}, {tiny, tiny},
          {-big, -1}, {big, inf<T>});
  SPECIAL(log, {inf<T>, inf<T>}, {-inf<T>, nan<T>}, {nan<T>, nan<T>}, {0, -inf<T>}, {T(-0.0), -inf<T>}, {1, 0},
          {-tiny, nan<T>}, {-1, nan<T>});
  SPECIAL(log1p, {inf<T>, inf<T>}, {-inf<T>, nan<T>}, {nan<T>, nan<T>}, {0, 0}, {T(-0.0), T(-0.0)}, {-1, -inf<T>},
          {-2, nan<T>}, {tiny, tiny}, {-tiny, -tiny});
  SPECIAL(tanh, {inf<T>, 1}, {-inf<T>, -1}, {nan<T>, nan<T>}, {0, 0}, {T(-0.0), T(-0.0)}, {tiny, tiny}, {-big, -1});
  SPECIAL(logistic, {inf<T>, 1}, {-inf<T>, 0}, {nan<T>, nan<T>}, {0, T(0.5)}, {T(-0.0), T(0.5)}, {big, 1}, {-big, 0});
  SPECIAL(sin, {inf<T>, nan<T>}, {-inf<T>, nan<T>}, {nan<T>, nan<T>}, {0, 0}, {T(-0.0), T(-0.0)}, {tiny, tiny});
  SPECIAL(cos, {inf<T>, nan<T>}, {-inf<T>, nan<T>}, {nan<T>, nan<T>}, {0, 1}, {T(-0.0), 1}, {tiny, 1});
  SPECIAL(rsqrt, {inf<T>, 0}, {-1, nan<T>}, {nan<T>, nan<T>}, {0, inf<T>}, {T(-0.0), -inf<T>}, {4, T(0.5)});
  SPECIAL(erf_inv, {1, inf<T>}, {-1, -inf<T>}, {nan<T>, nan<T>}, {0, 0}, {T(-0.0), T(-0.0)}, {T(1.5), nan<T>},
          {-inf<T>, nan<T>}, {inf<T>, nan<T>});
#undef SPECIAL
}
// C99 F.9.4.4, in full: every pair of these, and std::pow is right about all of them.
TEST_CASE_TEMPLATE("pow's special values", T, f32, f64) {
  const T values[] = {0,
                      1,
                      2,
                      3,
                      T(0.5),
                      T(1.5),
                      T(1e30),
                      inf<T>,
                      Lim<T>::max(),
                      Lim<T>::min(),
                      T(0x1p22) + 1,
                      Lim<T>::denorm_min(),
                      nan<T>,
                      T(1) / 3,
                      Lim<T>::epsilon()};
  for (T a : values)
    for (T b : values)
      for (int s = 0; s < 4; ++s) {
        const T x = s & 1 ? -a : a, y = s & 2 ? -b : b;
        const T got = math::pow(Scalar<T>::c(opaque(x)), Scalar<T>::c(opaque(y))).v, want = std::pow(x, y);
        INFO(x, " ", y, ": ", got, " ", want);
        const bool exact = std::isnan(want) || std::isinf(want) || want == 0 || a == 1 || b == 0;
        CHECK((exact ? same(got, want) : ulps(got, std::pow((long double)x, (long double)y)) <= 4));
      }
}

// ---- constant evaluation and stored bits ----

// The bits of every function at x; NaNs count as one value.
template <class T>
constexpr std::array<Word<T>, 12> all(T x) {
  using V = Scalar<T>;
  const V v = V::c(x);
  const V y[] = {math::exp(v),
                 math::expm1(v),
                 math::log(v),
                 math::log1p(v),
                 math::tanh(v),
                 math::sin(v),
                 math::cos(v),
                 math::rsqrt(v),
                 math::logistic(v),
                 math::erf_inv(v),
                 math::pow(v, V::c(T(2.6))),
                 math::pow(V::c(T(0.7)), v)};
  std::array<Word<T>, 12> r{};
  for (std::size_t i = 0; i < 12; ++i) r[i] = bits(y[i].v == y[i].v ? y[i].v : nan<T>);
  return r;
}
template <class T>
struct Stored {
  T x;
  std::array<Word<T>, 12> y;
};
// What a run printed (x86-64, g++ 12, -O2 -mfma).
constexpr Stored<f32> stored32[] = {
    {0x1.333334p-2f,
     {0x3facc82c, 0x3eb320b2, 0xbf9a1bc8, 0x3e86549c, 0x3e9526ee, 0x3e974e6d, 0x3f7490ef, 0x3fe9b1e8, 0x3f130eab,
      0x3e8b803c, 0x3d33025a, 0x3f6605a2}},
    {-0x1.666666p-1f,
     {0x3efe406e, 0xbf00dfc9, 0x7fc00000, 0xbf9a1bc8, 0xbf1ab7d8, 0xbf24eb73, 0x3f43ccb3, 0x7fc00000, 0x3ea9e34b,
      0xbf3b9d4e, 0x7fc00000, 0x3fa44d2b}},
    {0x1.b33334p+0f,
     {0x40af2a94, 0x408f2a94, 0x3f07d741, 0x3f7e45c0, 0x3f6f76f8, 0x3f7dddbf, 0xbe03efd3, 0x3f4457d1, 0x3f5874f7,
      0x7fc00000, 0x407e4cec, 0x3f0b9b58}},
    {0x1.94p+4f,
     {0x51ac3684, 0x51ac3684, 0x404ea516, 0x40512170, 0x3f800000, 0x3def9895, 0x3f7e3df8, 0x3e4bc89c, 0x3f800000,
      0x7fc00000, 0x458a453e, 0x39009ffd}},
    {0x1.4f8b58p-17f,
     {0x3f800054, 0x3727c5e3, 0xc13834f1, 0x3727c575, 0x3727c5ac, 0x3727c5ac, 0x3f800000, 0x439e1d28, 0x3f00002a,
      0x3714af28, 0x29e12e23, 0x3f7fffc4}},
    {-0x1.62p+6f,
     {0x27fce2, 0xbf800000, 0x7fc00000, 0x7fc00000, 0xbf800000, 0xbf029bd0, 0x3f5c2d01, 0x7fc00000, 0x27fce2,
      0x7fc00000, 0x7fc00000, 0x563a12ca}},
};
constexpr Stored<f64> stored64[] = {
    {0x1.3333333333333p-2,
     {0x3ff599058c8c1a96, 0x3fd6641632306a56, 0xbff34378fcbda721, 0x3fd0ca937be1b9dc, 0x3fd2a4dda7d914fa,
      0x3fd2e9cd95baba33, 0x3fee921dd42f09ba, 0x3ffd363d1848dcbf, 0x3fe261d545e46a8a, 0x3fd1700774485ed3,
      0x3fa6604ae3876c7b, 0x3fecc0b43ba5c3d9}},
    {-0x1.6666666666666p-1,
     {0x3fdfc80db9dd5542, 0xbfe01bf92311555f, 0x7ff8000000000000, 0xbff34378fcbda720, 0xbfe356fb17af2e91,
      0xbfe49d6e694619b8, 0x3fe87996529f9d93, 0x7ff8000000000000, 0x3fd53c695abcd715, 0xbfe773a9da42b44f,
      0x7ff8000000000000, 0x3ff489a54f2d42c0}},
    {0x1.b333333333333p+0,
     {0x4015e552770df8a6, 0x4011e552770df8a7, 0x3fe0fae81914a991, 0x3fefc8b7f138bdea, 0x3fedeedf00d3e7f5,
      0x3fefbbb7d72f98b6, 0xbfc07df9f4a26c86, 0x3fe88afa2908d8c4, 0x3feb0e9edc4324d8, 0x7ff8000000000000,
      0x400fc99d7b84eddd, 0x3fe1736b10d5852e}},
    {0x1.94p+4,
     {0x423586d0722b3eeb, 0x423586d0722a3eeb, 0x4009d4a2ceba576a, 0x400a242e10e95853, 0x3ff0000000000000,
      0x3fbdf3129dd57b0d, 0x3fefc7befdb8441a, 0x3fc9791363068b54, 0x3feffffffffe8373, 0x7ff8000000000000,
      0x40b148a826e03e1b, 0x3f20140016475f28}},
    {0x1.4f8b588e368f1p-17,
     {0x3ff0000a7c5e340e, 0x3ee4f8bc681cdfb6, 0xc027069e2aa2aa5b, 0x3ee4f8aea9ae7317, 0x3ee4f8b588e06854,
      0x3ee4f8b588e1e8a2, 0x3feffffffff920c8, 0x4073c3a4edfa9758, 0x3fe000053e2d6239, 0x3ee295e50302c8dd,
      0x3d3c25c26849767b, 0x3feffff8851e9061}},
    {-0x1.624p+9,
     {0xe6cf6d08897ac, 0xbff0000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0xbff0000000000000,
      0x3fefeb71a8a1a38b, 0x3fb21fc64099fe94, 0x7ff8000000000000, 0xe6cf6d08897ac, 0x7ff8000000000000,
      0x7ff8000000000000, 0x56b7d61cad879c8a}},
};
template <class T, std::size_t n>
constexpr bool reproduces(const Stored<T> (&stored)[n], std::size_t i) {
  return all(stored[i].x) == stored[i].y;
}
static_assert(reproduces(stored32, 0) && reproduces(stored32, 1) && reproduces(stored32, 2));
static_assert(reproduces(stored32, 3) && reproduces(stored32, 4) && reproduces(stored32, 5));
static_assert(reproduces(stored64, 0) && reproduces(stored64, 1) && reproduces(stored64, 2));
static_assert(reproduces(stored64, 3) && reproduces(stored64, 4) && reproduces(stored64, 5));

TEST_CASE("run time gives the stored bits too") {
  for (const auto& k : stored32) CHECK(all(opaque(k.x)) == k.y);
  for (const auto& k : stored64) CHECK(all(opaque(k.x)) == k.y);
}

// ---- operations ----

template <class T>
constexpr Scalar<T> s(T v) {
  return Scalar<T>::c(v);
}
// Everything at once, so that the same text is checked at run time and in constant evaluation.
template <class T, class Hide>
constexpr bool integers(Hide hide) {
  constexpr T min = Lim<T>::min(), max = Lim<T>::max(), ones = T(~T(0));
  constexpr int width = 8 * sizeof(T);
  auto v = [&](T x) { return s(hide(x)); };
  bool ok = (v(max) + v(1)).v == min && (v(min) - v(1)).v == max && (v(max) * v(2)).v == T(ones - 1);
  ok = ok && (-v(1)).v == ones && abs(v(min)).v == min && abs(v(7)).v == 7;
  ok = ok && idiv(v(7), v(2)).v == 3 && irem(v(7), v(2)).v == 1;
  ok = ok && idiv(v(5), v(0)).v == ones && irem(v(5), v(0)).v == 5 && idiv(v(0), v(0)).v == ones;
  ok = ok && (v(6) & v(3)).v == 2 && (v(6) | v(3)).v == 7 && (v(6) ^ v(3)).v == 5 && (~v(0)).v == ones;
  ok = ok && shl(v(3), v(2)).v == 12 && shl(v(1), v(width)).v == 0 && shl(v(1), v(ones)).v == 0;
  ok = ok && shl(v(1), v(width - 1)).v == T(Word<T>(1) << (width - 1)) && shr(v(12), v(2)).v == 3;
  ok = ok && shr(v(max), v(width)).v == 0 && shr(v(max), v(ones)).v == 0;
  ok = ok && lt(v(min), v(max)).v && !lt(v(max), v(min)).v && le(v(3), v(3)).v && eq(v(3), v(3)).v && ne(v(3), v(4)).v;
  ok = ok && select(s(hide(true)), v(1), v(2)).v == 1 && select(s(hide(false)), v(1), v(2)).v == 2;
  if constexpr (std::is_signed_v<T>) {
    ok = ok && idiv(v(-7), v(2)).v == -3 && irem(v(-7), v(2)).v == -1 && idiv(v(7), v(-2)).v == -3;
    ok = ok && irem(v(7), v(-2)).v == 1 && idiv(v(min), v(-1)).v == min && irem(v(min), v(-1)).v == 0;
    ok = ok && irem(v(-5), v(0)).v == -5 && idiv(v(min), v(min)).v == 1 && abs(v(-7)).v == 7;
    ok = ok && shr(v(-8), v(1)).v == -4 && shr(v(-8), v(width)).v == -1 && shr(v(-8), v(-1)).v == -1;
    ok = ok && shl(v(-1), v(1)).v == -2;
  } else {
    ok = ok && shr(v(max), v(width - 1)).v == 1;
  }
  return ok;
}
template <class T, class Hide>
constexpr bool floats(Hide hide) {
  auto v = [&](T x) { return s(hide(x)); };
  constexpr T max = Lim<T>::max();
  bool ok = same((v(max) + v(max)).v, inf<T>) && same((v(inf<T>) - v(inf<T>)).v, nan<T>);
  ok = ok && same((v(max) * v(-2)).v, -inf<T>) && same((v(0) * v(inf<T>)).v, nan<T>);
  ok = ok && same((v(1) / v(0)).v, inf<T>) && same((v(1) / v(T(-0.0))).v, -inf<T>) && same((v(0) / v(0)).v, nan<T>);
  ok = ok && same((-v(0)).v, T(-0.0)) && same(abs(v(-inf<T>)).v, inf<T>) && same(sqrt(v(-1)).v, nan<T>);
  ok = ok && same(sqrt(v(2)).v, T(1.4142135623730950488)) && same(sqrt(v(T(-0.0))).v, T(-0.0));
  ok = ok && same(rint(v(T(2.5))).v, T(2)) && same(rint(v(T(-0.4))).v, T(-0.0)) && same(rint(v(nan<T>)).v, nan<T>);
  ok = ok && same(floor(v(T(-2.5))).v, T(-3)) && same(floor(v(T(-0.0))).v, T(-0.0)) && same(floor(v(max)).v, max);
  ok = ok && same(fma(v(T(1) + Lim<T>::epsilon()), v(T(1) - Lim<T>::epsilon()), v(-1)).v,
                  -Lim<T>::epsilon() * Lim<T>::epsilon());
  ok = ok && same(fma(v(inf<T>), v(1), v(-inf<T>)).v, nan<T>);
  constexpr T least = Lim<T>::denorm_min(), top = Lim<T>::max_exponent, bottom = Lim<T>::min_exponent - Lim<T>::digits;
  ok = ok && same(scale(v(T(1.5)), v(3)).v, T(12)) && same(scale(v(T(0.5)), v(top)).v, 2 / Lim<T>::min());
  ok = ok && same(scale(v(1), v(top)).v, inf<T>) && same(scale(v(nan<T>), v(nan<T>)).v, nan<T>);
  ok = ok && same(scale(v(1), v(bottom)).v, least) && same(scale(v(T(0.5)), v(bottom)).v, T(0));
  ok = ok && same(scale(v(T(0.5) + Lim<T>::epsilon()), v(bottom)).v, least) &&
       same(scale(v(-3), v(3 - 2 * top)).v, T(-0.0));
  ok = ok && same(irem(v(T(7.5)), v(-2)).v, T(1.5)) && same(irem(v(T(-7.5)), v(2)).v, T(-1.5));
  ok = ok && same(irem(v(1), v(0)).v, nan<T>) && same(irem(v(inf<T>), v(1)).v, nan<T>);
  ok = ok && same(irem(v(5), v(inf<T>)).v, T(5)) && same(irem(v(-6), v(3)).v, T(-0.0));
  ok = ok && !lt(v(nan<T>), v(1)).v && !le(v(nan<T>), v(nan<T>)).v && !eq(v(nan<T>), v(nan<T>)).v;
  ok = ok && ne(v(nan<T>), v(nan<T>)).v && eq(v(0), v(T(-0.0))).v && lt(v(-1), v(inf<T>)).v;
  return ok;
}
template <class Hide>
constexpr bool conversions(Hide hide) {
  auto v = [&](auto x) { return s(hide(x)); };
  bool ok = convert<i32>(v(3e9)).v == Lim<i32>::max() && convert<i32>(v(-3e9f)).v == Lim<i32>::min();
  ok = ok && convert<u32>(v(-1.0)).v == 0 && convert<u32>(v(3e9)).v == 3000000000u &&
       convert<u64>(v(1e30f)).v == ~u64(0);
  ok = ok && convert<i32>(v(nan<f32>)).v == 0 && convert<i64>(v(nan<f64>)).v == 0 && convert<i64>(v(-2.9)).v == -2;
  ok = ok && convert<f32>(v(i32(16777217))).v == 16777216.0f && convert<f32>(v(i32(16777219))).v == 16777220.0f;
  ok = ok && convert<f64>(v(~u64(0))).v == 0x1p64 && convert<f32>(v(1e300)).v == inf<f32>;
  ok = ok && convert<f32>(v(1 + 0x1p-24)).v == 1 && convert<f64>(v(0.1f)).v == f64(0.1f);
  ok = ok && convert<bool>(v(nan<f32>)).v && convert<bool>(v(i32(2))).v && !convert<bool>(v(-0.0)).v;
  ok = ok && convert<f32>(v(true)).v == 1 && convert<i64>(v(true)).v == 1;
  ok = ok && convert<i32>(v(u64(0x1'8000'0000))).v == Lim<i32>::min() && convert<u64>(v(i32(-1))).v == ~u64(0);
  ok = ok && bitcast<u32>(v(-0.0f)).v == 0x80000000 && bitcast<f64>(v(i64(0x3ff0000000000000))).v == 1;
  ok = ok && bitcast<i32>(v(0xffffffffu)).v == -1;
  ok = ok && (v(true) & v(false)).v == false && (v(true) | v(false)).v && (v(true) ^ v(true)).v == false;
  ok = ok && !(~v(true)).v && (~v(false)).v && lt(v(false), v(true)).v && eq(v(true), v(true)).v;
  return ok;
}
constexpr f32 squares[] = {0, 1, 4, 9};
constexpr f32 sixteen[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150};
template <class Hide>
constexpr bool lookups(Hide hide) {
  auto v = [&](auto x) { return s(hide(x)); };
  return lookup(squares, 4, v(i32(2))).v == 4 && lookup(squares, 4, v(i32(-5))).v == 0 &&
         lookup(squares, 4, v(i64(1) << 40)).v == 9 && lookup(squares, 4, v(u32(~0u))).v == 9 &&
         lookup(squares, 4, v(u64(3))).v == 9 && lookup(squares, 4, v(i64(-1))).v == 0 &&
         pick(sixteen, v(u32(7))).v == 70 && pick(sixteen, v(~u32(0))).v == 150;
}
constexpr auto open = [](auto x) { return x; };
static_assert(integers<i32>(open) && integers<i64>(open) && integers<u32>(open) && integers<u64>(open));
static_assert(floats<f32>(open) && floats<f64>(open) && conversions(open) && lookups(open));

TEST_CASE("operations at run time") {
  auto hide = [](auto x) { return opaque(x); };
  CHECK(integers<i32>(hide));
  CHECK(integers<i64>(hide));
  CHECK(integers<u32>(hide));
  CHECK(integers<u64>(hide));
  CHECK(floats<f32>(hide));
  CHECK(floats<f64>(hide));
  CHECK(conversions(hide));
  CHECK(lookups(hide));
}

// Contracted to an fma, a * b - (a * b) would leave the rounding error of the product.
template <class V>
V product_less(V a, V b, V c) {
  return a * b - c;
}
TEST_CASE_TEMPLATE("products are rounded before they are added", T, f32, f64) {
  Random r;
  for (int i = 0; i < 1000; ++i) {
    const T a = T(r.unit()), b = T(r.unit());
    CHECK(product_less(s(opaque(a)), s(opaque(b)), s(opaque(a * b))).v == 0);
  }
}

// ---- another world ----

// Only what ops/scalar.hpp promises of a world, in the plainest C++. It counts operations, and those on constants
// alone.
namespace world {
int operations = 0, on_constants = 0;
template <class T>
struct Plain {
  using type = T;
  template <class U>
  using rebind = Plain<U>;
  T v{};
  bool constant = false;
  static Plain c(T v) { return {v, true}; }
  template <class... A>
  static Plain op(T v, A... operands) {
    ++operations;
    on_constants += (operands.constant && ...);
    return {opaque(v)};
  }
  friend Plain operator+(Plain a, Plain b) { return op(T(a.v + b.v), a, b); }
  friend Plain operator-(Plain a, Plain b) { return op(T(a.v - b.v), a, b); }
  friend Plain operator*(Plain a, Plain b) { return op(opaque(T(a.v * b.v)), a, b); }
  friend Plain operator/(Plain a, Plain b) { return op(a.v / b.v, a, b); }
  friend Plain operator-(Plain a) { return op(-a.v, a); }
  friend Plain abs(Plain a) { return op(std::fabs(a.v), a); }
  friend Plain fma(Plain a, Plain b, Plain c) { return op(std::fma(a.v, b.v, c.v), a, b, c); }
  friend Plain sqrt(Plain a) { return op(std::sqrt(a.v), a); }
  friend Plain scale(Plain a, Plain n) { return op(n.v == n.v ? std::ldexp(a.v, int(n.v)) : a.v, a, n); }
  friend Plain rint(Plain a) { return op(std::rint(a.v), a); }
  friend Plain floor(Plain a) { return op(std::floor(a.v), a); }
  friend Plain operator&(Plain a, Plain b) { return op(T(a.v & b.v), a, b); }
  friend Plain operator|(Plain a, Plain b) { return op(T(a.v | b.v), a, b); }
  friend Plain operator^(Plain a, Plain b) { return op(T(a.v ^ b.v), a, b); }
  friend Plain operator~(Plain a) { return op(std::is_same_v<T, bool> ? T(!a.v) : T(~u64(a.v)), a); }
  friend Plain shl(Plain a, Plain b) { return op(b.v < 8 * sizeof(T) ? T(a.v << b.v) : T(0), a, b); }
  friend Plain shr(Plain a, Plain b) { return op(b.v < 8 * sizeof(T) ? T(a.v >> b.v) : T(0), a, b); }
  friend Plain<bool> lt(Plain a, Plain b) { return Plain<bool>::op(a.v < b.v, a, b); }
  friend Plain<bool> le(Plain a, Plain b) { return Plain<bool>::op(a.v <= b.v, a, b); }
  friend Plain<bool> eq(Plain a, Plain b) { return Plain<bool>::op(a.v == b.v, a, b); }
  friend Plain<bool> ne(Plain a, Plain b) { return Plain<bool>::op(a.v != b.v, a, b); }
  friend Plain select(Plain<bool> m, Plain a, Plain b) { return op(m.v ? a.v : b.v, m); }
};
template <class U, class T>
Plain<U> bitcast(Plain<T> a) {
  on_constants += a.constant;
  return {std::bit_cast<U>(a.v)};
}
Plain<float> pick(const float (&table)[16], Plain<std::uint32_t> i) { return Plain<float>::op(table[i.v % 16], i); }
template <class U, class T>
Plain<U> lookup(const U* table, int size, Plain<T> i) {
  return Plain<U>::op(table[i.v < 0 ? 0 : i.v < size ? i.v : size - 1], i);
}
}  // namespace world

// The limits are what was counted (without bitcast): they are the length of recorded programs, and only fall.
TEST_CASE_TEMPLATE("every world gives the same bits, in as many operations for every operand", T, f32, f64) {
  auto compare = [](const char* name, auto f, int limit) {
    INFO(name);
    Random r;
    int different = 0, count = 0;
    for (int i = 0; i < 2000; ++i) {
      const T x = i % 2 ? std::bit_cast<T>(Word<T>(r())) : T(8 * r.unit() - 4), y = T(8 * r.unit() - 4);
      world::operations = 0;
      different += !same(f(world::Plain<T>{x}, world::Plain<T>{y}).v, f(s(x), s(y)).v);
      different += i && count != world::operations;
      count = world::operations;
    }
    CHECK(different == 0);
    CHECK(world::on_constants == 0);
    CHECK(count <= limit);
  };
#define COUNT(name, limit32, limit64) \
  compare(                            \
      #name, [](auto x, auto) { return math::name(x); }, sizeof(T) == 4 ? limit32 : limit64)
  COUNT(exp, 15, 20);
  COUNT(expm1, 34, 39);
  COUNT(tanh, 24, 29);
  COUNT(logistic, 25, 30);
  COUNT(log, 32, 35);
  COUNT(log1p, 48, 51);
  COUNT(sin, 76, 80);
  COUNT(cos, 74, 77);
  COUNT(rsqrt, 2, 2);
  COUNT(erf_inv, 65, 84);
#undef COUNT
  compare("pow", FN(pow), sizeof(T) == 4 ? 116 : 126);
}

}  // namespace
