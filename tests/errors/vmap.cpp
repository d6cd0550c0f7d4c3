// errors/vmap.cpp -- axes and sizes that vmap cannot map.
#include "errors.hpp"

using namespace errors;

namespace {

struct Layer {
  Array w, b;
};

auto add = [](Array a, Array b) { return a + b; };

TEST_CASE("mapped axes of different sizes") {
  const Array x = vector({1, 2}), y = vector({1, 2, 3}), m = matrix(3, 2);
  CHECK_ERROR(shape, "vmap: mapped axes differ in size: f64[2] along axis 0 and f64[3] along axis 0",
              fx::vmap(add)(x, y));
  CHECK_ERROR(shape, "vmap: mapped axes differ in size: f64[3] along axis 0 and f64[3,2] along axis 1",
              fx::vmap(add, {.in = {0, -1}})(y, m));
  CHECK_ERROR(shape, "vmap: mapped axes differ in size: f64[2] along axis 0, and axis_size is 4",
              fx::vmap(add, {.axis_size = 4})(x, x));
  CHECK_ERROR(shape, "vmap: mapped axes differ in size: f64[3,2] along axis 0 and f64[2] along axis 0",
              fx::vmap([](Layer l) { return l.w; })(Layer{m, x}));
}
TEST_CASE("axes that a leaf does not have") {
  const Array s = 1.0, x = vector({1, 2}), m = matrix(3, 2);
  const std::string cure = "; use fx::none for what is not mapped";
  CHECK_ERROR(shape, "vmap: argument 1 is f64[], which has no axis 0" + cure, fx::vmap(add)(x, s));
  CHECK_ERROR(shape, "vmap: argument 0 is f64[2], which has no axis 1" + cure, fx::vmap(add, {.in = {1, 0}})(x, x));
  CHECK_ERROR(shape, "vmap: argument 1 is f64[3,2], which has no axis -3" + cure, fx::vmap(add, {.in = {0, -3}})(x, m));
  CHECK_ERROR(shape, "vmap: argument 0, b, is f64[], which has no axis 0" + cure,
              fx::vmap([](Layer l) { return l.w; })(Layer{x, s}));
  CHECK_ERROR(shape, "vmap: the result is f64[], which has no axis 2" + cure, fx::vmap(add, {.out = {2}})(x, x));
  CHECK_ERROR(shape, "vmap: the result, b, is f64[], which has no axis 1" + cure,
              fx::vmap(
                  [](Array a) {
                    return Layer{a, a};
                  },
                  {.out = {0, 1}})(x));
}
TEST_CASE("numbers of axes that do not fit") {
  const Array x = vector({1, 2});
  CHECK_ERROR(tree, "vmap: .in has 1 entries for 2 arguments", fx::vmap(add, {.in = {0}})(x, x));
  CHECK_ERROR(tree, "vmap: .out has 2 entries for 1 results", fx::vmap(add, {.out = {0, 0}})(x, x));
}
TEST_CASE("paths that leave a leaf out") {
  const Array x = vector({1, 2});
  auto f = [](std::vector<Layer> l) { return l[0].w; };
  CHECK_ERROR(tree, "vmap: no path given for argument 0 matches its leaf [0].b; add {\"*\", axis}",
              fx::vmap(f, {.in = {{{"[*].w", 0}}}})(std::vector{Layer{x, x}}));
}
TEST_CASE("nothing is mapped") {
  const Array x = vector({1, 2});
  CHECK_ERROR(value, "vmap: no argument is mapped; map one, or give axis_size",
              fx::vmap(add, {.in = {fx::none, fx::none}})(x, x));
  CHECK_ERROR(value, "vmap: no argument is mapped; map one, or give axis_size", fx::vmap([] { return 1.0; })());
  CHECK(fx::vmap(add, {.in = {fx::none, fx::none}, .axis_size = 3})(x, x).shape() == fx::Dims{3, 2});
}
TEST_CASE("a mapped result that should not be") {
  const Array x = vector({1, 2});
  const std::string cure = " depends on the mapped axis, and its out axis is fx::none; reduce it, or give it an axis";
  CHECK_ERROR(value, "vmap: result 0" + cure, fx::vmap(add, {.out = {fx::none}})(x, x));
  CHECK_ERROR(value, "vmap: result 1" + cure,
              fx::vmap([](Array a) { return std::pair(a, a); }, {.out = {0, fx::none}})(x));
}
TEST_CASE("an error inside the mapped function names its own line") {
  const Array m = matrix(4, 3), y = vector({1, 2});
  check_error(ErrorCode::shape,
              "add: shapes [3] and [2] do not broadcast: dimensions are aligned at the right, and must be equal or 1",
              [&] { fx::vmap([&](Array row) { return HERE, row + y; })(m); });
}
TEST_CASE("a batch of Arrays of the highest rank") {
  const Array most(std::vector<double>{1}, {1, 1, 1, 1, 1, 1, 1, 1}), x = vector({1, 2});
  check_error(ErrorCode::shape, "an Array has at most 8 dimensions; merge some with reshape",
              [&] { fx::vmap([&](Array a) { return HERE, a + most; })(x); });
}

}  // namespace
