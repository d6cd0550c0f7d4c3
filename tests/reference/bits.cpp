// reference/bits.cpp -- comparisons, logic, shifts, select, conversions, iota and threefry.
#include <cmath>
#include <string_view>

#include "reference/elementwise.hpp"

namespace reference {
namespace {

// -1, 0, 1, or 2 where a NaN leaves them without order.
int order(fx::DType d, const Element& a, const Element& b) {
  if (!fx::is_float(d)) return whole_less(d, a.whole, b.whole) ? -1 : a.whole == b.whole ? 0 : 1;
  return a.real < b.real ? -1 : a.real == b.real ? 0 : a.real > b.real ? 1 : 2;
}
bool known_order(const Element& a, const Element& b) {
  const long double e = a.error + b.error;
  return e == 0 || (e < infinity && (std::isnan(a.real) || std::isnan(b.real) || std::fabs(a.real - b.real) > e));
}

void add_comparison(Rules& rules, const char* name, bool (*holds)(int)) {
  rules.emplace_back(name, [holds](const Call& c) {
    return elementwise(c, [&](const Element* x) {
      Element r = whole(fx::boolean, holds(order(c[0].type.dtype, x[0], x[1])));
      r.error = known_order(x[0], x[1]) ? 0 : infinity;
      return r;
    });
  });
}

void add_whole(Rules& rules, const char* name, std::uint64_t (*f)(fx::DType, std::uint64_t, std::uint64_t)) {
  rules.emplace_back(name, [f](const Call& c) {
    return elementwise(c, [&](const Element* x) {
      const fx::DType d = c.out_type().dtype;
      Element r = whole(d, f(d, x[0].whole, c.e.n_in > 1 ? x[1].whole : 0));
      for (int k = 0; k < c.e.n_in; ++k) r.error += x[k].error;
      return r;
    });
  });
}
// The operand without its extension, and whether a count shifts everything out.
std::uint64_t low_bits(fx::DType d, std::uint64_t a) {
  return width_of(d) == 64 ? a : a & ((std::uint64_t(1) << width_of(d)) - 1);
}
bool all_out(fx::DType d, std::uint64_t count) { return low_bits(d, count) >= std::uint64_t(width_of(d)); }
std::uint64_t shift_left(fx::DType d, std::uint64_t a, std::uint64_t n) { return all_out(d, n) ? 0 : a << n; }
std::uint64_t shift_right_logical(fx::DType d, std::uint64_t a, std::uint64_t n) {
  return all_out(d, n) ? 0 : low_bits(d, a) >> n;
}
std::uint64_t shift_right_arithmetic(fx::DType d, std::uint64_t a, std::uint64_t n) {
  const bool negative = low_bits(d, a) >> (width_of(d) - 1);
  const std::uint64_t shifted = shift_right_logical(d, a, n);
  if (!negative) return shifted;
  if (all_out(d, n)) return ~std::uint64_t(0);
  return shifted | ~(low_bits(d, ~std::uint64_t(0)) >> n);
}

Values select(const Call& c) {
  return elementwise(c, [&](const Element* x) {
    const Element &yes = x[1], &no = x[2];
    Element r = x[0].whole ? yes : no;
    if (x[0].error == 0) return r;
    const bool same = yes.whole == no.whole && (yes.real == no.real || (std::isnan(yes.real) && std::isnan(no.real)));
    const long double away = same ? 0 : fx::is_float(c.out_type().dtype) ? std::fabs(yes.real - no.real) : infinity;
    r.error = std::isnan(away) ? infinity : away + yes.error + no.error;
    return r;
  });
}

std::uint64_t saturated(fx::DType d, long double x) {
  if (std::isnan(x)) return 0;
  const int w = width_of(d);
  const long double past = std::ldexp(1.0L, is_signed(d) ? w - 1 : w), low = is_signed(d) ? -past : 0;
  if (x >= past) return is_signed(d) ? (std::uint64_t(1) << (w - 1)) - 1 : ~std::uint64_t(0);
  if (x <= low) return is_signed(d) ? std::uint64_t(1) << (w - 1) : 0;
  return x < 0 ? 0 - std::uint64_t(-std::trunc(x)) : std::uint64_t(std::trunc(x));
}
Element convert_one(fx::DType from, fx::DType to, const Element& x, bool wide) {
  if (fx::is_float(to)) {
    const long double v = fx::is_float(from) ? x.real : number(from, x.whole);
    if (wide) return {v, 0, 0};
    Element r = real(to, v);
    if (fx::is_float(from) && x.error > 0)  // a rounding to fewer bits may add its own spacing
      r.error = x.error + (to == fx::f32 && from == fx::f64 ? ulp(to, v) : 0);
    else
      r.error = x.error;
    if (std::isinf(r.real) && !std::isinf(v) && x.error > 0) r.error = infinity;
    return r;
  }
  if (to == fx::boolean) {
    Element r = whole(to, fx::is_float(from) ? x.real != 0 : x.whole != 0);
    r.error = x.error == 0 || (fx::is_float(from) && std::fabs(x.real) > x.error) ? 0 : infinity;
    return r;
  }
  if (!fx::is_float(from)) return {0, wrap(to, x.whole), x.error};
  Element r = whole(to, saturated(to, x.real));
  if (x.error > 0 && !(saturated(to, x.real - x.error) == saturated(to, x.real + x.error))) r.error = infinity;
  return r;
}
Values convert(const Call& c) {
  return elementwise(c, [&](const Element* x) {
    return convert_one(c[0].type.dtype, c.out_type().dtype, x[0], c.mode == Mode::wide);
  });
}
Values bitcast(const Call& c) {
  return elementwise(c, [&](const Element* x) {
    Element r = from_bits(c.out_type().dtype, to_bits(c[0].type.dtype, x[0]));
    if (x[0].error > 0 || std::isnan(x[0].real)) r.error = infinity;  // the bits of a NaN are nobody's promise
    if (std::isnan(r.real)) r.error = 0;
    return r;
  });
}

Values iota(const Call& c) {
  Value out = zeros(c.out_type());
  const fx::DType d = out.type.dtype;
  const int dim = int(c.attrs().integer(2));
  for (std::size_t i = 0; i < out.at.size(); ++i) {
    const std::int64_t n = unravel(std::int64_t(i), out.type.dims)[dim];
    out.at[i] = fx::is_float(d) ? real(d, n) : whole(d, std::uint64_t(n));
  }
  return {out};
}

// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), Threefry-2x32 with 20 rounds.
void threefry(const std::uint32_t key[2], std::uint32_t x[2]) {
  const std::uint32_t schedule[3] = {key[0], key[1], 0x1BD11BDAu ^ key[0] ^ key[1]};
  const int rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  for (int round = 0; round < 20; ++round) {
    if (round % 4 == 0) {
      const std::uint32_t s = std::uint32_t(round) / 4;
      x[0] += schedule[s % 3];
      x[1] += schedule[(s + 1) % 3] + s;
    }
    x[0] += x[1];
    x[1] = (x[1] << rotation[round % 8] | x[1] >> (32 - rotation[round % 8])) ^ x[0];
  }
  x[0] += schedule[5 % 3];
  x[1] += schedule[6 % 3] + 5;
}
Values threefry2x32(const Call& c) {
  Value a = zeros(c.out_type(0)), b = zeros(c.out_type(1));
  for (std::size_t i = 0; i < a.at.size(); ++i) {
    std::uint32_t word[4];
    long double error = 0;
    for (int k = 0; k < 4; ++k) {
      const Element& x = c[k].at[c.literal(k) ? 0 : i];
      word[k] = std::uint32_t(x.whole);
      error += x.error;
    }
    threefry(word, word + 2);
    a.at[i] = {0, word[2], error};
    b.at[i] = {0, word[3], error};
  }
  return {a, b};
}

}  // namespace

void add_bits(Rules& rules) {
  add_comparison(rules, "eq", [](int o) { return o == 0; });
  add_comparison(rules, "ne", [](int o) { return o != 0; });
  add_comparison(rules, "lt", [](int o) { return o == -1; });
  add_comparison(rules, "le", [](int o) { return o == -1 || o == 0; });
  add_comparison(rules, "gt", [](int o) { return o == 1; });
  add_comparison(rules, "ge", [](int o) { return o == 1 || o == 0; });
  add_whole(rules, "and", [](fx::DType, std::uint64_t a, std::uint64_t b) { return a & b; });
  add_whole(rules, "or", [](fx::DType, std::uint64_t a, std::uint64_t b) { return a | b; });
  add_whole(rules, "xor", [](fx::DType, std::uint64_t a, std::uint64_t b) { return a ^ b; });
  add_whole(rules, "not", [](fx::DType, std::uint64_t a, std::uint64_t) { return ~a; });
  add_whole(rules, "shift_left", shift_left);
  add_whole(rules, "shift_right_logical", shift_right_logical);
  add_whole(rules, "shift_right_arithmetic", shift_right_arithmetic);
  rules.emplace_back("select", select);
  rules.emplace_back("convert", convert);
  rules.emplace_back("bitcast", bitcast);
  rules.emplace_back("iota", iota);
  rules.emplace_back("threefry2x32", threefry2x32);
  rules.emplace_back("stop_gradient", [](const Call& c) { return Values{c[0]}; });
}

}  // namespace reference
