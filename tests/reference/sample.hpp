// reference/sample.hpp -- reproducible random numbers and arrays.
#pragma once
#include <cmath>

#include "reference/reference.hpp"

namespace reference {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
  std::uint64_t state_;

 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  // 0 .. n - 1.
  int below(int n) { return int(bits() % std::uint64_t(n)); }
  double uniform(double low, double high) { return low + (high - low) * (double(bits() >> 11) * 0x1p-53); }
};

// Where elements come from: numbers between low and high, at least gap away from 0.
struct Domain {
  double low = -2, high = 2, gap = 0;
};

inline Element sample(Random& random, fx::DType d, const Domain& domain) {
  if (d == fx::boolean) return whole(d, random.bits() & 1);
  double low = domain.low;
  if (!fx::is_float(d) && !is_signed(d) && low < 0) low = 0;
  for (;;) {
    double x = random.uniform(low, fx::is_float(d) ? domain.high : domain.high + 1);
    if (!fx::is_float(d)) x = std::floor(x);
    if (std::fabs(x) < domain.gap) continue;
    return fx::is_float(d) ? real(d, x) : whole(d, std::uint64_t(std::int64_t(x)));
  }
}
inline Value sample(Random& random, const fx::Type& t, const Domain& domain = {}) {
  Value v = zeros(t);
  for (Element& x : v.at) x = sample(random, t.dtype, domain);
  return v;
}

}  // namespace reference
