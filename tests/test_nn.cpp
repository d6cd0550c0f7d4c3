// test_nn.cpp -- fx::nn: values (from NumPy), gradients at the awkward places, errors, constant evaluation.
#include <doctest/doctest.h>

#include <cmath>
#include <fx/fx.hpp>
#include <string>

namespace {

using fx::Array;
namespace np = fx::numpy;
namespace nn = fx::nn;

constexpr double inf = INFINITY;

std::string str(const Array& x) { return fx::to_string(x); }
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const fx::Error& e) {
    const std::string s = e.what();
    return s.substr(4, s.find('\n') - 4);
  }
  return "no error";
}
double largest_difference(const Array& a, const Array& b) { return np::max(abs(a - b)).item<double>(); }

const Array x = np::array({{1.0, 2.0, 3.0}, {-1.0, 0.5, 0.0}});

}  // namespace

TEST_CASE("relu") {
  CHECK(str(nn::relu(np::array({-1.0, 0.0, 2.0, NAN * 1.0}))) == "[ 0.  0.  2. nan]");
  CHECK(str(fx::grad([](const Array& a) { return np::sum(nn::relu(a)); })(np::array({-1.0, 0.0, -0.0, 2.0}))) ==
        "[0. 0. 0. 1.]");
  CHECK(str(nn::relu(np::array({-3, 4}))) == "[0 4]");
}

TEST_CASE("softmax, log_softmax, logsumexp") {
  CHECK(str(nn::softmax(x)) == "[[0.09003057 0.24472847 0.66524096]\n [0.12195165 0.54654939 0.33149896]]");
  CHECK(str(nn::softmax(x, {.axis = 0})) ==
        "[[0.88079708 0.81757448 0.95257413]\n [0.11920292 0.18242552 0.04742587]]");
  CHECK(str(np::sum(nn::softmax(x, {.axis = {0, 1}}))) == "1.0");
  CHECK(str(nn::log_softmax(x)) == "[[-2.40760596 -1.40760596 -0.40760596]\n [-2.10413061 -0.60413061 -1.10413061]]");
  CHECK(str(nn::logsumexp(x, {.axis = 1})) == "[3.40760596 1.10413061]");
  CHECK(nn::logsumexp(x).item<double>() == doctest::Approx(3.5028352437).epsilon(1e-9));
  CHECK(nn::logsumexp(x, {.axis = 0, .keepdims = true}).shape() == fx::Dims{1, 3});
  CHECK(nn::logsumexp(x, {.keepdims = true}).shape() == fx::Dims{1, 1});
}

TEST_CASE("neither overflow nor NaN") {
  CHECK(str(nn::softmax(np::array({1e4, 1e4}))) == "[0.5 0.5]");
  CHECK(str(nn::log_softmax(np::array({1e4, 0.0}))) == "[     0. -10000.]");
  CHECK(str(nn::logsumexp(np::array({1e300, 1e300}))) == "1e+300");
  CHECK(str(nn::logsumexp(np::array({-inf, -inf}))) == "-inf");
  CHECK(str(nn::logsumexp(np::array({-inf, 3.0}))) == "3.0");
  CHECK(str(nn::logsumexp(np::array({inf, 3.0}))) == "inf");
  CHECK(str(nn::logsumexp(np::zeros({0}))) == "-inf");
  CHECK(str(nn::softmax(np::array({-inf, 0.0}))) == "[0. 1.]");
  CHECK(str(nn::log_softmax(np::array({-inf, 0.0}))) == "[-inf   0.]");
}

TEST_CASE("gradients: the softmax, also with equal and infinite elements") {
  const auto slope = [](const Array& a) { return fx::grad([](const Array& b) { return nn::logsumexp(b); })(a); };
  CHECK(largest_difference(slope(x), nn::softmax(x, {.axis = {0, 1}})) < 1e-15);
  CHECK(str(slope(np::array({2.0, 2.0}))) == "[0.5 0.5]");
  CHECK(str(slope(np::array({-inf, 2.0, 2.0}))) == "[0.  0.5 0.5]");
  // d log_softmax(a)[1] = onehot - softmax.
  const Array a = np::array({1.0, 2.0, 2.0, -inf});
  CHECK(largest_difference(fx::grad([](const Array& b) { return nn::log_softmax(b)(1); })(a),
                           nn::one_hot(1, 4, fx::f64) - nn::softmax(a)) < 1e-15);
  // d softmax: s_i (d_ij - s_j), row 0.
  const Array s = nn::softmax(np::array({1.0, 2.0, 2.0}));
  CHECK(largest_difference(fx::grad([](const Array& b) { return nn::softmax(b)(0); })(np::array({1.0, 2.0, 2.0})),
                           s(0) * (nn::one_hot(0, 3, fx::f64) - s)) < 1e-15);
  // The second derivative of logsumexp along e0 is s0 (1 - s0).
  const auto line = [](const Array& t) { return nn::logsumexp(np::stack({t, Array(0.0)})); };
  CHECK(fx::grad(fx::grad(line))(0.0).item<double>() == 0.25);
}

TEST_CASE("one_hot") {
  CHECK(str(nn::one_hot(np::array({1, 0, 3, -1}), 3)) == "[[0. 1. 0.]\n [1. 0. 0.]\n [0. 0. 0.]\n [0. 0. 0.]]");
  CHECK(nn::one_hot(np::array({1}), 3).dtype() == fx::f32);
  CHECK(str(nn::one_hot(np::array({{2l}, {1l}}), 3, fx::i32)) == "[[[0 0 1]]\n\n [[0 1 0]]]");
  CHECK(str(nn::one_hot(2, 3, fx::boolean)) == "[False False  True]");
  CHECK(str(fx::vmap([](const Array& i) { return nn::one_hot(i, 2); })(np::array({1, 0}))) == "[[0. 1.]\n [1. 0.]]");
}

TEST_CASE("smooth activations") {
  CHECK(str(nn::softplus(np::array({-1000.0, -1.0, 0.0, 1.0, 1000.0}))) ==
        "[0.00000000e+00 3.13261688e-01 6.93147181e-01 1.31326169e+00\n 1.00000000e+03]");
  CHECK(str(fx::grad([](const Array& a) { return np::sum(nn::softplus(a)); })(np::array(
            {-1000.0, -1.0, 0.0, 1.0, 1000.0}))) == "[0.         0.26894142 0.5        0.73105858 1.        ]");
  CHECK(str(nn::sigmoid(np::array({-1.0, 0.0, 1.0}))) == "[0.26894142 0.5        0.73105858]");
  CHECK(str(nn::silu(np::array({-1.0, 0.0, 1.0}))) == "[-0.26894142  0.          0.73105858]");
  CHECK(str(nn::gelu(np::array({-1.0, 0.0, 1.0}))) == "[-0.15880801  0.          0.84119199]");
}

TEST_CASE("errors") {
  CHECK(error_of([] {
          nn::softmax(np::array({1, 2}));
        }) == "nn::softmax: i32[2] is no floating-point value; convert it with fx::convert(x, fx::f32)");
  CHECK(error_of([] { nn::softmax(x, {.axis = 2}); }) == "nn::softmax: f64[2,3] has no axis 2; its axes are -2 to 1");
  CHECK(error_of([] { nn::softmax(1.0); }) == "nn::softmax: f64[] has no axis -1; it is a scalar");
  CHECK(error_of([] { nn::one_hot(np::array({1.0}), 3); }) ==
        "nn::one_hot: f64[1] is no index; indices are i32, i64, u32 or u64");
  CHECK(error_of([] { nn::one_hot(np::array({1}), -1); }) == "nn::one_hot: size -1 of axis 1 is negative");
}

namespace {
constexpr bool same(const Array& a, const Array& b) { return a.type() == b.type() && np::all(a == b).item<bool>(); }
static_assert(same(nn::softmax(np::array({1.0, 1.0})), np::array({0.5, 0.5})));
static_assert(nn::logsumexp(np::array({0.0, -__builtin_inf()})).item<double>() == 0);
static_assert(same(fx::grad([](auto a) { return nn::logsumexp(a); })(np::array({1.0, 1.0})), np::array({0.5, 0.5})));
static_assert(fx::grad([](auto a) { return nn::relu(a); })(0.0).item<double>() == 0);
static_assert(same(nn::one_hot(np::array({1, 3}), 2), np::array({{0.0f, 1.0f}, {0.0f, 0.0f}})));
}  // namespace
