// transforms/grad.cpp -- grad and value_and_grad: structures of arguments and results, orders, unused and integer
// arguments.
#include <array>
#include <map>
#include <optional>

#include "transforms.hpp"

using namespace transforms;

namespace {

struct Layer {
  Array w, b;
};
enum class Act { tanh, sine };
struct Net {
  std::vector<Layer> layers;
  std::map<std::string, Array> scales;
  std::optional<Array> shift, none;
  std::pair<Array, std::array<Array, 2>> rest;
  fx::Static<int> power;
  Act act;
  std::string name;
};

Array cube(Array x) { return x * x * x; }

TEST_CASE("a scalar function and its first four derivatives") {
  const double x = 1.3;
  auto f = [](Array a) { return sin(a) * exp(a); };
  auto d1 = fx::grad(f);
  auto d2 = fx::grad(d1);
  auto d3 = fx::grad(d2);
  auto d4 = fx::grad(d3);
  CHECK(close(d1(x), std::exp(x) * (std::sin(x) + std::cos(x))));
  CHECK(close(d2(x), 2 * std::exp(x) * std::cos(x)));
  CHECK(close(d3(x), 2 * std::exp(x) * (std::cos(x) - std::sin(x))));
  CHECK(close(d4(x), -4 * std::exp(x) * std::sin(x)));
  CHECK(close(fx::grad(cube)(2.0), 12.0));
  CHECK(close(fx::grad(&cube)(2.0), 12.0));
  CHECK(fx::grad([](Array a) { return cube(a); })(2.0f).type() == fx::type(fx::f32));
}
TEST_CASE("the result is always an Array, and value_and_grad gives both") {
  auto [v, g] = fx::value_and_grad([](auto x) { return x * x; })(3.0);
  static_assert(std::is_same_v<decltype(v), Array> && std::is_same_v<decltype(g), Array>);
  CHECK(close(v, 9.0));
  CHECK(close(g, 6.0));
  auto [constant, zero] = fx::value_and_grad([](Array) { return 2.5; })(3.0);
  CHECK(close(constant, 2.5));
  CHECK(close(zero, 0.0));
}

TEST_CASE("argnums choose arguments, in any order") {
  auto f = [](Array x, Array y, Array z) { return x * x * y + sin(z) * y; };
  const double x = 1.5, y = -2, z = 0.7;
  CHECK(close(fx::grad(f)(x, y, z), 2 * x * y));
  CHECK(close(fx::grad<1>(f)(x, y, z), x * x + std::sin(z)));
  CHECK(close(fx::grad<2>(f)(x, y, z), std::cos(z) * y));
  const auto [dz, dx] = fx::grad<2, 0>(f)(x, y, z);
  CHECK(close(dz, std::cos(z) * y));
  CHECK(close(dx, 2 * x * y));
  const auto [value, all] = fx::value_and_grad<0, 1, 2>(f)(x, y, z);
  CHECK(close(value, x * x * y + std::sin(z) * y));
  CHECK(close(std::get<1>(all), x * x + std::sin(z)));
  CHECK(close(std::get<2>(all), std::cos(z) * y));
  const auto [first, second] = fx::grad<1, 1>(f)(x, y, z);
  CHECK(close(first, second));
}
TEST_CASE("argnums with trees between them") {
  auto f = [](Layer a, std::vector<Array> b, Layer c) { return np::sum(a.w * b[0] + a.b * b[1] * c.w + c.b * c.b); };
  const Layer a{vector({1, 2}), 3.0}, c{vector({5, 7}), 2.0};
  const std::vector<Array> b{vector({-1, 1}), 0.5};
  const auto [dc, da] = fx::grad<2, 0>(f)(a, b, c);
  CHECK(close(da.w, vector({-1, 1})));
  CHECK(close(da.b, 0.5 * 12));
  CHECK(close(dc.w, vector({1.5, 1.5})));
  CHECK(close(dc.b, 2 * 2 * 2.0));
  const auto [db, again] = fx::grad<1, 0>(f)(a, b, c);
  CHECK(close(db[0], vector({1, 2})));
  CHECK(close(db[1], 3.0 * 12));
  CHECK(close(again.w, da.w));
}

TEST_CASE("extras through aux") {
  auto f = [](Array x, Array y) {
    const Array e = x - y;
    return fx::aux(np::sum(e * e), std::pair(np::max(abs(e)), e));
  };
  const Array x = vector({1, 2, 5}), y = vector({0, 4, 4});
  const auto [gradient, extra] = fx::grad(f)(x, y);
  CHECK(close(gradient, vector({2, -4, 2})));
  CHECK(close(extra.first, 2.0));
  CHECK(close(extra.second, vector({1, -2, 1})));
  const auto [out, g] = fx::value_and_grad<1>(f)(x, y);
  CHECK(close(out.value, 6.0));
  CHECK(close(out.aux.first, 2.0));
  CHECK(close(g, vector({-2, 4, -2})));
  // Integers may be extras; derivatives of extras do not count.
  const auto [d, n] = fx::grad([](Array a) { return fx::aux(a * 2.0, convert(a * 100.0, fx::i32)); })(3.0);
  CHECK(close(d, 2.0));
  CHECK(n.item<int>() == 300);
}

TEST_CASE("a struct of everything") {
  auto f = [](const Net& n, const Array& x) {
    Array y = x;
    for (const Layer& l : n.layers) {
      y = y * l.w + l.b;
      y = n.act == Act::tanh ? tanh(y) : sin(y);
    }
    y = y * n.scales.at("in") + integer_pow(n.scales.at("out"), n.power);
    if (n.shift) y = y + *n.shift;
    return np::sum(y * n.rest.first + n.rest.second[1]);
  };
  auto unpack = [](const Doubles& v, Act act) {
    const auto at = [&](int i) { return Array(v[std::size_t(i)]); };
    return Net{{{at(0), at(1)}, {at(2), at(3)}},
               {{"in", at(4)}, {"out", at(5)}},
               at(6),
               {},
               {at(7), {at(8), at(9)}},
               {3},
               act,
               "net"};
  };
  const Doubles at{0.3, -0.2, 1.1, 0.4, 0.9, -0.7, 0.25, 1.5, 2.0, -1.0};
  const Array x = vector({0.5, -1.5, 2.5});
  for (Act act : {Act::tanh, Act::sine}) {
    const Net g = fx::grad(f)(unpack(at, act), x);
    CHECK(g.name == "net");
    CHECK(g.act == act);
    CHECK(g.power == 3);
    CHECK_FALSE(g.none.has_value());
    Doubles got;
    fx::tree::for_each_leaf(g, [&](const Array& a) { got.push_back(a.item<double>()); });
    CHECK(close(got, gradient([&](const Doubles& v) { return f(unpack(v, act), x).item<double>(); }, at), 1e-9));
    CHECK(got[8] == 0);  // rest.second[0] is not used
  }
}
TEST_CASE("unused arguments have zeros of their type as gradient") {
  auto f = [](Array x, Layer l, std::vector<Array>) { return np::sum(x) + 0.0 * np::sum(l.b); };
  const Layer l{np::ones({2, 3}), np::ones({4}, fx::f64)};
  const auto [dx, dl, dv] =
      fx::grad<0, 1, 2>(f)(vector({1, 2}), l, std::vector<Array>{Array(1.0f), np::ones({0}, fx::f64)});
  CHECK(close(dx, vector({1, 1})));
  CHECK(close(dl.w, np::zeros({2, 3})));
  CHECK(close(dl.b, np::zeros({4}, fx::f64)));
  CHECK(close(dv[0], Array(0.0f)));
  CHECK(dv[1].shape() == fx::Dims{0});
}
TEST_CASE("integer, boolean and static arguments beside differentiated ones") {
  auto f = [](Array x, Array n, Array keep, fx::Static<int> p) {
    return np::sum(where(keep, integer_pow(x, p), convert(n, fx::f64) * x));
  };
  const Array g =
      fx::grad(f)(vector({2, 3}), Array(std::vector<int>{5, 7}), Array(std::vector<bool>{true, false}), fx::static_(3));
  CHECK(close(g, vector({12, 7})));
}

TEST_CASE("broadcast operands gather their gradients") {
  auto f = [](Array x, Array row, Array s) { return np::sum(x * row + s); };
  const auto [dx, drow, ds] = fx::grad<0, 1, 2>(f)(matrix(2, 3, {1, 2, 3, 4, 5, 6}), vector({10, 20, 30}), Array(1.0));
  CHECK(close(dx, matrix(2, 3, {10, 20, 30, 10, 20, 30})));
  CHECK(close(drow, vector({5, 7, 9})));
  CHECK(close(ds, 6.0));
}
TEST_CASE("stop_gradient") {
  CHECK(close(fx::grad([](Array x) { return x * stop_gradient(x * x); })(3.0), 9.0));
  CHECK(close(fx::grad([](Array x) { return stop_gradient(x); })(3.0), 0.0));
  CHECK(close(fx::grad(fx::grad([](Array x) { return x * x * stop_gradient(x); }))(3.0), 6.0));
  CHECK(
      close(fx::jvp([](Array x) { return x + stop_gradient(x) * 5.0; }, std::tuple(3.0), std::tuple(1.0)).second, 1.0));
}
TEST_CASE("captured Arrays are constants, and outer variables are not") {
  const Array k = vector({1, 2, 3});
  CHECK(close(fx::grad([&](Array x) { return np::sum(k * x * x); })(vector({1, 1, 2})), vector({2, 4, 12})));
  // d/dx [ x * d/dy (x y^2) at y = x ] = d/dx [ x * 2 x^2 ] = 6 x^2.
  CHECK(close(fx::grad([](Array x) { return x * fx::grad([&](Array y) { return x * y * y; })(x); })(3.0), 54.0));
}
TEST_CASE("control in C++ follows static values and sizes") {
  auto f = [](Array x, fx::Static<int> n) {
    Array y = x;
    for (int i = 0; i < n; ++i) y = y * x;
    return y;
  };
  CHECK(close(fx::grad(f)(2.0, fx::static_(3)), 32.0));
  CHECK(close(fx::grad(f)(2.0, fx::static_(0)), 1.0));
}
TEST_CASE("the Hessian by forward over reverse, reverse over reverse and differences") {
  auto f = [](Array x) { return np::sum(exp(x * 0.5) * np::flip(x)) + np::prod(x); };
  const Doubles at{0.3, -1.2, 0.8}, direction{1.0, 0.5, -2.0};
  const Array x = vector(at), d = vector(direction);
  const Array forward = fx::jvp(fx::grad(f), std::tuple(x), std::tuple(d)).second;
  const Array reverse = fx::grad([&](Array y) { return np::sum(fx::grad(f)(y) * d); })(x);
  const Doubles by_differences =
      directional([&](const Doubles& v) { return doubles(fx::grad(f)(vector(v))); }, at, direction);
  CHECK(close(forward, reverse));
  CHECK(close(doubles(forward), by_differences, 1e-9));
  CHECK(close(doubles(fx::grad(f)(x)), gradient([&](const Doubles& v) { return f(vector(v)).item<double>(); }, at),
              1e-9));
}

}  // namespace
