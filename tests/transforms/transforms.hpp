// transforms.hpp -- what the tests of transforms share: closeness, and derivatives by central differences.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <fx/fx.hpp>
#include <string>
#include <vector>

namespace transforms {

using fx::Array;
namespace np = fx::numpy;
using Doubles = std::vector<double>;

inline Array vector(const Doubles& values) { return Array(values); }
inline Array matrix(std::int64_t rows, std::int64_t columns, const Doubles& values) {
  return Array(values, {rows, columns});
}
inline Doubles doubles(const Array& x) { return fx::convert(x, fx::f64).to_vector<double>(); }

// |a - b| <= tolerance * (1 + |b|) in every element.
inline bool close(const Doubles& a, const Doubles& b, double tolerance = 1e-12) {
  bool ok = a.size() == b.size();
  for (std::size_t i = 0; ok && i < a.size(); ++i) ok = std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]));
  if (!ok) {
    std::string text;
    for (double v : a) text += std::to_string(v) + " ";
    text += "expected ";
    for (double v : b) text += std::to_string(v) + " ";
    MESSAGE(text);
  }
  return ok;
}
inline bool close(const Array& a, const Array& b, double tolerance = 1e-12) {
  return a.type() == b.type() && close(doubles(a), doubles(b), tolerance);
}
inline bool close(const Array& a, double b, double tolerance = 1e-12) {
  return a.rank() == 0 && close(doubles(a), Doubles{b}, tolerance);
}

// The derivative of f at x along dx by central differences with one step of extrapolation (Richardson): error O(h^4).
inline Doubles directional(const std::function<Doubles(const Doubles&)>& f, const Doubles& x, const Doubles& dx,
                           double h = 1e-3) {
  auto slope = [&](double step) {
    Doubles up = x, down = x;
    for (std::size_t i = 0; i < x.size(); ++i) up[i] += step * dx[i], down[i] -= step * dx[i];
    Doubles a = f(up);
    const Doubles b = f(down);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = (a[i] - b[i]) / (2 * step);
    return a;
  };
  Doubles fine = slope(h / 2);
  const Doubles coarse = slope(h);
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] += (fine[i] - coarse[i]) / 3;
  return fine;
}
// The gradient of a scalar function by the same.
inline Doubles gradient(const std::function<double(const Doubles&)>& f, const Doubles& x) {
  Doubles g;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Doubles unit(x.size(), 0.0);
    unit[i] = 1;
    g.push_back(directional([&](const Doubles& at) { return Doubles{f(at)}; }, x, unit)[0]);
  }
  return g;
}

}  // namespace transforms
