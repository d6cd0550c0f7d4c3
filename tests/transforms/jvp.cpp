// transforms/jvp.cpp -- jvp and vjp: against each other, against differences, and over trees; perturbations stay apart.
#include <map>

#include "transforms.hpp"

using namespace transforms;

namespace {

struct State {
  Array x, v;
};

// R^4 -> R^3, smooth, every variable in every result.
Array smooth(const Array& x) {
  const Array a = x(fx::slice(0, 3)), b = x(fx::slice(1, 4));
  return sin(a * b) + np::cumsum(exp(a * 0.3)) / (1.0 + b * b) + np::sum(x * x) * tanh(b);
}

TEST_CASE("jvp against differences") {
  const Doubles at{0.4, -0.7, 1.2, 0.1}, along{1, -0.5, 0.25, 2};
  const auto [y, dy] = fx::jvp(smooth, std::tuple(vector(at)), std::tuple(vector(along)));
  CHECK(close(y, smooth(vector(at))));
  CHECK(close(doubles(dy), directional([](const Doubles& v) { return doubles(smooth(vector(v))); }, at, along), 1e-9));
}
TEST_CASE("vjp is the transpose of jvp: the whole Jacobian") {
  const Array x = vector({0.4, -0.7, 1.2, 0.1});
  const auto [y, back] = fx::vjp(smooth, x);
  CHECK(close(y, smooth(x)));
  for (int i = 0; i < 3; ++i) {
    Doubles row(3, 0.0);
    row[std::size_t(i)] = 1;
    const Doubles by_vjp = doubles(back(vector(row)));
    for (int j = 0; j < 4; ++j) {
      Doubles column(4, 0.0);
      column[std::size_t(j)] = 1;
      const Doubles by_jvp = doubles(fx::jvp(smooth, std::tuple(x), std::tuple(vector(column))).second);
      CHECK(close(Doubles{by_vjp[std::size_t(j)]}, Doubles{by_jvp[std::size_t(i)]}));
    }
  }
  // The same Jacobian at once, by vmap over the unit vectors.
  const Array rows = fx::vmap([&pull = back](Array ct) { return pull(ct); })(np::eye(3, fx::f64));
  const Array columns =
      fx::vmap([&](Array d) { return fx::jvp(smooth, std::tuple(x), std::tuple(d)).second; })(np::eye(4, fx::f64));
  CHECK(close(rows, np::transpose(columns)));
}

TEST_CASE("several arguments and results, in trees") {
  auto step = [](const State& s, const std::map<std::string, Array>& p) {
    const Array v = s.v - p.at("k") * s.x;
    return std::pair(State{s.x + 0.1 * v, v}, np::sum(v * v));
  };
  const State s{vector({1, 2}), vector({0.5, -1})}, ds{vector({1, 0}), vector({0, 2})};
  const std::map<std::string, Array> p{{"k", 3.0}}, dp{{"k", 0.5}};
  const auto [out, tangent] = fx::jvp(step, std::tuple(s, p), std::tuple(ds, dp));
  CHECK(close(out.first.v, vector({-2.5, -7})));
  CHECK(close(out.second, 55.25));
  // dv = ds.v - dk x - k ds.x
  CHECK(close(tangent.first.v, vector({-3.5, 1})));
  CHECK(close(tangent.first.x, vector({0.65, 0.1})));
  CHECK(close(tangent.second, 2 * (-2.5 * -3.5 + -7 * 1)));

  const auto [value, back] = fx::vjp(step, std::tuple(s, p));
  CHECK(close(value.first.x, out.first.x));
  const std::pair<State, Array> ct{{vector({1, -1}), vector({2, 0.5})}, 0.25};
  const auto [cs, cp] = back(ct);
  const double forward = np::sum(ct.first.x * tangent.first.x).item<double>() +
                         np::sum(ct.first.v * tangent.first.v).item<double>() +
                         (ct.second * tangent.second).item<double>();
  const double reverse = np::sum(cs.x * ds.x).item<double>() + np::sum(cs.v * ds.v).item<double>() +
                         (cp.at("k") * dp.at("k")).item<double>();
  CHECK(close(Doubles{forward}, Doubles{reverse}));
}
TEST_CASE("integer and boolean results have zero tangents") {
  auto f = [](Array x) { return std::tuple(x * 2.0, np::argmax(x), x > 0.0); };
  const auto [out, tangent] = fx::jvp(f, std::tuple(vector({1, 3, -2})), std::tuple(vector({1, 1, 1})));
  CHECK(std::get<1>(out).item<int>() == 1);
  CHECK(close(std::get<0>(tangent), vector({2, 2, 2})));
  CHECK(std::get<1>(tangent).type() == fx::type(fx::i32));
  CHECK(std::get<1>(tangent).item<int>() == 0);
  CHECK(std::get<2>(tangent).to_vector<bool>() == std::vector<bool>{false, false, false});
  const auto [value, back] = fx::vjp(f, vector({1, 3, -2}));
  CHECK(std::get<1>(value).item<int>() == 1);
  CHECK(close(back(std::tuple(vector({1, 2, 3}), Array(0), std::get<2>(tangent))), vector({2, 4, 6})));
}
TEST_CASE("results that do not depend on the arguments, and arguments that results do not use") {
  const auto [y, dy] =
      fx::jvp([](Array, Array b) { return std::pair(b, Array(7.0)); }, std::tuple(1.0, 2.0), std::tuple(3.0, 4.0));
  CHECK(close(y.second, 7.0));
  CHECK(close(dy.first, 4.0));
  CHECK(close(dy.second, 0.0));
  const auto [value, back] = fx::vjp([](Array, Array b) { return b * 2.0; }, std::tuple(vector({1, 2}), 3.0));
  const auto [ca, cb] = back(5.0);
  CHECK(close(value, 6.0));
  CHECK(close(ca, vector({0, 0})));
  CHECK(close(cb, 10.0));
}
TEST_CASE("the pull-back outlives its call, is used again, and can itself be differentiated and batched") {
  auto [y, back] = fx::vjp([](Array x) { return x * x * x; }, vector({1, 2}));
  const auto copy = back;
  CHECK(close(copy(vector({1, 1})), vector({3, 12})));
  CHECK(close(back(vector({2, -1})), vector({6, -12})));
  CHECK(close(fx::jit([&pull = back](Array ct) { return pull(ct); })(vector({2, -1})), vector({6, -12})));
  CHECK(close(fx::grad([&pull = back](Array ct) { return np::sum(pull(ct)); })(vector({2, -1})), vector({3, 12})));
  // d/dx of the pull-back at cotangent 1: the second derivative.
  CHECK(close(fx::grad([](Array x) { return fx::vjp([](Array z) { return z * z * z; }, x).second(1.0); })(2.0), 12.0));
}

// ---- perturbation confusion: tangents of different derivatives never mix ----

TEST_CASE("the examples of Siskind and Pearlmutter") {
  // d/dx [x * d/dy (x + y)] at x = 1, y = 2 is 1: a confused system gives 2.
  auto inner = [](Array x) { return x * fx::grad([&](Array y) { return x + y; })(2.0); };
  CHECK(close(fx::grad(inner)(1.0), 1.0));
  CHECK(close(fx::jvp(inner, std::tuple(1.0), std::tuple(1.0)).second, 1.0));
  auto forward = [](Array x) {
    return x * fx::jvp([&](Array y) { return x + y; }, std::tuple(2.0), std::tuple(1.0)).second;
  };
  CHECK(close(fx::grad(forward)(1.0), 1.0));
  CHECK(close(fx::jvp(forward, std::tuple(1.0), std::tuple(1.0)).second, 1.0));
  // A constant of the inner derivative is a variable of the outer one: d/dx [d/dy (x^2 y) at y = x] = 2x.
  auto mixed = [](Array x) { return fx::grad([&](Array y) { return x * x * y; })(x); };
  CHECK(close(fx::grad(mixed)(3.0), 6.0));
}
TEST_CASE("a derivative of a function that returns functions of its variable") {
  // s(u) = d/dx f(x + u) at x = 0, for f = sin: s' = -sin. Closures carry outer variables through two levels.
  auto shifted = [](Array u) { return fx::grad([u](Array x) { return sin(x + u); })(0.0); };
  CHECK(close(shifted(0.5), std::cos(0.5)));
  CHECK(close(fx::grad(shifted)(0.5), -std::sin(0.5)));
  CHECK(close(fx::grad(fx::grad(shifted))(0.5), -std::cos(0.5)));
}
TEST_CASE("three nested derivatives, each of its own variable") {
  // d/dx x * d/dy y * d/dz (x y z) = d/dx x * d/dy (x y^2) at y = x = d/dx (2 x^3) = 6 x^2.
  auto f = [](Array x) {
    return x * fx::grad([&](Array y) { return y * fx::grad([&](Array z) { return x * y * z; })(x * y); })(x);
  };
  CHECK(close(fx::grad(f)(1.5), 6 * 1.5 * 1.5));
  CHECK(close(fx::jit(fx::grad(f))(1.5), 6 * 1.5 * 1.5));
  CHECK(close(fx::vmap(fx::grad(f))(vector({1, 2, 3})), vector({6, 24, 54})));
}
TEST_CASE("an inner derivative inside a loop, under an outer one") {
  auto f = [](Array a) {
    auto body = [&](Array c, Array t) { return std::pair(fx::grad([&](Array u) { return a * u * u * t; })(c), c); };
    return fx::scan(body, a, vector({1, 2, 3})).first;  // c -> 2 a t c, three times: 48 a^4
  };
  CHECK(close(f(0.5), 48 * std::pow(0.5, 4)));
  CHECK(close(fx::grad(f)(0.5), 48 * 4 * std::pow(0.5, 3)));
  CHECK(close(fx::jvp(f, std::tuple(0.5), std::tuple(1.0)).second, 48 * 4 * std::pow(0.5, 3)));
}

}  // namespace
