// transforms/vmap.cpp -- vmap against loops: axes in and out, paths, nesting, captures, with derivatives.
#include <map>

#include "transforms.hpp"

using namespace transforms;

namespace {

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  Array scale;
};

Array iota(std::initializer_list<std::int64_t> sizes) {
  const fx::Dims shape(fx::Span<const std::int64_t>(sizes.begin(), int(sizes.size())));
  return np::reshape(np::arange(0, fx::numel(shape), fx::f64), shape) * 0.25 - 1.0;
}

TEST_CASE("every pair of axes of two operands") {
  // f(a, b) = a @ b - sum(a) on a[3,4], b[4]; the batch of 5 anywhere, or nowhere.
  auto f = [](Array a, Array b) { return np::matmul(a, b) - np::sum(a); };
  const Array a = iota({5, 3, 4}), b = iota({5, 4});
  for (int in_a = -4; in_a < 3; ++in_a)
    for (int in_b = -3; in_b < 2; ++in_b) {
      if (in_a == -4 && in_b == -3) continue;
      const bool map_a = in_a > -4, map_b = in_b > -3;
      fx::VmapOptions o;
      o.in.push_back(map_a ? fx::detail::AxisSpec(in_a) : fx::detail::AxisSpec(fx::none));
      o.in.push_back(map_b ? fx::detail::AxisSpec(in_b) : fx::detail::AxisSpec(fx::none));
      const Array y = fx::vmap(f, o)(map_a ? np::moveaxis(a, 0, in_a) : a(0), map_b ? np::moveaxis(b, 0, in_b) : b(0));
      REQUIRE(y.shape() == fx::Dims{5, 3});
      for (int i = 0; i < 5; ++i) CHECK(close(y(i), f(a(map_a ? i : 0), b(map_b ? i : 0))));
    }
}
TEST_CASE("out axes") {
  auto f = [](Array a) { return np::outer(a, a + 1.0); };
  const Array x = iota({5, 2});
  const Array front = fx::vmap(f)(x);
  CHECK(front.shape() == fx::Dims{5, 2, 2});
  CHECK(close(fx::vmap(f, {.out = {1}})(x), np::moveaxis(front, 0, 1)));
  CHECK(close(fx::vmap(f, {.out = {-1}})(x), np::moveaxis(front, 0, 2)));
  CHECK(close(fx::vmap(f, {.out = {-3}})(x), front));
  auto two = [](Array a) { return std::pair(np::sum(a), a * 2.0); };
  const auto [s, d] = fx::vmap(two, {.out = {0, 1}})(x);
  CHECK(close(s, np::sum(x, {.axis = 1})));
  CHECK(close(d, np::transpose(x * 2.0)));
  const auto [c, e] = fx::vmap([&](Array a) { return std::pair(Array(3.0), a); }, {.out = {fx::none, 0}})(x);
  CHECK(close(c, 3.0));
  CHECK(close(e, x));
}
TEST_CASE("what does not depend on the mapped arguments is repeated, or kept with out axis none") {
  const Array x = iota({4}), k = vector({1, 2});
  CHECK(close(fx::vmap([&](Array) { return k; })(x), matrix(4, 2, {1, 2, 1, 2, 1, 2, 1, 2})));
  CHECK(close(fx::vmap([&](Array) { return k * 2.0; }, {.out = {fx::none}})(x), vector({2, 4})));
  CHECK(close(fx::vmap([](Array a) { return a; }, {.in = {fx::none}, .axis_size = 3})(Array(2.0)), vector({2, 2, 2})));
  CHECK(fx::vmap([](Array a) { return a + 1.0; })(np::zeros({0, 3}, fx::f64)).shape() == fx::Dims{0, 3});
}
TEST_CASE("axes by path") {
  auto f = [](const Net& n, Array x) {
    for (const Layer& l : n.layers) x = tanh(np::matmul(x, l.w) + l.b);
    return x * n.scale;
  };
  const Net n{{{iota({5, 3, 4}), iota({4})}, {iota({5, 4, 2}), iota({2})}}, 0.5};
  const Array x = iota({3});
  const Array y = fx::vmap(f, {.in = {{{"layers[*].w", 0}, {"*", fx::none}}, fx::none}})(n, x);
  REQUIRE(y.shape() == fx::Dims{5, 2});
  for (int i = 0; i < 5; ++i) {
    Net one = n;
    for (Layer& l : one.layers) l.w = l.w(i);
    CHECK(close(y(i), f(one, x)));
  }
  const Net m{{{iota({3, 4, 5}), iota({4, 5})}}, iota({5})};
  const Array z = fx::vmap(f, {.in = {{{"layers", -1}, {"scale", 0}}, 0}})(m, iota({5, 3}));
  for (int i = 0; i < 5; ++i)
    CHECK(close(
        z(i), f(Net{{{m.layers[0].w(fx::all, fx::all, i), m.layers[0].b(fx::all, i)}}, m.scale(i)}, iota({5, 3})(i))));
}
TEST_CASE("trees of results, maps and vectors") {
  auto f = [](const std::map<std::string, Array>& m) {
    return std::map<std::string, std::vector<Array>>{{"r", {m.at("a") * m.at("b"), m.at("b")}}};
  };
  const auto r = fx::vmap(f)(std::map<std::string, Array>{{"a", vector({1, 2})}, {"b", matrix(2, 2, {1, 2, 3, 4})}});
  CHECK(close(r.at("r")[0], matrix(2, 2, {1, 2, 6, 8})));
  CHECK(close(r.at("r")[1], matrix(2, 2, {1, 2, 3, 4})));
}
TEST_CASE("nested vmaps: all pairs") {
  auto distance = [](Array a, Array b) { return sqrt(np::sum((a - b) * (a - b))); };
  const Array x = iota({4, 3}), y = iota({6, 3}) * 2.0;
  const Array d = fx::vmap([&](Array a) { return fx::vmap([&](Array b) { return distance(a, b); })(y); })(x);
  const Array e = fx::vmap(fx::vmap(distance, {.in = {fx::none, 0}}), {.in = {0, fx::none}})(x, y);
  const Array t = fx::vmap(fx::vmap(distance, {.in = {0, fx::none}}), {.in = {fx::none, 0}, .out = {1}})(x, y);
  REQUIRE(d.shape() == fx::Dims{4, 6});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) CHECK(close(d(i, j), distance(x(i), y(j))));
  CHECK(close(d, e));
  CHECK(close(d, t));
}
TEST_CASE("captured Arrays are not mapped; captured batch values of an outer vmap are") {
  const Array w = iota({3, 3}), x = iota({4, 3});
  const Array y = fx::vmap([&](Array a) { return np::matmul(w, a); })(x);
  for (int i = 0; i < 4; ++i) CHECK(close(y(i), np::matmul(w, x(i))));
  // x_i is captured by the inner one: z[i][j] = x_i * x_j.
  const Array v = vector({1, 2, 3});
  CHECK(close(fx::vmap([&](Array a) { return fx::vmap([&](Array b) { return a * b; })(v); })(v), np::outer(v, v)));
}

TEST_CASE("vmap of grad is a loop of grads; per-example gradients sum to the gradient of the sum") {
  auto loss = [](const Layer& l, Array x, Array y) {
    const Array e = tanh(np::matmul(x, l.w) + l.b) - y;
    return np::sum(e * e);
  };
  const Layer l{iota({3, 2}), vector({0.1, -0.2})};
  const Array x = iota({5, 3}), y = iota({5, 2});
  const Layer each = fx::vmap(fx::grad(loss), {.in = {fx::none, 0, 0}})(l, x, y);
  REQUIRE(each.w.shape() == fx::Dims{5, 3, 2});
  for (int i = 0; i < 5; ++i) {
    const Layer one = fx::grad(loss)(l, x(i), y(i));
    CHECK(close(each.w(i), one.w));
    CHECK(close(each.b(i), one.b));
  }
  const Layer all = fx::grad([&](const Layer& p) {
    return np::sum(fx::vmap(loss, {.in = {fx::none, 0, 0}})(p, x, y));
  })(l);
  CHECK(close(all.w, np::sum(each.w, {.axis = 0})));
  CHECK(close(all.b, np::sum(each.b, {.axis = 0})));
}
TEST_CASE("grad of vmap, with the batch gathered in the gradient of what is shared") {
  const Array x = vector({1, 2, 3});
  auto f = [&](Array k) { return np::sum(fx::vmap([&](Array a) { return sin(a * k); })(x)); };
  const double k = 0.7;
  CHECK(close(fx::grad(f)(k), std::cos(k) + 2 * std::cos(2 * k) + 3 * std::cos(3 * k)));
}
TEST_CASE("a batch of ensembles, each trained on its own rows") {
  // vmap over (parameters, rows) of a jitted gradient step.
  auto step = fx::jit(
      [](Array w, Array x) { return w - 0.1 * fx::grad([&](Array v) { return np::mean((v - x) * (v - x)); })(w); });
  const Array w = vector({1, -2, 3}), x = iota({3, 7});
  const Array y = fx::vmap([&](Array a, Array b) { return step(a, b); })(w, x);
  for (int i = 0; i < 3; ++i) CHECK(close(y(i), step(w(i), x(i))));
}
TEST_CASE("a batch of random keys draws what each key draws") {
  const fx::Key batch = fx::random::keys(fx::random::key(5), 4);
  auto draw = [](const fx::Key& k, Array scale) {
    auto [a, b] = fx::random::split<2>(k);
    return fx::random::normal(a, {3}) * scale + fx::random::uniform(b, {3});
  };
  const Array scale = np::arange(4, fx::f32), y = fx::vmap(draw)(batch, scale);
  for (int i = 0; i < 4; ++i) CHECK(doubles(y(i)) == doubles(draw(fx::Key{batch.data(i)}, scale(i))));
}
TEST_CASE("no results, and a symbolic batch") {
  static_assert(std::is_same_v<decltype(fx::vmap([](Array) { return std::tuple(); })(Array())), std::tuple<>>);
  fx::vmap([](Array) { return std::tuple(); })(vector({1, 2}));
  auto f = [](Array a, Array b) { return np::sum(a * b) + a(0); };
  const fx::Jaxpr j =
      fx::make_jaxpr(fx::vmap(fx::grad(f)))(fx::type(fx::f32, {fx::dim("n"), 4}), fx::type(fx::f32, {fx::dim("n"), 4}));
  CHECK(j.graph.type(j.graph.outs[0]) == fx::type(fx::f32, {fx::dim("n"), 4}));
  CHECK(fx::verify(j.graph).empty());
}
TEST_CASE("indexing, sorting and writes inside") {
  auto f = [](Array a, Array i) { return np::sort(a)(i) + a.at(i).add(10.0); };
  const Array x = matrix(3, 4, {4, 1, 3, 2, 0, 9, 8, 7, 5, 5, 6, 1}), i(std::vector<int>{0, 3, 1});
  const Array y = fx::vmap(f)(x, i);
  for (int k = 0; k < 3; ++k) CHECK(close(y(k), f(x(k), i(k))));
}

}  // namespace
