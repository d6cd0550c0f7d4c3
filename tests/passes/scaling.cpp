// passes/scaling.cpp -- Graphs of 100,000 equations go through every pass on an ordinary stack. (What it costs:
// bench/.)
#include <doctest/doctest.h>

#include <fx/ops/all.hpp>
#include <fx/passes/batch.hpp>
#include <fx/verify.hpp>

#include "reference/laws.hpp"
#include "reference/run.hpp"

namespace {

using fx::Val, fx::f64;

constexpr int equations = 100000;

// A chain: each equation reads the one before.
fx::Graph chain() {
  fx::Builder b(true);
  const Val x = b.input({f64, {}});
  Val y = x;
  while (b.g.eqns.size() < equations) {
    const int i = b.g.eqns.size();
    y = i % 3 == 0 ? fx::sin(y) : i % 3 == 1 ? y * (1 + 1e-6 * i) : y + 0.5 / (1 + i);
  }
  const Val outs[] = {y};
  return b.finish(fx::Span<const Val>(outs, 1));
}
// A fan: every equation reads one value, and all results are added up in pairs.
fx::Graph fan() {
  fx::Builder b(true);
  const Val x = b.input({f64, {}});
  std::vector<Val> level;
  for (int i = 0; i < equations / 2; ++i) level.push_back(x * (1 + 1e-6 * i));
  while (level.size() > 1) {
    std::vector<Val> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
    if (level.size() % 2) next.push_back(level.back());
    level = next;
  }
  return b.finish(fx::Span<const Val>(level.data(), 1));
}
// A value lives from the first equation to the last, others from one to the next: many residuals, many cotangents.
fx::Graph ladder() {
  fx::Builder b(true);
  const Val x = b.input({f64, {2}}), w = b.input({f64, {2}});
  Val y = x;
  while (b.g.eqns.size() < equations) y = fx::sin(y * w) + y * 0.5;
  const Val outs[] = {fx::sum_all(y)};
  return b.finish(fx::Span<const Val>(outs, 1));
}

void check(const fx::Graph& g, const reference::Values& x) {
  CHECK(g.eqns.size() >= equations - 10);
  CHECK(fx::verify(g).empty());
  CHECK(fx::digest(fx::simplify(g)) == fx::digest(g));
  const std::vector<char> wrt(x.size(), 1);
  const fx::Graph gradient = fx::value_and_grad(g, reference::span(wrt));
  CHECK(fx::verify(gradient).empty());
  CHECK(fx::verify(fx::jvp(g, reference::span(wrt))).empty());
  std::vector<char> outs;
  CHECK(fx::verify(*reference::batched(gradient, wrt, 2, outs)).empty());
  // The values are right too, run and differentiated: against the reference evaluator, which knows how errors grow.
  const reference::Values y = reference::run(gradient, x);
  CHECK(reference::difference(reference::evaluate(gradient, x), y) == "");
  CHECK(std::isfinite(y[1].at[0].real));
}

}  // namespace

TEST_CASE("a chain of 100,000 equations") { check(chain(), {{{f64, {}}, {reference::real(f64, 0.3)}}}); }
TEST_CASE("a fan of 100,000 equations") { check(fan(), {{{f64, {}}, {reference::real(f64, 0.3)}}}); }
TEST_CASE("a ladder of 100,000 equations") {
  const reference::Value v{{f64, {2}}, {reference::real(f64, 0.3), reference::real(f64, -0.7)}};
  check(ladder(), {v, v});
}
