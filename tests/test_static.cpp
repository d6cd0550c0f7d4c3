// test_static.cpp -- the floor of constant evaluation: every static_assert here holds on g++ 12, clang 14 and clang 19
// with their default limits. It grows in every later issue.
//
// Budget: clang counts steps and stops at 1,048,576 (-fconstexpr-steps) for each static_assert; g++ allows 33,554,432
// operations
// (-fconstexpr-ops-limit). The dearest assertion below takes STEPS of clang's; keep each below 500,000, so that users'
// functions have room, and write a longer check as two.
#include <doctest/doctest.h>

#include <cmath>
#include <fx/fx.hpp>

using fx::Array;
namespace np = fx::numpy;

namespace {

template <class T = double>
constexpr T at(const Array& x, std::int64_t i) {
  return x(i).template item<T>();
}

// ---- values ----

static_assert(Array(3.0) * 2.0 + 1.0 == 7.0);
static_assert((Array(2.5f) - 0.5f).item<float>() == 2.0f);
static_assert(Array(2) < 3);
static_assert(!(Array(2) > 3));
static_assert(where(Array(true), 1.5, 2.5) == 1.5);
static_assert(maximum(Array(1.0), 2.0) == 2.0);
static_assert(np::sum(np::array({1.0, 2.0, 3.0})) == 6.0);
static_assert(at(np::array({1.0, 2.0}) * np::array({3.0, 4.0}), 1) == 8.0);
static_assert(np::matmul(np::array({{1.0, 2.0}, {3.0, 4.0}}), np::array({1.0, -1.0})).shape() == fx::Dims{2});
static_assert(np::zeros({2, 3}).type() == fx::type(fx::f32, {2, 3}));

// Integers wrap, divide truncating, and are defined everywhere.
static_assert(Array(7) / 2 == 3);
static_assert(Array(-7) / 2 == -3);
static_assert(Array(7) % -2 == 1);
static_assert(Array(-7) % 2 == -1);
static_assert(Array(5) / 0 == -1);
static_assert(Array(5) % 0 == 5);
static_assert(Array(2147483647) + 1 == -2147483647 - 1);
static_assert(Array(5u) - 6u == 4294967295u);
static_assert(Array(std::int64_t(1)) * 3000000000 == 3000000000);
static_assert((Array(6) & 3) == 2);
static_assert((Array(6) | 3) == 7);
static_assert((Array(6) ^ 3) == 5);
static_assert(~Array(6) == -7);
static_assert(!Array(false));
static_assert(shift_left(Array(1), 31) == -2147483647 - 1);
static_assert(shift_left(Array(1), 32) == 0);
static_assert(shift_right_arithmetic(Array(-8), 1) == -4);
static_assert(shift_right_logical(Array(-8), 28) == 15);
static_assert(convert(Array(2.9), fx::i32) == 2);
static_assert(convert(Array(3), fx::f64) == 3.0);
static_assert(integer_pow(Array(3), 4) == 81);

// ---- derivatives ----

constexpr auto cube = [](auto x) { return x * x * x; };
static_assert(fx::grad(cube)(3.0) == 27.0);
static_assert(fx::grad(fx::grad(cube))(3.0) == 18.0);
static_assert(fx::grad(fx::grad(fx::grad(cube)))(3.0) == 6.0);
static_assert(fx::grad(cube)(2.0f).dtype() == fx::f32);
static_assert(fx::grad([](auto x) { return x / (1.0 + x); })(1.0) == 0.25);
static_assert(fx::grad([](auto x) { return sqrt(x); })(4.0) == 0.25);
static_assert(fx::grad([](auto x) { return x * stop_gradient(x); })(3.0) == 3.0);
static_assert(fx::grad([](auto) { return Array(2.0); })(3.0) == 0.0);

// Arguments by number; several; with the value; with extras.
constexpr auto mixed = [](auto x, auto y) { return x * y * y; };
static_assert(fx::grad<1>(mixed)(3.0, 2.0) == 12.0);
static_assert([] {
  const auto [dy, dx] = fx::grad<1, 0>(mixed)(3.0, 2.0);
  return dy.template item<double>() == 12 && dx.template item<double>() == 4;
}());
static_assert([] {
  const auto [v, g] = fx::value_and_grad(cube)(2.0);
  return v.template item<double>() == 8 && g.template item<double>() == 12;
}());
static_assert([] {
  const auto [g, extra] = fx::grad([](Array x) { return fx::aux(x * x, x + 1.0); })(3.0);
  return g.item<double>() == 6 && extra.item<double>() == 4;
}());

// Closures: inner functions capture outer variables, and their derivatives do not mix.
static_assert(fx::grad([](auto x) { return x * fx::grad([x](auto y) { return x * y * y; })(x); })(3.0) == 54.0);
static_assert(fx::grad([](auto x) { return x * fx::grad([x](auto y) { return x + y; })(2.0); })(1.0) == 1.0);
static_assert(fx::grad([](auto x) { return x * fx::grad([](auto y) { return y * y; })(2.0); })(3.0) == 4.0);
static_assert(fx::grad([](auto x) {
                return fx::jvp([x](auto y) { return x * x * y; }, std::tuple(x), std::tuple(1.0)).second;
              })(3.0) == 6.0);

// ---- jvp and vjp ----

static_assert([] {
  const auto [y, dy] = fx::jvp(mixed, std::tuple(3.0, 2.0), std::tuple(1.0, 10.0));
  return y.template item<double>() == 12 && dy.template item<double>() == 124;
}());
static_assert([] {
  const auto [y, back] = fx::vjp(mixed, std::tuple(3.0, 2.0));
  const auto [cx, cy] = back(0.5);
  return y.template item<double>() == 12 && cx.template item<double>() == 2 && cy.template item<double>() == 6;
}());
static_assert(fx::jvp(fx::grad(cube), std::tuple(2.0), std::tuple(1.0)).second == 12.0);

// ---- vmap ----

static_assert([] {
  const Array y = fx::vmap(cube)(np::array({1.0, 2.0, 3.0}));
  return y.rank() == 1 && at(y, 0) == 1 && at(y, 2) == 27;
}());
static_assert([] {
  const Array g = fx::vmap(fx::grad(cube))(np::array({1.0, 2.0}));
  return at(g, 0) == 3 && at(g, 1) == 12;
}());
static_assert(at(fx::grad([](Array x) {
                   return np::sum(fx::vmap([x](Array a) { return a * np::sum(x); })(x));
                 })(np::array({1.0, 2.0})),
                 1) == 6);
static_assert([] {
  const Array x = np::array({1.0, 2.0}), y = np::array({10.0, 20.0, 30.0});
  const Array z = fx::vmap(fx::vmap(mixed, {.in = {fx::none, 0}}), {.in = {0, fx::none}})(x, y);
  return z.shape() == fx::Dims{2, 3} && z(1, 2).item<double>() == 1800;
}());

// ---- scan ----

static_assert([] {
  const auto [c, ys] = fx::scan([](Array s, Array x) { return std::pair(s + x, s * x); }, 1.0, np::array({2.0, 3.0}));
  return c.item<double>() == 6 && at(ys, 0) == 2 && at(ys, 1) == 9;
}());
static_assert(fx::scan([](Array s, fx::None) { return std::pair(s * 2.0, fx::none); }, 1.0, fx::none, {.length = 10})
                  .first == 1024.0);
static_assert(fx::grad([](Array x) {
                return fx::scan([x](Array s, fx::None) { return std::pair(s * x, fx::none); }, 1.0, fx::none,
                                {.length = 4})
                    .first;
              })(2.0) == 32.0);
static_assert(at(fx::grad([](Array x) {
                   return fx::scan([](Array s, Array r) { return std::pair(s * r, s); }, 2.0, x).first;
                 })(np::array({3.0, 5.0})),
                 0) == 10);

// ---- structs ----

struct Spring {
  Array stiffness, damping;
};
// No std::array: g++ 12 does not copy arrays of Arrays in constant evaluation.
struct Model {
  Spring spring;
  std::pair<Array, Array> start;
  fx::Static<int> power;
};
constexpr Array energy(const Model& m) {
  return m.spring.stiffness * integer_pow(m.start.first, m.power) * 0.5 + m.spring.damping * m.start.second;
}
static_assert([] {
  const Model g = fx::grad(energy)(Model{{3.0, 0.5}, {2.0, 1.5}, {2}});
  return g.spring.stiffness.item<double>() == 2 && g.spring.damping.item<double>() == 1.5 &&
         g.start.first.item<double>() == 6 && g.start.second.item<double>() == 0.5 && g.power == 2;
}());
static_assert([] {
  Spring s{1.0, 2.0};
  const Spring d = fx::tree::map([](Array a) { return a * 10.0; }, s);
  return d.damping.item<double>() == 20;
}());

// ---- text ----

constexpr auto wave = [](auto x) { return x * sin(x); };
static_assert(fx::make_jaxpr(wave)(fx::type(fx::f64)) == R"({ lambda ; a:f64[]. let
    b:f64[] = sin a
    c:f64[] = mul a b
  in (c,) })");
static_assert(fx::make_jaxpr(fx::grad(wave))(fx::type(fx::f64)) == R"({ lambda ; a:f64[]. let
    b:f64[] = sin a
    c:f64[] = cos a
    d:f64[] = mul a c
    e:f64[] = add b d
  in (e,) })");
static_assert(fx::make_jaxpr(fx::vmap(fx::grad(wave)))(fx::type(fx::f32, {8})) == R"({ lambda ; a:f32[8]. let
    b:f32[8] = sin a
    c:f32[8] = cos a
    d:f32[8] = mul a c
    e:f32[8] = add b d
  in (e,) })");
static_assert(fx::eval_shape([](Array x) { return np::sum(x * 2.0f, {.axis = 0}); })(fx::type(fx::f32, {2, 3}))
                  .shape() == fx::Dims{3});
static_assert(fx::digest(fx::make_jaxpr(wave)(1.0).graph) ==
              fx::digest(fx::make_jaxpr([](Array x) { return x * sin(x); })(2.0).graph));

// ---- random numbers: those of JAX for key(0), from tests/golden/jax_random.txt ----

static_assert(at<std::uint32_t>(fx::random::bits(fx::random::key(0), {2}), 1) == 0xfa843692u);
static_assert(bitcast(fx::random::uniform(fx::random::key(0), {}), fx::u32) == 0x3f729a4eu);
constexpr std::uint32_t second_key() {  // g++ 12 cannot destroy an array of Arrays within a static_assert
  const auto keys = fx::random::split<2>(fx::random::key(0));
  return at<std::uint32_t>(keys[1].data, 0);
}
static_assert(second_key() == 0x375f238fu);
static_assert(at<std::uint32_t>(fx::random::fold_in(fx::random::key(0), 123456).data, 1) == 0x8cfae499u);

// ---- functions: within 2 ulp of the C++ library's, which is compared at run time ----

constexpr double points[] = {-2.75, -1.0, -0.3, 1e-3, 0.5, 1.0, 1.9, 3.5};
constexpr int count = int(std::size(points));
struct Values {
  double v[std::size(points)]{};
};
template <class F>
constexpr Values values(F f) {
  Values r;
  for (int i = 0; i < count; ++i) r.v[i] = f(Array(points[i])).template item<double>();
  return r;
}
constexpr Values exps = values([](Array x) { return exp(x); });
constexpr Values logs = values([](Array x) { return log(abs(x)); });
constexpr Values log1ps = values([](Array x) { return log1p(abs(x)); });
constexpr Values sines = values([](Array x) { return sin(x); });
constexpr Values cosines = values([](Array x) { return cos(x); });
constexpr Values tanhs = values([](Array x) { return tanh(x); });
constexpr Values roots = values([](Array x) { return sqrt(abs(x)); });
constexpr Values powers = values([](Array x) { return pow(abs(x), 2.5); });
constexpr Values floors = values([](Array x) { return floor(x); });

double ulps(double got, long double want) {
  const double near = double(want), step = std::nextafter(std::abs(near), INFINITY) - std::abs(near);
  return double(std::abs(got - want)) / step;
}
template <class F>
void check(const char* name, const Values& got, F want) {
  for (int i = 0; i < count; ++i) {
    CAPTURE(name);
    CAPTURE(points[i]);
    CHECK(ulps(got.v[i], want((long double)(points[i]))) <= 2);
  }
}
TEST_CASE("functions evaluated by the compiler are within 2 ulp") {
  using L = long double;
  check("exp", exps, [](L x) { return std::exp(x); });
  check("log", logs, [](L x) { return std::log(std::abs(x)); });
  check("log1p", log1ps, [](L x) { return std::log1p(std::abs(x)); });
  check("sin", sines, [](L x) { return std::sin(x); });
  check("cos", cosines, [](L x) { return std::cos(x); });
  check("tanh", tanhs, [](L x) { return std::tanh(x); });
  check("sqrt", roots, [](L x) { return std::sqrt(std::abs(x)); });
  check("pow", powers, [](L x) { return std::pow(std::abs(x), 2.5L); });
  check("floor", floors, [](L x) { return std::floor(x); });
}
TEST_CASE("the compiler's values are those of a run") {
  for (int i = 0; i < count; ++i) {
    const Array x = points[i];
    CHECK(exp(x).item<double>() == exps.v[i]);
    CHECK(sin(x).item<double>() == sines.v[i]);
    CHECK(tanh(x).item<double>() == tanhs.v[i]);
    CHECK(pow(abs(x), 2.5).item<double>() == powers.v[i]);
  }
  CHECK(fx::grad(energy)(Model{{3.0, 0.5}, {2.0, 1.5}, {2}}).start.first.item<double>() == 6);
}

}  // namespace
