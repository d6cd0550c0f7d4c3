// numpy/printing_number.hpp -- one element as NumPy prints it, in a column of the width that all of them need.
//
// Floats take the shortest digits that identify them, at most 8 after the point (correctly rounded from the exact
// value); the column is scientific if a magnitude is 1e8 or above (f32: 1e6), below 1e-4, or over 1000 times another
// (FloatingFormat of NumPy 2.4).
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
  void assign(std::uint64_t v) {
    n = 0;
    for (std::uint64_t m = v; m; m /= 10) ++n;
    for (int k = n; k-- > 0; v /= 10) digit[k] = char(v % 10);
  }
  void trim() {
    while (n && digit[n - 1] == 0) --n;
    if (!n) point = 0;
  }
};

// |v| * 10^k to the nearest integer, ties to even. It has at most 17 digits, so what `scale` drops does not matter.
template <class T>
std::uint64_t rounded_at(T v, int k) {
  const fp::Wide w = fp::decode(fp::abs(v));
  fp::Big big;
  big.mul_add(0, std::uint64_t(w.m));
  const fp::Wide s = fp::scale(big, w.e, k);  // s.m * 2^s.e, with a sticky last bit
  const int shift = -s.e;
  if (shift > 128) return 0;
  const fp::u128 whole = shift == 128 ? 0 : s.m >> shift, rest = shift == 128 ? s.m : s.m - (whole << shift);
  const fp::u128 half = fp::u128(1) << (shift - 1);
  return std::uint64_t(whole) + (rest > half || (rest == half && (whole & 1)));
}

// The shortest digits of |v|; if they reach beyond `places` digits after the point, or all places are to be filled, the
// exact value rounded there.
template <class T>
PrintDigits print_digits(T v, bool scientific, int places, bool fill = false) {
  PrintDigits r;
  if (v == 0) return r;
  const fp::Decimal d = fp::shortest(fp::abs(v));
  r.assign(d.n);
  r.point = r.n + d.exp;
  const int keep = scientific ? 1 + places : r.point + places;
  if (keep == r.n || (keep > r.n && !fill)) return r;
  if (keep < 0) return {};
  int point = r.point;
  std::uint64_t past = 1;  // 10^keep
  for (int j = 0; j < keep; ++j) past *= 10;
  if (d.n == 1 && fill && rounded_at(v, keep - point + 1) < past) --point;  // v itself lies below the power of ten
  r.assign(rounded_at(v, keep - point));
  r.point = point + (r.n - keep);  // a carry made one digit more
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
        wider(width, __is_same(T, bool) ? 5 : s.size());
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
  void decide(DType d) {  // in the arithmetic of the dtype
    decided = true;
    if (!nonzero) return;
    if (d == f32)
      scientific = largest >= 1e6 || smallest < double(1e-4f) || float(largest) / float(smallest) > 1000;
    else
      scientific = largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000;
  }
  void finish() {
    if (special) wider(left, 3 + negative_inf - (after() + 1));
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
    const PrintDigits d = scientific ? print_digits(v, true, right, true) : print_digits(v, false, print_precision);
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

// A value without axes: shortest digits; positional from 1e-4 to 1e16, to 1e6 in f32.
template <class T>
void put_real_scalar(Str& s, T v) {
  if (fp::is_nan(v)) return void(s += "nan");
  if (fp::signbit(v)) s += '-';
  if (fp::is_inf(v)) return void(s += "inf");
  const double a = double(fp::abs(v));
  const bool scientific = a != 0 && (a < 1e-4 || a >= (sizeof(T) == 4 ? 1e6 : 1e16));
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
