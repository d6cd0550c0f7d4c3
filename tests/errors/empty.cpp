// errors/empty.cpp -- Arrays that were moved from or never given a value, alone and inside structs.
#include <array>
#include <map>
#include <optional>

#include "errors.hpp"

using namespace errors;

namespace {

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  std::map<std::string, Array> extra;
};

const std::string empty = "this Array is empty: it was moved from, or never given a value";
const std::string is_empty = " is an empty Array: it was moved from, or never given a value";

TEST_CASE("using a default Array") {
  const Array x, y = vector({1, 2});
  CHECK(x.empty());
  CHECK_ERROR(state, empty, x + y);
  CHECK_ERROR(state, empty, y * x);
  CHECK_ERROR(state, empty, sin(x));
  CHECK_ERROR(state, empty, np::sum(x));
  CHECK_ERROR(state, empty, x.shape());
  CHECK_ERROR(state, empty, x.dtype());
  CHECK_ERROR(state, empty, x.rank());
  CHECK_ERROR(state, empty, x.size());
  CHECK_ERROR(state, empty, x.type());
  CHECK_ERROR(state, empty, x.item<double>());
  CHECK_ERROR(state, empty, x.to_vector<double>());
  CHECK_ERROR(state, empty, x.view<double>());
  CHECK_ERROR(state, empty, x(0));
  CHECK_ERROR(state, empty, y(x));
  CHECK_ERROR(state, empty, where(y > 0.0, x, y));
}
TEST_CASE("a moved-from Array") {
  Array x = vector({1, 2}), y = std::move(x), z;
  CHECK(x.empty());  // NOLINT: that is the test
  CHECK_FALSE(y.empty());
  CHECK_ERROR(state, empty, x + 1.0);
  z = std::move(y);
  CHECK_ERROR(state, empty, y + 1.0);
  y = z;
  CHECK((y + 1.0).to_vector<double>() == std::vector<double>{2, 3});
  auto f = fx::jit([](Array a) { return a + 1.0; });
  f(std::move(z));
  CHECK_ERROR(state, empty, z + 1.0);
  check_error(ErrorCode::state, empty, [&] { z += (HERE, 1.0); });
}

TEST_CASE("empty Arrays as arguments of transformed functions") {
  auto f = [](const Array& a, const Array& b) { return np::sum(a * b); };
  const Array x, y = vector({1, 2});
  CHECK_ERROR(state, "argument 0" + is_empty, fx::jit(f)(x, y));
  CHECK_ERROR(state, "argument 1" + is_empty, fx::jit(f)(y, x));
  CHECK_ERROR(state, "argument 1" + is_empty, fx::grad(f)(y, x));
  CHECK_ERROR(state, "argument 0" + is_empty, fx::value_and_grad(f)(x, y));
  CHECK_ERROR(state, "argument 1" + is_empty, fx::vmap(f)(y, x));
  CHECK_ERROR(state, "argument 1" + is_empty, fx::jvp(f, std::tuple(y, x), std::tuple(y, y)));
  CHECK_ERROR(state, "the tangent of argument 1" + is_empty, fx::jvp(f, std::tuple(y, y), std::tuple(y, x)));
  CHECK_ERROR(state, "argument 0" + is_empty, fx::vjp(f, std::tuple(x, y)));
  CHECK_ERROR(state, "argument 1" + is_empty, fx::make_jaxpr(f)(y, x));
  CHECK_ERROR(state, "argument 0" + is_empty, fx::eval_shape(f)(x, y));
  CHECK_ERROR(state, "argument 0" + is_empty, fx::jit(f).lower(x, y));
  auto body = [](Array c, Array r) { return std::pair(c, r); };
  CHECK_ERROR(state, "scan: the carry" + is_empty, fx::scan(body, x, y));
  CHECK_ERROR(state, "scan: xs" + is_empty, fx::scan(body, y, x));
  auto [value, back] = (HERE, fx::vjp(f, std::tuple(y, y)));
  try {
    back(x);
    FAIL_CHECK("no Error");
  } catch (const fx::Error& e) {
    CHECK(std::string(e.what()).find("fx: the cotangent of the result" + is_empty) == 0);
    CHECK(e.where.line == expected_line.line);
  }
}
TEST_CASE("empty Arrays inside structs are named by their path") {
  const Array y = vector({1, 2});
  const Net net{{{y, y}, {y, Array()}}, {{"scale", y}}};
  Net moved{{{y, y}}, {{"scale", y}, {"shift", y}}};
  const Array taken = std::move(moved.extra["shift"]);
  auto f = [](const Net& n, const Array& a) { return np::sum(n.layers[0].w * a); };
  CHECK_ERROR(state, "argument 0, layers[1].b," + is_empty, fx::jit(f)(net, y));
  CHECK_ERROR(state, "argument 0, layers[1].b," + is_empty, fx::grad<1>(f)(net, y));
  CHECK_ERROR(state, "argument 0, extra[\"shift\"]," + is_empty, fx::vmap(f)(moved, y));
  const std::tuple tree(std::array{y, Array()}, std::optional(y));
  CHECK_ERROR(state, "argument 0, [0][1]," + is_empty, fx::jit([](auto t) { return t; })(tree));
}
TEST_CASE("an empty Array as a result") {
  struct Out {
    Array x, y;
  };
  const Array a = 1.0;
  CHECK_ERROR(state, "the result" + is_empty, fx::jit([](Array) { return Array(); })(a));
  CHECK_ERROR(state, "the result, y," + is_empty, fx::jit([](Array b) { return Out{b, {}}; })(a));
  CHECK_ERROR(state, "the result, aux," + is_empty, fx::grad([](Array b) { return fx::aux(b, Array()); })(a));
  CHECK_ERROR(state, "the result, [1]," + is_empty,
              fx::vmap([](Array b) { return std::pair(b, Array()); })(vector({1})));
  CHECK_ERROR(state, "the result, [1]," + is_empty,
              fx::scan([](Array c, Array) { return std::pair(c, Array()); }, a, vector({1})));
}

}  // namespace
