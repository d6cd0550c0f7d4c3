// bench_scaling.cpp -- what trace + grad + compile costs as functions grow: 100,000 equations against 10,000.
//
// Interleaved rounds, medians; the bar is a ratio of at most 12 for ten times the equations.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fx/fx.hpp>
using fx::Array;

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Times {
  double trace, grad, compile;
};

// A chain of `equations` equations, with constants that make each one new.
static Times measure(int equations, int round) {
  auto f = [&](Array x) {
    Array y = x;
    for (int i = 0; i < equations / 4; ++i) y = sin(y) * x + (1.0 + i + 1e-3 * round) * y;
    return y;
  };
  const double t0 = seconds();
  fx::Graph g = fx::make_jaxpr(f)(fx::type(fx::f64)).graph;
  const double t1 = seconds();
  const char wrt[] = {1};
  fx::Graph d = fx::value_and_grad(g, fx::Span<const char>(wrt));
  const double t2 = seconds();
  const auto executable = fx::executable_for(d);
  const double t3 = seconds();
  if (round == 0) std::printf("%6d equations traced, %6d with gradient\n", g.eqns.size(), d.eqns.size());
  return {t1 - t0, t2 - t1, t3 - t2};
}

int main() {
  const int rounds = 5;
  std::vector<double> small[4], large[4];
  for (int r = 0; r < rounds; ++r)
    for (int n : {10000, 100000}) {
      const Times t = measure(n, r);
      auto& to = n == 10000 ? small : large;
      const double parts[4] = {t.trace, t.grad, t.compile, t.trace + t.grad + t.compile};
      for (int k = 0; k < 4; ++k) to[k].push_back(parts[k]);
    }
  const char* names[4] = {"trace", "grad", "compile", "all"};
  double ratio = 0;
  for (int k = 0; k < 4; ++k) {
    auto median = [](std::vector<double>& v) {
      return std::nth_element(v.begin(), v.begin() + long(v.size() / 2), v.end()), v[v.size() / 2];
    };
    const double a = median(small[k]), b = median(large[k]);
    ratio = b / a;
    std::printf("%-8s 10,000: %8.2f ms   100,000: %8.2f ms   ratio %.1f\n", names[k], 1e3 * a, 1e3 * b, ratio);
  }
  return ratio <= 12 ? 0 : 1;
}
