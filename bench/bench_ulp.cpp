// bench_ulp.cpp -- the largest error of the mathematical functions over every f32, or each STRIDE-th, against the C
// library in f64; about two minutes a function.
//
//   bench_ulp [STRIDE [FUNCTION...]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fx/fx.hpp>
#include <string>
#include <vector>

using fx::Array;

namespace {

struct Function {
  const char* name;
  Array (*ours)(Array);
  double (*exact)(double);
};
#define FX_SAME(name)                                                             \
  {                                                                               \
#name, [](Array x) { return name(x); }, [](double x) { return std::name(x); } \
  }
const Function functions[] = {
    FX_SAME(exp),
    FX_SAME(log),
    FX_SAME(log1p),
    FX_SAME(tanh),
    FX_SAME(sin),
    FX_SAME(cos),
    FX_SAME(sqrt),
    {"rsqrt", [](Array x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }},
    {"logistic", [](Array x) { return logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }},
};

float of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// |got - want| in units of the last place of an f32 at want. Past the largest number got counts as the next power of
// two.
double ulps(float got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(float(want)) && std::isinf(got)) return std::signbit(want) == std::signbit(got) ? 0 : INFINITY;
  if (std::isinf(want)) return INFINITY;
  const int e = want == 0 ? -126 : std::ilogb(want), last = e < -126 ? -126 : e > 127 ? 127 : e;
  const double value = std::isinf(got) ? std::copysign(0x1p128, double(got)) : double(got);
  return std::ldexp(std::fabs(value - want), 23 - last);
}

void print_worst(const Function& f, std::uint64_t stride) {
  constexpr std::uint64_t all = std::uint64_t(1) << 32, at_a_time = 1 << 20;
  auto ours = fx::jit(f.ours);
  double worst = 0;
  float where = 0;
  for (std::uint64_t at = 0; at < all;) {
    std::vector<float> x;
    for (; at < all && x.size() < at_a_time; at += stride) x.push_back(of_bits(std::uint32_t(at)));
    const std::vector<float> y = ours(Array(x)).to_vector<float>();
    for (std::size_t i = 0; i < x.size(); ++i)
      if (const double e = ulps(y[i], f.exact(x[i])); !(e <= worst)) worst = e, where = x[i];
  }
  std::printf("%-10s %8.4f ulp at %a\n", f.name, worst, double(where));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const long stride = argc > 1 ? std::atol(argv[1]) : 1;
  if (stride < 1) return std::fprintf(stderr, "usage: bench_ulp [STRIDE [FUNCTION...]]\n"), 1;
  for (const Function& f : functions) {
    bool asked = argc <= 2;
    for (int k = 2; k < argc; ++k) asked = asked || std::string(argv[k]) == f.name;
    if (asked) print_worst(f, std::uint64_t(stride));
  }
}
