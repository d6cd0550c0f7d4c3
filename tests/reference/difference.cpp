// reference/difference.cpp -- comparing what was computed with what was expected.
#include <cmath>
#include <cstdio>

#include "reference/reference.hpp"

namespace reference {
namespace {

std::string str(const fx::Str& s) { return std::string(s.view()); }

std::string text(fx::DType d, const Element& x) {
  char s[64];
  if (fx::is_float(d))
    std::snprintf(s, sizeof s, "%.21Lg (%.13La)", x.real, x.real);
  else if (is_signed(d))
    std::snprintf(s, sizeof s, "%lld", static_cast<long long>(x.whole));
  else
    std::snprintf(s, sizeof s, "%llu", static_cast<unsigned long long>(x.whole));
  return s;
}

// Calls outside(i) for each element; reports the first for which it holds.
template <class F>
std::string first_difference(const Value& a, const Value& b, F&& differs) {
  if (!(a.type == b.type)) return "type " + str(fx::text(a.type)) + " expected, got " + str(fx::text(b.type));
  for (std::size_t i = 0; i < a.at.size(); ++i) {
    if (!differs(a.at[i], b.at[i])) continue;
    std::string s = "element [";
    for (std::int64_t k : unravel(std::int64_t(i), a.type.dims)) s += (s.back() == '[' ? "" : ",") + std::to_string(k);
    s += "] of " + str(fx::text(a.type)) + ": " + text(a.type.dtype, a.at[i]) + " expected, got " +
         text(a.type.dtype, b.at[i]);
    if (a.at[i].error > 0) {
      char off[96];
      std::snprintf(off, sizeof off, " (off by %.3Lg, %.3Lg allowed, ulp %.3Lg)",
                    std::fabs(a.at[i].real - b.at[i].real), a.at[i].error, ulp(a.type.dtype, a.at[i].real));
      s += off;
    }
    return s;
  }
  return {};
}

template <class F>
std::string each(const Values& a, const Values& b, F&& one) {
  if (a.size() != b.size()) return std::to_string(a.size()) + " results expected, got " + std::to_string(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string s = one(a[i], b[i]);
    if (!s.empty()) return "result " + std::to_string(i) + ", " + s;
  }
  return {};
}

}  // namespace

std::string bit_difference(const Value& a, const Value& b) {
  return first_difference(a, b, [&](const Element& x, const Element& y) {
    return !(std::isnan(x.real) && std::isnan(y.real)) && to_bits(a.type.dtype, x) != to_bits(a.type.dtype, y);
  });
}

std::string difference(const Value& expected, const Value& got) {
  return first_difference(expected, got, [&](const Element& x, const Element& y) {
    if (x.error == infinity || (std::isnan(x.real) && std::isnan(y.real))) return false;
    if (x.error == 0 || !fx::is_float(expected.type.dtype))
      return to_bits(expected.type.dtype, x) != to_bits(expected.type.dtype, y);
    return x.real != y.real && !(std::fabs(x.real - y.real) <= x.error);
  });
}

std::string difference(const Values& expected, const Values& got) {
  return each(expected, got, [](const Value& a, const Value& b) { return difference(a, b); });
}
std::string bit_difference(const Values& a, const Values& b) {
  return each(a, b, [](const Value& x, const Value& y) { return bit_difference(x, y); });
}

std::string text(const Value& v) {
  std::string s = str(fx::text(v.type)) + " {";
  for (const Element& x : v.at) s += (s.back() == '{' ? "" : ", ") + text(v.type.dtype, x);
  return s + "}";
}

}  // namespace reference
