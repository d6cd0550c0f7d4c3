// errors/sizes.cpp -- sizes that overflow, are negative or symbolic; too many dimensions; axes that do not exist.
#include "errors.hpp"

using namespace errors;

namespace {

constexpr std::int64_t big = std::int64_t(1) << 40;

TEST_CASE("elements that do not fill a shape") {
  check_error(ErrorCode::shape, [&] { HERE, Array(std::vector<double>{1, 2, 3}, {2, 2}); }, "3 elements do not fill the shape [2,2]");
  check_error(ErrorCode::shape, [&] { HERE, Array(std::vector<int>{}, {1}); },
              "0 elements do not fill the shape [1]");
  check_error(ErrorCode::shape, [&] { HERE, Array(std::vector<double>{1}, {big, big}); },
              "1 elements do not fill the shape [1099511627776,1099511627776]");
  check_error(ErrorCode::shape, [&] { HERE, Array(std::vector<double>{1}, {-1, -1}); }, "1 elements do not fill the shape [-1,-1]");
}
TEST_CASE("sizes that no machine has") {
  const std::string large = " is too large";
  check_error(ErrorCode::memory, [&] { HERE, np::zeros({big, big}); }, "an Array of type f32[1099511627776,1099511627776]" + large);
  check_error(ErrorCode::memory, [&] { HERE, np::zeros({big, big / 2, 4}); }, "an Array of type f32[1099511627776,549755813888,4]" + large);
  check_error(ErrorCode::memory, [&] { HERE, np::ones({std::int64_t(1) << 61}, fx::f64); }, "an Array of type f64[2305843009213693952]" + large);
  check_error(ErrorCode::memory, [&] { HERE, np::zeros({big, 1024}); }, "an array is too large: 4503599627370496 bytes");
  const Array x = vector({1, 2});
  check_error(ErrorCode::memory, [&] { HERE, np::broadcast_to(x, {big, big, 2}); }, "an Array of type f64[1099511627776,1099511627776,2]" + large);
  CHECK(np::zeros({big, big, 0}).size() == 0);
}
TEST_CASE("negative sizes") {
  check_error(ErrorCode::shape, [&] { HERE, np::zeros({2, -3}); }, "np::zeros: size -3 of axis 1 is negative");
  check_error(ErrorCode::shape, [&] { HERE, fx::spec(fx::type(fx::f32, {-3})); }, "size -3 of axis 0 of a spec is negative");
}
TEST_CASE("too many dimensions") {
  const std::string text = "an Array has at most 8 dimensions; merge some with reshape";
  check_error(ErrorCode::shape, [&] { HERE, np::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); }, text);
  check_error(ErrorCode::shape, [&] { HERE, Array(std::vector<double>{1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}); }, text);
  check_error(ErrorCode::shape, [&] { HERE, fx::type(fx::f32, {1, 1, 1, 1, 1, 1, 1, 1, 1}); }, text);
  const Array most = np::zeros({1, 1, 1, 1, 1, 1, 1, 1});
  check_error(ErrorCode::shape, [&] { HERE, np::expand_dims(most, 0); },
              "np::expand_dims: f32[1,1,1,1,1,1,1,1] would have more than 8 axes");
}
TEST_CASE("symbolic sizes are traced and not run") {
  const fx::Dim n = fx::dim("n");
  auto f = [](Array a) { return np::sum(a * a); };
  const std::string text =
      "a function with the symbolic size f32[n] can be traced and printed, and in this version not run; give the sizes as numbers";
  CHECK(std::string(fx::jit(f).lower(fx::type(fx::f32, {n})).text()).find("f32[n]") != std::string::npos);
  check_error(ErrorCode::unsupported, [&] { HERE, fx::jit(f).lower(fx::type(fx::f32, {n})).compile(); }, text);
  check_error(ErrorCode::unsupported, [&] { HERE, np::zeros({n}); }, text);
  check_error(ErrorCode::unsupported, [&] { HERE, fx::spec(fx::type(fx::f32, {n})) + 1.0f; }, text);
}

TEST_CASE("axes that do not exist") {
  const Array s = 1.0, x = vector({1, 2}), m = matrix(2, 3);
  check_error(ErrorCode::shape, [&] { HERE, np::sum(m, {.axis = 2}); }, "np::sum: f64[2,3] has no axis 2; its axes are -2 to 1");
  check_error(ErrorCode::shape, [&] { HERE, np::mean(x, {.axis = -2}); }, "np::mean: f64[2] has no axis -2; its axes are -1 to 0");
  check_error(ErrorCode::shape, [&] { HERE, np::max(s, {.axis = 0}); }, "np::max: f64[] has no axis 0; it is a scalar");
  check_error(ErrorCode::shape, [&] { HERE, np::sum(m, {.axis = {0, -2}}); }, "np::sum: axis 0 of f64[2,3] is given twice");
  check_error(ErrorCode::shape, [&] { HERE, np::argmax(m, {.axis = 5}); }, "np::argmax: f64[2,3] has no axis 5; its axes are -2 to 1");
}
TEST_CASE("ranks that do not fit") {
  const Array s = 1.0, x = vector({1, 2}), m = matrix(2, 3);
  check_error(ErrorCode::shape, [&] { HERE, np::matmul(m, m); }, "np::matmul: f64[2,3] and f64[2,3] do not fit: axis 1 of the first has size 3, axis 0 of the second 2");
  check_error(ErrorCode::shape, [&] { HERE, np::matmul(s, m); }, "np::matmul: f64[] is a scalar; multiply by it with *");
  check_error(ErrorCode::dtype, [&] { HERE, np::matmul(x, convert(x, fx::f32)); }, "np::matmul: f64[2] and f32[2] have different dtypes; fx never promotes: convert one with fx::convert");
  check_error(ErrorCode::shape, [&] { HERE, np::reshape(m, {4}); }, "reshape: shape [4] has another number of elements than f64[2,3]");
  check_error(ErrorCode::shape, [&] { HERE, np::concatenate({x, m}); }, "np::concatenate: f64[2] and f64[2,3] may differ in size only along axis 0");
  check_error(ErrorCode::shape, [&] { HERE, np::transpose(m, {0}); }, "transpose: [0] is no permutation of the dimensions of f64[2,3]");
  check_error(ErrorCode::shape, [&] { HERE, x(0, 1); }, "x(...): 2 subscripts for f64[2], which has 1 axis");
  check_error(ErrorCode::value, [&] { HERE, x(2); }, "x(...): index 2 is out of range for axis 0 of size 2 of f64[2]");
  check_error(ErrorCode::value, [&] { HERE, x(fx::slice(0, 2, 0)); }, "x(...): the step of a slice is 0");
  check_error(ErrorCode::dtype, [&] { HERE, x(x); }, "x(...): f64[2] is no index; indices are i32, i64, u32 or u64");
  check_error(ErrorCode::shape, [&] { HERE, x.at(0).set(m); }, "x.at(...).set: f64[2,3] does not broadcast to []");
  check_error(ErrorCode::dtype, [&] { HERE, x.at(0).set(Array(1.0f)); }, "x.at(...).set: f64[2] and f32[] have different dtypes; fx never promotes: convert one with fx::convert");
}

}  // namespace
