// test_numpy_rules.cpp -- fx::numpy: dtypes, special values, gradients, transforms, errors, constant evaluation.
#include <doctest/doctest.h>

#include <cmath>
#include <fx/fx.hpp>
#include <string>
#include <vector>

namespace {

using fx::Array;
namespace np = fx::numpy;

std::string str(const Array& x) { return fx::to_string(x); }

// The first line of an Error's text, and its code and line through `last`.
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

constexpr double not_a_number = NAN;
const Array x = np::reshape(np::arange(6, fx::f64), {2, 3}) * 1.5 - 2.0;
const Array xi = np::reshape(np::arange(6), {2, 3});
const Array c = np::reshape(np::arange(24), {2, 3, 4});

}  // namespace

TEST_CASE("dtypes") {
  CHECK(np::zeros({2}).dtype() == fx::f32);
  CHECK(np::arange(3).dtype() == fx::i32);
  CHECK(np::arange(3.0).dtype() == fx::f32);
  CHECK(np::arange(0, 3, 0.5).dtype() == fx::f32);
  CHECK(np::array({1.0}).dtype() == fx::f64);
  CHECK(np::array({1.0f}).dtype() == fx::f32);
  CHECK(np::array({1}).dtype() == fx::i32);
  CHECK(np::array({1l}).dtype() == fx::i64);
  CHECK(np::array({1u}).dtype() == fx::u32);
  CHECK(np::sum(xi).dtype() == fx::i32);
  CHECK(np::argmax(x).dtype() == fx::i32);
  CHECK(np::argmax(x, {.dtype = fx::i64}).dtype() == fx::i64);
  CHECK(np::all(xi).dtype() == fx::boolean);
  CHECK(np::mean(np::ones({2})).dtype() == fx::f32);
  CHECK(np::full({2}, np::array({2})).dtype() == fx::i32);
}

TEST_CASE("special values") {
  CHECK(str(np::mean(np::zeros({0}))) == "nan");
  CHECK(str(np::sum(np::array({-0.0}))) == "-0.0");
  CHECK(str(np::clip(not_a_number, 0.0, 1.0)) == "nan");
  CHECK(np::max(np::zeros({3, 0}), {.axis = 0}).shape() == fx::Dims{0});
  CHECK(np::matmul(np::ones({2, 0}), np::ones({0, 2})).shape() == fx::Dims{2, 2});
  CHECK(str(np::matmul(np::ones({2, 0}), np::ones({0, 1}))) == "[[0.]\n [0.]]");
  CHECK(str(np::arange(INT64_MAX - 1, INT64_MAX, 1, fx::i64)) == "[9223372036854775806]");
}

TEST_CASE("gradients") {
  using fx::grad;
  const Array v = np::array({3.0, 1.0, 3.0, 2.0});
  CHECK(str(grad([](const Array& a) { return np::mean(a); })(v)) == "[0.25 0.25 0.25 0.25]");
  CHECK(str(grad([](const Array& a) { return np::max(a); })(v)) == "[0.5 0.  0.5 0. ]");
  CHECK(str(grad([](const Array& a) { return np::var(a); })(v)) == "[ 0.375 -0.625  0.375 -0.125]");
  CHECK(str(grad([](const Array& a) { return np::std(a); })(np::array({1.0, 3.0}))) == "[-0.5  0.5]");
  CHECK(str(grad([](const Array& a) { return np::prod(a); })(np::array({2.0, 0.0, 3.0}))) == "[0. 6. 0.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::sort(a) * np::arange(4, fx::f64)); })(v)) == "[2. 0. 3. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::cumsum(a)); })(v)) == "[4. 3. 2. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::clip(a, 1.5, 2.5)); })(v)) == "[0. 0. 0. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::pad(a, 1) * np::arange(6, fx::f64)); })(v)) ==
        "[1. 2. 3. 4.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::roll(a, 1) * np::arange(4, fx::f64)); })(v)) ==
        "[1. 2. 3. 0.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::take(a, np::array({1, 1, -1}))); })(v)) == "[0. 2. 0. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::diag(np::diag(a)) * a); })(v)) == "[6. 2. 6. 4.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::concatenate({a, a * 2.0})); })(v)) == "[3. 3. 3. 3.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::square(np::stack({a, a}))); })(v)) == "[12.  4. 12.  8.]");
  // d sum(A B) = ones B^T: batches that only one side has are summed.
  const auto product = [](const Array& a, const Array& b) { return np::sum(np::matmul(a, b)); };
  const Array m = np::reshape(np::arange(6, fx::f64), {2, 3}), stack = np::reshape(np::arange(12, fx::f64), {2, 3, 2});
  const auto [da, db] = grad<0, 1>(product)(m, stack);
  CHECK(str(da) == "[[14. 22. 30.]\n [14. 22. 30.]]");
  CHECK(str(db) == "[[[3. 3.]\n  [5. 5.]\n  [7. 7.]]\n\n [[3. 3.]\n  [5. 5.]\n  [7. 7.]]]");
}

TEST_CASE("one operation, one Graph; under vmap and make_jaxpr") {
  const auto mean = [](const Array& a) { return np::mean(a, {.axis = 0}); };
  CHECK(fx::make_jaxpr(mean)(fx::type(fx::f32, {4, 2})) ==
        "{ lambda ; a:f32[4,2]. let\n"
        "    b:f32[2] = reduce_sum[axes=(0)] a\n"
        "    c:f32[2] = div b 4.0:f32\n"
        "  in (c,) }");
  // A stack of matrices by one matrix is one product without a copy.
  CHECK(fx::make_jaxpr([](const Array& a, const Array& b) { return np::matmul(a, b); })(fx::type(fx::f32, {5, 4, 3}),
                                                                                        fx::type(fx::f32, {3, 2})) ==
        "{ lambda ; a:f32[5,4,3] b:f32[3,2]. let\n"
        "    c:f32[5,4,2] = dot_general[lhs_contract=(2) rhs_contract=(0) lhs_batch=() rhs_batch=()] a b\n"
        "  in (c,) }");
  CHECK(str(fx::vmap([](const Array& a) { return np::sort(a) - np::min(a); })(np::array({{3, 1}, {7, 9}}))) ==
        "[[0 2]\n [0 2]]");
  CHECK(str(fx::vmap([](const Array& a) { return np::zeros_like(a); })(np::ones({2, 2}))) == "[[0. 0.]\n [0. 0.]]");
  CHECK(fx::eval_shape([](const Array& a) { return np::outer(a, a); })(fx::type(fx::f32, {3})).shape() ==
        fx::Dims{3, 3});
}

TEST_CASE("traced Arrays print their type") {
  std::string seen;
  fx::make_jaxpr([&](const Array& a) { return seen = str(a), a; })(fx::type(fx::f32, {3}));
  CHECK(seen == "Traced<f32[3]>");
  CHECK(str(fx::spec(fx::type(fx::i32, {2, 2}))) == "Spec<i32[2,2]>");
}

TEST_CASE("errors name the function, the types and the user's line") {
  using fx::ErrorCode;
  CHECK(error_of([] { np::sum(x, {.axis = 2}); }) == "np::sum: f64[2,3] has no axis 2; its axes are -2 to 1");
  CHECK(last.code == ErrorCode::shape);
  CHECK(last.where.line == __LINE__ - 2);
  CHECK(std::string(last.where.file).ends_with("test_numpy_rules.cpp"));
  CHECK(error_of([] { np::sum(1.0, {.axis = 0}); }) == "np::sum: f64[] has no axis 0; it is a scalar");
  CHECK(error_of([] { np::sum(x, {.axis = {0, -2}}); }) == "np::sum: axis 0 of f64[2,3] is given twice");
  CHECK(error_of([] {
          np::max(np::zeros({2, 0}), {.axis = 1});
        }) == "np::max: f32[2,0] has no elements to choose from along the reduced axes");
  CHECK(error_of([] { np::mean(xi); }) ==
        "np::mean: i32[2,3] is no floating-point value; convert it with fx::convert(x, fx::f32)");
  CHECK(last.code == ErrorCode::dtype);
  CHECK(error_of([] { np::sum(xi > 0); }).starts_with("reduce_sum: takes numbers, got bool[2,3]"));
  CHECK(error_of([] { np::argmax(np::zeros({0})); }) == "np::argmax: f32[0] has no elements to choose from");
  CHECK(error_of([] { np::matmul(x, x); }) ==
        "np::matmul: f64[2,3] and f64[2,3] do not fit: axis 1 of the first has size 3, axis 0 of the second 2");
  error_of([] { np::matmul(x, x); });
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([] { np::matmul(x, xi); }) ==
        "np::matmul: f64[2,3] and i32[2,3] have different dtypes; fx never promotes: convert one with fx::convert");
  CHECK(error_of([] { np::matmul(x, 2.0); }) == "np::matmul: f64[] is a scalar; multiply by it with *");
  CHECK(error_of([] {
          np::matmul(np::ones({2, 1, 3}), np::ones({3, 3, 1}));
        }).starts_with("np::matmul: shapes [2] and [3] do not broadcast"));
  CHECK(error_of([] {
          np::reshape(c, {5, -1});
        }) == "np::reshape: i32[2,3,4] has 24 elements, which 5 does not divide");
  CHECK(error_of([] { np::reshape(c, {-1, -1}); }) == "np::reshape: only one size may be -1");
  CHECK(error_of([] { np::reshape(c, {-3}); }) == "np::reshape: a size is negative");
  CHECK(error_of([] {
          np::reshape(c, {5});
        }).starts_with("reshape: shape [5] has another number of elements than i32[2,3,4]"));
  CHECK(error_of([] { np::transpose(c, {0, 1}); }).starts_with("transpose: [0,1] is no permutation"));
  CHECK(error_of([] { np::squeeze(c, 1); }) ==
        "np::squeeze: i32[2,3,4] has size 3 along axis 1, and only axes of size 1 can go");
  CHECK(error_of([] { np::expand_dims(xi, 3); }) ==
        "np::expand_dims: axis 3 is out of range; the result has axes -3 to 2");
  CHECK(error_of([] { np::broadcast_to(xi, {3, 2}); }) == "np::broadcast_to: i32[2,3] does not broadcast to [3,2]");
  CHECK(
      error_of([] {
        np::concatenate({xi, x});
      }) ==
      "np::concatenate: i32[2,3] and f64[2,3] have different dtypes; fx never promotes: convert one with fx::convert");
  CHECK(error_of([] {
          np::concatenate({xi, c});
        }) == "np::concatenate: i32[2,3] and i32[2,3,4] may differ in size only along axis 0");
  CHECK(error_of([] { np::concatenate(std::vector<Array>()); }) == "np::concatenate: takes at least one Array");
  CHECK(error_of([] { np::stack({xi, c}); }) == "np::stack: i32[2,3] and i32[2,3,4] must have one shape");
  CHECK(error_of([] { np::pad(xi, {{1, 1}}); }) == "np::pad: i32[2,3] has 2 axes, and widths are given for 1");
  CHECK(error_of([] { np::pad(xi, 1, 0.5); }).starts_with("the number 0.5 is not representable as i32"));
  CHECK(error_of([] { np::zeros({2, -1}); }) == "np::zeros: size -1 of axis 1 is negative");
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([] { np::zeros({2}, fx::f16); }) ==
        "np::zeros: arithmetic on f16 comes in a later version; use f32 or i32");
  CHECK(error_of([] {
          np::array({{1, 2}, {3}});
        }) == "np::array: lists of 2 and 1 elements side by side; rows must have one length");
  CHECK(error_of([] { np::arange(0, 5, 0); }) == "np::arange: the step is 0, or a bound is NaN");
  CHECK(error_of([] { np::take(xi, np::array({0.5})); }) ==
        "np::take: f64[1] is no index; indices are i32, i64, u32 or u64");
  CHECK(error_of([] { np::tril(np::array({1})); }) == "np::tril: i32[1] is no matrix");
  CHECK(error_of([] {
          np::tensordot(xi, xi, {0}, {0, 1});
        }) == "np::tensordot: takes as many axes of the first operand as of the second");
  CHECK(error_of([] { str(Array()); }) == "this Array is empty: it was moved from, or never given a value");
  CHECK(last.code == ErrorCode::state);
}

namespace {
constexpr bool same(const Array& a, const Array& b) { return a.type() == b.type() && np::all(a == b).item<bool>(); }

static_assert(np::sum(np::array({1.0, 2.0})).item<double>() == 3);
static_assert(np::var(np::array({1.0, 2.0, 6.0}), {.ddof = 1}).item<double>() == 7);
static_assert(np::argmax(np::array({1.0, 6.0, 2.0})).item<int>() == 1);
static_assert(same(np::cumsum(np::arange(4)), np::array({0, 1, 3, 6})));
static_assert(same(np::matmul(np::array({{1, 2}, {3, 4}}), np::array({5, 6})), np::array({17, 39})));
static_assert(same(np::linspace(0, 1, 3), np::array({0.0f, 0.5f, 1.0f})));
static_assert(same(np::sort(np::array({3, 1, 2})), np::array({1, 2, 3})));
static_assert(same(np::diag(np::diag(np::array({3, 1}), -1), -1), np::array({3, 1})));
static_assert(same(np::roll(np::array({3, 1, 2}), 1), np::array({2, 3, 1})));
static_assert(same(np::pad(np::array({1}), {1, 2}, 7), np::array({7, 1, 7, 7})));
static_assert(same(np::concatenate({np::arange(2), np::arange(1)}), np::array({0, 1, 0})));
static_assert(same(np::transpose(np::array({{1, 2}, {3, 4}})), np::array({{1, 3}, {2, 4}})));
static_assert(same(fx::grad([](auto a) { return np::sum(np::square(a)); })(np::array({1.0, -2.0})),
                   np::array({2.0, -4.0})));
static_assert(same(fx::grad([](auto a) { return np::max(a); })(np::array({1.0, 4.0})), np::array({0.0, 1.0})));
}  // namespace
