// errors/scan.cpp -- loops whose carry changes, whose rows differ in number, or that have no length.
#include "errors.hpp"

using namespace errors;

namespace {

struct Inner {
  Array w, b;
};
struct State {
  std::vector<Inner> layers;
  Array count;
};

TEST_CASE("a body that changes the type of the carry") {
  const Array x = vector({1, 2, 3});
  const std::string cure =
      "; both must be one type: convert or broadcast inside the body, or start with the other type";
  CHECK_ERROR(shape, "scan: the body takes the carry as f64[] and returns it as f64[3]" + cure,
              fx::scan([&](Array c, Array) { return std::pair(c + x, c); }, 0.0, x));
}
TEST_CASE("a leaf of the carry is named by its path") {
  const Array x = vector({1, 2, 3}), s = 0.0;
  const std::string cure =
      "; both must be one type: convert or broadcast inside the body, or start with the other type";
  const State start{{{s, s}, {s, s}}, 0};
  auto wider = [](State q, Array t) {
    q.layers[1].b = np::stack({t, t});
    return std::pair(q, fx::none);
  };
  auto real = [](State q, Array t) {
    q.count = t;
    return std::pair(q, fx::none);
  };
  auto longer = [](State q, Array t) {
    q.layers.push_back({t, t});
    return std::pair(q, fx::none);
  };
  CHECK_ERROR(shape, "scan: the body takes the carry, layers[1].b, as f64[] and returns it as f64[2]" + cure,
              fx::scan(wider, start, x));
  CHECK_ERROR(dtype, "scan: the body takes the carry, count, as i32[] and returns it as f64[]" + cure,
              fx::scan(real, start, x));
  CHECK_ERROR(
      tree,
      "scan (carry in, carry out): the structure of tree 2 is not that of tree 1, first at layers, which is a sequence "
      "of 3 and not a sequence of 2\n  tree 1: State{layers:[Inner{w:*,b:*},Inner{w:*,b:*}],count:*}\n  tree 2: "
      "State{layers:[Inner{w:*,b:*},Inner{w:*,b:*},Inner{w:*,b:*}],count:*}",
      fx::scan(longer, start, x));
  CHECK_ERROR(tree,
              "scan (carry in, carry out): the structure of tree 2 is not that of tree 1, first at the root, which is "
              "a tuple of 2 and not an Array\n  tree 1: *\n  tree 2: (*, *)",
              fx::scan([](Array c, Array t) { return std::pair(std::pair(c, t), t); }, s, x));
}
TEST_CASE("rows that differ in number") {
  const Array s = 0.0, x = vector({1, 2, 3}), y = vector({1, 2}), m = matrix(2, 3);
  auto body = [](Array c, auto row) { return std::pair(c, row); };
  const std::string rule = "scan: xs must have rows (a first dimension) of one number; ";
  CHECK_ERROR(shape, rule + "leaf 1 is f64[2], expected 3 rows", fx::scan(body, s, std::pair(x, y)));
  CHECK_ERROR(shape, rule + "leaf 1 is f64[3], expected 2 rows", fx::scan(body, s, Inner{m, x}));
  CHECK_ERROR(shape, rule + "leaf 0 is f64[]", fx::scan(body, s, s));
  CHECK_ERROR(shape, rule + "leaf 0 is f64[]", fx::scan(body, s, 1.0));
  CHECK_ERROR(shape, rule + "leaf 0 is f64[3], expected 4 rows", fx::scan(body, s, x, {.length = 4}));
}
TEST_CASE("no length") {
  auto body = [](Array c, fx::None) { return std::pair(c, c); };
  CHECK_ERROR(value, "scan: without xs give .length", fx::scan(body, 0.0, fx::none));
  CHECK_ERROR(value, "scan: without xs give .length", fx::scan(body, 0.0, fx::none, {.length = -3}));
}
TEST_CASE("an error inside the body names its own line") {
  const Array x = matrix(4, 3), y = vector({1, 2});
  check_error(ErrorCode::shape,
              "mul: shapes [3] and [2] do not broadcast: dimensions are aligned at the right, and must be equal or 1",
              [&] { fx::scan([&](Array c, Array r) { return std::pair(c, (HERE, r * y)); }, 0.0, x); });
}

}  // namespace
