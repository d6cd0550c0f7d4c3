// reference/arithmetic.cpp -- elementwise primitives on numbers, and how errors pass through them.
#include <cmath>
#include <limits>

#include "reference/elementwise.hpp"
#include "reference/erf_inv.hpp"

namespace reference {
namespace {

using Real1 = long double (*)(long double);

// Rounded by the hardware once: fx must give the same bits.
template <class F>
RealFunction exact1(F f) {
  return {[f](fx::DType d, bool wide, const long double* x) { return in_precision(d, wide, f, x[0]); }, 0, nullptr};
}
template <class F>
RealFunction exact2(F f, bool (*breaks)(const long double*, const long double*) = nullptr) {
  return {[f](fx::DType d, bool wide, const long double* x) { return in_precision(d, wide, f, x[0], x[1]); }, 0,
          breaks};
}
// The true value, which fx meets within some ulp.
RealFunction close1(Real1 f, double ulps, bool (*breaks)(const long double*, const long double*) = nullptr) {
  return {[f](fx::DType, bool, const long double* x) { return f(x[0]); }, ulps, breaks};
}

bool near_zero(const long double* x, const long double* e) { return std::fabs(x[0]) <= e[0]; }
bool divisor_near_zero(const long double* x, const long double* e) { return std::fabs(x[1]) <= e[1]; }
// Whether a step of the quotient may lie within the errors.
bool quotient_steps(const long double* x, const long double* e) {
  if (divisor_near_zero(x, e)) return true;
  const long double slack = (e[0] + std::fabs(x[0] / x[1]) * e[1]) / (std::fabs(x[1]) - e[1]) * 2;
  return std::floor(std::fabs(x[0] / x[1]) - slack) != std::floor(std::fabs(x[0] / x[1]) + slack);
}

// NaN wins, -0 < +0.
long double maximum(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return not_a_number;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

using Whole2 = std::uint64_t (*)(fx::DType, std::uint64_t, std::uint64_t);
std::uint64_t quotient(fx::DType d, std::uint64_t a, std::uint64_t b) {
  if (b == 0) return ~std::uint64_t(0);
  if (!is_signed(d)) return a / b;
  if (b == ~std::uint64_t(0)) return 0 - a;
  return std::uint64_t(std::int64_t(a) / std::int64_t(b));
}
std::uint64_t remainder(fx::DType d, std::uint64_t a, std::uint64_t b) {
  if (b == 0) return a;
  if (!is_signed(d)) return a % b;
  if (b == ~std::uint64_t(0)) return 0;
  return std::uint64_t(std::int64_t(a) % std::int64_t(b));
}

// Numbers of either sort: `f` on floats, `w` on integers and booleans.
void add(Rules& rules, const char* name, RealFunction f, Whole2 w) {
  rules.emplace_back(name, [f = std::move(f), w](const Call& c) {
    return elementwise(c, [&](const Element* x) {
      if (fx::is_float(c.out_type().dtype)) return apply(f, c.out_type().dtype, c.mode, x, c.e.n_in);
      Element r = whole(c.out_type().dtype, w(c.out_type().dtype, x[0].whole, c.e.n_in > 1 ? x[1].whole : 0));
      for (int k = 0; k < c.e.n_in; ++k) r.error += x[k].error;
      return r;
    });
  });
}
void add_float(Rules& rules, const char* name, RealFunction f) {
  rules.emplace_back(name, [f = std::move(f)](const Call& c) {
    return elementwise(c, [&](const Element* x) { return apply(f, c.out_type().dtype, c.mode, x, c.e.n_in); });
  });
}

// (glibc's powl is wrong for infinite x and y = -2^63; double's pow is right there.)
long double power(fx::DType, bool, const long double* x) {
  if (x[0] == 0 || std::isinf(x[0])) return std::pow(static_cast<double>(x[0]), static_cast<double>(x[1]));
  return std::pow(x[0], x[1]);
}

// x * x * ... : each of the |n| - 1 products rounds, and a quotient.
Values integer_pow(const Call& c) {
  const std::int64_t n = c.attrs().integer(0);
  const double ulps = n == 0 || n == 1 ? 0 : n == 2 ? 0 : double(std::abs(n)) / 2 + 4;
  const RealFunction f{
      [n](fx::DType, bool, const long double* x) { return std::pow(x[0], static_cast<long double>(n)); }, ulps,
      n < 0 ? near_zero : nullptr};
  return elementwise(c, [&](const Element* x) {
    const fx::DType d = c.out_type().dtype;
    if (fx::is_float(d)) return apply(f, d, c.mode, x, 1);
    std::uint64_t r = 1;
    for (std::int64_t k = 0; k < std::abs(n); ++k) r = wrap(d, r * x[0].whole);
    if (n < 0) r = quotient(d, 1, r);
    Element y = whole(d, r);
    y.error = n == 0 ? 0 : x[0].error;
    return y;
  });
}

}  // namespace

Element apply(const RealFunction& f, fx::DType d, Mode mode, const Element* x, int n) {
  long double v[4], e[4];
  bool exact = true;
  for (int k = 0; k < n; ++k) {
    v[k] = x[k].real;
    e[k] = x[k].error;
    exact = exact && e[k] == 0;
  }
  const bool wide = mode == Mode::wide;
  const long double y = f.f(d, wide, v);
  if (wide) return {y, 0, 0};
  Element r{round_to(d, y), 0, 0};
  // A true zero or infinity (at most a pole) has no neighbours.
  const long double slack = y == 0 || !std::isfinite(y) ? 0 : f.ulps * ulp(d, y);
  r.error = slack;
  if (exact) return r;
  for (int k = 0; k < n; ++k)
    if (e[k] == infinity) return {r.real, 0, infinity};
  if (f.breaks && f.breaks(v, e)) return {r.real, 0, infinity};
  for (int corner = 0; corner < 1 << n; ++corner) {
    long double w[4];
    for (int k = 0; k < n; ++k) w[k] = v[k] + (corner >> k & 1 ? e[k] : -e[k]);
    const long double z = round_to(d, f.f(d, false, w));
    if (std::isnan(z) && std::isnan(r.real)) continue;
    long double away = z == r.real ? 0 : std::fabs(z - r.real);
    if (z == r.real && std::signbit(z) != std::signbit(r.real)) away = ulp(d, 0);
    if (std::isnan(away)) away = infinity;
    r.error = std::max(r.error, 2 * away + slack + (f.ulps > 0 || away > 0 ? ulp(d, z) * f.ulps : 0));
  }
  return r;
}

Rule real_function(std::function<long double(const long double*)> f, double ulps) {
  const RealFunction r{[f = std::move(f)](fx::DType, bool, const long double* x) { return f(x); }, ulps, nullptr};
  return [r](const Call& c) {
    return elementwise(c, [&](const Element* x) { return apply(r, c.out_type().dtype, c.mode, x, c.e.n_in); });
  };
}

void add_arithmetic(Rules& rules) {
  add(rules, "add", exact2([](auto a, auto b) { return a + b; }),
      [](fx::DType, std::uint64_t a, std::uint64_t b) { return a + b; });
  add(rules, "sub", exact2([](auto a, auto b) { return a - b; }),
      [](fx::DType, std::uint64_t a, std::uint64_t b) { return a - b; });
  add(rules, "mul", exact2([](auto a, auto b) { return a * b; }),
      [](fx::DType, std::uint64_t a, std::uint64_t b) { return a * b; });
  add(rules, "div", exact2([](auto a, auto b) { return a / b; }, divisor_near_zero), quotient);
  add(rules, "neg", exact1([](auto a) { return -a; }), [](fx::DType, std::uint64_t a, std::uint64_t) { return 0 - a; });
  add(rules, "rem", exact2([](auto a, auto b) { return std::fmod(a, b); }, quotient_steps), remainder);
  add(rules, "abs", exact1([](auto a) { return std::fabs(a); }),
      [](fx::DType, std::uint64_t a, std::uint64_t) { return std::int64_t(a) < 0 ? 0 - a : a; });
  add(rules, "sign", exact1([](auto a) { return a > 0   ? decltype(a)(1)
                                                : a < 0 ? decltype(a)(-1)
                                                        : a; }),
      [](fx::DType d, std::uint64_t a, std::uint64_t) -> std::uint64_t {
        return a == 0 ? 0 : whole_less(d, a, 0) ? ~std::uint64_t(0) : 1;
      });
  add(rules, "max", exact2([](auto a, auto b) { return decltype(a)(maximum(a, b)); }),
      [](fx::DType d, std::uint64_t a, std::uint64_t b) { return whole_less(d, a, b) ? b : a; });
  add(rules, "min", exact2([](auto a, auto b) {
        return decltype(a)(-maximum(-static_cast<long double>(a), -static_cast<long double>(b)));
      }),
      [](fx::DType d, std::uint64_t a, std::uint64_t b) { return whole_less(d, a, b) ? a : b; });
  rules.emplace_back("integer_pow", integer_pow);

  add_float(rules, "floor", exact1([](auto a) { return std::floor(a); }));
  add_float(rules, "sqrt", exact1([](auto a) { return std::sqrt(a); }));
  add_float(rules, "rsqrt", close1([](long double x) { return 1 / std::sqrt(x); }, 1.5));
  add_float(rules, "exp", close1(std::exp, 1));
  add_float(rules, "log", close1(std::log, 1));
  add_float(rules, "log1p", close1(std::log1p, 1));
  add_float(rules, "tanh", close1(std::tanh, 1));
  add_float(rules, "sin", close1(std::sin, 1));
  add_float(rules, "cos", close1(std::cos, 1));
  add_float(rules, "logistic",
            close1([](long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 3));
  add_float(rules, "erf_inv", close1(erf_inv, 3));
  add_float(rules, "pow", {power, 1, near_zero});
}

}  // namespace reference
