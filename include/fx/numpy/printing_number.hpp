// numpy/printing_number.hpp -- one element as NumPy prints it, in a column of the width that all of them need.
//
// Floats take the shortest digits that identify them, at most 8 after the point (correctly rounded from the exact value);
// the column is scientific if a magnitude is above 1e8, below 1e-4, or 1000 times another (NumPy's FloatingFormat).
#pragma once
#include "../array.hpp"
#include "../base/fp_text.hpp"

#if FX_BODIES
namespace fx::inline v0::detail {

inline constexpr int print_precision = 8;

// 0.d1 d2 d3... * 10^point, without trailing zeros; zero has no digits.
struct PrintDigits {
  char digit[24]{};
  int n = 0;
  int point = 0;

  int at(int k) const { return k >= 0 && k < n ? digit[k] : 0; }
  void trim() {
    while (n && digit[n - 1] == 0) --n;
    if (!n) point = 0;
  }
};

// The shortest digits of |v|; if they reach beyond `places` digits after the point, the exact value rounded there.
template <class T>
PrintDigits print_digits(T v, bool scientific, int places) {
  PrintDigits r;
  if (v == 0) return r;
  const fp::Decimal d = fp::shortest(fp::abs(v));
  for (std::uint64_t m = d.n; m; m /= 10) ++r.n;
  std::uint64_t m = d.n;
  for (int k = r.n; k-- > 0; m /= 10) r.digit[k] = char(m % 10);
  r.point = r.n + d.exp;
  const int keep = scientific ? 1 + places : r.point + places;
  if (keep >= r.n) return r;
  if (keep < 0) return {};
  // |v| * 10^k has its last wanted digit before the point: at most 17 digits, so this is exact but for the rest.
  const int k = keep - r.point;
  const fp::Wide w = fp::decode(fp::abs(v));
  const fp::Wide s = [&] {
    fp::Big big;
    big.mul_add(0, std::uint64_t(w.m));
    return fp::scale(big, w.e, k);
  }();
  const int shift = -s.e;  // s.m * 2^s.e, with a sticky last bit
  const fp::u128 whole = shift >= 128 ? 0 : s.m >> shift, rest = shift >= 128 ? s.m : s.m - (whole << shift);
  const fp::u128 half = shift > 128 ? 0 : fp::u128(1) << (shift - 1);
  std::uint64_t q = std::uint64_t(whole);
  if (shift <= 128) q += rest > half || (rest == half && (q & 1));
  r.n = keep;
  for (int j = keep; j-- > 0; q /= 10) r.digit[j] = char(q % 10);
  if (q) {  // a carry made one digit more
    for (int j = r.n; j > 0; --j) r.digit[j] = r.digit[j - 1];
    r.digit[0] = char(q);
    ++r.n;
    ++r.point;
  }
  r.trim();
  return r;
}

inline void put_digits(Str& s, const PrintDigits& d, int from, int to) {
  for (int k = from; k < to; ++k) s += char('0' + d.at(k));
}
inline void put_spaces(Str& s, int n) {
  for (; n > 0; --n) s += ' ';
}

inline int integer_digits(const PrintDigits& d) { return d.n && d.point > 0 ? d.point : 1; }
inline int fraction_digits(const PrintDigits& d) { return d.n > d.point ? d.n - d.point : 0; }
// e+05, e-12, e+100: at least `width` digits.
inline void put_exponent(Str& s, int e, int width) {
  s += e < 0 ? "e-" : "e+";
  Str digits;
  digits.num(e < 0 ? -e : e);
  for (int k = digits.size(); k < width; ++k) s += '0';
  s += digits;
}

// What a column of elements needs, found in two passes: the first finds the notation, the second the widths.
struct ElementFormat {
  bool scientific = false, any = false, nonzero = false, negative = false, special = false, negative_inf = false;
  double largest = 0, smallest = 0;
  int left = 0, right = 0, exponent = 2;  // characters before and after the point, digits of the exponent
  int width = 0;                          // integers and bool
  bool decided = false;

  template <class T>
  static T element(const void* data, std::int64_t i) {
    return static_cast<const T*>(data)[i];
  }
  void measure(DType d, const void* data, std::int64_t i) {
    with_type<computed>(d, [&]<class T>() {
      if constexpr (is_float(dtype_of<T>)) {
        measure_float(element<T>(data, i));
      } else {
        Str s;
        put_integer(s, element<T>(data, i));
        if (s.size() > width) width = s.size();
      }
    });
  }
  template <class T>
  static void put_integer(Str& s, T v) {
    if constexpr (__is_same(T, bool))
      s += v ? "True" : "False";
    else if constexpr (T(-1) > T(0))
      s.num_u(v);
    else
      s.num(v);
  }
  template <class T>
  void measure_float(T v) {
    if (fp::is_nan(v) || fp::is_inf(v)) {
      special = true;
      negative_inf = negative_inf || (fp::is_inf(v) && v < 0);
      return;
    }
    if (!decided) {
      any = true;
      const double a = double(fp::abs(v));
      if (a == 0) return;
      if (!nonzero || a > largest) largest = a;
      if (!nonzero || a < smallest) smallest = a;
      nonzero = true;
      return;
    }
    const PrintDigits d = print_digits(v, scientific, print_precision);
    const int sign = fp::signbit(v);
    if (scientific) {
      wider(left, 1 + sign);
      wider(right, d.n > 1 ? d.n - 1 : 0);
      const int e = d.n ? d.point - 1 : 0;
      wider(exponent, e > 99 || e < -99 ? 3 : 2);
    } else {
      wider(left, integer_digits(d) + sign);
      wider(right, fraction_digits(d));
    }
  }
  static void wider(int& width, int need) {
    if (need > width) width = need;
  }
  void decide() {
    scientific = nonzero && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
    decided = true;
  }
  void finish(DType) {
    if (!special) return;
    const int tail = after() + 1;
    wider(left, 3 - tail);
    if (special) wider(left, 3 + negative_inf - tail);
  }
  // Characters after the point.
  int after() const { return any && scientific ? right + 2 + exponent : right; }

  void put(Str& s, DType d, const void* data, std::int64_t i) const {
    with_type<computed>(d, [&]<class T>() {
      if constexpr (is_float(dtype_of<T>)) {
        put_real(s, element<T>(data, i));
      } else {
        Str w;
        put_integer(w, element<T>(data, i));
        put_spaces(s, width - w.size());
        s += w;
      }
    });
  }
  template <class T>
  void put_real(Str& s, T v) const {
    if (fp::is_nan(v) || fp::is_inf(v)) {
      const std::string_view w = fp::is_nan(v) ? "nan" : v < 0 ? "-inf" : "inf";
      put_spaces(s, left + after() + 1 - int(w.size()));
      s += w;
      return;
    }
    const PrintDigits d = print_digits(v, scientific, print_precision);
    const int before = scientific ? 1 : integer_digits(d), sign = fp::signbit(v);
    put_spaces(s, left - before - sign);
    if (sign) s += '-';
    if (scientific) {
      put_digits(s, d, 0, 1);
      s += '.';
      put_digits(s, d, 1, 1 + right);
      put_exponent(s, d.n ? d.point - 1 : 0, exponent);
    } else {
      put_digits(s, d, d.point - before, d.point);
      s += '.';
      const int n = fraction_digits(d);
      put_digits(s, d, d.point, d.point + n);
      put_spaces(s, right - n);
    }
  }
};

// A value without axes: shortest digits, as Python's repr; positional from 1e-4 to 1e16.
template <class T>
void put_real_scalar(Str& s, T v) {
  if (fp::is_nan(v)) return void(s += "nan");
  if (fp::signbit(v)) s += '-';
  if (fp::is_inf(v)) return void(s += "inf");
  const double a = double(fp::abs(v));
  const bool scientific = a != 0 && (a < 1e-4 || a >= 1e16);
  const PrintDigits d = print_digits(v, scientific, 400);
  if (!scientific) {
    const int before = integer_digits(d), n = fraction_digits(d);
    put_digits(s, d, d.point - before, d.point);
    s += '.';
    put_digits(s, d, d.point, d.point + (n ? n : 1));
    return;
  }
  put_digits(s, d, 0, 1);
  if (d.n > 1) s += '.';
  put_digits(s, d, 1, d.n);
  put_exponent(s, d.point - 1, 2);
}
FX_INLINE void put_scalar(Str& s, DType d, const void* data) {
  with_type<computed>(d, [&]<class T>() {
    const T v = *static_cast<const T*>(data);
    if constexpr (is_float(dtype_of<T>))
      put_real_scalar(s, v);
    else
      ElementFormat::put_integer(s, v);
  });
}

}  // namespace fx::inline v0::detail
#endif
