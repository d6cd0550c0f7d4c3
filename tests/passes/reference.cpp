// passes/reference.cpp -- the reference evaluator itself: its inverse error function, its errors, a primitive of a
// test's own.
#include <doctest/doctest.h>

#include <cmath>

#include "ops/tables.hpp"
#include "reference/erf_inv.hpp"

namespace {

using fx::Val, fx::f32, fx::f64, fx::i32;

// x^3, known to nobody but this file.
struct Cube : fx::Unary<Cube> {
  static constexpr std::string_view name = "cube";
  static constexpr fx::DTypes takes = fx::floats;
  template <class V>
  static constexpr V emit(V x) {
    return x * x * x;
  }
  static constexpr Val tangent(Val t, Val x, Val) { return t * (x * x * 3.0); }
};

reference::Values one(fx::DType d, long double x, long double error = 0) { return {{{d, {}}, {{x, 0, error}}}}; }
template <class F>
reference::Element result(const reference::Values& in, F&& f) {
  fx::Builder b;
  const Val outs[] = {f(b.input(in[0].type))};
  return reference::evaluate(b.finish(fx::Span<const Val>(outs, 1)), in)[0].at[0];
}

}  // namespace

TEST_CASE("erf_inv inverts erf") {
  for (int i = -400; i <= 400; ++i) {
    const long double y = i / 100.0L, x = std::erf(y);
    const long double slope = 1.1283791670955126L * std::exp(-y * y);  // near 1 the argument holds few digits of 1 - x
    CHECK(std::fabs(reference::erf_inv(x) - y) <= 4e-19L * std::fabs(y) + 1e-19L / slope);
  }
  CHECK(reference::erf_inv(1) == reference::infinity);
  CHECK(std::isnan(reference::erf_inv(1.5L)));
}

TEST_CASE("errors: none where rounding is prescribed, some ulp after a function, and they grow as the slope says") {
  CHECK(result(one(f64, 0.1), [](Val x) { return x * x + x / 3.0; }).error == 0);
  CHECK(result(one(f32, 0.5), [](Val x) { return fx::exp(x); }).error == reference::ulp(f32, 1.6));
  CHECK(result(one(f32, 0), [](Val x) { return fx::sin(x); }).error == 0);
  const long double e = 1e-6L;
  const reference::Element grown = result(one(f64, 2, e), [](Val x) { return fx::exp(x); });
  CHECK(grown.error > e * 7);
  CHECK(grown.error < e * 30);
  CHECK(result(one(f64, 2, e), [](Val x) { return fx::floor(x); }).error >= 1);
  CHECK(result(one(f64, 2.5L, e), [](Val x) { return fx::floor(x); }).error == 0);
  CHECK(result(one(f64, 2, e), [](Val x) { return fx::lt(x, 2.0); }).error == reference::infinity);
  CHECK(result(one(f64, 0, e), [](Val x) { return 1.0 / x; }).error == reference::infinity);
  CHECK(result(one(f64, 1, e), [](Val x) { return fx::convert(x, i32); }).error == reference::infinity);
}

TEST_CASE("a primitive that is not fx's: unknown, then defined, then tested like all others") {
  const reference::Row row = reference::elementwise_row(fx::prim<Cube>, tables::floats, {{}});
  const std::string unknown = reference::check(row, f64);
  CHECK(unknown.find("no rule for primitive 'cube'") != std::string::npos);
  reference::define("cube", reference::real_function([](const long double* x) { return x[0] * x[0] * x[0]; }, 2));
  CHECK(reference::check(row, f64) == "");
  CHECK(reference::check(row, f32) == "");
}
