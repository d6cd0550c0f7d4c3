// reference/number.cpp -- elements, their bits, and positions in arrays.
#include "reference/number.hpp"

#include <cmath>
#include <cstring>

#include "reference/reference.hpp"

namespace reference {

long double largest(fx::DType d) {
  return d == fx::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

long double ulp(fx::DType d, long double x) {
  if (std::isnan(x)) return 0;
  x = std::min(std::fabs(x), largest(d));
  const int digits = d == fx::f32 ? 24 : 53, lowest = d == fx::f32 ? -149 : -1074;
  const int e = x == 0 ? lowest : std::max(std::ilogb(x) - digits + 1, lowest);
  return std::ldexp(1.0L, e);
}

Value zeros(const fx::Type& t) { return {t, std::vector<Element>(std::size_t(fx::numel(t)))}; }

Element real(fx::DType d, long double x) { return {round_to(d, x), 0, 0}; }
Element whole(fx::DType d, std::uint64_t x) { return {0, wrap(d, x), 0}; }

std::uint64_t to_bits(fx::DType d, const Element& x) {
  if (d == fx::f32) {
    const float v = static_cast<float>(x.real);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    return bits;
  }
  if (d == fx::f64) {
    const double v = static_cast<double>(x.real);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    return bits;
  }
  const int w = 8 * fx::size_of(d);
  return w == 64 ? x.whole : x.whole & ((std::uint64_t(1) << w) - 1);
}

Element from_bits(fx::DType d, std::uint64_t bits) {
  if (d == fx::f32) {
    const std::uint32_t low = std::uint32_t(bits);
    float v = 0;
    std::memcpy(&v, &low, sizeof v);
    return {v, 0, 0};
  }
  if (d == fx::f64) {
    double v = 0;
    std::memcpy(&v, &bits, sizeof v);
    return {v, 0, 0};
  }
  return whole(d, bits);
}

std::vector<std::int64_t> unravel(std::int64_t i, const fx::Dims& shape) {
  std::vector<std::int64_t> index(shape.n);
  for (int d = shape.n - 1; d >= 0; --d) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return index;
}

std::int64_t ravel(const std::vector<std::int64_t>& index, const fx::Dims& shape) {
  std::int64_t i = 0;
  for (int d = 0; d < shape.n; ++d) i = i * shape[d] + index[d];
  return i;
}

}  // namespace reference
