// 01_gradient.cpp -- a function, its gradient, the gradient of that, and what fx sees of each.
#include <cmath>
#include <cstdio>
#include <fx/fx.hpp>
using fx::Array;

// The same lambda at run time and in constant evaluation.
constexpr auto f = [](auto x) { return x * sin(x); };
static_assert(fx::grad([](auto x) { return x * x * x; })(3.0) == 27.0);

int main() {
  std::printf("%s\n", fx::make_jaxpr(f)(fx::type(fx::f64)).str().c_str());
  std::printf("%s\n", fx::make_jaxpr(fx::grad(f))(fx::type(fx::f64)).str().c_str());

  const double x = 1.5, d = fx::grad(f)(x).item<double>(), dd = fx::grad(fx::grad(f))(x).item<double>();
  std::printf("f'(%g) = %.12f, f''(%g) = %.12f\n", x, d, x, dd);

  // Against the derivatives by hand: sin x + x cos x, 2 cos x - x sin x.
  const double e1 = d - (std::sin(x) + x * std::cos(x)), e2 = dd - (2 * std::cos(x) - x * std::sin(x));
  std::printf("errors %.1e, %.1e\n", e1, e2);
  return std::abs(e1) < 1e-14 && std::abs(e2) < 1e-14 ? 0 : 1;
}
