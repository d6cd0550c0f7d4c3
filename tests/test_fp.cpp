// test_fp.cpp -- fx/base/fp.hpp and fp_text.hpp: as constants, and the same algorithms at run time against libm and
// libstdc++ on fixed-seed random bits.
#include <doctest/doctest.h>

#include <cfloat>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fx/base/fp_text.hpp>
#include <iterator>
#include <limits>
#include <random>
#include <string>

namespace fp = fx::detail::fp;

namespace {

constexpr double inf = fp::Format<double>::inf(false), nan = fp::Format<double>::nan(), huge = DBL_MAX;
constexpr double tiny = 4.9406564584124654e-324, eps = DBL_EPSILON;
constexpr float inff = fp::Format<float>::inf(false), nanf_ = fp::Format<float>::nan(), tinyf = 1.4012985e-45f;

template <class T>
constexpr bool same(T a, T b) {
  return fp::bits(a) == fp::bits(b);
}

// ---- constants ----

static_assert(fp::bits(-0.0) == 1ull << 63 && fp::bits(1.0f) == 0x3f800000u);
static_assert(fp::from_bits<float>(0x7fa00001u) != 0 && fp::is_nan(fp::from_bits<float>(0x7fa00001u)));
static_assert(fp::is_nan(nan) && fp::is_nan(-nan) && !fp::is_nan(inf) && !fp::is_nan(-inf) && fp::is_nan(nanf_));
static_assert(same(fp::abs(-0.0), 0.0) && same(fp::abs(-inf), inf) && same(fp::abs(-nan), nan));
static_assert(same(fp::copysign(1.0f, -0.0f), -1.0f) && same(fp::copysign(-inf, 1.0), inf));

// fma: cancellation, one rounding, halfway, subnormals, zeros, inf, nan.
static_assert(fp::fma(2.0, 3.0, 4.0) == 10.0 && fp::fma(2.0f, 3.0f, 4.0f) == 10.0f);
static_assert(fp::fma(1 + eps, 1 - eps, -1.0) == -eps * eps && fp::fma(0.1, 10.0, -1.0) == 0x1p-54);
static_assert(fp::fma(1 + eps, 1 + eps, 0.0) == 1 + 2 * eps && fp::fma(1 + eps, 1 + eps, eps* eps) == 1 + 2 * eps);
static_assert(fp::fma(1.0, 1.0, eps / 2) == 1.0 && fp::fma(1.0, 1 + eps, eps / 2) == 1 + 2 * eps);
static_assert(fp::fma(tiny, tiny, 1 + eps) == 1 + eps && fp::fma(eps / 2, 1 + eps, 1.0) == 1 + eps);
static_assert(fp::fma(eps / 2, 1 - eps, 1.0) == 1.0 && fp::fma(-tiny, tiny, 1.0) == 1.0);
static_assert(fp::fma(huge, 2.0, -huge) == huge && fp::fma(huge, 2.0, -inf) == -inf && fp::fma(huge, 2.0, 0.0) == inf);
static_assert(fp::fma(huge, 1.0, 0x1p969) == huge && fp::fma(huge, 1.0, 0x1p970) == inf);
static_assert(fp::fma(0x1p-537, 0x1p-538, 0.0) == 0.0 && fp::fma(0x1.8p-537, 0x1p-538, 0.0) == tiny);
static_assert(fp::fma(0x1p-537, 0x1p-538, tiny) == 2 * tiny && fp::fma(0x1p-537, 0x1p-538, 2 * tiny) == 2 * tiny);
static_assert(fp::fma(0x1p-1022, 0.5, tiny) == 0x1p-1023 + tiny && fp::fma(tiny, 0.5, -tiny) == -0.0);
static_assert(fp::fma(0x1p-75f, 0x1p-75f, 0.0f) == 0.0f && fp::fma(0x1.8p-75f, 0x1p-75f, 0.0f) == tinyf);
static_assert(same(fp::fma(-tiny, tiny, 0.0), -0.0) && same(fp::fma(-tiny, tiny, -0.0), -0.0));
static_assert(same(fp::fma(0.0, -1.0, -0.0), -0.0) && same(fp::fma(0.0, -1.0, 0.0), 0.0));
static_assert(same(fp::fma(2.0, -1.0, 2.0), 0.0) && same(fp::fma(-2.0, 1.0, 2.0), 0.0) && fp::fma(0.0, 5.0, 3.0) == 3);
static_assert(fp::is_nan(fp::fma(inf, 0.0, 1.0)) && fp::is_nan(fp::fma(inf, 1.0, -inf)) &&
              fp::fma(inf, -1.0, 1.0) == -inf);
static_assert(fp::is_nan(fp::fma(nan, 1.0, 1.0)) && fp::is_nan(fp::fma(1.0, 1.0, nan)) &&
              fp::is_nan(fp::fma(0.0f, inff, nanf_)));

static_assert(fp::sqrt(2.0) == 1.4142135623730951 && fp::sqrt(4.0f) == 2.0f && fp::sqrt(0x1p-1074) == 0x1p-537);
static_assert(same(fp::sqrt(-0.0), -0.0) && fp::sqrt(inf) == inf && fp::is_nan(fp::sqrt(-1.0)) &&
              fp::is_nan(fp::sqrt(nan)));
static_assert(fp::sqrt(huge) == 0x1.fffffffffffffp511 && fp::sqrt(1 - eps / 2) == 1 - eps / 2 &&
              fp::sqrt(1 + eps) == 1.0);
static_assert(fp::is_nan(fp::sqrt(-inf)) && fp::sqrt(1.0f + FLT_EPSILON) == 1.0f);

static_assert(fp::rint(2.5) == 2 && fp::rint(3.5) == 4 && fp::rint(-2.5f) == -2 && fp::rint(0.5 + eps) == 1);
static_assert(same(fp::rint(-0.5), -0.0) && same(fp::rint(-0.0f), -0.0f) && fp::rint(0x1p52 + 1) == 0x1p52 + 1);
static_assert(fp::rint(0x1p51 + 0.5) == 0x1p51 && fp::rint(-inf) == -inf && fp::is_nan(fp::rint(nan)));
static_assert(fp::floor(-0.5) == -1 && fp::floor(2.75f) == 2 && same(fp::floor(-0.0), -0.0) && fp::floor(-tiny) == -1);
static_assert(same(fp::trunc(-0.5), -0.0) && fp::trunc(-2.75f) == -2 && fp::trunc(1e300) == 1e300 &&
              fp::trunc(inf) == inf);
static_assert(fp::floor(-1e300) == -1e300 && fp::floor(-7.0) == -7 && fp::is_nan(fp::floor(nanf_)));

static_assert(fp::add(0.1, 0.2) == 0.30000000000000004 && fp::is_nan(fp::add(inf, -inf)) && fp::add(inf, 1.0) == inf);
static_assert(fp::add(huge, huge) == inf && fp::sub(-huge, huge) == -inf && fp::add(huge, 0x1p969) == huge);
static_assert(fp::add(huge, 0x1p970) == inf && fp::add(huge, -huge) == 0 && fp::sub(1.0, inf) == -inf);
static_assert(fp::is_nan(fp::sub(inff, inff)) && fp::is_nan(fp::add(nan, 1.0)) && fp::is_nan(fp::sub(1.0, nan)));
static_assert(fp::mul(huge, 2.0) == inf && fp::mul(huge, -2.0) == -inf && fp::mul(huge, tiny) == huge * tiny);
static_assert(fp::mul(0x1p512, 0x1p512) == inf && fp::mul(0x1p512, 0x1p511) == 0x1p1023 && fp::mul(tiny, -0.5) == 0);
static_assert(fp::mul(0x1.fffffffffffffp511, 0x1p512) == huge && fp::is_nan(fp::mul(inf, 0.0)) &&
              fp::mul(-inf, 2.0) == -inf);
static_assert(fp::mul(0x1.fffffep63f, 0x1p64f) == FLT_MAX && fp::mul(0x1.000002p64f, 0x1.fffffcp63f) == inff);
static_assert(fp::div(1.0, 0.0) == inf && fp::div(-1.0, 0.0) == -inf && fp::div(1.0, -0.0) == -inf &&
              fp::div(inf, 0.0) == inf);
static_assert(fp::is_nan(fp::div(0.0, 0.0)) && fp::is_nan(fp::div(inf, -inf)) && same(fp::div(-1.0, inf), -0.0));
static_assert(fp::div(1.0, 3.0) == 1.0 / 3.0 && fp::div(huge, 0.5) == inf && fp::div(1.0f, tinyf) == inff &&
              fp::div(tiny, 2.0) == 0);
static_assert(fp::div(0x1p1023, 0.5) == inf && fp::div(huge, huge) == 1 && fp::div(huge, 1 - eps / 2) == inf &&
              fp::div(1.0, 0x1p-1023) == 0x1p1023);
static_assert(fp::div(huge, tiny) == inf && fp::div(-FLT_MAX, tinyf) == -inff && fp::mul(huge, huge) == inf &&
              fp::div(huge, -huge / 2) == -2);
static_assert(!fp::lt(nan, 1.0) && !fp::le(1.0, nan) && !fp::eq(nan, nan) && fp::lt(-inf, inf) && fp::eq(0.0, -0.0));

static_assert(fp::convert<int>(nan) == 0 && fp::convert<int>(1e10) == 2147483647 &&
              fp::convert<int>(-inf) == -2147483647 - 1);
static_assert(fp::convert<std::int8_t>(-128.9) == -128 && fp::convert<std::int8_t>(127.9f) == 127);
static_assert(fp::convert<std::uint8_t>(-1.0) == 0 && fp::convert<std::uint8_t>(255.9) == 255 &&
              fp::convert<std::uint8_t>(256.0) == 255);
static_assert(fp::convert<std::int64_t>(0x1p63) == INT64_MAX && fp::convert<std::int64_t>(-0x1p63) == INT64_MIN);
static_assert(fp::convert<std::uint64_t>(inff) == UINT64_MAX && fp::convert<std::uint64_t>(0x1p63) == 1ull << 63);
static_assert(fp::convert<std::uint32_t>(4294967295.5) == 4294967295u && fp::convert<int>(-0.9) == 0);
static_assert(fp::convert<float>(16777217) == 16777216.0f && fp::convert<float>(16777219) == 16777220.0f);
static_assert(fp::convert<double>(UINT64_MAX) == 0x1p64 && fp::convert<float>(INT64_MIN) == -0x1p63f &&
              fp::convert<float>(true) == 1);
static_assert(fp::convert<float>(1e300) == inff && fp::convert<float>(-huge) == -inff &&
              fp::convert<float>(0.1) == 0.1f);
static_assert(fp::convert<float>(0x1.fffffefffffffp127) == FLT_MAX && fp::convert<float>(0x1.ffffffp127) == inff);
static_assert(fp::convert<float>(0x1p-150) == 0 && fp::convert<float>(0x1.0000000000001p-150) == tinyf);
static_assert(same(fp::convert<float>(-nan), -nanf_) && same(fp::convert<double>(-nanf_), -nan) &&
              same(fp::convert<float>(-tiny), -0.0f));
static_assert(fp::convert<double>(tinyf) == 0x1p-149 && same(fp::convert<double>(-inff), -inf));
static_assert(fp::convert<std::int8_t>(200) == -56 && fp::convert<std::uint32_t>(-1) == UINT32_MAX &&
              fp::convert<int>(1ll << 32) == 0);
static_assert(fp::convert<bool>(nan) && !fp::convert<bool>(-0.0f) && fp::convert<bool>(tiny) &&
              fp::convert<bool>(256) && fp::convert<bool>(inf));

template <class T>
constexpr bool prints(T v, std::string_view want) {
  fx::Str s;
  fp::put_float(s, v);
  T back{};
  return s == want && fp::parse_float(s.view(), back) && same(v, back);
}
static_assert(prints(2.0, "2.0") && prints(-0.0, "-0.0") && prints(0.0f, "0.0") && prints(27.5, "27.5") &&
              prints(0.1f, "0.1"));
static_assert(prints(0.1, "0.1") && prints(1.0 / 3, "0.3333333333333333") && prints(0.1 + 0.2, "0.30000000000000004"));
static_assert(prints(1e-5, "0.00001") && prints(1.5e-6, "1.5e-06") && prints(1e-7, "1e-07") &&
              prints(12345e-9, "0.000012345"));
static_assert(prints(1e15, "1000000000000000.0") && prints(1e16, "1e+16") && prints(1e20, "1e+20") &&
              prints(1.5e300, "1.5e+300"));
static_assert(prints(9007199254740993.0, "9007199254740992.0") && prints(-1234567.0f, "-1234567.0") &&
              prints(100.0f, "100.0"));
static_assert(prints(inf, "inf") && prints(-inff, "-inf") && prints(nan, "nan") && prints(nanf_, "nan") &&
              prints(-nan, "-nan"));
static_assert(prints(fp::from_bits<float>(0x7fa00001u), "nan(0x7fa00001)") &&
              prints(fp::from_bits<double>(~0ull), "nan(0xffffffffffffffff)"));
static_assert(prints(huge, "1.7976931348623157e+308") && prints(tiny, "5e-324") &&
              prints(DBL_MIN, "2.2250738585072014e-308"));
static_assert(prints(FLT_MAX, "3.4028235e+38") && prints(tinyf, "1e-45") && prints(FLT_MIN, "1.1754944e-38") &&
              prints(9.5e-3f, "0.0095"));
static_assert(prints(0x1p-44, "5.684341886080802e-14") && prints(0x1p54, "1.8014398509481984e+16") &&
              prints(5e22, "5e+22"));

template <class T>
constexpr bool reads(std::string_view text, T want) {
  T v{};
  return fp::parse_float(text, v) && same(v, want);
}
static_assert(reads("1", 1.0) && reads("1.", 1.0) && reads(".5", 0.5) && reads("-.5e1", -5.0) &&
              reads("00012.500E+00", 12.5));
static_assert(reads("0x1.8p+3", 12.0) && reads("-0X.8P-1", -0.25) && reads("0xAbC", 2748.0) &&
              reads("0x1p-1074", tiny) && reads("0x0p9", 0.0));
static_assert(reads("0x1.00000000000008p0", 1.0) && reads("0x1.000000000000080000000000000000000000000001", 1 + eps));
static_assert(reads("1e400", inf) && reads("-1e-400", -0.0) && reads("1e99999999999999999999", inf) &&
              reads("0e99999999999999999999", 0.0));
static_assert(reads("1e-99999999999999999999", 0.0) && reads("0x1p99999999999999999999", inf) &&
              reads("0x1p-1075", 0.0));
static_assert(reads("2.2250738585072011e-308", 0x0.fffffffffffffp-1022) && reads("9007199254740993", 0x1p53));
static_assert(reads("9007199254740993.000000000000000000000000000000000000001", 0x1p53 + 2) &&
              reads("16777217", 0x1p24f));
static_assert(reads("1.7976931348623158079e308", huge) && reads("1.797693134862315808e308", inf) &&
              reads("3.4028235677973366e38", FLT_MAX) && reads("3.4028235677973367e38", inff));
static_assert(reads("2.4703282292062327e-324", 0.0) && reads("2.4703282292062328e-324", tiny) && reads("-nan", -nan));

constexpr bool rejects(std::string_view text) {
  double v = 7;
  float w = 7;
  return !fp::parse_float(text, v) && v == 7 && !fp::parse_float(text, w) && w == 7;
}
static_assert(rejects("") && rejects("-") && rejects(".") && rejects("e5") && rejects("1e") && rejects("1e+") &&
              rejects("1.2.3"));
static_assert(rejects(" 1") && rejects("1 ") && rejects("+1") && rejects("--1") && rejects("1f") && rejects("1,5") &&
              rejects("0x") && rejects("0x.p1"));
static_assert(rejects("0x1e+5") && rejects("0x1p") && rejects("1p5") && rejects("infinity") && rejects("Inf") &&
              rejects("nan(") && rejects("nan()"));
static_assert(rejects("nan(0x)") && rejects("nan(0x1)") && rejects("nan(0x7fc00000") && rejects("-nan(0xffc00000)") &&
              rejects("nan(0x17ff8000000000000)"));
static_assert(rejects("nan(0x7f800000)") && rejects("1e5-") && rejects("1e0x5") && rejects("\xff") && rejects("nanx") &&
              rejects("-"));

// The doors on pseudo-random bits, crowded at the ends of the exponent range: computed by the compiler, whose own
// folding takes part, and compared with the hardware at run time.
constexpr int sample_size = 100;
template <class T>
struct Sample {
  fp::uint_of<T> a, b, c, results[9];
};
template <class T>
constexpr fp::uint_of<T> sample_bits(std::uint64_t& state) {
  using F = fp::Format<T>;
  using U = fp::uint_of<T>;
  state = state * 6364136223846793005u + 1442695040888963407u;
  const U u = U(state >> (64 - 8 * sizeof(T))), mant = U(u & U(~F::inf_bits));
  const int field = int(state >> 20 & 15);
  if (state >> 30 & 1) return u;
  return mant | (U(state >> 31 & 1 ? field : 2 * F::emax - 1 - field) << F::mant);
}
template <class T>
constexpr Sample<T> sample_results(const Sample<T>& s) {
  const T a = fp::from_bits<T>(s.a), b = fp::from_bits<T>(s.b), c = fp::from_bits<T>(s.c);
  const T r[9] = {fp::add(a, b), fp::sub(a, b), fp::mul(a, b), fp::div(a, b), fp::fma(a, b, c),
                  fp::sqrt(a),   fp::rint(a),   fp::floor(a),  fp::trunc(a)};
  Sample<T> out = s;
  for (int i = 0; i < 9; ++i) out.results[i] = fp::is_nan(r[i]) ? fp::Format<T>::nan_bits : fp::bits(r[i]);
  return out;
}
template <class T>
struct Samples {
  Sample<T> s[sample_size]{};
};
template <class T>
constexpr Samples<T> make_samples() {
  Samples<T> all;
  std::uint64_t state = 8;
  for (Sample<T>& s : all.s) {
    s.a = sample_bits<T>(state);
    s.b = sample_bits<T>(state);
    s.c = sample_bits<T>(state);
    s = sample_results<T>(s);
  }
  return all;
}
constexpr Samples<double> double_samples = make_samples<double>();
constexpr Samples<float> float_samples = make_samples<float>();

// ---- run time ----

template <class T>
T random_value(std::mt19937_64& g) {
  using F = fp::Format<T>;
  using U = fp::uint_of<T>;
  static constexpr T special[] = {T(0),
                                  T(1),
                                  T(2),
                                  T(0.5),
                                  T(3),
                                  std::numeric_limits<T>::infinity(),
                                  std::numeric_limits<T>::max(),
                                  std::numeric_limits<T>::min(),
                                  std::numeric_limits<T>::denorm_min(),
                                  std::numeric_limits<T>::epsilon()};
  U u = U(g());
  const U field_mask = F::inf_bits, mant_mask = U(~(F::inf_bits | F::sign_bit));
  switch (g() % 8) {
    case 0: u &= U(~field_mask); break;                                                           // subnormal
    case 1: u = (u & U(~field_mask)) | U(U(F::emax - 1 - 30 + int(g() % 60)) << F::mant); break;  // moderate
    case 2: u &= U(~(mant_mask >> (g() % unsigned(F::mant)))); break;                             // few mantissa bits
    case 3: u |= mant_mask >> (g() % unsigned(F::mant)); break;                                   // trailing ones
    case 4: u = fp::bits(special[g() % std::size(special)]) | (u & F::sign_bit); break;
    case 5: u = U(fp::bits(special[g() % std::size(special)]) + U(g() % 5) - 2) ^ (u & F::sign_bit); break;
    default: break;
  }
  return fp::from_bits<T>(u);
}

template <class T>
bool agree(T a, T b) {
  return fp::is_nan(a) ? fp::is_nan(b) : same(a, b);
}

template <class T>
long fma_mismatches(int rounds) {
  std::mt19937_64 g(1);
  long bad = 0;
  for (int i = 0; i < rounds; ++i) {
    const T a = random_value<T>(g), b = random_value<T>(g);
    T c = random_value<T>(g);
    // Two in three: c close to -a * b, so that the leading bits cancel, or near the rounding of the product.
    const T p = a * b;
    if (i % 3 == 1) c = fp::from_bits<T>(fp::uint_of<T>(fp::bits(-p) + g() % 9 - 4));
    if (i % 3 == 2)
      c = fp::from_bits<T>(fp::uint_of<T>(fp::bits(p) + (g() % 121 - 60) * (fp::uint_of<T>(1) << fp::Format<T>::mant)));
    bad += !agree(fp::fma_soft(a, b, c), T(std::fma(a, b, c)));
  }
  return bad;
}

template <class T>
long arithmetic_mismatches(int rounds) {
  std::mt19937_64 g(2);
  long bad = 0;
  for (int i = 0; i < rounds; ++i) {
    const T a = random_value<T>(g);
    T b = random_value<T>(g);
    // Half the time: the result lies near the overflow threshold.
    const T max = std::numeric_limits<T>::max();
    const T edge[] = {b, max / a, a / max, max - a};
    b = edge[i % 8 < 4 ? 0 : i % 4];
    bad += !agree(fp::add_soft(a, b), a + b) + !agree(fp::sub_soft(a, b), a - b);
    bad += !agree(fp::mul_soft(a, b), a * b) + !agree(fp::div_soft(a, b), a / b);
    bad += !same(fp::add(a, b), a + b) + !same(fp::div(a, b), a / b);
    if (fp::is_nan(a) != fp::is_nan(b)) bad += !same(fp::add_soft(a, b), a + b) + !same(fp::mul_soft(a, b), a * b);
  }
  return bad;
}

template <class T>
long unary_mismatches(int rounds) {
  std::mt19937_64 g(3);
  long bad = 0;
  for (int i = 0; i < rounds; ++i) {
    T v = random_value<T>(g);
    if (i % 4 == 3) v = v * v;  // exact and nearly exact roots
    bad += !agree(fp::sqrt_soft(v), T(std::sqrt(v))) + !agree(fp::rint_soft(v), T(std::nearbyint(v)));
    bad += !agree(fp::trunc_soft(v), T(std::trunc(v))) + !agree(fp::floor_soft(v), T(std::floor(v)));
    bad += !agree(fp::sqrt(v), fp::sqrt_soft(v)) + !agree(fp::rint(v), fp::rint_soft(v)) +
           !agree(fp::trunc(v), fp::trunc_soft(v)) + !agree(fp::floor(v), fp::floor_soft(v));
    bad += (fp::bits(fp::abs(v)) != (fp::bits(v) & ~fp::Format<T>::sign_bit)) + (fp::is_nan(v) != std::isnan(v)) +
           (fp::signbit(v) != std::signbit(v));
    if (!fp::is_nan(v) && !fp::is_inf(v)) bad += !same(v, fp::round_pack<T>(fp::decode(v)));
  }
  return bad;
}

template <class T>
long sample_mismatches(const Samples<T>& all) {
  long bad = 0;
  const Samples<T>* volatile unfolded = &all;
  for (const Sample<T>& s : unfolded->s) {
    const Sample<T> again = sample_results<T>(s);  // run time: the hardware
    for (int i = 0; i < 9; ++i) bad += again.results[i] != s.results[i];
  }
  return bad;
}

// Square roots as close as can be to the middle between two doubles: h * h = x * 2^s + k with h of 54 bits, k small.
long hard_root_mismatches() {
  long bad = 0;
  for (std::int64_t k = -1999; k < 2000; k += 8) {
    std::uint64_t h = 1;  // h * h == k modulo 2^64, a bit at a time
    for (int bit = 3; bit < 64; ++bit)
      if ((h * h - std::uint64_t(k)) >> bit & 1) h += std::uint64_t(1) << (bit - 1);
    for (std::uint64_t root : {h, ~h + 1}) {
      root = (root & 0x1fffffffffffff) | 0x20000000000000;
      const auto square = fp::u128(root) * root;
      const double x = fp::round_pack<double>({false, square, -60});
      for (double v : {x, std::nextafter(x, 0.0), std::nextafter(x, inf), 2 * x})
        bad += !same(fp::sqrt_soft(v), std::sqrt(v));
    }
  }
  return bad;
}

template <class To, class From>
bool int_ok(From v) {
  const long double t = std::truncl(static_cast<long double>(v));
  const long double lo = std::numeric_limits<To>::min(), hi = std::numeric_limits<To>::max();
  const To want = fp::is_nan(v) ? To(0)
                  : t <= lo     ? std::numeric_limits<To>::min()
                  : t >= hi     ? std::numeric_limits<To>::max()
                                : static_cast<To>(t);
  return fp::convert<To>(v) == want;
}
template <class From>
long convert_mismatches(int rounds) {
  std::mt19937_64 g(4);
  long bad = 0;
  for (int i = 0; i < rounds; ++i) {
    const From v = random_value<From>(g);
    bad += !int_ok<std::int8_t>(v) + !int_ok<std::uint8_t>(v) + !int_ok<std::int16_t>(v) + !int_ok<std::uint16_t>(v);
    bad += !int_ok<int>(v) + !int_ok<unsigned>(v) + !int_ok<std::int64_t>(v) + !int_ok<std::uint64_t>(v);
    using Other = std::conditional_t<sizeof(From) == 4, double, float>;
    bad += !same(fp::resize_soft<Other>(v), static_cast<Other>(v)) + !same(fp::convert<From>(v), v);
  }
  return bad;
}

// The text that put_float should give, from std::to_chars' shortest digits.
template <class T>
std::string reference_text(T v) {
  char b[64];
  const std::string sci(b, std::to_chars(b, b + 64, v, std::chars_format::scientific).ptr);
  const auto e = sci.find('e');
  const int exp = std::atoi(sci.c_str() + e + 1);
  const bool neg = sci[0] == '-';
  std::string digits = sci.substr(neg, 1) + (e > std::size_t(neg) + 2 ? sci.substr(neg + 2u, e - neg - 2u) : "");
  std::string r = neg ? "-" : "";
  const int n = int(digits.size());
  if (exp < -5 || exp >= 16) return sci;
  if (exp < 0) return r + "0." + std::string(std::size_t(-exp - 1), '0') + digits;
  if (n <= exp + 1) return r + digits + std::string(std::size_t(exp + 1 - n), '0') + ".0";
  return r + digits.substr(0, std::size_t(exp) + 1) + "." + digits.substr(std::size_t(exp) + 1);
}

template <class T>
T strto(const char* s) {
  if constexpr (sizeof(T) == 4)
    return std::strtof(s, nullptr);
  else
    return std::strtod(s, nullptr);
}
template <class T>
bool reads_as_libc(const std::string& text) {
  T v{};
  const bool ok = fp::parse_float(std::string_view(text), v) && same(v, strto<T>(text.c_str()));
  if (!ok) MESSAGE("parse_float: " << text);
  return ok;
}

template <class T>
long text_mismatches(int rounds) {
  std::mt19937_64 g(5);
  long bad = 0;
  char b[64];
  for (int i = 0; i < rounds; ++i) {
    const T v = random_value<T>(g);
    fx::Str s;
    fp::put_float(s, v);
    T back{};
    bad += !fp::parse_float(s.view(), back) || !same(v, back);
    if (fp::is_nan(v) || fp::is_inf(v)) continue;
    if (!(s == std::string_view(reference_text(v)))) {
      ++bad;
      MESSAGE(std::string(s.view()) << " is not " << reference_text(v));
    }
    std::snprintf(b, sizeof b, i % 2 ? "%.17g" : "%.9g", double(v));
    bad += !reads_as_libc<T>(b);
    std::snprintf(b, sizeof b, "%a", double(v));
    bad += !reads_as_libc<T>(b);
  }
  return bad;
}

// Random numerals, many with few digits or extreme exponents.
template <class T>
long numeral_mismatches(int rounds) {
  std::mt19937_64 g(6);
  long bad = 0;
  for (int i = 0; i < rounds; ++i) {
    std::string t = g() % 2 ? "-" : "";
    const int n = 1 + int(g() % (i % 50 == 0 ? 1200 : 30)), point = int(g() % unsigned(n + 1));
    for (int k = 0; k < n; ++k) {
      if (k == point) t += '.';
      t += char('0' + g() % 10);
    }
    const int range = sizeof(T) == 4 ? 60 : 350;
    if (g() % 4) t.append("e").append(std::to_string(int(g() % unsigned(2 * range)) - range));
    bad += !reads_as_libc<T>(t);
  }
  return bad;
}

// The exact decimal expansion of the point halfway between neighbours, and numerals a hair to either side.
template <class T>
long halfway_mismatches(int rounds) {
  std::mt19937_64 g(7);
  long bad = 0;
  for (int i = 0; i < rounds; ++i) {
    const T v = fp::abs(random_value<T>(g));
    if (fp::is_nan(v)) continue;
    const T next = fp::from_bits<T>(fp::uint_of<T>(fp::bits(v) + 1));
    if (!(next < fp::Format<T>::inf(false))) continue;
    char b[1300];
    std::snprintf(b, sizeof b, "%.800Le", (static_cast<long double>(v) + static_cast<long double>(next)) / 2);
    const std::string text = b;
    const auto e = text.find('e');
    auto k = e - 1;  // the last digit that is not zero
    while (text[k] == '0') --k;
    if (text[k] == '.') continue;
    std::string less = text;
    --less[k];
    for (std::size_t zeros : {std::size_t(0), g() % 30, e - 1 - k}) {
      const std::string more = text.substr(0, k + 1) + std::string(zeros, '0') + "1" + text.substr(e);
      bad += !reads_as_libc<T>(more);
      bad += !reads_as_libc<T>(less.substr(0, k + 1) + std::string(zeros + 1, '9') + text.substr(e));
    }
    bad += !reads_as_libc<T>(text) + !reads_as_libc<T>(text.substr(0, k + 1) + text.substr(e));
  }
  return bad;
}

constexpr int rounds = 300'000;

}  // namespace

TEST_CASE("fp: fma_soft agrees with std::fma") {
  CHECK(fma_mismatches<double>(3 * rounds) == 0);
  CHECK(fma_mismatches<float>(3 * rounds) == 0);
}
TEST_CASE("fp: the total operators agree with the hardware") {
  CHECK(arithmetic_mismatches<double>(rounds) == 0);
  CHECK(arithmetic_mismatches<float>(rounds) == 0);
}
TEST_CASE("fp: the compiler's results are the hardware's") {
  CHECK(sample_mismatches(double_samples) == 0);
  CHECK(sample_mismatches(float_samples) == 0);
}
TEST_CASE("fp: sqrt, rint, floor, trunc, abs") {
  CHECK(unary_mismatches<double>(rounds) == 0);
  CHECK(unary_mismatches<float>(rounds) == 0);
  CHECK(hard_root_mismatches() == 0);
}
TEST_CASE("fp: convert") {
  CHECK(convert_mismatches<double>(rounds) == 0);
  CHECK(convert_mismatches<float>(rounds) == 0);
}
TEST_CASE("fp: put_float is std::to_chars' shortest, and reads back") {
  CHECK(text_mismatches<double>(rounds) == 0);
  CHECK(text_mismatches<float>(rounds) == 0);
}
TEST_CASE("fp: every power of two and of ten prints shortest") {
  long bad = 0;
  for (int e = -1074; e < 1024; ++e) {
    for (int step = -1; step <= 1; ++step) {
      const double v = fp::from_bits<double>(fp::bits(std::ldexp(1.0, e)) + std::uint64_t(step));
      fx::Str s;
      fp::put_float(s, v);
      bad += v > 0 && !(s == std::string_view(reference_text(v)));
    }
  }
  for (int e = -323; e <= 308; ++e) {
    const std::string t = std::string("1e").append(std::to_string(e));
    fx::Str s;
    fp::put_float(s, strto<double>(t.c_str()));
    bad += !(s == std::string_view(reference_text(strto<double>(t.c_str())))) + !reads_as_libc<double>(t);
  }
  CHECK(bad == 0);
}
TEST_CASE("fp: parse_float agrees with strtod on random numerals") {
  CHECK(numeral_mismatches<double>(rounds) == 0);
  CHECK(numeral_mismatches<float>(rounds) == 0);
}
TEST_CASE("fp: parse_float at halfway points") {
  if (LDBL_MANT_DIG > DBL_MANT_DIG) CHECK(halfway_mismatches<double>(20'000) == 0);
  CHECK(halfway_mismatches<float>(20'000) == 0);
}
