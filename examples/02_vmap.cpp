// 02_vmap.cpp -- written for one point, run for a batch; the gradient of each point at once.
#include <cmath>
#include <cstdio>
#include <fx/fx.hpp>
using fx::Array;
namespace np = fx::numpy;

// The distance of a point from an ellipse's centre, stretched by `axes`.
Array stretched(const Array& point, const Array& axes) { return sqrt(np::sum(point * point / (axes * axes))); }

int main() {
  const Array points(std::vector<double>{3, 4, 6, 8, 1, 0}, {3, 2}), axes(std::vector<double>{1, 2});
  // Points along axis 0, the axes shared.
  const Array d = fx::vmap(stretched, {.in = {0, fx::none}})(points, axes);
  const Array g = fx::vmap(fx::grad(stretched), {.in = {0, fx::none}})(points, axes);
  std::printf("distances %s\ngradients\n%s\n", fx::to_string(d).c_str(), fx::to_string(g).c_str());

  // The same by a loop.
  double worst = 0;
  for (int i = 0; i < 3; ++i) {
    worst = std::max(worst, std::abs(d(i).item<double>() - stretched(points(i), axes).item<double>()));
    worst = std::max(worst, np::max(abs(g(i) - fx::grad(stretched)(points(i), axes))).item<double>());
  }
  std::printf("largest difference from a loop: %g\n", worst);
  return worst == 0 ? 0 : 1;
}
