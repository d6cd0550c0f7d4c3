// test_indexing.cpp -- x(...) and x.at(...): NumPy's rules, writes, donation, gradients, errors, constant evaluation.
#include <doctest/doctest.h>

#include <fx/fx.hpp>
#include <string>
#include <vector>

namespace {

using fx::all;
using fx::Array;
using fx::ellipsis;
using fx::newaxis;
using fx::none;
using fx::slice;
namespace np = fx::numpy;

std::string str(const Array& x) { return fx::to_string(x); }
fx::Error last(fx::ErrorCode::internal, "");
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const fx::Error& e) {
    last = e;
    const std::string s = e.what();
    return s.substr(4, s.find('\n') - 4);
  }
  return "no error";
}

const Array v = np::arange(6);
const Array m = np::reshape(np::arange(12), {3, 4});
const Array c = np::reshape(np::arange(24), {2, 3, 4});

}  // namespace

TEST_CASE("integers and slices") {
  CHECK(str(v(2)) == "2");
  CHECK(str(v(-1)) == "5");
  CHECK(str(m(1)) == "[4 5 6 7]");
  CHECK(str(m(1, -1)) == "7");
  CHECK(str(v(slice(1, 4))) == "[1 2 3]");
  CHECK(str(v(slice(3))) == "[0 1 2]");
  CHECK(str(v(slice(-2))) == "[0 1 2 3]");
  CHECK(str(v(slice(-2, none))) == "[4 5]");
  CHECK(str(v(slice(none, none, 2))) == "[0 2 4]");
  CHECK(str(v(slice(none, none, -1))) == "[5 4 3 2 1 0]");
  CHECK(str(v(slice(4, 0, -2))) == "[4 2]");
  CHECK(str(v(slice(-100, 100))) == "[0 1 2 3 4 5]");
  CHECK(str(v(slice(100, -100, -3))) == "[5 2]");
  CHECK(v(slice(4, 2)).shape() == fx::Dims{0});
  CHECK(str(v(slice(1, 5, INT64_MAX))) == "[1]");
  CHECK(str(v(slice(4, none, INT64_MIN))) == "[4]");
  CHECK(str(m(all, 1)) == "[1 5 9]");
  CHECK(str(m(slice(1, none), slice(0, 4, 3))) == "[[ 4  7]\n [ 8 11]]");
  CHECK(str(c(1, all, -1)) == "[15 19 23]");
}

TEST_CASE("new axes and ellipses") {
  CHECK(v(newaxis).shape() == fx::Dims{1, 6});
  CHECK(v(all, newaxis).shape() == fx::Dims{6, 1});
  CHECK(c(ellipsis, 0).shape() == fx::Dims{2, 3});
  CHECK(c(0, ellipsis).shape() == fx::Dims{3, 4});
  CHECK(c(ellipsis, newaxis, 0).shape() == fx::Dims{2, 3, 1});
  CHECK(c(0, ellipsis, slice(1)).shape() == fx::Dims{3, 1});
  CHECK(str(c(ellipsis)) == str(c));
  CHECK(Array(2.0)(newaxis).shape() == fx::Dims{1});
  CHECK(str(Array(2.0)(ellipsis)) == "2.0");
}

TEST_CASE("Arrays of indices") {
  CHECK(str(v(np::array({3, -1, 0}))) == "[3 5 0]");
  CHECK(str(v(np::array({{1, 2}, {3, 4}}))) == "[[1 2]\n [3 4]]");
  CHECK(str(v(np::array({9, -9}))) == "[5 0]");  // the nearest element
  CHECK(str(m(np::array({2, 0}))) == "[[ 8  9 10 11]\n [ 0  1  2  3]]");
  CHECK(str(m(all, np::array({2, 0}))) == "[[ 2  0]\n [ 6  4]\n [10  8]]");
  CHECK(str(m(np::array({0, 2}), np::array({1, 3}))) == "[ 1 11]");
  CHECK(str(m(np::array({{0}, {2}}), np::array({1, 3}))) == "[[ 1  3]\n [ 9 11]]");
  CHECK(str(m(np::array({0, 2}), -1)) == "[ 3 11]");
  CHECK(str(m(np::array({0u, 2u}), np::array({1l, -1l}))) == "[ 1 11]");
  CHECK(str(v(Array(4))) == "4");
  // Neighbours stay in place, others go to the front; an integer counts, and so do an ellipsis and a new axis between.
  const Array i = np::array({0, 1});
  CHECK(c(all, i, i).shape() == fx::Dims{2, 2});
  CHECK(c(i, all, i).shape() == fx::Dims{2, 3});
  CHECK(np::reshape(c, {2, 3, 4, 1})(all, i, all, i).shape() == fx::Dims{2, 2, 4});
  CHECK(c(0, all, np::array({{0, 1}})).shape() == fx::Dims{1, 2, 3});
  CHECK(c(all, i, ellipsis, i).shape() == fx::Dims{2, 2});
  CHECK(c(all, np::array({0}), ellipsis, np::array({1})).shape() == fx::Dims{1, 2});
  CHECK(c(newaxis, i, newaxis, i).shape() == fx::Dims{2, 1, 1, 4});
  CHECK(c(newaxis, i, i, newaxis).shape() == fx::Dims{1, 2, 1, 4});
  CHECK(str(c(slice(none, none, -1), np::array({2, 0}), 1)) == "[[21 13]\n [ 9  1]]");
}

TEST_CASE("set and add: a new Array, the old one stays") {
  const Array w = v.at(2).set(9);
  CHECK(str(w) == "[0 1 9 3 4 5]");
  CHECK(str(v) == "[0 1 2 3 4 5]");
  CHECK(str(v.at(-1).add(10)) == "[ 0  1  2  3  4 15]");
  CHECK(str(v.at(slice(1, 3)).set(np::array({7, 8}))) == "[0 7 8 3 4 5]");
  CHECK(str(v.at(slice(none, none, 2)).set(0)) == "[0 1 0 3 0 5]");
  CHECK(str(v.at(slice(none, none, -2)).set(np::array({7, 8, 9}))) == "[0 9 2 8 4 7]");
  CHECK(str(v.at(slice(none, none, -1)).set(v)) == "[5 4 3 2 1 0]");
  CHECK(str(v.at(slice(4, 2)).set(7)) == "[0 1 2 3 4 5]");
  CHECK(str(v.at(ellipsis).set(1)) == "[1 1 1 1 1 1]");
  CHECK(str(m.at(1).set(0)) == "[[ 0  1  2  3]\n [ 0  0  0  0]\n [ 8  9 10 11]]");
  CHECK(str(m.at(all, 1).set(np::array({-1, -2, -3}))) == "[[ 0 -1  2  3]\n [ 4 -2  6  7]\n [ 8 -3 10 11]]");
  CHECK(str(m.at(slice(0, 3, 2), slice(3, none, -2)).add(np::array({{100, 200}}))) ==
        "[[  0 201   2 103]\n [  4   5   6   7]\n [  8 209  10 111]]");
  // Arrays of indices: the last of several values stays, sums take all, and what lies outside is not written.
  CHECK(str(v.at(np::array({1, 1, -1, 9, -9})).set(np::array({7, 8, 9, 0, 0}))) == "[0 8 2 3 4 9]");
  CHECK(str(v.at(np::array({1, 1, -1, 9, -9})).add(1)) == "[0 3 2 3 4 6]");
  CHECK(str(m.at(np::array({0, 2}), np::array({1, 3})).set(0)) == "[[ 0  0  2  3]\n [ 4  5  6  7]\n [ 8  9 10  0]]");
  CHECK(str(m.at(1, np::array({0, 3})).set(np::array({-1, -2}))) == "[[ 0  1  2  3]\n [-1  5  6 -2]\n [ 8  9 10 11]]");
  CHECK(str(m.at(slice(none, none, -2), np::array({0})).add(np::array({{10}, {20}}))) ==
        "[[20  1  2  3]\n [ 4  5  6  7]\n [18  9 10 11]]");
  CHECK(str((v > 2).at(0).set(true)) == "[ True False False  True  True  True]");
  CHECK(str(np::zeros({3}).at(np::array({2})).set(5)) == "[0. 0. 5.]");
  CHECK(str(v.at(np::array({3, 4})).get()) == "[3 4]");
  CHECK(str(Array(1.0).at(ellipsis).set(2)) == "2.0");
}

TEST_CASE("std::move writes in place when nobody else holds the Array") {
  Array a = np::arange(4.0) + 1.0;
  const Array copy = a;
  a = std::move(a).at(0).set(9);
  CHECK(str(a) == "[9. 2. 3. 4.]");
  CHECK(str(copy) == "[1. 2. 3. 4.]");
  for (int i = 0; i < 4; ++i) a = std::move(a).at(i).add(i);
  CHECK(str(a) == "[9. 3. 5. 7.]");
  a = std::move(a).at(slice(1, 3)).set(a.empty() ? 0 : 1);  // a was moved from before the value is computed
  CHECK(str(a) == "[9. 0. 0. 7.]");
  auto place = std::move(a).at(1);  // a named place may be used twice
  CHECK(str(place.set(5)) == "[9. 5. 0. 7.]");
  CHECK(str(place.add(1)) == "[9. 1. 0. 7.]");
  CHECK(error_of([&] { a(0); }) == "this Array is empty: it was moved from, or never given a value");
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([&] { std::move(a).at(0).set(1); }) ==
        "this Array is empty: it was moved from, or never given a value");
}

TEST_CASE("in place is the same memory, and loops keep their executable") {
  Array a = np::zeros({100});
  const float* const memory = a.view<float>().data();
  a = std::move(a).at(3).set(1);
  a = std::move(a).at(slice(10, 20)).add(2);
  a = std::move(a).at(np::array({1, 2})).set(7);
  a = std::move(a).at(slice(0, 50, 3)).set(5);
  CHECK(a.view<float>().data() == memory);
  const Array other = a;
  a = std::move(a).at(0).set(9);
  CHECK(a.view<float>().data() != memory);
  CHECK(other(0).item<float>() == 5);

  const auto step = [&](int i) {
    a = std::move(a).at(i).set(i);
    return a(slice(i, i + 5))(0).item<float>();
  };
  step(0);
  const std::int64_t before = fx::executable_stats().compilations;
  for (int i = 1; i < 50; ++i) CHECK(step(i) == float(i));
  CHECK(fx::executable_stats().compilations == before);
}

TEST_CASE("under transforms") {
  const Array x = np::array({1.0, 2.0, 3.0, 4.0}), w = np::array({1.0, 10.0, 100.0, 1000.0});
  const auto slope = [&](auto&& f) { return str(fx::grad([&](const Array& a) { return np::sum(f(a)); })(x)); };
  CHECK(slope([](const Array& a) { return a(2); }) == "[0. 0. 1. 0.]");
  CHECK(slope([](const Array& a) { return a(slice(none, none, -2)) * np::array({1.0, 2.0}); }) == "[0. 2. 0. 1.]");
  CHECK(slope([](const Array& a) { return a(np::array({1, 1, 7})); }) == "[0. 2. 0. 1.]");
  CHECK(slope([&](const Array& a) { return a.at(1).set(a(0) * 5.0) * w; }) == "[  51.    0.  100. 1000.]");
  CHECK(slope([&](const Array& a) { return a.at(slice(0, 4, 2)).set(a(slice(2))) * w; }) ==
        "[   1.  110.    0. 1000.]");
  CHECK(slope([&](const Array& a) {
          return a.at(np::array({0, 0})).add(a(slice(2, 4))) * w;
        }) == "[1.000e+00 1.000e+01 1.010e+02 1.001e+03]");
  CHECK(slope([&](const Array& a) {
          return a.at(np::array({0, 0})).set(a(slice(2, 4))) * w;
        }) == "[   0.   10.  100. 1001.]");
  // A static read under make_jaxpr is one slice; indices may be traced and mapped.
  CHECK(fx::make_jaxpr([](const Array& a) { return a(slice(1, 3)); })(fx::type(fx::f32, {4})) ==
        "{ lambda ; a:f32[4]. let\n    b:f32[2] = slice[start=(1) limit=(3) stride=(1)] a\n  in (b,) }");
  const auto pick = [](const Array& row, const Array& i) { return row(i); };
  CHECK(str(fx::vmap(pick)(m, np::array({3, 0, -1}))) == "[ 3  4 11]");
  CHECK(str(fx::vmap(pick, {.in = {0, none}})(m, np::array({1, 2}))) == "[[ 1  2]\n [ 5  6]\n [ 9 10]]");
  const auto put = [](const Array& row, const Array& i) { return row.at(i).set(-1); };
  CHECK(str(fx::vmap(put)(m, np::array({3, 0, -1}))) == "[[ 0  1  2 -1]\n [-1  5  6  7]\n [ 8  9 10 -1]]");
}

TEST_CASE("boxes at computed places") {
  CHECK(str(fx::dynamic_slice(m, {Array(1), 2}, {2, 2})) == "[[ 6  7]\n [10 11]]");
  CHECK(str(fx::dynamic_slice(m, {2, Array(9l)}, {2, 2})) == "[[ 6  7]\n [10 11]]");  // moved inside
  CHECK(str(fx::dynamic_update_slice(v, np::array({7, 8}), {Array(3u)})) == "[0 1 2 7 8 5]");
  const auto window = [](const Array& i) { return fx::dynamic_slice(v, {i}, {2}); };
  CHECK(str(fx::vmap(window)(np::array({0, 3}))) == "[[0 1]\n [3 4]]");
  CHECK(error_of([] { fx::dynamic_slice(m, {1}, {2, 2}); }) == "dynamic_slice: i32[3,4] needs 2 starts, got 1");
  CHECK(error_of([] { fx::dynamic_slice(v, {Array(0.5)}, {2}); }) ==
        "dynamic_slice: f64[] is no start; starts are integer scalars");
}

TEST_CASE("errors") {
  using fx::ErrorCode;
  CHECK(error_of([] { v(6); }) == "x(...): index 6 is out of range for axis 0 of size 6 of i32[6]");
  CHECK(last.code == ErrorCode::value);
  CHECK(last.where.line == __LINE__ - 2);
  CHECK(std::string(last.where.file).ends_with("test_indexing.cpp"));
  CHECK(error_of([] { m(0, -5); }) == "x(...): index -5 is out of range for axis 1 of size 4 of i32[3,4]");
  CHECK(error_of([] { v.at(9).set(1); }) == "x(...): index 9 is out of range for axis 0 of size 6 of i32[6]");
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([] { v(0, 1); }) == "x(...): 2 subscripts for i32[6], which has 1 axis");
  CHECK(last.code == ErrorCode::shape);
  CHECK(error_of([] { m(ellipsis, 0, ellipsis); }) == "x(...): more than one fx::ellipsis");
  CHECK(error_of([] { v(slice(0, 1, 0)); }) == "x(...): the step of a slice is 0");
  CHECK(error_of([] { v(v > 2); }) ==
        "x(...): the size of x(mask) would depend on the values of the mask; use np::where(mask, x, other)");
  CHECK(last.code == ErrorCode::dtype);
  CHECK(error_of([] { v(np::array({0.5})); }) == "x(...): f64[1] is no index; indices are i32, i64, u32 or u64");
  CHECK(error_of([] {
          m(np::array({0, 1}), np::array({0, 1, 2}));
        }).starts_with("x(...): index Arrays: shapes [2] and [3]"));
  CHECK(error_of([] {
          v.at(slice(0, 2)).set(np::array({1, 2, 3}));
        }) == "x.at(...).set: i32[3] does not broadcast to [2]");
  CHECK(error_of([] { v.at(0).set(np::array({1.0})); }) ==
        "x.at(...).set: i32[6] and f64[1] have different dtypes; fx never promotes: convert one with fx::convert");
  CHECK(error_of([] { v.at(0).add(0.5); }).starts_with("the number 0.5 is not representable as i32"));
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([] { fx::make_jaxpr([](const Array& a) { return a(0); })(fx::type(fx::f32, {fx::dim("n")})); }) ==
        "x(...): f32[n] has a symbolic size, of which this version takes only fx::all");
}

namespace {
constexpr bool same(const Array& a, const Array& b) { return a.type() == b.type() && np::all(a == b).item<bool>(); }
static_assert(same(np::arange(5)(slice(none, none, -2)), np::array({4, 2, 0})));
static_assert(same(np::array({{1, 2}, {3, 4}})(all, -1), np::array({2, 4})));
static_assert(same(np::arange(5)(np::array({-1, 9})), np::array({4, 4})));
static_assert(same(np::arange(3).at(1).set(7), np::array({0, 7, 2})));
static_assert(same(np::arange(5).at(slice(0, 5, 2)).add(np::array({7, 8, 9})), np::array({7, 1, 10, 3, 13})));
// g++ with -fsanitize=null: the address of a primitive is no constant.
#if !defined(__GNUC__) || defined(__clang__) || !defined(__SANITIZE_ADDRESS__)
static_assert(same(np::arange(3).at(np::array({0, 0, 9})).add(1), np::array({2, 1, 2})));
#endif
static_assert(same(fx::grad([](auto a) { return np::sum(a.at(0).set(a(1) * 3.0)); })(np::array({1.0, 2.0})),
                   np::array({0.0, 4.0})));
}  // namespace
