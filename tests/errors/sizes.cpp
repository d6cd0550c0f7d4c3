// errors/sizes.cpp -- sizes that overflow, are negative or symbolic; too many dimensions; axes that do not exist.
#include "errors.hpp"

using namespace errors;

namespace {

constexpr std::int64_t big = std::int64_t(1) << 40;

TEST_CASE("elements that do not fill a shape") {
  CHECK_ERROR(shape, "3 elements do not fill the shape [2,2]", Array(std::vector<double>{1, 2, 3}, {2, 2}));
  CHECK_ERROR(shape, "0 elements do not fill the shape [1]", Array(std::vector<int>{}, {1}));
  CHECK_ERROR(shape, "1 elements do not fill the shape [1099511627776,1099511627776]",
              Array(std::vector<double>{1}, {big, big}));
  CHECK_ERROR(shape, "1 elements do not fill the shape [-1,-1]", Array(std::vector<double>{1}, {-1, -1}));
}
TEST_CASE("sizes that no machine has") {
  const std::string large = " is too large";
  CHECK_ERROR(memory, "an Array of type f32[1099511627776,1099511627776]" + large, np::zeros({big, big}));
  CHECK_ERROR(memory, "an Array of type f32[1099511627776,549755813888,4]" + large, np::zeros({big, big / 2, 4}));
  CHECK_ERROR(memory, "an Array of type f64[2305843009213693952]" + large, np::ones({std::int64_t(1) << 61}, fx::f64));
  CHECK_ERROR(memory, "an array is too large: 4503599627370496 bytes", np::zeros({big, 1024}));
  const Array x = vector({1, 2});
  CHECK_ERROR(memory, "an Array of type f64[1099511627776,1099511627776,2]" + large,
              np::broadcast_to(x, {big, big, 2}));
  CHECK(np::zeros({big, big, 0}).size() == 0);
}
TEST_CASE("negative sizes") {
  CHECK_ERROR(shape, "np::zeros: size -3 of axis 1 is negative", np::zeros({2, -3}));
  CHECK_ERROR(shape, "size -3 of axis 0 of a spec is negative", fx::spec(fx::type(fx::f32, {-3})));
}
TEST_CASE("too many dimensions") {
  const std::string text = "an Array has at most 8 dimensions; merge some with reshape";
  CHECK_ERROR(shape, text, np::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}));
  CHECK_ERROR(shape, text, Array(std::vector<double>{1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  CHECK_ERROR(shape, text, fx::type(fx::f32, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  const Array most = np::zeros({1, 1, 1, 1, 1, 1, 1, 1}), indices = np::zeros({1, 1}, fx::i32);
  CHECK_ERROR(shape, text, most(fx::newaxis));
  CHECK_ERROR(shape, text, most(indices));
  CHECK_ERROR(shape, text, np::take(most, indices, {.axis = 0}));
  CHECK_ERROR(shape, text, np::stack({most, most}));
  CHECK_ERROR(shape, text, fx::scan([&](Array c, Array) { return std::pair(c, most); }, 0.0, np::zeros({2})));
  CHECK_ERROR(shape, "np::expand_dims: f32[1,1,1,1,1,1,1,1] would have more than 8 axes", np::expand_dims(most, 0));
}
TEST_CASE("symbolic sizes are traced and not run") {
  const fx::Dim n = fx::dim("n");
  auto f = [](Array a) { return np::sum(a * a); };
  const std::string text =
      "a function with the symbolic size f32[n] can be traced and printed, and in this version not run; give the sizes "
      "as numbers";
  CHECK(std::string(fx::jit(f).lower(fx::type(fx::f32, {n})).text()).find("f32[n]") != std::string::npos);
  CHECK_ERROR(unsupported, text, fx::jit(f).lower(fx::type(fx::f32, {n})).compile());
  CHECK_ERROR(unsupported, text, np::zeros({n}));
  CHECK_ERROR(unsupported, text, fx::spec(fx::type(fx::f32, {n})) + 1.0f);
}

TEST_CASE("axes that do not exist") {
  const Array s = 1.0, x = vector({1, 2}), m = matrix(2, 3);
  CHECK_ERROR(shape, "np::sum: f64[2,3] has no axis 2; its axes are -2 to 1", np::sum(m, {.axis = 2}));
  CHECK_ERROR(shape, "np::mean: f64[2] has no axis -2; its axes are -1 to 0", np::mean(x, {.axis = -2}));
  CHECK_ERROR(shape, "np::max: f64[] has no axis 0; it is a scalar", np::max(s, {.axis = 0}));
  CHECK_ERROR(shape, "np::sum: axis 0 of f64[2,3] is given twice", np::sum(m, {.axis = {0, -2}}));
  CHECK_ERROR(shape, "np::argmax: f64[2,3] has no axis 5; its axes are -2 to 1", np::argmax(m, {.axis = 5}));
}
TEST_CASE("ranks that do not fit") {
  const Array s = 1.0, x = vector({1, 2}), m = matrix(2, 3);
  CHECK_ERROR(shape,
              "np::matmul: f64[2,3] and f64[2,3] do not fit: axis 1 of the first has size 3, axis 0 of the second 2",
              np::matmul(m, m));
  CHECK_ERROR(shape, "np::matmul: f64[] is a scalar; multiply by it with *", np::matmul(s, m));
  CHECK_ERROR(dtype,
              "np::matmul: f64[2] and f32[2] have different dtypes; fx never promotes: convert one with fx::convert",
              np::matmul(x, convert(x, fx::f32)));
  CHECK_ERROR(shape, "reshape: shape [4] has another number of elements than f64[2,3]", np::reshape(m, {4}));
  CHECK_ERROR(shape, "np::concatenate: f64[2] and f64[2,3] may differ in size only along axis 0",
              np::concatenate({x, m}));
  CHECK_ERROR(shape, "transpose: [0] is no permutation of the dimensions of f64[2,3]", np::transpose(m, {0}));
  CHECK_ERROR(shape, "x(...): 2 subscripts for f64[2], which has 1 axis", x(0, 1));
  CHECK_ERROR(value, "x(...): index 2 is out of range for axis 0 of size 2 of f64[2]", x(2));
  CHECK_ERROR(value, "x(...): the step of a slice is 0", x(fx::slice(0, 2, 0)));
  CHECK_ERROR(dtype, "x(...): f64[2] is no index; indices are i32, i64, u32 or u64", x(x));
  CHECK_ERROR(shape, "x.at(...).set: f64[2,3] does not broadcast to []", x.at(0).set(m));
  CHECK_ERROR(dtype,
              "x.at(...).set: f64[2] and f32[] have different dtypes; fx never promotes: convert one with fx::convert",
              x.at(0).set(Array(1.0f)));
}

}  // namespace
