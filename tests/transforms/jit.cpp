// transforms/jit.cpp -- jit: what is a hit and what is traced again, static values, captures, checked mode, explain.
#include <map>
#include <optional>

#include "transforms.hpp"

using namespace transforms;

namespace {

struct Layer {
  Array w, b;
};
enum class Act { tanh, sine };
struct Model {
  std::vector<Layer> layers;
  Act act;
  std::string name;
  fx::Static<int> power;
};

TEST_CASE("the second call with the same types does not run the function") {
  int runs = 0;
  auto f = fx::jit([&](Array a, Array b) {
    ++runs;
    return np::sum(a * b) + 1.0;
  });
  const Array x = vector({1, 2, 3}), y = vector({4, 5, 6});
  CHECK(close(f(x, y), 33.0));
  CHECK(close(f(y, y), 78.0));
  CHECK(close(f(x + 1.0, y), 48.0));
  CHECK(runs == 1);
  CHECK(f.traces() == 1);
  CHECK(f.calls() == 3);
}
TEST_CASE("shapes, dtypes, structures and C++ types are part of the key") {
  int runs = 0;
  auto f = fx::jit([&](auto t) {
    ++runs;
    return t;
  });
  const Array x = vector({1, 2}), y = vector({1, 2, 3});
  auto times = [&](auto&& call) {
    const int before = runs;
    call();
    call();
    return runs - before;
  };
  CHECK(times([&] { f(x); }) == 1);
  CHECK(times([&] { f(y); }) == 1);
  CHECK(times([&] { f(convert(x, fx::f32)); }) == 1);
  CHECK(times([&] { f(1.0); }) == 1);
  CHECK(times([&] { f(1.0f); }) == 1);
  CHECK(times([&] { f(1); }) == 1);
  CHECK(times([&] { f(true); }) == 1);
  CHECK(times([&] { f(std::vector{x, x}); }) == 1);
  CHECK(times([&] { f(std::vector{x, x, x}); }) == 1);
  CHECK(times([&] { f(std::pair(x, x)); }) == 1);
  CHECK(times([&] { f(Layer{x, x}); }) == 1);
  CHECK(times([&] { f(std::optional<Array>(x)); }) == 1);
  CHECK(times([&] { f(std::optional<Array>()); }) == 1);
  CHECK(times([&] { f(std::map<std::string, Array>{{"a", x}}); }) == 1);
  CHECK(times([&] { f(std::map<std::string, Array>{{"b", x}}); }) == 1);
  CHECK(times([&] { f(np::zeros({2, 1}, fx::f64)); }) == 1);
  CHECK(times([&] { f(np::zeros({1, 2}, fx::f64)); }) == 1);
  // All of these again: known.
  const int before = runs;
  f(x), f(y), f(2.0), f(std::vector{x, x}), f(std::map<std::string, Array>{{"a", x * 2.0}}), f(std::optional<Array>());
  CHECK(runs == before);
}
TEST_CASE(
    "static arguments, enums, strings and static members are part of the key; their values are seen in the trace") {
  int runs = 0;
  auto f = fx::jit([&](const Model& m, Array x, fx::Static<int> n, Act last) {
    ++runs;
    for (const Layer& l : m.layers) x = m.act == Act::tanh ? tanh(x * l.w + l.b) : sin(x * l.w + l.b);
    x = integer_pow(x, m.power);
    for (int i = 0; i < n; ++i) x = x * 2.0;
    return last == Act::sine ? sin(x) : x;
  });
  Model m{{{2.0, 0.1}}, Act::tanh, "a", {2}};
  const auto expect = [&](double x, int n, bool sine) {
    const double y = m.act == Act::tanh ? std::tanh(2 * x + 0.1) : std::sin(2 * x + 0.1);
    const double z = std::pow(y, m.power.value) * std::pow(2, n);
    return sine ? std::sin(z) : z;
  };
  auto check = [&](int n, Act last, int traced) {
    const int before = runs;
    for (double x : {0.5, -0.3}) CHECK(close(f(m, x, fx::static_(n), last), expect(x, n, last == Act::sine)));
    CHECK(runs - before == traced);
  };
  check(1, Act::tanh, 1);
  check(2, Act::tanh, 1);
  check(2, Act::sine, 1);
  m.act = Act::sine;
  check(2, Act::sine, 1);
  m.power = {3};
  check(2, Act::sine, 1);
  m.name = "b";
  check(2, Act::sine, 1);
  m.layers[0].w = 2.0;
  check(2, Act::sine, 0);
  m.name = "a", m.power = {2}, m.act = Act::tanh;
  check(1, Act::tanh, 0);
  // Doubles and strings as static arguments.
  auto g = fx::jit([](Array x, fx::Static<double> k, std::string s) { return x * k.value + double(s.size()); });
  CHECK(close(g(2.0, fx::static_(0.5), std::string("abc")), 4.0));
  CHECK(close(g(2.0, fx::static_(1.5), std::string("abc")), 6.0));
  CHECK(close(g(2.0, fx::static_(1.5), std::string("abcd")), 7.0));
  CHECK(g.traces() == 3);
}
TEST_CASE("results of every structure, and static values in them") {
  auto f = fx::jit([](Array x) {
    return std::tuple(Model{{{x, x * 2.0}}, Act::sine, "out", {4}}, std::optional<Array>(),
                      std::map<std::string, Array>{{"k", x}}, Array(2.5));
  });
  for (double x : {1.0, 3.0}) {
    const auto [m, none, map, number] = f(x);
    CHECK(close(m.layers.at(0).b, 2 * x));
    CHECK(m.name == "out");
    CHECK(m.power == 4);
    CHECK_FALSE(none.has_value());
    CHECK(close(map.at("k"), x));
    CHECK(close(number, 2.5));
  }
  CHECK(f.traces() == 1);
  fx::jit([] { return std::tuple(); })();
  CHECK(close(fx::jit([] { return 3.0; })(), 3.0));
}

// ---- whose cache ----

Array doubled(const Array& x) { return x * 2.0; }
Array tripled(const Array& x) { return x * 3.0; }

TEST_CASE("functions without state share their cache by type, plain functions by address") {
  int hits = 0;
  for (int i = 0; i < 5; ++i) {
    auto f = fx::jit([](Array x) { return x + 41.0; });
    CHECK(close(f(double(i)), i + 41.0));
    hits = int(f.calls() - f.traces());
    CHECK(f.traces() == 1);
    CHECK(f.calls() == i + 1);
  }
  CHECK(hits == 4);
  for (int i = 0; i < 3; ++i) {
    CHECK(close(fx::jit(doubled)(double(i)), 2.0 * i));
    CHECK(close(fx::jit(&tripled)(double(i)), 3.0 * i));
  }
  CHECK(fx::jit(doubled).traces() == 1);
  CHECK(fx::jit(tripled).calls() == 3);
}
TEST_CASE("functions with state do not share, copies of a jit object do") {
  std::vector<double> seen;
  for (double k : {2.0, 3.0}) {
    auto f = fx::jit([k](Array x) { return x * k; });
    seen.push_back(f(10.0).item<double>());
    CHECK(f.traces() == 1);
    const auto copy = f;
    copy(11.0);
    CHECK(copy.traces() == 1);
    CHECK(f.calls() == 2);
  }
  CHECK(seen == Doubles{20, 30});
}

// ---- captures ----

TEST_CASE("captured Arrays are hidden inputs of the executable, captured numbers are constants") {
  const Array w = vector({1, 2}), unused = vector({5, 5, 5});
  const double k = 3;
  auto f = [&](Array x) {
    unused + 1.0;
    return x * w * k + w;
  };
  const fx::Lowered l = fx::jit(f).lower(vector({1, 1}));
  CHECK(l.graph.captured == 1);
  CHECK(l.text() == R"({ lambda b:f64[2] ; a:f64[2]. let
    c:f64[2] = mul a b
    d:f64[2] = mul c 3.0:f64
    e:f64[2] = add d b
  in (e,) })");
  CHECK(close(fx::jit(f)(vector({1, 10})), vector({4, 62})));
}
TEST_CASE("captures are read when traced: on a hit the function does not run") {
  double k = 2;
  auto f = fx::jit([&](Array x) { return x * k; });
  CHECK(close(f(1.0), 2.0));
  k = 5;
  CHECK(close(f(1.0), 2.0));
  CHECK(close(f(vector({1})), vector({5})));
}
TEST_CASE("a reassigned captured Array is noticed, counted and explained") {
  Array w = vector({1, 2});
  auto f = fx::jit([&](Array x) { return x + w; }, {.name = "shift"});
  const Array x = vector({10, 20});
  CHECK(close(f(x), vector({11, 22})));
  CHECK(close(f(x), vector({11, 22})));
  CHECK(f.explain().find("0 retraces because a captured Array was reassigned") != std::string::npos);
  w = vector({3, 4});
  CHECK(close(f(x), vector({13, 24})));
  CHECK(close(f(x), vector({13, 24})));
  w = w + 1.0;
  CHECK(close(f(x), vector({14, 25})));
  CHECK(f.traces() == 3);
  CHECK(f.explain().find("2 retraces because a captured Array was reassigned") != std::string::npos);
  CHECK(f.explain().find("1 captured Arrays") != std::string::npos);
}
TEST_CASE("an Array made inside the function is no captured variable: it stays") {
  auto f = fx::jit([](Array x) { return x + Array(Doubles{1, 2, 3}); });
  for (int i = 0; i < 3; ++i) CHECK(close(f(vector({1, 1, 1})), vector({2, 3, 4})));
  CHECK(f.traces() == 1);
}
TEST_CASE("explain says what happened") {
  auto f = fx::jit([](Array x) { return sin(x) * 2.0; }, {.name = "wave"});
  f(vector({1, 2, 3}));
  const Array x = vector({1, 2, 3});
  f(x), f(x), f(0.5f * np::ones({4}));
  CHECK(f.explain() ==
        "jit wave: 4 calls, 2 traces, 2 hits, 2 buffers donated, 0 retraces because a captured Array was reassigned\n"
        "  (f64[3]): 2 equations, 0 captured Arrays\n  (f32[4]): 2 equations, 0 captured Arrays");
}

// ---- inside other functions ----

TEST_CASE("a jit called while something is traced is one equation with its name") {
  auto inner = fx::jit([](Array a, Array b) { return a * b + 1.0; }, {.name = "madd"});
  auto outer = [&](Array x) {
    const Array first = inner(x, x), second = inner(x, 2.0 * x);
    return first + second;
  };
  CHECK(fx::make_jaxpr(outer)(fx::type(fx::f64)) == R"({ lambda ; a:f64[]. let
    b:f64[] = jit[name=madd graph={ lambda ; a:f64[] b:f64[]. let
        c:f64[] = mul a b
        d:f64[] = add c 1.0:f64
      in (d,) }] a a
    c:f64[] = mul 2.0:f64 a
    d:f64[] = jit[name=madd graph={ lambda ; a:f64[] b:f64[]. let
        c:f64[] = mul a b
        d:f64[] = add c 1.0:f64
      in (d,) }] a c
    e:f64[] = add b d
  in (e,) })");
  CHECK(close(fx::jit(outer)(3.0), 29.0));
  CHECK(close(fx::grad(outer)(3.0), 18.0));
  CHECK(close(fx::vmap(outer)(vector({1, 3})), vector({5, 29})));
  CHECK(inner.traces() == 0);
}
TEST_CASE("a jit in a trace captures outer variables") {
  auto f = [](Array x) {
    auto g = fx::jit([&](Array y) { return x * y; });
    return g(x + 1.0);
  };
  CHECK(close(f(3.0), 12.0));
  CHECK(close(fx::grad(f)(3.0), 7.0));
  CHECK(close(fx::vmap(f)(vector({1, 2})), vector({2, 6})));
  CHECK(close(fx::jit(fx::grad(fx::jit(f)))(3.0), 7.0));
}
TEST_CASE("numbers: outside jit they are inputs, so a changing one compiles once; inside they are constants") {
  const Array x = vector({1, 2, 3});
  x * 0.5;
  const std::int64_t before = fx::executable_stats().compilations;
  for (int i = 0; i < 20; ++i) CHECK(close(x * (0.1 * i), vector({0.1 * i, 0.2 * i, 0.3 * i})));
  CHECK(fx::executable_stats().compilations == before);
  auto loss = [](Array w, double rate) { return np::sum(w * w) * rate; };
  for (int i = 0; i < 5; ++i) {
    const double rate = 0.01 * i;
    CHECK(close(fx::grad([&](Array w) { return loss(w, rate); })(x), 2 * rate * x));
  }
  CHECK(fx::executable_stats().compilations <= before + 3);  // the gradient, 2 * rate * x, once each
}
TEST_CASE("transforms called outside jit find their executable by digest") {
  const Array x = vector({1, 2, 3});
  auto f = [](Array a) { return np::sum(sin(a) * a); };
  fx::grad(f)(x);
  const std::int64_t before = fx::executable_stats().compilations;
  for (int i = 0; i < 5; ++i) fx::grad(f)(x + double(i));
  CHECK(fx::executable_stats().compilations <= before + 1);
}

}  // namespace
