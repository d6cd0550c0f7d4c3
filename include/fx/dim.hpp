// dim.hpp -- Dim: one dimension of a shape, a number or an expression in named sizes (`n`, `2*n+1`, `n*m`).
#pragma once
#include <cstdint>

#include "base/error.hpp"

namespace fx::inline v0 {

// A dimension. A number is held as itself; an expression as a handle into a process-wide table of canonical
// polynomials, so equal expressions have equal handles. Expressions exist at run time only.
struct Dim {
  std::int64_t v = 0;
  constexpr Dim() = default;
  constexpr Dim(std::int64_t n) : v(n) {}
  constexpr Dim(int n) : v(n) {}
  constexpr bool is_static() const { return v >= 0; }
  // Neither a size nor an expression: a small negative number, such as the -1 of a reshape.
  constexpr bool is_negative() const { return v < 0 && v > -(std::int64_t(1) << 62); }
  friend constexpr bool operator==(Dim a, Dim b) { return a.v == b.v; }
};

namespace detail {
// Run-time arithmetic on symbolic dimensions; the results are interned.
Dim dim_add(Dim a, Dim b, std::int64_t sign);
Dim dim_mul(Dim a, Dim b);
Str dim_text(Dim a);
// a*b, a+b of numbers >= 0, or -1 when the result exceeds 2^62 (no Array can be that large).
constexpr std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) || r > (std::int64_t(1) << 62) ? -1 : r;
}
}  // namespace detail

// A named size. The same name is the same size everywhere in the process. Errors: an empty name or one that is no
// identifier.
Dim dim(std::string_view name, Loc loc = Loc::here());

// Differences may be negative only in constant terms of an expression. A number that is negative or exceeds 64 bits is
// an Error, which the run-time functions throw.
constexpr Dim operator+(Dim a, Dim b) {
  std::int64_t r = 0;
  const bool plain = a.is_static() && b.is_static() && !__builtin_add_overflow(a.v, b.v, &r);
  return plain ? Dim(r) : detail::dim_add(a, b, 1);
}
constexpr Dim operator-(Dim a, Dim b) {
  return a.is_static() && b.is_static() && a.v >= b.v ? Dim(a.v - b.v) : detail::dim_add(a, b, -1);
}
constexpr Dim operator*(Dim a, Dim b) {
  std::int64_t r = 0;
  const bool plain = a.is_static() && b.is_static() && !__builtin_mul_overflow(a.v, b.v, &r);
  return plain ? Dim(r) : detail::dim_mul(a, b);
}

constexpr void put(Str& s, Dim d) {
  if (d.is_static())
    s.num(d.v);
  else
    s += detail::dim_text(d);
}

}  // namespace fx::inline v0

#if FX_BODIES
#include "dim_table.hpp"
#endif
