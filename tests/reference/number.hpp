// reference/number.hpp -- what the reference evaluator knows of dtypes: rounding, spacing, wrapping.
#pragma once
#include <cstdint>
#include <fx/type.hpp>
#include <limits>

namespace reference {

inline constexpr long double infinity = std::numeric_limits<long double>::infinity();
inline constexpr long double not_a_number = std::numeric_limits<long double>::quiet_NaN();

// x as d can hold it, to nearest even. (Casts of long double round once, with overflow and gradual underflow.)
inline long double round_to(fx::DType d, long double x) {
  return d == fx::f32 ? static_cast<long double>(static_cast<float>(x))
                      : static_cast<long double>(static_cast<double>(x));
}
// The spacing of d's numbers at |x|; at infinity that of the largest number.
long double ulp(fx::DType d, long double x);
long double largest(fx::DType d);
// Half the spacing at 1: the relative error of one rounding.
inline long double unit_roundoff(fx::DType d) { return d == fx::f32 ? 0x1p-24L : 0x1p-53L; }

inline int width_of(fx::DType d) { return d == fx::boolean ? 1 : 8 * fx::size_of(d); }
inline bool is_signed(fx::DType d) { return fx::in(d, fx::signed_ints); }
// The low bits of x as an integer of d, extended to 64 bits.
inline std::uint64_t wrap(fx::DType d, std::uint64_t x) {
  const int w = width_of(d);
  if (w == 64) return x;
  x &= (std::uint64_t(1) << w) - 1;
  return is_signed(d) && (x >> (w - 1)) ? x | ~((std::uint64_t(1) << w) - 1) : x;
}
// The integer x of d as a number.
inline long double number(fx::DType d, std::uint64_t x) {
  return is_signed(d) ? static_cast<long double>(std::int64_t(x)) : static_cast<long double>(x);
}
// a < b as integers of d.
inline bool whole_less(fx::DType d, std::uint64_t a, std::uint64_t b) {
  return is_signed(d) ? std::int64_t(a) < std::int64_t(b) : a < b;
}

// One operation in the precision of d, rounded by the hardware; in long double when wide.
template <class F, class... X>
long double in_precision(fx::DType d, bool wide, F f, X... x) {
  if (wide) return f(static_cast<long double>(x)...);
  if (d == fx::f32) return static_cast<long double>(f(static_cast<float>(x)...));
  return static_cast<long double>(f(static_cast<double>(x)...));
}

}  // namespace reference
