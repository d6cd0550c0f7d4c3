// ops/scalar.hpp -- what an emission value is, and its simplest world: Scalar<T>, one number.
//
// Every elementwise operation is written once, as a template over a value type V, and instantiated in several worlds:
// one scalar (here: constant folding and constant evaluation), a block of lanes, a recorder that appends instructions
// to a program. All worlds give the same bits, so code over V never branches on values and never calls libm. A world is
// a class template V over T in {bool, int32_t, int64_t, uint32_t, uint64_t, float, double} with
//
//   V::type, V::rebind<U>             T, and this world's value of type U
//   V(), V::c(T)                      any value; a constant
//   a + b, a - b, a * b, -a, abs(a)   numbers; integers wrap, abs(min) is min
//   a / b, fma(a, b, c), sqrt(a)      floats, each rounded once
//   rint(a), floor(a)                 floats; rint rounds halves to even
//   scale(a, n)                       floats: a * 2^n, rounded once, for a whole n, |n| < 2 bias (254 and 2046), and an
//                                     a such that a * 2^floor(n/2) is exact. NaN if a is, and then n may be NaN too
//   idiv(a, b), irem(a, b)            integers, truncating; x/0 is all ones, x%0 is x, min/-1 is min, min%-1 is 0.
//                                     irem of floats is C's fmod, exact
//   a & b, a | b, a ^ b, ~a           integers and bool
//   shl(a, b), shr(a, b)              integers; shr is arithmetic if T is signed. A count that is negative or not below
//                                     the width shifts everything out: 0, or the sign for an arithmetic shr
//   lt, le, eq, ne (a, b)             V<bool>; a NaN is unequal to everything and in no order; false is below true
//   select(m, a, b)                   m ? a : b, of any type, for m of type V<bool>
//   bitcast<U>(a)                     the same bits, for U as wide as T
//   convert<U>(a)                     to bool: a != 0. Float to integer truncates and clamps, NaN is 0. Integer to
//                                     integer wraps. To float: to nearest even
//   lookup(table, size, i)            table[i], for a number type U, const U* table and an integer V i, clamped to
//                                     [0, size). Recorders keep the pointer: tables are inline constexpr arrays
//   pick(table, i)                    table[i mod 16], for a const float (&table)[16] and a V<uint32_t> i: what fits
//                                     into a register. Static storage, too
//
// and nothing but scale is undefined for any operand. Two results that are NaN may differ in bits. At least one operand
// is no constant: worlds need not fold.
//
// g++ contracts a * b + c to an fma with -mfma, even across inlined functions and with -std=c++20. So products here
// pass a barrier, which holds wherever they are inlined and lets loops vectorize. (A region of #pragma GCC optimize
// does neither: operators inlined into code outside it are contracted, and function templates inside it are never
// inlined.) clang contracts within one expression only, which no function here offers it, unless given
// -ffp-contract=fast: then no pragma helps, and results may differ.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "../base/fp.hpp"

namespace fx::inline v0 {
namespace detail {

template <class T>
struct Scalar {
  using type = T;
  template <class U>
  using rebind = Scalar<U>;
  static constexpr bool real = std::is_floating_point_v<T>;
  // The type that integers are computed in: unsigned, so that they wrap.
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  T v{};

  static constexpr Scalar c(T v) { return {v}; }
  static constexpr Scalar wrap(Word w) { return {static_cast<T>(w)}; }
  constexpr Word word() const { return static_cast<Word>(v); }
  // |v| of an integer.
  constexpr Word magnitude() const { return v < T(0) ? Word(0) - word() : word(); }

  friend constexpr Scalar operator+(Scalar a, Scalar b) {
    if constexpr (real)
      return {fp::add(a.v, b.v)};
    else
      return wrap(a.word() + b.word());
  }
  friend constexpr Scalar operator-(Scalar a, Scalar b) {
    if constexpr (real)
      return {fp::sub(a.v, b.v)};
    else
      return wrap(a.word() - b.word());
  }
  friend constexpr Scalar operator*(Scalar a, Scalar b) {
    if constexpr (!real)
      return wrap(a.word() * b.word());
    else
#if defined(__GNUC__) && !defined(__clang__)
      return {__builtin_assoc_barrier(fp::mul(a.v, b.v))};
#else
      return {fp::mul(a.v, b.v)};
#endif
  }
  friend constexpr Scalar operator/(Scalar a, Scalar b) { return {fp::div(a.v, b.v)}; }
  friend constexpr Scalar operator-(Scalar a) {
    if constexpr (real)
      return {fp::from_bits<T>(fp::bits(a.v) ^ fp::bits(T(-0.0)))};
    else
      return wrap(Word(0) - a.word());
  }
  friend constexpr Scalar abs(Scalar a) {
    if constexpr (real)
      return {fp::abs(a.v)};
    else
      return wrap(a.magnitude());
  }
  friend constexpr Scalar fma(Scalar a, Scalar b, Scalar c) { return {fp::fma(a.v, b.v, c.v)}; }
  friend constexpr Scalar sqrt(Scalar a) { return {fp::sqrt(a.v)}; }
  friend constexpr Scalar scale(Scalar a, Scalar n) { return {fp::scale(a.v, n.v)}; }
  friend constexpr Scalar rint(Scalar a) { return {fp::rint(a.v)}; }
  friend constexpr Scalar floor(Scalar a) { return {fp::floor(a.v)}; }

  friend constexpr Scalar idiv(Scalar a, Scalar b) {
    if (b.v == T(0)) return wrap(~Word(0));
    const Word q = a.magnitude() / b.magnitude();
    return wrap((a.v < T(0)) != (b.v < T(0)) ? Word(0) - q : q);
  }
  friend constexpr Scalar irem(Scalar a, Scalar b) {
    if constexpr (real) {
      return {fp::rem(a.v, b.v)};
    } else {
      if (b.v == T(0)) return a;
      const Word r = a.magnitude() % b.magnitude();
      return wrap(a.v < T(0) ? Word(0) - r : r);
    }
  }
  friend constexpr Scalar operator&(Scalar a, Scalar b) { return wrap(a.word() & b.word()); }
  friend constexpr Scalar operator|(Scalar a, Scalar b) { return wrap(a.word() | b.word()); }
  friend constexpr Scalar operator^(Scalar a, Scalar b) { return wrap(a.word() ^ b.word()); }
  friend constexpr Scalar operator~(Scalar a) {
    if constexpr (std::is_same_v<T, bool>)
      return {!a.v};
    else
      return wrap(~a.word());
  }
  friend constexpr Scalar shl(Scalar a, Scalar b) {
    return wrap(b.word() < 8 * sizeof(T) ? a.word() << b.word() : Word(0));
  }
  friend constexpr Scalar shr(Scalar a, Scalar b) {
    constexpr Word last = 8 * sizeof(T) - 1;
    if constexpr (std::is_signed_v<T>) return {static_cast<T>(a.v >> (b.word() < last ? b.word() : last))};
    return wrap(b.word() <= last ? a.word() >> b.word() : Word(0));
  }

  friend constexpr Scalar<bool> lt(Scalar a, Scalar b) { return {a.v < b.v}; }
  friend constexpr Scalar<bool> le(Scalar a, Scalar b) { return {a.v <= b.v}; }
  friend constexpr Scalar<bool> eq(Scalar a, Scalar b) { return {a.v == b.v}; }
  friend constexpr Scalar<bool> ne(Scalar a, Scalar b) { return {a.v != b.v}; }
  friend constexpr Scalar select(Scalar<bool> m, Scalar a, Scalar b) { return m.v ? a : b; }
};

template <class U, class T>
constexpr Scalar<U> bitcast(Scalar<T> a) {
  return {std::bit_cast<U>(a.v)};
}
template <class U, class T>
constexpr Scalar<U> convert(Scalar<T> a) {
  return {fp::convert<U>(a.v)};
}
constexpr Scalar<float> pick(const float (&table)[16], Scalar<std::uint32_t> i) { return {table[i.v % 16]}; }
template <class U, class T>
constexpr Scalar<U> lookup(const U* table, int size, Scalar<T> i) {
  return {table[i.v < T(0) ? T(0) : i.v < static_cast<T>(size) ? i.v : static_cast<T>(size - 1)]};
}

}  // namespace detail
}  // namespace fx::inline v0
