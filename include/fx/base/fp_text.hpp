// base/fp_text.hpp -- exact text of float and double, both ways: put_float (shortest that reads back) and parse_float.
//
// Own code, for constant evaluation and because printf and strtod obey the locale. A big integer replaces Ryu's tables.
#pragma once
#include "fp.hpp"
#include "str.hpp"

namespace fx::inline v0 {
namespace detail::fp {

// Decimal digits that parse_float keeps: no number halfway between two doubles has more than 768.
inline constexpr int max_digits = 779;

// An unsigned integer with room for max_digits digits at the smallest exponent that matters (2657 bits).
struct Big {
  std::uint64_t w[42]{};  // little-endian; n words in use, w[n - 1] != 0
  int n = 0;

  constexpr void mul_add(std::uint64_t factor, std::uint64_t carry) {
    for (int i = 0; i < n; ++i) {
      const u128 t = u128(w[i]) * factor + carry;
      w[i] = std::uint64_t(t);
      carry = std::uint64_t(t >> 64);
    }
    if (carry) w[n++] = carry;
  }
  // Divides; true if there is a remainder.
  constexpr bool div(std::uint64_t d) {
    u128 rest = 0;
    for (int i = n - 1; i >= 0; --i) {
      rest = rest << 64 | w[i];
      w[i] = std::uint64_t(rest / d);
      rest %= d;
    }
    while (n && !w[n - 1]) --n;
    return rest != 0;
  }
  constexpr void shift_left(int s) {
    mul_add(std::uint64_t(1) << s % 64, 0);
    const int words = s / 64;
    for (int i = n - 1; i >= 0 && words; --i) w[i + words] = w[i];
    for (int i = 0; i < words; ++i) w[i] = 0;
    n += words;
  }
  constexpr int width() const { return n ? 64 * (n - 1) + int(std::bit_width(w[n - 1])) : 0; }
  // The value times 2^e, of which up to 128 leading bits are kept and the rest becomes the sticky bit.
  constexpr Wide top(int e) {
    const int up = std::countl_zero(w[n - 1]), rest = n > 2 ? n - 2 : 0;
    shift_left(up);
    u128 m = n > 1 ? u128(w[n - 1]) << 64 | w[n - 2] : u128(w[0]);
    for (int i = 0; i < rest; ++i) m |= w[i] != 0;
    return {false, m, e - up + 64 * rest};
  }
};

// d * 2^e * 10^k for d > 0; at least 67 bits precede a sticky bit.
constexpr Wide scale(Big d, int e, int k) {
  constexpr int step = 27;  // 5^27 is the largest power of five in a word
  const int left = k < 0 ? -k : k;
  int up = k < 0 ? 69 + left * 7 / 3 - d.width() : 0;  // 7 / 3 > log2(5)
  if (up < 0) up = 0;
  d.shift_left(up);
  bool sticky = false;
  for (int done = 0; done < left; done += step) {
    std::uint64_t power = 1;
    for (int i = done; i < left && i < done + step; ++i) power *= 5;
    if (k < 0) sticky |= d.div(power);
    if (k > 0) d.mul_add(power, 0);
  }
  Wide r = d.top(e + k - up);
  r.m |= sticky;
  return r;
}

// ---- printing ----

struct Decimal {
  std::uint64_t n = 0;  // no trailing zero
  int exp = 0;          // the value is n * 10^exp
};

struct Floor {
  std::uint64_t n = 0;
  bool exact = false;
};
// floor(m * 2^e * 10^k), a number in [1, 2^63).
constexpr Floor scaled_floor(std::uint64_t m, int e, int k) {
  Big d;
  d.mul_add(0, m);
  const Wide w = scale(d, e, k);
  return {std::uint64_t(w.m >> -w.e), w.m << (128 + w.e) == 0};
}

// The shortest decimal that rounds to the finite v > 0, and of those the nearest to v. Ryu's idea: find the numbers
// that round to v, times 10^k, and cut the low digits while a number without them remains.
template <Real T>
constexpr Decimal shortest(T v) {
  const Wide w = decode(v);
  const auto m = std::uint64_t(w.m);
  const bool ends = m % 2 == 0;  // the halfway points round to v as well
  const bool power = m == std::uint64_t(1) << Format<T>::mant && w.e > Format<T>::emin;  // below, v's gap is half
  const int k = 16 - ((fp::width(m) - 1 + w.e) * 315653 >> 20);  // 2^20 * log10(2): v * 10^k has 17 or 18 digits
  const Floor low = scaled_floor(4 * m - (power ? 1 : 2), w.e - 2, k), high = scaled_floor(4 * m + 2, w.e - 2, k);
  const std::uint64_t below = low.n - (low.exact && ends), last = high.n - (high.exact && !ends);  // (below, last]
  std::uint64_t unit = 1;
  int cut = 0;
  for (; below / (10 * unit) < last / (10 * unit); ++cut) unit *= 10;
  const Floor twice = scaled_floor(8 * m, w.e - 2, k);
  std::uint64_t n = twice.n / (2 * unit);
  const std::uint64_t rest = twice.n % (2 * unit);
  n += rest > unit || (rest == unit && (!twice.exact || n % 2));
  if (n <= below / unit) n = below / unit + 1;  // only above a power of two is the nearest one out of reach
  return {n, cut - k};
}

// Plain notation from 0.00001 to 16 digits, else as Python's repr: 1e+30, 1.5e-07.
constexpr void put_decimal(Str& s, Decimal d) {
  char digits[20]{};
  int n = 0;
  for (; d.n; d.n /= 10) digits[n++] = char('0' + d.n % 10);
  const int exp = n - 1 + d.exp;
  const bool plain = -5 <= exp && exp < 16;
  const int point = plain ? exp + 1 : 1, end = plain && n <= point ? point + 1 : n;
  for (int i = point < 1 ? point - 1 : 0; i < end; ++i) {
    if (i == point) s += '.';
    s += 0 <= i && i < n ? digits[n - 1 - i] : '0';
  }
  if (plain) return;
  s += exp < 0 ? "e-" : "e+";
  if (-10 < exp && exp < 10) s += '0';
  s.num(exp < 0 ? -exp : exp);
}

// Text that parse_float<T> reads back as the same bits: shortest digits, at least one after the point (2.0); inf, nan,
// and nan(0x...) for the bits of a NaN with an unusual payload.
template <Real T>
constexpr void put_float(Str& s, T v) {
  const T a = abs(v);
  if (is_nan(v) && bits(a) != Format<T>::nan_bits) {
    s += "nan(0x";
    s.hex(bits(v));
    s += ')';
    return;
  }
  if (signbit(v)) s += '-';
  if (!is_nan(v) && !is_inf(v) && v != 0) return put_decimal(s, shortest(a));
  s += is_nan(v) ? "nan" : v == 0 ? "0.0" : "inf";
}

// ---- parsing ----

constexpr int digit_of(char c, int base) {
  const int v = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
  return c >= '0' && (c <= '9' || v >= 10) && v < base ? v : -1;
}

// The digits of a number: n * base^exp, and a little more if sticky.
struct Digits {
  unsigned base = 10;
  int most = max_digits;  // digits that n keeps
  Big n = {};
  int kept = 0;
  std::int64_t exp = 0;
  std::uint64_t word = 0, unit = 1;  // what the next multiplication of n brings in
  bool any = false, sticky = false;

  constexpr void add(int v) {
    any = true;
    if (!kept && !v) return;
    if (kept == most) {
      sticky |= v != 0;
      ++exp;
      return;
    }
    ++kept;
    word = word * base + unsigned(v);
    unit *= base;
    if (unit >= 1'000'000'000'000'000'000) flush();
  }
  constexpr void flush() {
    n.mul_add(unit, word);
    word = 0;
    unit = 1;
  }
  // The value times 10^power, or 2^power if base is 16.
  constexpr Wide value(std::int64_t power) const {
    if (!kept) return {};
    power += base == 16 ? 4 * exp : exp;
    const std::int64_t point = base == 16 ? power / 4 : power + kept;
    if (point < -330) return {};  // 0 and inf for every format: 10^point is a bound
    if (point > 310) return {false, 1, Format<double>::emax};
    Wide w = scale(n, base == 16 ? int(power) : 0, base == 16 ? 0 : int(power));
    w.m |= sticky;
    return w;
  }
};

// Takes digits with at most one point off the front of t.
constexpr void take_digits(std::string_view& t, Digits& d) {
  bool point = false;
  for (; !t.empty(); t.remove_prefix(1)) {
    const int v = digit_of(t[0], int(d.base));
    if (v < 0 && (t[0] != '.' || point)) break;
    point |= v < 0;
    if (v < 0) continue;
    d.exp -= point;
    d.add(v);
  }
  d.flush();
}

// All of t: nothing, or an exponent with this letter.
constexpr bool parse_exponent(std::string_view t, char letter, std::int64_t& power) {
  if (t.empty()) return true;
  if ((t[0] | 32) != letter) return false;
  t.remove_prefix(1);
  const bool neg = !t.empty() && t[0] == '-';
  if (!t.empty() && (neg || t[0] == '+')) t.remove_prefix(1);
  if (t.empty()) return false;
  for (char c : t) {
    const int v = digit_of(c, 10);
    if (v < 0) return false;
    if (power < 1'000'000'000'000) power = 10 * power + v;  // far beyond what digits of the text can make up for
  }
  if (neg) power = -power;
  return true;
}

// "(0x...)", all bits of a NaN.
template <Real T>
constexpr bool parse_nan(std::string_view t, T& out) {
  if (t.size() < 5 || t.substr(0, 3) != "(0x" || t.back() != ')') return false;
  std::uint64_t u = 0;
  for (char c : t.substr(3, t.size() - 4)) {
    const int v = digit_of(c, 16);
    if (v < 0 || u >> 60) return false;
    u = 16 * u + unsigned(v);
  }
  const T nan = from_bits<T>(uint_of<T>(u));
  if (bits(nan) != u || !is_nan(nan)) return false;
  out = nan;
  return true;
}

// Reads all of `text`: decimal, hexadecimal (0x1.8p+3), inf or nan, each after an optional '-'; or nan(0x...). Rounds
// to nearest even, to inf and to 0 as well. False, and `out` as it was, if the text is malformed.
template <Real T>
constexpr bool parse_float(std::string_view text, T& out) {
  const bool neg = !text.empty() && text[0] == '-';
  if (neg) text.remove_prefix(1);
  if (text == "inf" || text == "nan") {
    out = copysign(text == "inf" ? Format<T>::inf(false) : Format<T>::nan(), neg ? T(-1) : T(1));
    return true;
  }
  if (text.substr(0, 3) == "nan") return !neg && parse_nan(text.substr(3), out);
  Digits d;
  if (text.size() > 1 && text[0] == '0' && (text[1] | 32) == 'x') {
    d.base = 16;
    d.most = 30;
    text.remove_prefix(2);
  }
  take_digits(text, d);
  std::int64_t power = 0;
  if (!d.any || !parse_exponent(text, d.base == 16 ? 'p' : 'e', power)) return false;
  Wide w = d.value(power);
  w.neg = neg;
  out = round_pack<T>(w);
  return true;
}

}  // namespace detail::fp
}  // namespace fx::inline v0
