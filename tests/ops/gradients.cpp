// ops/gradients.cpp -- derivatives at kinks, ties, zeros and poles, as numbers.
//
// The numbers are JAX's (recorded in shared/reference/jax_gradients.json and jax_inventory.md, section 3), but where
// the comment says "mathematics": there JAX gives NaN, and fx the limit.
#include <doctest/doctest.h>

#include <fx/passes/batch.hpp>

#include "ops/tables.hpp"
#include "reference/run.hpp"

namespace {

using fx::Val, fx::Dims, fx::f64, fx::f32, fx::i32;
using Vals = std::vector<Val>;
using Numbers = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity(), NaN = std::numeric_limits<double>::quiet_NaN();

reference::Value value(fx::DType d, const Dims& dims, const Numbers& x) {
  reference::Value v{{d, dims}, {}};
  for (double e : x)
    v.at.push_back(fx::is_float(d) ? reference::real(d, e) : reference::whole(d, std::uint64_t(std::int64_t(e))));
  return v;
}

// The graph of f, from inputs of the given types to what f returns.
template <class F>
fx::Graph graph(const std::vector<fx::Type>& types, F&& f) {
  fx::Builder b(true);
  Vals in;
  for (const fx::Type& t : types) in.push_back(b.input(t));
  const Vals out{f(in)};
  return b.finish(fx::Span<const Val>(out.data(), int(out.size())));
}

// The gradient of sum(f(x)) with respect to every input: both by vjp and, entry by entry, by jvp, which must agree.
template <class F>
Numbers grad(const std::vector<reference::Value>& x, F&& f) {
  std::vector<fx::Type> types;
  for (const reference::Value& v : x) types.push_back(v.type);
  const fx::Graph g = graph(types, [&](const Vals& in) {
    const Val y = f(in);
    return fx::sum_all(y);
  });
  const std::vector<char> wrt = reference::float_inputs(g);
  const reference::Values reverse = reference::run(fx::value_and_grad(g, reference::span(wrt)), x);
  const fx::Graph forward = fx::jvp(g, reference::span(wrt));
  Numbers r;
  for (std::size_t k = 0, j = 1; k < x.size(); ++k) {
    if (!wrt[k]) continue;
    for (std::size_t i = 0; i < x[k].at.size(); ++i) {
      r.push_back(double(reverse[j].at[i].real));
      reference::Values in = x;
      for (std::size_t other = 0; other < x.size(); ++other)
        if (wrt[other]) in.push_back(reference::zeros(x[other].type));
      in[x.size() + j - 1].at[i].real = 1;
      const double along = double(reference::run(forward, in)[1].at[0].real);
      // A forward product meets the 0 tangents of others: inf * 0 is NaN there and nothing here.
      if (!std::isnan(along)) CHECK(along == r.back());
    }
    ++j;
  }
  return r;
}
Numbers scalars(const Numbers& x, Val (*f)(const Vals&)) {
  std::vector<reference::Value> v;
  for (double e : x) v.push_back(value(f64, {}, {e}));
  return grad(v, f);
}
Numbers vector(const Numbers& x, Val (*f)(Val)) {
  return grad({value(f64, {fx::Dim(int(x.size()))}, x)}, [&](const Vals& v) { return f(v[0]); });
}
bool same(const Numbers& a, const Numbers& b) {
  bool r = a.size() == b.size();
  for (std::size_t i = 0; r && i < a.size(); ++i)
    r = (std::isnan(a[i]) && std::isnan(b[i])) || a[i] == b[i] || std::fabs(a[i] - b[i]) <= 4e-16 * std::fabs(b[i]);
  if (!r)
    for (std::size_t i = 0; i < a.size(); ++i) MESSAGE("entry " << i << ": " << a[i]);
  return r;
}
#define CHECK_GRAD(computed, ...) CHECK(same(computed, Numbers __VA_ARGS__))

}  // namespace

TEST_CASE("kinks, zeros and poles") {
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::abs(v[0]); }), {1});
  CHECK_GRAD(scalars({NaN}, [](const Vals& v) { return fx::abs(v[0]); }), {-1});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::sqrt(v[0]); }), {inf});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::rsqrt(v[0]); }), {-inf});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::log(v[0]); }), {inf});
  CHECK_GRAD(scalars({-1}, [](const Vals& v) { return fx::log1p(v[0]); }), {inf});
  CHECK_GRAD(scalars({1.5}, [](const Vals& v) { return fx::floor(v[0]); }), {0});
  CHECK_GRAD(scalars({-3}, [](const Vals& v) { return fx::sign(v[0]); }), {0});
  CHECK_GRAD(scalars({400}, [](const Vals& v) { return fx::tanh(v[0]); }), {0});
  CHECK_GRAD(scalars({-800}, [](const Vals& v) { return fx::logistic(v[0]); }), {0});
  CHECK_GRAD(scalars({1}, [](const Vals& v) { return fx::erf_inv(v[0]); }), {inf});
  CHECK_GRAD(scalars({710}, [](const Vals& v) { return fx::exp(v[0]); }), {inf});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return 1.0 / v[0]; }), {-inf});
  CHECK_GRAD(scalars({0, 0}, [](const Vals& v) { return v[0] / v[1]; }), {inf, NaN});
  CHECK_GRAD(scalars({7, -2}, [](const Vals& v) { return fx::rem(v[0], v[1]); }), {1, 3});
  CHECK_GRAD(scalars({6, 3}, [](const Vals& v) { return fx::rem(v[0], v[1]); }), {1, -2});
  // mathematics; JAX's -x y^-2 overflows
  CHECK_GRAD(grad({value(f32, {}, {0}), value(f32, {}, {1e-20})}, [](const Vals& v) { return v[0] / v[1]; }),
             {double(1 / 1e-20f), 0});
}

TEST_CASE("maximum and minimum") {
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::maximum(v[0], 0.0); }), {0.5});
  CHECK_GRAD(scalars({2, 2}, [](const Vals& v) { return fx::maximum(v[0], v[1]); }), {0.5, 0.5});
  CHECK_GRAD(scalars({2, 2}, [](const Vals& v) { return fx::minimum(v[0], v[1]); }), {0.5, 0.5});
  CHECK_GRAD(scalars({1, NaN}, [](const Vals& v) { return fx::maximum(v[0], v[1]); }), {0, 0});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::minimum(fx::maximum(v[0], 0.0), 1.0); }), {0.5});
  CHECK_GRAD(scalars({1}, [](const Vals& v) { return fx::minimum(fx::maximum(v[0], 0.0), 1.0); }), {0.5});
}

TEST_CASE("powers") {
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::integer_pow(v[0], 2); }), {0});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::integer_pow(v[0], 0); }), {0});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::integer_pow(v[0], -1); }), {-inf});
  CHECK_GRAD(scalars({0}, [](const Vals& v) { return fx::pow(v[0], 0.5); }), {inf});
  CHECK_GRAD(scalars({2}, [](const Vals& v) { return fx::pow(0.0, v[0]); }), {0});
  CHECK_GRAD(scalars({-1}, [](const Vals& v) { return fx::pow(0.0, v[0]); }), {NaN});
  CHECK_GRAD(scalars({2}, [](const Vals& v) { return fx::pow(-1.0, v[0]); }), {NaN});
  CHECK_GRAD(scalars({0, 0}, [](const Vals& v) { return fx::pow(v[0], v[1]); }), {0, 0});  // mathematics
  CHECK_GRAD(scalars({4, 0}, [](const Vals& v) { return fx::pow(v[0], v[1]); }), {0, 1.3862943611198906});
  CHECK_GRAD(scalars({0, 2}, [](const Vals& v) { return fx::pow(v[0], v[1]); }), {0, 0});
}

TEST_CASE("reductions, running sums, sorting, indexing") {
  CHECK_GRAD(vector({1, 2, 2}, [](Val x) { return fx::reduce_max(x, {0}); }), {0, 0.5, 0.5});
  CHECK_GRAD(vector({1, NaN, 2}, [](Val x) { return fx::reduce_max(x, {0}); }), {NaN, NaN, NaN});
  CHECK_GRAD(vector({1, 1, 2}, [](Val x) { return fx::reduce_min(x, {0}); }), {0.5, 0.5, 0});
  CHECK_GRAD(vector({2, 2, 2, 2}, [](Val x) { return fx::reduce_min(x, {0}); }), {0.25, 0.25, 0.25, 0.25});
  CHECK_GRAD(vector({0, 3, 0}, [](Val x) { return fx::reduce_prod(x, {0}); }), {0, 0, 0});
  CHECK_GRAD(vector({2, 0, 4}, [](Val x) { return fx::reduce_prod(x, {0}); }), {0, 8, 0});
  CHECK_GRAD(vector({5}, [](Val x) { return fx::reduce_prod(x, {0}); }), {1});
  CHECK_GRAD(vector({1, 2, 3}, [](Val x) { return fx::cumsum(x, 0, true) * (fx::iota(*x.b, f64, {3}, 0) + 1.0); }),
             {1, 3, 6});
  const auto weighted_sort = [](Val x) {
    Val y = fx::bind(fx::prim<fx::Sort>, {x}, fx::Params().integer(0).integer(1));
    return y * fx::exp((fx::iota(*x.b, f64, {3}, 0)) * 2.302585092994045684);
  };
  const Numbers sorted = vector({2, 1, 1}, weighted_sort);  // ties keep their order
  CHECK(std::fabs(sorted[0] - 100) < 1e-12);
  CHECK(std::fabs(sorted[1] - 1) < 1e-12);
  CHECK(std::fabs(sorted[2] - 10) < 1e-12);
  CHECK_GRAD(vector({1, 2, 3}, [](Val x) { return fx::dynamic_slice(x, {x.b->literal(i32, 7)}, {2}); }), {0, 1, 1});
  CHECK_GRAD(vector({1, 2}, [](Val x) { return x * fx::broadcast_to(fx::convert(fx::argmax(x, 0), f64), {2}); }),
             {1, 1});
  CHECK_GRAD(vector({}, [](Val x) { return fx::reduce_max(x, {0}); }), {});

  // Of two updates of one place the last stays; a place outside is read as 0.
  const auto at = [](Val x, double i) {
    const Val index = x.b->literal(i32, std::uint64_t(std::uint32_t(int(i))));
    return fx::broadcast_to(index, {2, 1});
  };
  const fx::IndexDims elements{{}, {0}, {0}, {1}, {}, {}, false};
  CHECK_GRAD(grad({value(f64, {3}, {1, 2, 3}), value(f64, {2}, {4, 5})},
                  [&](const Vals& v) { return fx::scatter(v[0], at(v[0], 1), v[1], elements); }),
             {1, 0, 1, 0, 1});
  CHECK_GRAD(grad({value(f64, {3}, {1, 2, 3}), value(f64, {2}, {4, 5})},
                  [&](const Vals& v) { return fx::scatter_add(v[0], at(v[0], 1), v[1], elements); }),
             {1, 1, 1, 1, 1});
  CHECK_GRAD(grad({value(f64, {3}, {1, 2, 3}), value(f64, {2}, {4, 5})},
                  [&](const Vals& v) { return fx::scatter(v[0], at(v[0], 3), v[1], elements); }),
             {1, 1, 1, 0, 0});
  CHECK_GRAD(grad({value(f64, {2}, {1, 2}), value(i32, {2, 1}, {0, 5})},
                  [&](const Vals& v) { return fx::gather(v[0], v[1], elements); }),
             {1, 0});
}

TEST_CASE("stop_gradient and conversions") {
  CHECK_GRAD(scalars({3}, [](const Vals& v) { return v[0] * fx::stop_gradient(v[0]); }), {3});
  CHECK_GRAD(scalars({3}, [](const Vals& v) { return fx::stop_gradient(v[0] * v[0]); }), {0});
  CHECK_GRAD(scalars({2.5}, [](const Vals& v) { return fx::convert(fx::convert(v[0], i32), f64); }), {0});
  CHECK_GRAD(scalars({2.5}, [](const Vals& v) { return fx::convert(fx::convert(v[0], f32), f64) * 2.0; }), {2});
  CHECK_GRAD(scalars({2.5}, [](const Vals& v) { return fx::bitcast(fx::bitcast(v[0], fx::i64), f64); }), {0});
}

TEST_CASE("higher derivatives") {
  auto derivative = [](const fx::Graph& g, int order) {  // of output 0 with respect to input 0
    fx::Graph d = g;
    const std::vector<char> wrt(std::size_t(g.ins.size()), 0);
    for (int i = 0; i < order; ++i) {
      std::vector<char> first = wrt;
      first[0] = 1;
      fx::Graph next = fx::value_and_grad(d, reference::span(first));
      next.outs = fx::Vec<int>{next.outs.back()};
      d = fx::simplify(next);
    }
    return d;
  };
  auto at = [](const fx::Graph& g, fx::DType d, const Numbers& x) {
    reference::Values in;
    for (double e : x) in.push_back(value(d, {}, {e}));
    return double(reference::run(g, in)[0].at[0].real);
  };
  const fx::Graph reciprocal = graph({{f32, {}}}, [](const Vals& v) { return Vals{1.0 / v[0]}; });
  CHECK(at(derivative(reciprocal, 6), f32, {4}) == 0.0439453125);  // 6! / 4^7
  const fx::Graph square = graph({{f64, {}}}, [](const Vals& v) { return Vals{fx::integer_pow(v[0], 2)}; });
  CHECK(at(derivative(square, 2), f64, {0}) == 2);
  CHECK(at(derivative(square, 3), f64, {0}) == 0);
  const fx::Graph stopped =
      graph({{f64, {}}}, [](const Vals& v) { return Vals{v[0] * v[0] * fx::stop_gradient(v[0])}; });
  CHECK(at(derivative(stopped, 1), f64, {3}) == 18);
  CHECK(at(derivative(stopped, 2), f64, {3}) == 6);
  const fx::Graph power = graph({{f64, {}}, {f64, {}}}, [](const Vals& v) { return Vals{fx::pow(v[0], v[1])}; });
  CHECK(at(derivative(power, 2), f64, {4, 0}) == 0);
  const fx::Graph sine = graph({{f64, {}}}, [](const Vals& v) { return Vals{fx::sin(v[0])}; });
  CHECK(std::fabs(at(derivative(sine, 5), f64, {1}) - std::cos(1.0)) < 1e-15);
}
