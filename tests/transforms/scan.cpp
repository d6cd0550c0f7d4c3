// transforms/scan.cpp -- scan against unrolled loops: values, gradients, batches, nesting, under jit.
#include "transforms.hpp"

using namespace transforms;

namespace {

struct Particle {
  Array x, v;
};

// The loop written out: carry after all steps, and the rows stacked.
template <class F>
std::pair<Array, Array> unrolled(F f, Array carry, const Array& xs, bool reverse = false) {
  const int n = int(xs.shape()[0]);
  std::vector<Array> rows(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const int at = reverse ? n - 1 - i : i;
    auto [next, row] = f(carry, xs(at));
    carry = next;
    rows[std::size_t(at)] = row;
  }
  return {carry, np::stack(rows)};
}
auto cell = [](Array c, Array x) {
  const Array y = tanh(c * 0.5 + x);
  return std::pair(y + c * x, y * y);
};
const Array xs = matrix(5, 2, {0.1, -0.4, 0.9, 0.3, -1.2, 0.5, 0.25, 1.5, -0.3, 0.2});
const Array start = vector({0.3, -0.8});

TEST_CASE("forward and reverse equal the unrolled loop, eagerly and under jit") {
  for (bool reverse : {false, true}) {
    const auto [c, ys] = fx::scan(cell, start, xs, {.reverse = reverse});
    const auto [d, zs] = unrolled(cell, start, xs, reverse);
    CHECK(close(c, d));
    CHECK(close(ys, zs));
    const auto [e, us] =
        fx::jit([&](Array s, Array x) { return fx::scan(cell, s, x, {.reverse = reverse}); })(start, xs);
    CHECK(close(e, d));
    CHECK(close(us, zs));
  }
}
TEST_CASE("no xs, no ys, no rows, no carry") {
  const auto [c, ys] = fx::scan([](Array k, fx::None) { return std::pair(k * 2.0, k); }, 1.0, fx::none, {.length = 6});
  CHECK(close(c, 64.0));
  CHECK(close(ys, vector({1, 2, 4, 8, 16, 32})));
  const auto [sum, none] = fx::scan([](Array k, Array x) { return std::pair(k + x, fx::none); }, start, xs);
  static_assert(std::is_same_v<std::remove_const_t<decltype(none)>, fx::None>);
  CHECK(close(sum, start + np::sum(xs, {.axis = 0})));
  const auto [same, empty] = fx::scan(cell, start, np::zeros({0, 2}, fx::f64));
  CHECK(close(same, start));
  CHECK(empty.shape() == fx::Dims{0, 2});
  const auto [nothing, squares] = fx::scan([](fx::None n, Array x) { return std::pair(n, x * x); }, fx::none, xs);
  static_assert(std::is_same_v<std::remove_const_t<decltype(nothing)>, fx::None>);
  CHECK(close(squares, xs * xs));
  const auto [once, one] = fx::scan(cell, start, xs(fx::slice(0, 1)));
  CHECK(close(once, cell(start, xs(0)).first));
  CHECK(one.shape() == fx::Dims{1, 2});
}
TEST_CASE("trees as carry, rows and results; integers among them") {
  auto step = [](Particle p, std::pair<Array, Array> in) {
    const Array v = p.v + in.first;
    return std::pair(Particle{p.x + v * 0.1, v}, std::vector<Array>{p.x, in.second * 2});
  };
  const Array pushes = vector({1, -2, 0.5}), ids(std::vector<int>{4, 5, 6});
  const auto [end, rows] = fx::scan(step, Particle{0.0, 1.0}, std::pair(pushes, ids));
  double x = 0, v = 1;
  Doubles path;
  for (double push : {1.0, -2.0, 0.5}) path.push_back(x), v += push, x += v * 0.1;
  CHECK(close(end.x, x));
  CHECK(close(end.v, v));
  CHECK(close(rows[0], vector(path)));
  CHECK(rows[1].to_vector<int>() == std::vector<int>{8, 10, 12});
}

TEST_CASE(
    "gradients with respect to carry, rows and captured values equal those of the unrolled loop and differences") {
  for (bool reverse : {false, true}) {
    auto total = [](auto&& r) { return np::sum(r.first * r.first) + np::sum(sin(r.second)); };
    auto body = [](Array k) {
      return [k](Array c, Array x) {
        const Array y = tanh(c * k + x);
        return std::pair(y + c * x * k, y * k);
      };
    };
    auto looped = [&](Array k, Array c, Array x) { return total(fx::scan(body(k), c, x, {.reverse = reverse})); };
    auto by_hand = [&](Array k, Array c, Array x) { return total(unrolled(body(k), c, x, reverse)); };
    const Array k = vector({0.7, -0.4});
    const auto [gk, gc, gx] = fx::grad<0, 1, 2>(looped)(k, start, xs);
    const auto [hk, hc, hx] = fx::grad<0, 1, 2>(by_hand)(k, start, xs);
    CHECK(close(gk, hk));
    CHECK(close(gc, hc));
    CHECK(close(gx, hx));
    CHECK(close(doubles(gk),
                gradient([&](const Doubles& at) { return looped(vector(at), start, xs).item<double>(); }, doubles(k)),
                1e-9));
    const auto [jk, jc, jx] = fx::jit(fx::grad<0, 1, 2>(looped))(k, start, xs);
    CHECK(close(jk, hk));
    CHECK(close(jc, hc));
    CHECK(close(jx, hx));
    // Forward mode, and forward over reverse.
    const Array dk = vector({1, 0.5}), dc = vector({-1, 2}), dx = cos(xs);
    const auto tangent = fx::jvp(looped, std::tuple(k, start, xs), std::tuple(dk, dc, dx)).second;
    CHECK(close(tangent, (np::sum(gk * dk) + np::sum(gc * dc) + np::sum(gx * dx)).item<double>()));
    const Array hessian =
        fx::jvp([&](Array s) { return fx::grad<1>(looped)(k, s, xs); }, std::tuple(start), std::tuple(dc)).second;
    CHECK(close(doubles(hessian),
                directional([&](const Doubles& at) { return doubles(fx::grad<1>(by_hand)(k, vector(at), xs)); },
                            doubles(start), doubles(dc)),
                1e-8));
    CHECK(close(fx::grad([&](Array s) { return np::sum(fx::grad<1>(looped)(k, s, xs) * dc); })(start), hessian));
  }
}
TEST_CASE("a carry that starts without a tangent and gets one") {
  auto f = [](Array k) {
    return fx::scan([&](Array c, Array x) { return std::pair(c * x + k, c); }, 0.0, vector({2, 3, 5})).first;
  };
  // ((0*2 + k)*3 + k)*5 + k = 21 k.
  CHECK(close(fx::grad(f)(1.5), 21.0));
  CHECK(close(fx::jvp(f, std::tuple(1.5), std::tuple(2.0)).second, 42.0));
}
TEST_CASE("gradients through a loop without rows") {
  const auto [gc, gx] = fx::grad<0, 1>([](Array c, Array x) { return np::sum(fx::scan(cell, c, x).first * 3.0); })(
      start, np::zeros({0, 2}, fx::f64));
  CHECK(close(gc, vector({3, 3})));
  CHECK(gx.shape() == fx::Dims{0, 2});
}
TEST_CASE("a symbolic number of rows, and its derivative") {
  auto f = [](Array c, Array x) { return np::sum(fx::scan(cell, c, x).first); };
  const fx::Type rows = fx::type(fx::f64, {fx::dim("n"), 2}), carry = fx::type(fx::f64, {2});
  for (const fx::Jaxpr& j : {fx::make_jaxpr(f)(carry, rows), fx::make_jaxpr(fx::grad<0, 1>(f))(carry, rows)}) {
    CHECK(std::string(j.text().view()).find("scan[length=(n) ") != std::string::npos);
    CHECK(fx::verify(j.graph).empty());
    CHECK(fx::digest(fx::parse(j.text())) == fx::digest(j.graph));
  }
}
TEST_CASE("integer and unused parts of the carry in a gradient") {
  struct Counted {
    Array n, x, idle;
  };
  auto f = [](Array x) {
    auto body = [](Counted c, fx::None) {
      return std::pair(Counted{c.n + 1, c.x * convert(c.n, fx::f64), c.idle}, c.n);
    };
    const auto [end, ns] = fx::scan(body, Counted{1, x, vector({1, 2})}, fx::none, {.length = 5});
    return fx::aux(end.x, std::pair(end.n, ns));
  };
  const auto [g, extra] = fx::grad(f)(2.0);
  CHECK(close(g, 120.0));
  CHECK(extra.first.item<int>() == 6);
  CHECK(extra.second.to_vector<int>() == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("nested loops") {
  // Row by row, element by element: the outer carry goes through the inner loop.
  auto f = [](Array k) {
    auto row = [&](Array c, Array r) {
      auto [d, ys] = fx::scan([&](Array a, Array x) { return std::pair(sin(a + k * x), a * x); }, c, r);
      return std::pair(d, ys);
    };
    return fx::scan(row, 0.5, xs);
  };
  double c = 0.5;
  Doubles rows;
  const Doubles flat = doubles(xs);
  for (double x : flat) rows.push_back(c * x), c = std::sin(c + 0.7 * x);
  const auto [end, ys] = f(0.7);
  CHECK(close(end, c));
  CHECK(close(ys, matrix(5, 2, rows)));
  auto scalar = [&](const Doubles& k) {
    double a = 0.5, s = 0;
    for (double x : flat) s += a * x, a = std::sin(a + k[0] * x);
    return a + s;
  };
  const Array g = fx::grad([&](Array k) {
    auto [e, y] = f(k);
    return e + np::sum(y);
  })(0.7);
  CHECK(close(doubles(g), gradient(scalar, {0.7}), 1e-9));
}
TEST_CASE("vmap of scan and scan of vmap") {
  const Array starts = np::stack({start, start * 2.0, start - 1.0});
  const auto [c, ys] = fx::vmap([](Array s) { return fx::scan(cell, s, xs); })(starts);
  for (int i = 0; i < 3; ++i) {
    const auto [d, zs] = fx::scan(cell, starts(i), xs);
    CHECK(close(c(i), d));
    CHECK(close(ys(i), zs));
  }
  // The rows mapped along another axis and the carry shared: it becomes mapped inside the loop.
  const Array batch = np::stack({xs, xs * 0.5}, 1);
  const auto [e, us] = fx::vmap([](Array x) { return fx::scan(cell, start, x); }, {.in = {1}, .out = {0, 1}})(batch);
  for (int i = 0; i < 2; ++i) {
    const auto [d, zs] = fx::scan(cell, start, batch(fx::all, i));
    CHECK(close(e(i), d));
    CHECK(close(us(fx::all, i), zs));
  }
  // The batch inside the body gives the same.
  const auto [b, vs] =
      fx::scan([](Array s, Array x) { return fx::vmap([&](Array one) { return cell(one, x); })(s); }, starts, xs);
  CHECK(close(b, c));
  CHECK(close(np::moveaxis(vs, 0, 1), ys));
  // And both under grad.
  const Array g = fx::grad(
      [](Array s) { return np::sum(fx::vmap([](Array one) { return fx::scan(cell, one, xs).first; })(s)); })(starts);
  for (int i = 0; i < 3; ++i)
    CHECK(close(g(i), fx::grad([](Array s) { return np::sum(fx::scan(cell, s, xs).first); })(starts(i))));
}
TEST_CASE("a long loop is one equation") {
  auto f = [](Array x) {
    return fx::scan([](Array c, fx::None) { return std::pair(c * 0.999 + 0.001, fx::none); }, x, fx::none,
                    {.length = 10000})
        .first;
  };
  CHECK(fx::make_jaxpr(f)(1.0).graph.eqns.size() == 1);
  CHECK(close(f(3.0), 1 + 2 * std::pow(0.999, 10000), 1e-9));
  CHECK(close(fx::grad(f)(3.0), std::pow(0.999, 10000), 1e-9));
}

}  // namespace
