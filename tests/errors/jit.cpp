// errors/jit.cpp -- misuse of compiled functions: unknown texts, wrong buffers, functions that changed.
#include "errors.hpp"

using namespace errors;

namespace {

TEST_CASE("a text that does not exist") {
  const fx::Compiled c = fx::jit([](Array a) { return sin(a) + a; }).lower(vector({1, 2})).compile();
  CHECK(c.text("ir").find("sin") != std::string::npos);
  CHECK_FALSE(c.text("tile").empty());
  CHECK_ERROR(value, "text: the tiled backend shows \"ir\", \"tile\", \"cost\" and \"asm\", not \"nonsense\"",
              c.text("nonsense"));
}
TEST_CASE("buffers that do not fit") {
  const fx::Compiled c =
      fx::jit([](Array a, Array b) { return a + b; }).lower(vector({1, 2, 3}), vector({1, 2, 3})).compile();
  alignas(64) double x[4] = {1, 2, 3, 9}, y[4] = {10, 20, 30, 9}, z[4] = {};
  alignas(64) std::byte room[4096];
  REQUIRE(c.workspace() <= 4096);
  const fx::Buffer in[] = {{x, 24}, {y, 24}}, out[] = {{z, 24}};
  c.call_into(in, out, room);
  CHECK(std::vector<double>(z, z + 4) == std::vector<double>{11, 22, 33, 0});
  const fx::Buffer small[] = {{x, 24}, {y, 16}}, none[] = {{nullptr, 24}}, odd[] = {{x, 24}, {y + 1, 24}};
  const std::string rule = ": 64-byte aligned memory for each of";
  CHECK_ERROR(value, "call_into: the inputs" + rule + " f64[3] f64[3] is expected", c.call_into(small, out, room));
  CHECK_ERROR(value, "call_into: the inputs" + rule + " f64[3] f64[3] is expected", c.call_into({in, 1}, out, room));
  CHECK_ERROR(value, "call_into: the inputs" + rule + " f64[3] f64[3] is expected", c.call_into(odd, out, room));
  CHECK_ERROR(value, "call_into: the outputs" + rule + " f64[3] is expected", c.call_into(in, none, room));
  CHECK_ERROR(value, "call_into: the outputs" + rule + " f64[3] is expected", c.call_into(in, in, room));
}
TEST_CASE("checked mode finds a function that depends on something else than its arguments") {
  double rate = 0.5;
  Array w = vector({1, 2}), other = vector({3, 4});
  const std::string text =
      " (checked): the function traces differently than before, so it depends on something that is no argument; pass "
      "that as an argument";
  auto f = (HERE, fx::jit([&](Array a) { return a * rate; }, {.name = "scaled", .checked = true}));
  const fx::Loc at_f = expected_line;
  CHECK(f(2.0).item<double>() == 1);
  CHECK(f(4.0).item<double>() == 2);
  rate = 0.25;
  check_error(ErrorCode::trace, "jit scaled" + text, [&] { expected_line = at_f, f(2.0); });
  rate = 0.5;
  CHECK(f(8.0).item<double>() == 4);

  auto g = (HERE, fx::jit([&](Array a) { return a + w; }, {.name = "shifted", .checked = true}));
  const fx::Loc at_g = expected_line;
  const Array kept = w;
  g(w);
  w = vector({1, 2});  // the same values: nothing to see
  CHECK(g(kept).to_vector<double>() == std::vector<double>{2, 4});
  w = other;
  check_error(ErrorCode::trace, "jit shifted" + text, [&] { expected_line = at_g, g(kept); });
}

}  // namespace
