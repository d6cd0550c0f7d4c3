// reference/erf_inv.hpp -- the inverse error function in long double, by Newton's method on erf and erfc.
#pragma once
#include <cmath>
#include <limits>

namespace reference {

inline long double erf_inv(long double x) {
  constexpr long double inf = std::numeric_limits<long double>::infinity();
  if (!(std::fabs(x) < 1)) return x == 1 ? inf : x == -1 ? -inf : std::numeric_limits<long double>::quiet_NaN();
  if (x == 0) return x;
  const long double a = std::fabs(x), c = 1 - a;  // c is exact for a >= 1/2
  // Winitzki's approximation to start with (two digits), then steps that square the error.
  const long double l = std::log(c * (1 + a)), k = 2 / (3.14159265358979323846L * 0.147L) + l / 2;
  long double y = std::sqrt(std::sqrt(k * k - l / 0.147L) - k);
  for (int i = 0; i < 8; ++i) {
    const long double away = a < 0.5L ? std::erf(y) - a : c - std::erfc(y);
    const long double slope = 1.12837916709551257390L * std::exp(-y * y);
    const long double newton = away / slope;
    y -= newton / (1 + y * newton);  // Halley's correction
  }
  return std::copysign(y, x);
}

}  // namespace reference
