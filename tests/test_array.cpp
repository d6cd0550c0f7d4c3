// test_array.cpp -- Array as a value: elements in and out, copies and moves, operators, literals, broadcasting,
// conditions.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fx/fx.hpp>
#include <limits>
#include <span>
#include <vector>

using fx::Array;
using fx::DType;
namespace np = fx::numpy;

namespace {

constexpr std::int32_t low = std::numeric_limits<std::int32_t>::min(), high = std::numeric_limits<std::int32_t>::max();

std::vector<int> ints(const Array& x) { return x.to_vector<int>(); }
std::vector<double> doubles(const Array& x) { return x.to_vector<double>(); }
std::vector<bool> bools(const Array& x) { return x.to_vector<bool>(); }

// ---- elements in and out ----

template <class T>
void check_type(DType d) {
  CAPTURE(fx::name(d));
  const std::vector<T> v{T(0), T(1), T(1)};
  const Array scalar = T(1), line = v, table(v, {3, 1}), view{std::span<const T>(v)};
  CHECK(scalar.type() == fx::type(d));
  CHECK(line.type() == fx::type(d, {3}));
  CHECK(table.type() == fx::type(d, {3, 1}));
  CHECK(scalar.item<T>() == T(1));
  CHECK(Array(T(100)).item<double>() == 100);
  CHECK(Array(T(-1)).item<double>() == double(T(-1)));
  CHECK(line.to_vector<T>() == v);
  CHECK(table.to_vector<T>() == v);
  CHECK(view.to_vector<T>() == v);
  CHECK(line.view<T>().size() == 3);
  CHECK(line.view<T>()[2] == T(1));
  CHECK(reinterpret_cast<std::uintptr_t>(line.view<T>().data()) % 64 == 0);
  CHECK(fx::size_of(d) == int(sizeof(T)));
}
TEST_CASE("elements of every dtype with arithmetic") {
  check_type<std::int32_t>(fx::i32);
  check_type<std::int64_t>(fx::i64);
  check_type<std::uint32_t>(fx::u32);
  check_type<std::uint64_t>(fx::u64);
  check_type<float>(fx::f32);
  check_type<double>(fx::f64);
}
TEST_CASE("elements of dtypes that are types only, in this version") {
  check_type<signed char>(fx::i8);
  check_type<short>(fx::i16);
  check_type<unsigned char>(fx::u8);
  check_type<unsigned short>(fx::u16);
}
TEST_CASE("booleans") {
  const Array t = true, v = std::vector<bool>{true, false, true};
  CHECK(t.dtype() == fx::boolean);
  CHECK(t.item<bool>());
  CHECK(v.type() == fx::type(fx::boolean, {3}));
  CHECK(bools(v) == std::vector<bool>{true, false, true});
  CHECK(v.view<bool>()[2]);
}
TEST_CASE("C++ types with the same dtype") {
  CHECK(Array(1L).dtype() == fx::i64);
  CHECK(Array(1LL).dtype() == fx::i64);
  CHECK(Array(1UL).dtype() == fx::u64);
  CHECK(Array(1ULL).dtype() == fx::u64);
  CHECK(Array(2.0).dtype() == fx::f64);
  CHECK(Array(2).dtype() == fx::i32);
  CHECK(Array(std::vector<long long>{1, 2}).to_vector<long>() == std::vector<long>{1, 2});
  static_assert(!fx::Element<char> && !fx::Element<wchar_t> && !fx::Element<long double> && !fx::Element<int*>);
}
TEST_CASE("item converts, view and to_vector do not") {
  CHECK(Array(2.75).item<int>() == 2);
  CHECK(Array(-1).item<double>() == -1.0);
  CHECK(Array(3).item<bool>());
  CHECK(Array(-3.5).item<short>() == -3);
  CHECK(Array(1e300).item<int>() == high);
  CHECK(Array(std::vector<double>{4}).item<float>() == 4.0f);
  CHECK(Array(std::vector<double>{4}, {1, 1, 1}).item<double>() == 4.0);
}
TEST_CASE("extreme elements survive") {
  const std::vector<double> d{-0.0, 5e-324, 1.7976931348623157e308, INFINITY, -INFINITY};
  CHECK(doubles(Array(d)) == d);
  CHECK(std::signbit(doubles(Array(d))[0]));
  CHECK(std::isnan(Array(NAN).item<float>()));
  const std::vector<std::uint64_t> u{0, ~std::uint64_t(0), std::uint64_t(1) << 63};
  CHECK(Array(u).to_vector<std::uint64_t>() == u);
  CHECK(Array(low).item<int>() == low);
}
TEST_CASE("shapes, sizes, nothing inside") {
  const Array x(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, 3}), none = std::vector<double>{},
                                                             flat(std::vector<int>{}, {3, 0, 2});
  CHECK(x.shape() == fx::Dims{2, 3});
  CHECK(x.rank() == 2);
  CHECK(x.size() == 6);
  CHECK(x.shape()[1] == 3);
  CHECK(none.type() == fx::type(fx::f64, {0}));
  CHECK(none.size() == 0);
  CHECK(doubles(none).empty());
  CHECK(none.view<double>().empty());
  CHECK((none + 1.0).size() == 0);
  CHECK(flat.size() == 0);
  CHECK((flat * flat).shape() == fx::Dims{3, 0, 2});
  CHECK(Array(1.0).size() == 1);
  CHECK(Array(1.0).rank() == 0);
  CHECK(Array().empty());
}
TEST_CASE("the elements are copied in: the source may change") {
  std::vector<double> v{1, 2};
  const Array x = v, y{std::span(v)};
  v[0] = 9;
  CHECK(doubles(x) == std::vector<double>{1, 2});
  CHECK(doubles(y) == std::vector<double>{1, 2});
  std::array<float, 3> a{1, 2, 3};
  CHECK(Array(std::span(a)).to_vector<float>() == std::vector<float>{1, 2, 3});
}

// ---- copies and moves ----

TEST_CASE("copies share memory and never change each other") {
  Array x = std::vector<double>{1, 2, 3};
  const Array y = x;
  CHECK(x.view<double>().data() == y.view<double>().data());
  x += 1.0;
  CHECK(doubles(x) == std::vector<double>{2, 3, 4});
  CHECK(doubles(y) == std::vector<double>{1, 2, 3});
  x = y;
  x = x * x;
  CHECK(doubles(y) == std::vector<double>{1, 2, 3});
  x = *&x;
  CHECK(doubles(x) == std::vector<double>{1, 4, 9});
}
TEST_CASE("moves leave the source empty, memory is released with the last copy") {
  const std::int64_t before = fx::memory_stats().allocated;
  {
    Array x = std::vector<double>(1000, 1.0), y = x;
    CHECK(fx::memory_stats().allocated == before + 8000);
    const Array z = std::move(x);
    CHECK(x.empty());  // NOLINT: that is the test
    CHECK(fx::memory_stats().allocated == before + 8000);
    std::vector<Array> many(10, z);
    many.erase(many.begin(), many.begin() + 5);
    std::swap(y, many[0]);
    std::sort(many.begin(), many.end(), [](const Array& a, const Array& b) { return a.size() < b.size(); });
    CHECK(fx::memory_stats().allocated == before + 8000);
  }
  CHECK(fx::memory_stats().allocated == before);
}
TEST_CASE("a view lives as long as the Array") {
  Array x = std::vector<int>{1, 2, 3};
  const std::span<const int> v = x.view<int>();
  const Array y = std::move(x);
  CHECK(v[2] == 3);
  CHECK(y.view<int>().data() == v.data());
}

// ---- operators ----

TEST_CASE("arithmetic of floats is IEEE") {
  const std::vector<double> a{1.5, -2, 0, INFINITY, 1e308}, b{0.25, 3, 0, INFINITY, 10};
  const Array x = a, y = b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
    CHECK(same(doubles(x + y)[i], a[i] + b[i]));
    CHECK(same(doubles(x - y)[i], a[i] - b[i]));
    CHECK(same(doubles(x * y)[i], a[i] * b[i]));
    CHECK(same(doubles(x / y)[i], a[i] / b[i]));
    CHECK(same(doubles(x % y)[i], std::fmod(a[i], b[i])));
    CHECK(same(doubles(-x)[i], -a[i]));
  }
  CHECK(std::signbit((-Array(0.0)).item<double>()));
}
TEST_CASE("integers wrap, divide truncating, and nothing is undefined") {
  const Array x = std::vector<int>{7, -7, 7, -7, low, high, 5, low}, y = std::vector<int>{2, 2, -2, -2, -1, 1, 0, 0};
  CHECK(ints(x / y) == std::vector<int>{3, -3, -3, 3, low, high, -1, -1});
  CHECK(ints(x % y) == std::vector<int>{1, -1, 1, -1, 0, 0, 5, low});
  CHECK(ints(Array(high) + Array(std::vector<int>{1, 2})) == std::vector<int>{low, low + 1});
  CHECK((Array(low) - 1).item<int>() == high);
  CHECK((Array(65536) * 65536).item<int>() == 0);
  CHECK((-Array(low)).item<int>() == low);
  CHECK(abs(Array(low)).item<int>() == low);
  CHECK((Array(7u) / 2u).item<unsigned>() == 3);
  CHECK((Array(5u) / 0u).item<unsigned>() == ~0u);
  CHECK((Array(1u) - 2u).item<unsigned>() == ~0u);
  const Array l = std::int64_t(1) << 62;
  CHECK((l + l).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
}
TEST_CASE("bits and shifts") {
  const Array x = std::vector<int>{0b1100, -1, low}, y = 0b1010;
  CHECK(ints(x & y) == std::vector<int>{0b1000, 0b1010, 0});
  CHECK(ints(x | y) == std::vector<int>{0b1110, -1, low | 0b1010});
  CHECK(ints(x ^ y) == std::vector<int>{0b0110, ~0b1010, low ^ 0b1010});
  CHECK(ints(~x) == std::vector<int>{~0b1100, 0, high});
  const Array by = std::vector<int>{0, 1, 31, 32, 33, -1};
  CHECK(ints(shift_left(Array(3), by)) == std::vector<int>{3, 6, low, 0, 0, 0});
  CHECK(ints(shift_right_arithmetic(Array(-8), by)) == std::vector<int>{-8, -4, -1, -1, -1, -1});
  CHECK(ints(shift_right_logical(Array(-8), by)) == std::vector<int>{-8, high - 3, 1, 0, 0, 0});
  const Array p = std::vector<bool>{true, true, false, false}, q = std::vector<bool>{true, false, true, false};
  CHECK(bools(p & q) == std::vector<bool>{true, false, false, false});
  CHECK(bools(p | q) == std::vector<bool>{true, true, true, false});
  CHECK(bools(p ^ q) == std::vector<bool>{false, true, true, false});
  CHECK(bools(~p) == std::vector<bool>{false, false, true, true});
}
TEST_CASE("comparisons give booleans; NaN is unequal to everything") {
  const Array x = std::vector<double>{1, 2, NAN}, y = std::vector<double>{2, 2, NAN};
  CHECK((x == y).dtype() == fx::boolean);
  CHECK(bools(x == y) == std::vector<bool>{false, true, false});
  CHECK(bools(x != y) == std::vector<bool>{true, false, true});
  CHECK(bools(x < y) == std::vector<bool>{true, false, false});
  CHECK(bools(x <= y) == std::vector<bool>{true, true, false});
  CHECK(bools(x > y) == std::vector<bool>{false, false, false});
  CHECK(bools(x >= y) == std::vector<bool>{false, true, false});
  CHECK(bools(Array(std::vector<unsigned>{1, ~0u}) < 2u) == std::vector<bool>{true, false});
}
TEST_CASE("compound assignment") {
  Array x = std::vector<double>{1, 2};
  x += 1.0;
  x *= x;
  x -= Array(std::vector<double>{1, 1});
  x /= 2.0;
  CHECK(doubles(x) == std::vector<double>{1.5, 4});
  x += Array(std::vector<double>{1, 2, 3, 4}, {2, 2});
  CHECK(x.shape() == fx::Dims{2, 2});
  CHECK(doubles(x) == std::vector<double>{2.5, 6, 4.5, 8});
}

// ---- literals ----

TEST_CASE("a C++ number takes the dtype of its partner, on either side") {
  const Array f = 1.5f, d = 1.5, i = 3, u = 3u, l = std::int64_t(3);
  CHECK((f * 2.0).dtype() == fx::f32);
  CHECK((2.0 * f).dtype() == fx::f32);
  CHECK((f + 1).dtype() == fx::f32);
  CHECK((1 - f).item<float>() == -0.5f);
  CHECK((d * 2.0f).dtype() == fx::f64);
  CHECK((i + 2.0).dtype() == fx::i32);
  CHECK((i * 2u).dtype() == fx::i32);
  CHECK((u + 1).dtype() == fx::u32);
  CHECK((l * 3000000000).item<std::int64_t>() == 9000000000);
  CHECK((f < 2).item<bool>());
  CHECK(pow(f, 2).item<float>() == 2.25f);
  CHECK(maximum(0, i).item<int>() == 3);
  CHECK((f * 0.1).item<float>() == 1.5f * 0.1f);  // rounded once, to f32
  CHECK((f + 16777217).item<float>() == 1.5f + 16777216.0f);
}
TEST_CASE("two numbers in where keep their own dtype, also with a condition alone") {
  const Array m = std::vector<bool>{true, false};
  CHECK(where(m, 1.5, 2.5).type() == fx::type(fx::f64, {2}));
  CHECK(doubles(where(m, 1.5, 2.5)) == std::vector<double>{1.5, 2.5});
  CHECK(ints(where(m, 1, 2)) == std::vector<int>{1, 2});
  CHECK(where(m, Array(1.0f), 0.5).dtype() == fx::f32);
  CHECK(where(m, 0.5, Array(1.0f)).dtype() == fx::f32);
  CHECK(bools(m == true) == std::vector<bool>{true, false});
  CHECK(bools(m & true) == std::vector<bool>{true, false});
  CHECK(bools(where(m, false, true)) == std::vector<bool>{false, true});
}

// ---- broadcasting ----

TEST_CASE("shapes broadcast from the right") {
  const Array a(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, 3}), row(std::vector<int>{10, 20, 30}),
      column(std::vector<int>{100, 200}, {2, 1});
  CHECK(ints(a + row) == std::vector<int>{11, 22, 33, 14, 25, 36});
  CHECK(ints(row + a) == std::vector<int>{11, 22, 33, 14, 25, 36});
  CHECK(ints(a + column) == std::vector<int>{101, 102, 103, 204, 205, 206});
  CHECK((row + column).shape() == fx::Dims{2, 3});
  CHECK(ints(row + column) == std::vector<int>{110, 120, 130, 210, 220, 230});
  CHECK(ints(where(column > 100, a, row)) == std::vector<int>{10, 20, 30, 4, 5, 6});
  CHECK((Array(std::vector<int>{}, {0, 1}) + row).shape() == fx::Dims{0, 3});
  CHECK((Array(std::vector<int>{7}, {1, 1, 1}) + a).shape() == fx::Dims{1, 2, 3});
}

// ---- conditions and capturing ----

TEST_CASE("if, ?: and ! read a concrete Array of one element") {
  const Array x = 3.0, zero = 0, one_element = std::vector<double>{2};
  int taken = 0;
  if (x > 2.0) ++taken;
  if (x < 2.0) taken += 10;
  if (one_element == 2.0) ++taken;
  if (zero) taken += 10;
  if (!zero) ++taken;
  while (x < 0.0) break;
  CHECK(taken == 3);
  CHECK((x == 3.0 ? 1 : 2) == 1);
  CHECK(bool(Array(true)));
  CHECK_FALSE(bool(Array(-0.0)));
  CHECK(bool(Array(NAN)));
}
TEST_CASE("operations under a trace are recorded, also on concrete Arrays") {
  const Array x = std::vector<double>{1, 2}, k = x * 10.0;
  const fx::Jaxpr j = fx::make_jaxpr([&](Array a) { return a + (x + k); })(x);
  CHECK(j.graph.captured == 2);
  CHECK(j.graph.eqns.size() == 2);
  CHECK(doubles(fx::jit([&](Array a) { return a + (x + k); })(x)) == std::vector<double>{12, 24});
}
TEST_CASE("functions found by argument, beside those of std") {
  const Array x = 0.5;
  using std::exp, std::sin, std::pow;
  CHECK(exp(x).item<double>() == doctest::Approx(std::exp(0.5)).epsilon(1e-15));
  CHECK(sin(0.5) == std::sin(0.5));
  CHECK(pow(x, 2.0).item<double>() == 0.25);
  CHECK(floor(Array(-0.5)).item<double>() == -1);
  CHECK(sign(Array(-2)).item<int>() == -1);
  CHECK(rsqrt(Array(4.0)).item<double>() == 0.5);
  CHECK(logistic(Array(0.0)).item<double>() == 0.5);
  CHECK(integer_pow(Array(2.0), -2).item<double>() == 0.25);
}
TEST_CASE("conversions") {
  const Array d = std::vector<double>{-1.7, 0, 0.5, 3e9, NAN, INFINITY};
  CHECK(ints(convert(d, fx::i32)) == std::vector<int>{-1, 0, 0, high, 0, high});
  CHECK(convert(d, fx::u32).to_vector<unsigned>() == std::vector<unsigned>{0, 0, 0, 3000000000u, 0, ~0u});
  CHECK(bools(convert(d, fx::boolean)) == std::vector<bool>{true, false, true, true, true, true});
  CHECK(convert(Array(std::vector<bool>{true, false}), fx::f32).to_vector<float>() == std::vector<float>{1, 0});
  CHECK(convert(Array(high), fx::f32).item<float>() == 2147483648.0f);
  CHECK(convert(Array(-1), fx::u64).item<std::uint64_t>() == ~std::uint64_t(0));
  CHECK(bitcast(Array(1.0f), fx::u32).item<unsigned>() == 0x3f800000u);
  CHECK(bitcast(Array(-1), fx::u32).item<unsigned>() == ~0u);
}

}  // namespace
