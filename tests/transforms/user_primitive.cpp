// transforms/user_primitive.cpp -- primitives defined outside fx, with nothing of fx edited: they work under every
// transform, on every tier, in constant evaluation, in print and parse.
#include <fx/fx.hpp>

#include "transforms.hpp"

using namespace transforms;

namespace {

using fx::Val;

// The derivative of order `order` >= 1 of sin(x)/x. Away from 0 by the recurrence x f_k = sin(x + k pi/2) - k f_(k-1);
// near it by the Taylor series.
struct SincDerivative : fx::Unary<SincDerivative> {
  static constexpr std::string_view name = "sinc_derivative";
  static constexpr fx::DTypes takes = fx::floats;
  static constexpr fx::AttrSpec attrs[] = {{"order", fx::AttrKind::integer}};

  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    using V = typename World::template V<T>;
    const V x = World::template get<T>(c, 0);
    const int order = int(c.attrs.integer(0));
    const V sine = fx::Sin::emit(x), cosine = fx::Cos::emit(x);
    V far = sine / x;
    for (int k = 1; k <= order; ++k) {
      const V turned = k % 4 == 1 ? cosine : k % 4 == 2 ? -sine : k % 4 == 3 ? -cosine : sine;
      far = (turned - V::c(T(k)) * far) / x;
    }
    // Terms (-1)^m x^(2m-k) / ((2m-k)! (2m+1)), from the last on (Horner in x^2).
    const int first = (order + 1) / 2, last = first + 14;
    const V square = x * x;
    V near = V::c(T(0));
    for (int m = last; m >= first; --m) near = near * square + V::c(T(coefficient(m, order)));
    if (order % 2) near = near * x;
    World::put(c, 0, select(lt(abs(x), V::c(T(1.5))), near, far));
  }
  static constexpr Val tangent(fx::JvpCtx& c, Val t) {
    return t * fx::bind(fx::prim<SincDerivative>, {c.x[0]}, fx::Params().integer(c.attrs().integer(0) + 1));
  }

 private:
  static constexpr double coefficient(int m, int order) {
    double r = (m % 2 ? -1.0 : 1.0) / (2 * m + 1);
    for (int i = 2; i <= 2 * m - order; ++i) r /= i;
    return r;
  }
};

struct Sinc : fx::Unary<Sinc> {
  static constexpr std::string_view name = "sinc";
  static constexpr fx::DTypes takes = fx::floats;
  template <class V>
  static constexpr V emit(V x) {
    using T = typename V::type;
    const V safe = select(eq(x, V::c(T(0))), V::c(T(1)), x);
    return select(eq(x, V::c(T(0))), V::c(T(1)), fx::Sin::emit(safe) / safe);
  }
  static constexpr Val tangent(Val t, Val x, Val) {
    return t * fx::bind(fx::prim<SincDerivative>, {x}, fx::Params().integer(1));
  }
};

// log(exp(a) + exp(b)) as a fold: logsumexp in one pass.
struct LogAddExp : fx::Reduce<LogAddExp> {
  static constexpr std::string_view name = "reduce_log_add_exp";
  static constexpr fx::DTypes takes = fx::floats;
  template <class T>
  static constexpr T identity() {
    return -std::numeric_limits<T>::infinity();
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    using T = typename V::type;
    const V apart = fx::Max::emit(a, b) + fx::Log1p::emit(fx::Exp::emit(-abs(a - b)));
    return select(eq(a, b), a + V::c(T(0.6931471805599453)), apart);  // also for both -inf
  }
  // The mean of the tangents under softmax.
  static constexpr void jvp(fx::JvpCtx& c) {
    const fx::Dims axes = c.attrs().dims(0);
    const Val weight = exp(c.x[0] - spread(c.y[0], c.x[0], axes));
    c.dy[0] = fx::reduce_sum(c.t[0] * weight, axes);
  }
};

constexpr Array sinc(Array::Op x) { return fx::apply(fx::prim<Sinc>, {x}); }
constexpr Array log_add_exp(Array::Op x, const fx::Dims& axes) {
  return fx::apply(fx::prim<LogAddExp>, {x}, fx::Params().dims(axes));
}

double sinc_of(double x) { return x == 0 ? 1 : std::sin(x) / x; }
double slope_of(double x) { return x == 0 ? 0 : (std::cos(x) - std::sin(x) / x) / x; }
double bend_of(double x) { return x == 0 ? -1.0 / 3 : -sinc_of(x) - 2 * slope_of(x) / x; }

// ---- constant evaluation ----

static_assert(sinc(0.0) == 1.0);
static_assert(sinc(0.0f) == 1.0f);
static_assert(fx::grad([](auto x) { return sinc(x); })(0.0) == 0.0);
static_assert(fx::grad(fx::grad([](auto x) { return sinc(x); }))(0.0) == -1.0 / 3);
static_assert(fx::make_jaxpr([](auto x) { return sinc(x) * 2.0; })(fx::type(fx::f64)) == R"({ lambda ; a:f64[]. let
    b:f64[] = sinc a
    c:f64[] = mul b 2.0:f64
  in (c,) })");
static_assert(log_add_exp(np::array({1.0, 1.0}), {0}).rank() == 0);

TEST_CASE("value, eagerly, under jit, in a loop and in both dtypes") {
  const Doubles at{-3, -1.5, -0.1, 0, 1e-8, 0.7, 1.49, 2, 30};
  Doubles expect;
  for (double x : at) expect.push_back(sinc_of(x));
  const Array x = vector(at);
  CHECK(close(sinc(x), vector(expect)));
  CHECK(close(fx::jit([](Array a) { return sinc(a) + sinc(a * 0.0); })(x), vector(expect) + 1.0));
  CHECK(
      close(fx::scan([](Array c, Array r) { return std::pair(c + sinc(r), sinc(r)); }, 0.0, x).second, vector(expect)));
  CHECK(close(doubles(sinc(convert(x, fx::f32))), expect, 1e-6));
  CHECK(sinc(np::zeros({0, 3})).shape() == fx::Dims{0, 3});
  CHECK(sinc(2.0f).dtype() == fx::f32);
}
TEST_CASE("first, second and third derivatives, also at 0") {
  for (double x : {-4.0, -1.2, -1e-4, 0.0, 1e-6, 0.5, 1.4, 1.6, 9.0}) {
    const auto d1 = fx::grad([](Array a) { return sinc(a); });
    const auto d2 = fx::grad(d1);
    CHECK(close(d1(x), slope_of(std::abs(x) < 1e-3 ? 0 : x) - (std::abs(x) < 1e-3 ? x / 3 : 0)));
    CHECK(close(d2(x), std::abs(x) < 1e-3 ? -1.0 / 3 + x * x / 10 : bend_of(x), 1e-11));
    CHECK(close(fx::jit(d2)(x), d2(x)));
    const Doubles by_differences = directional([&](const Doubles& v) { return doubles(d2(v[0])); }, {x}, {1});
    CHECK(close(doubles(fx::grad(d2)(x)), by_differences, 1e-9));
    const auto [y, dy] = fx::jvp([](Array a) { return sinc(a * a); }, std::tuple(x), std::tuple(1.0));
    CHECK(close(y, sinc_of(x * x)));
    CHECK(close(dy, 2 * x * (std::abs(x) < 1e-2 ? -x * x / 3 : slope_of(x * x))));
  }
}
TEST_CASE("batches, and derivatives of batches") {
  const Array x = matrix(2, 3, {-1, 0, 0.5, 2, 3, 4});
  CHECK(close(fx::vmap([](Array r) { return sinc(r); })(x), sinc(x)));
  const Array g = fx::vmap(fx::vmap(fx::grad([](Array a) { return sinc(a); })))(x);
  Doubles expect;
  for (double v : doubles(x)) expect.push_back(slope_of(v));
  CHECK(close(doubles(g), expect));
  CHECK(close(fx::grad([](Array a) { return np::sum(fx::vmap([](Array r) { return sinc(r); })(a)); })(x), g));
  CHECK(close(fx::jit(fx::vmap(fx::vmap(fx::grad(fx::jit([](Array a) { return sinc(a); })))))(x), g));
}
TEST_CASE("a user's reduction: value, derivatives, batches") {
  const Doubles v{0.3, -2, 1.5, 700, 699.5, -1e308};
  const Array x = vector({0.3, -2, 1.5, 0.1});
  auto by_hand = [](const Array& a) { return log(np::sum(exp(a))); };
  CHECK(close(log_add_exp(x, {0}), by_hand(x)));
  CHECK(close(log_add_exp(vector(v), {0}), 700 + std::log1p(std::exp(-0.5))));
  CHECK(std::isinf(log_add_exp(np::zeros({0}, fx::f64), {0}).item<double>()));
  CHECK(close(log_add_exp(vector(Doubles(5000, 0.0)), {0}), std::log(5000.0)));
  CHECK(close(fx::grad([](Array a) { return log_add_exp(a, {0}); })(x), fx::grad(by_hand)(x)));
  CHECK(close(fx::jit(fx::grad([](Array a) { return log_add_exp(a, {0}); }))(x), fx::grad(by_hand)(x)));
  const Array d = vector({1, 0.5, -1, 2});
  CHECK(close(fx::jvp(fx::grad([](Array a) { return log_add_exp(a, {0}); }), std::tuple(x), std::tuple(d)).second,
              fx::jvp(fx::grad(by_hand), std::tuple(x), std::tuple(d)).second));
  const Array m = matrix(2, 3, {0.1, 0.2, 0.3, -1, 5, 2});
  const Array rows = log_add_exp(m, {1}), columns = log_add_exp(m, {0});
  CHECK(close(rows, log(np::sum(exp(m), {.axis = 1}))));
  CHECK(close(columns, log(np::sum(exp(m), {.axis = 0}))));
  CHECK(close(fx::vmap([](Array r) { return log_add_exp(r, {0}); })(m), rows));
  CHECK(close(fx::vmap([](Array r) { return log_add_exp(r, {0}); }, {.in = {1}})(m), columns));
}
TEST_CASE("printed, parsed with the primitives at hand, and with registered ones") {
  auto f = [](Array x) { return log_add_exp(sinc(x), {0}) + fx::grad([](Array a) { return np::sum(sinc(a)); })(x)(1); };
  const fx::Graph g = fx::make_jaxpr(f)(fx::type(fx::f64, {3})).graph;
  const std::string text(fx::text(g).view());
  CHECK(text.find("sinc_derivative[order=1] ") != std::string::npos);
  CHECK(text.find("reduce_log_add_exp[axes=(0)] ") != std::string::npos);
  CHECK_THROWS_AS(fx::parse(text), fx::Error);
  const fx::Prim* const mine[] = {&fx::prim<Sinc>, &fx::prim<SincDerivative>, &fx::prim<LogAddExp>};
  CHECK(fx::digest(fx::parse(text, mine)) == fx::digest(g));
  for (const fx::Prim* p : mine) fx::register_prim(*p);
  CHECK(fx::digest(fx::parse(text)) == fx::digest(g));
  CHECK(fx::verify(g).empty());
  const fx::Compiled c = fx::jit(f).lower(fx::type(fx::f64, {3})).compile();
  CHECK(fx::digest(fx::parse(c.text("ir"))) == fx::digest(fx::simplify(g)));
  CHECK(c.text("tile").find("sinc") != std::string::npos);
}

}  // namespace
