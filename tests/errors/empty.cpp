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
  check_error(ErrorCode::state, [&] { HERE, x + y; }, empty);
  check_error(ErrorCode::state, [&] { HERE, y* x; }, empty);
  check_error(ErrorCode::state, [&] { HERE, sin(x); }, empty);
  check_error(ErrorCode::state, [&] { HERE, np::sum(x); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.shape(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.dtype(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.rank(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.size(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.type(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.item<double>(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.to_vector<double>(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x.view<double>(); }, empty);
  check_error(ErrorCode::state, [&] { HERE, x(0); }, empty);
  check_error(ErrorCode::state, [&] { HERE, y(x); }, empty);
  check_error(ErrorCode::state, [&] { HERE, where(y > 0.0, x, y); }, empty);
}
TEST_CASE("a moved-from Array") {
  Array x = vector({1, 2}), y = std::move(x), z;
  CHECK(x.empty());  // NOLINT: that is the test
  CHECK_FALSE(y.empty());
  check_error(ErrorCode::state, [&] { HERE, x + 1.0; }, empty);
  z = std::move(y);
  check_error(ErrorCode::state, [&] { HERE, y + 1.0; }, empty);
  y = z;
  CHECK((y + 1.0).to_vector<double>() == std::vector<double>{2, 3});
  auto f = fx::jit([](Array a) { return a + 1.0; });
  f(std::move(z));
  check_error(ErrorCode::state, [&] { HERE, z + 1.0; }, empty);
  check_error(ErrorCode::state, [&] { z += (HERE, 1.0); }, empty);
}

TEST_CASE("empty Arrays as arguments of transformed functions") {
  auto f = [](const Array& a, const Array& b) { return np::sum(a * b); };
  const Array x, y = vector({1, 2});
  check_error(ErrorCode::state, [&] { HERE, fx::jit(f)(x, y); }, "argument 0" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::jit(f)(y, x); }, "argument 1" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::grad(f)(y, x); }, "argument 1" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::value_and_grad(f)(x, y); }, "argument 0" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::vmap(f)(y, x); }, "argument 1" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::jvp(f, std::tuple(y, x), std::tuple(y, y)); }, "argument 1" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::jvp(f, std::tuple(y, y), std::tuple(y, x)); },
              "the tangent of argument 1" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::vjp(f, std::tuple(x, y)); }, "argument 0" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::make_jaxpr(f)(y, x); }, "argument 1" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::eval_shape(f)(x, y); }, "argument 0" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::jit(f).lower(x, y); }, "argument 0" + is_empty);
  auto body = [](Array c, Array r) { return std::pair(c, r); };
  check_error(ErrorCode::state, [&] { HERE, fx::scan(body, x, y); }, "scan: the carry" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::scan(body, y, x); }, "scan: xs" + is_empty);
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
  check_error(ErrorCode::state, [&] { HERE, fx::jit(f)(net, y); }, "argument 0, layers[1].b," + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::grad<1>(f)(net, y); }, "argument 0, layers[1].b," + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::vmap(f)(moved, y); }, "argument 0, extra[\"shift\"]," + is_empty);
  const std::tuple tree(std::array{y, Array()}, std::optional(y));
  check_error(ErrorCode::state, [&] { HERE, fx::jit([](auto t) { return t; })(tree); }, "argument 0, [0][1]," + is_empty);
}
TEST_CASE("an empty Array as a result") {
  struct Out {
    Array x, y;
  };
  const Array a = 1.0;
  check_error(ErrorCode::state, [&] { HERE, fx::jit([](Array) { return Array(); })(a); }, "the result" + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::jit([](Array b) { return Out{b, {}}; })(a); }, "the result, y," + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::grad([](Array b) { return fx::aux(b, Array()); })(a); }, "the result, aux," + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::vmap([](Array b) { return std::pair(b, Array()); })(vector({1})); },
              "the result, [1]," + is_empty);
  check_error(ErrorCode::state, [&] { HERE, fx::scan([](Array c, Array) { return std::pair(c, Array()); }, a, vector({1})); },
              "the result, [1]," + is_empty);
}

}  // namespace
