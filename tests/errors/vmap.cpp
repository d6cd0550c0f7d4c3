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
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add)(x, y); },
              "vmap: mapped axes differ in size: f64[2] along axis 0 and f64[3] along axis 0");
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add, {.in = {0, -1}})(y, m); },
              "vmap: mapped axes differ in size: f64[3] along axis 0 and f64[3,2] along axis 1");
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add, {.axis_size = 4})(x, x); },
              "vmap: mapped axes differ in size: f64[2] along axis 0, and axis_size is 4");
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap([](Layer l) { return l.w; })(Layer{m, x}); },
              "vmap: mapped axes differ in size: f64[3,2] along axis 0 and f64[2] along axis 0");
}
TEST_CASE("axes that a leaf does not have") {
  const Array s = 1.0, x = vector({1, 2}), m = matrix(3, 2);
  const std::string cure = "; use fx::none for what is not mapped";
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add)(x, s); }, "vmap: argument 1 is f64[], which has no axis 0" + cure);
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add, {.in = {1, 0}})(x, x); }, "vmap: argument 0 is f64[2], which has no axis 1" + cure);
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add, {.in = {0, -3}})(x, m); },
              "vmap: argument 1 is f64[3,2], which has no axis -3" + cure);
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap([](Layer l) { return l.w; })(Layer{x, s}); },
              "vmap: argument 0, b, is f64[], which has no axis 0" + cure);
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap(add, {.out = {2}})(x, x); }, "vmap: the result is f64[], which has no axis 2" + cure);
  check_error(ErrorCode::shape, [&] { HERE, fx::vmap([](Array a) { return Layer{a, a}; }, {.out = {0, 1}})(x); },
              "vmap: the result, b, is f64[], which has no axis 1" + cure);
}
TEST_CASE("numbers of axes that do not fit") {
  const Array x = vector({1, 2});
  check_error(ErrorCode::tree, [&] { HERE, fx::vmap(add, {.in = {0}})(x, x); }, "vmap: .in has 1 entries for 2 arguments");
  check_error(ErrorCode::tree, [&] { HERE, fx::vmap(add, {.out = {0, 0}})(x, x); }, "vmap: .out has 2 entries for 1 results");
}
TEST_CASE("paths that leave a leaf out") {
  const Array x = vector({1, 2});
  auto f = [](std::vector<Layer> l) { return l[0].w; };
  check_error(ErrorCode::tree, [&] { HERE, fx::vmap(f, {.in = {{{"[*].w", 0}}}})(std::vector{Layer{x, x}}); },
              "vmap: no path given for argument 0 matches its leaf [0].b; add {\"*\", axis}");
}
TEST_CASE("nothing is mapped") {
  const Array x = vector({1, 2});
  check_error(ErrorCode::value, [&] { HERE, fx::vmap(add, {.in = {fx::none, fx::none}})(x, x); },
              "vmap: no argument is mapped; map one, or give axis_size");
  check_error(ErrorCode::value, [&] { HERE, fx::vmap([] { return 1.0; })(); },
              "vmap: no argument is mapped; map one, or give axis_size");
  CHECK(fx::vmap(add, {.in = {fx::none, fx::none}, .axis_size = 3})(x, x).shape() == fx::Dims{3, 2});
}
TEST_CASE("a mapped result that should not be") {
  const Array x = vector({1, 2});
  const std::string cure = " depends on the mapped axis, and its out axis is fx::none; reduce it, or give it an axis";
  check_error(ErrorCode::value, [&] { HERE, fx::vmap(add, {.out = {fx::none}})(x, x); }, "vmap: result 0" + cure);
  check_error(ErrorCode::value, [&] { HERE, fx::vmap([](Array a) { return std::pair(a, a); }, {.out = {0, fx::none}})(x); },
              "vmap: result 1" + cure);
}
TEST_CASE("an error inside the mapped function names its own line") {
  const Array m = matrix(4, 3), y = vector({1, 2});
  check_error(ErrorCode::shape, [&] { fx::vmap([&](Array row) { return HERE, row + y; })(m); },
              "add: shapes [3] and [2] do not broadcast: dimensions are aligned at the right, and must be equal or 1");
}
TEST_CASE("a batch of Arrays of the highest rank") {
  const Array most(std::vector<double>{1}, {1, 1, 1, 1, 1, 1, 1, 1}), x = vector({1, 2});
  check_error(ErrorCode::shape, [&] { fx::vmap([&](Array a) { return HERE, a + most; })(x); },
              "an Array has at most 8 dimensions; merge some with reshape");
}

}  // namespace
