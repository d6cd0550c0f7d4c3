// 04_spring.cpp -- a simulator: a damped spring stepped by scan, and the gradient of where it ends through all steps.
#include <cmath>
#include <cstdio>
#include <fx/fx.hpp>
using fx::Array;

struct Spring {
  Array stiffness, damping;
};
struct State {
  Array x, v;
};

constexpr double dt = 0.01;
constexpr int steps = 1000;

State advance(const Spring& s, const State& q) {
  const Array v = q.v + dt * (-s.stiffness * q.x - s.damping * q.v);
  return {q.x + dt * v, v};
}
// Where the mass is after all steps, and its path.
auto simulate(const Spring& s) {
  auto [end, path] = fx::scan([&](State q, fx::None) { return std::pair(advance(s, q), q.x); }, State{1.0, 0.0},
                              fx::none, {.length = steps});
  return fx::aux(end.x, path);
}
double by_hand(double k, double c) {
  double x = 1, v = 0;
  for (int i = 0; i < steps; ++i) v += dt * (-k * x - c * v), x += dt * v;
  return x;
}

int main() {
  const Spring s{4.0, 0.3};
  const auto [end, g] = fx::jit(fx::value_and_grad(simulate))(s);
  const double h = 1e-6;
  const double dk = (by_hand(4 + h, 0.3) - by_hand(4 - h, 0.3)) / (2 * h),
               dc = (by_hand(4, 0.3 + h) - by_hand(4, 0.3 - h)) / (2 * h);
  std::printf("x after %d steps: %.12f (by hand %.12f)\n", steps, end.value.item<double>(), by_hand(4, 0.3));
  std::printf("d/dstiffness %.9f (differences %.9f)\n", g.stiffness.item<double>(), dk);
  std::printf("d/ddamping   %.9f (differences %.9f)\n", g.damping.item<double>(), dc);
  std::printf("the path has %lld points, the last before the end at %.6f\n", static_cast<long long>(end.aux.size()),
              end.aux(-1).item<double>());
  const bool ok = std::abs(end.value.item<double>() - by_hand(4, 0.3)) < 1e-12 &&
                  std::abs(g.stiffness.item<double>() - dk) < 1e-7 && std::abs(g.damping.item<double>() - dc) < 1e-7;
  return ok ? 0 : 1;
}
