// ops/arithmetic.hpp -- add sub mul div neg rem abs sign maximum minimum integer_pow floor, and the operators of rules.
#pragma once
#include "elementwise.hpp"
#include "logic.hpp"

namespace fx::inline v0 {

struct Neg : Unary<Neg> {
  static constexpr std::string_view name = "neg";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V x) {
    return -x;
  }
  static constexpr Val tangent(Val t, Val, Val) { return bind(prim<Neg>, {t}); }
  static constexpr void transpose(TransposeCtx& c) { c.add(0, bind(prim<Neg>, {c.ct()})); }
  static constexpr Val simplify(SimplifyCtx& c) {
    const Eqn* e = c.defined_by(c.in[0], "neg");
    return e ? c.operand(*e, 0) : Val();
  }
};

struct Add : Binary<Add> {
  static constexpr std::string_view name = "add";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V a, V b) {
    return a + b;
  }
  static constexpr Val tangent(int, Val t, Val, Val, Val) { return t; }
  static constexpr void transpose(TransposeCtx& c) {
    for (int k = 0; k < 2; ++k)
      if (c.linear(k)) c.add(k, c.ct());
  }
  static constexpr Val simplify(SimplifyCtx& c);
};

struct Sub : Binary<Sub> {
  static constexpr std::string_view name = "sub";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V a, V b) {
    return a - b;
  }
  static constexpr Val tangent(int k, Val t, Val, Val, Val) { return k == 0 ? t : bind(prim<Neg>, {t}); }
  static constexpr void transpose(TransposeCtx& c) {
    if (c.linear(0)) c.add(0, c.ct());
    if (c.linear(1)) c.add(1, bind(prim<Neg>, {c.ct()}));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    if (c.is_literal(1, 0.0) && c.b.g.literal(c.in[1].id) == 0) return c.in[0];  // x - (+0) = x, exactly
    if (const Eqn* e = c.defined_by(c.in[1], "neg")) return c.b.bind(prim<Add>, {c.in[0], c.operand(*e, 0)});
    return {};
  }
};

// x + (-0) = x and x + (-y) = x - y, exactly; for integers also x + 0 = x.
constexpr Val Add::simplify(SimplifyCtx& c) {
  const bool integer = is_integer(c.type.dtype);
  for (int k = 0; k < 2; ++k) {
    if (c.is_literal(k, 0.0) && (integer || c.b.g.literal(c.in[k].id) != 0)) return c.in[1 - k];
    if (const Eqn* e = c.defined_by(c.in[k], "neg")) return c.b.bind(prim<Sub>, {c.in[1 - k], c.operand(*e, 0)});
  }
  return {};
}

struct Mul : Binary<Mul> {
  static constexpr std::string_view name = "mul";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V a, V b) {
    return a * b;
  }
  static constexpr Val tangent(int k, Val t, Val a, Val b, Val) { return bind(prim<Mul>, {t, k == 0 ? b : a}); }
  static constexpr void transpose(TransposeCtx& c) {
    const int k = c.linear(0) ? 0 : 1;
    c.add(k, bind(prim<Mul>, {c.ct(), c.x[1 - k]}));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    for (int k = 0; k < 2; ++k) {
      if (c.is_literal(k, 1.0)) return c.in[1 - k];
      if (c.is_literal(k, -1.0)) return c.b.bind(prim<Neg>, {c.in[1 - k]});
    }
    return {};
  }
};

struct Div : Binary<Div> {
  static constexpr std::string_view name = "div";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V a, V b) {
    if constexpr (is_float(dtype_of<typename V::type>))
      return a / b;
    else
      return idiv(a, b);
  }
  // d(a/b)/db as -(a/b)/b: it neither overflows nor loses a zero, as -a/(b*b) does.
  static constexpr Val tangent(int k, Val t, Val, Val b, Val y) {
    if (k == 0) return bind(prim<Div>, {t, b});
    return bind(prim<Mul>, {t, bind(prim<Neg>, {bind(prim<Div>, {y, b})})});
  }
  static constexpr void transpose(TransposeCtx& c) { c.add(0, bind(prim<Div>, {c.ct(), c.x[1]})); }
  static constexpr Val simplify(SimplifyCtx& c) { return c.is_literal(1, 1.0) ? c.in[0] : Val(); }
};

constexpr Val operator-(Val a) { return bind(prim<Neg>, {a}); }
constexpr Val operator+(Val a, Val b) { return detail::binary(prim<Add>, a, b); }
constexpr Val operator-(Val a, Val b) { return detail::binary(prim<Sub>, a, b); }
constexpr Val operator*(Val a, Val b) { return detail::binary(prim<Mul>, a, b); }
constexpr Val operator/(Val a, Val b) { return detail::binary(prim<Div>, a, b); }

struct Abs : Unary<Abs> {
  static constexpr std::string_view name = "abs";
  static constexpr DTypes takes = floats | signed_ints;
  template <class V>
  static constexpr V emit(V x) {
    return abs(x);
  }
  static constexpr Val tangent(Val t, Val x, Val) { return select(ge(x, 0.0), t, -t); }  // +1 at 0, as JAX
};

struct Sign : Unary<Sign> {
  static constexpr std::string_view name = "sign";
  static constexpr DTypes takes = numbers;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V x) {  // keeps -0, +0 and NaN
    using T = typename V::type;
    return select(lt(V::c(T(0)), x), V::c(T(1)), select(lt(x, V::c(T(0))), V::c(T(-1)), x));
  }
};

struct Floor : Unary<Floor> {
  static constexpr std::string_view name = "floor";
  static constexpr DTypes takes = floats;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V x) {
    return floor(x);
  }
};

// The remainder with the sign of the dividend, exact (C's fmod); integers: x rem 0 = x.
struct Rem : Binary<Rem> {
  static constexpr std::string_view name = "rem";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V a, V b) {
    return irem(a, b);
  }
  static constexpr Val tangent(int k, Val t, Val a, Val b, Val) {
    if (k == 0) return t;
    Val q = a / b;  // truncated towards zero
    Val sign = bind(prim<Sign>, {q}), size = bind(prim<Floor>, {bind(prim<Abs>, {q})});
    return t * -(sign * size);
  }
};

namespace detail {
template <class T>
constexpr T lowest() {
  if constexpr (is_float(dtype_of<T>))
    return -T(__builtin_inf());
  else if constexpr (T(-1) > T(0))
    return T(0);  // bool and unsigned
  else
    return T(std::uint64_t(1) << (8 * sizeof(T) - 1));
}
template <class T>
constexpr T highest() {
  if constexpr (is_float(dtype_of<T>))
    return T(__builtin_inf());
  else if constexpr (__is_same(T, bool))
    return true;
  else
    return T(~lowest<T>());
}
// a < b, also for booleans.
template <class V>
constexpr auto less(V a, V b) {
  if constexpr (dtype_of<typename V::type> == boolean)
    return ~a & b;
  else
    return lt(a, b);
}

// IEEE 754-2019 maximum and minimum: NaN wins, -0 < +0.
template <class V, bool Max>
constexpr V extremum(V a, V b) {
  using T = typename V::type;
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto x = bitcast<U>(a), y = bitcast<U>(b);
  V tie = Max ? bitcast<T>(x & y) : bitcast<T>(x | y);
  V r = Max ? select(lt(a, b), b, select(lt(b, a), a, tie)) : select(lt(a, b), a, select(lt(b, a), b, tie));
  return select(ne(a, a), a, select(ne(b, b), b, r));
}

// Tangent of max/min: the winner's, each half at a tie (JAX's `_balanced_eq`).
constexpr Val balanced(Val t, Val own, Val other, Val y) {
  Val wins = eq(own, y), ties = eq(other, y);
  return t * select(wins, select(ties, like(y, 0.5), like(y, 1.0)), like(y, 0.0));
}
}  // namespace detail

struct Max : Binary<Max> {
  static constexpr std::string_view name = "max";
  static constexpr DTypes takes = any_dtype;
  template <class V>
  static constexpr V emit(V a, V b) {
    if constexpr (dtype_of<typename V::type> == boolean)
      return a | b;
    else if constexpr (is_float(dtype_of<typename V::type>))
      return detail::extremum<V, true>(a, b);
    else
      return select(lt(a, b), b, a);
  }
  static constexpr Val tangent(int k, Val t, Val a, Val b, Val y) {
    return k == 0 ? detail::balanced(t, a, b, y) : detail::balanced(t, b, a, y);
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.in[0].id == c.in[1].id ? c.in[0] : Val(); }
};

struct Min : Binary<Min> {
  static constexpr std::string_view name = "min";
  static constexpr DTypes takes = any_dtype;
  template <class V>
  static constexpr V emit(V a, V b) {
    if constexpr (dtype_of<typename V::type> == boolean)
      return a & b;
    else if constexpr (is_float(dtype_of<typename V::type>))
      return detail::extremum<V, false>(a, b);
    else
      return select(lt(b, a), b, a);
  }
  static constexpr Val tangent(int k, Val t, Val a, Val b, Val y) {
    return k == 0 ? detail::balanced(t, a, b, y) : detail::balanced(t, b, a, y);
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.in[0].id == c.in[1].id ? c.in[0] : Val(); }
};

// x^n for a fixed integer n, by repeated squaring; 1/x^-n for negative n.
struct IntegerPow : Unary<IntegerPow> {
  static constexpr std::string_view name = "integer_pow";
  static constexpr DTypes takes = numbers;
  static constexpr AttrSpec attrs[] = {{"n", AttrKind::integer}};
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    using V = typename World::template V<T>;
    const std::int64_t n = c.attrs.integer(0);
    V square = World::template get<T>(c, 0), r = V::c(T(1));
    bool started = false;
    for (std::uint64_t k = n < 0 ? ~std::uint64_t(n) + 1 : std::uint64_t(n); k; k >>= 1) {
      if (k & 1) r = started ? r * square : square, started = true;
      if (k > 1) square = square * square;
    }
    if constexpr (is_float(dtype_of<T>)) {
      if (n < 0) r = V::c(T(1)) / r;
    } else {
      if (n < 0) r = idiv(V::c(T(1)), r);
    }
    World::put(c, 0, r);
  }
  static constexpr Val tangent(JvpCtx& c, Val t) {
    const std::int64_t n = c.attrs().integer(0);
    if (n == 0) return {};
    return t * (bind(prim<IntegerPow>, {c.x[0]}, Params().integer(n - 1)) * double(n));
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.attrs.integer(0) == 1 ? c.in[0] : Val(); }
};

constexpr Val abs(Val x) { return bind(prim<Abs>, {x}); }
constexpr Val sign(Val x) { return bind(prim<Sign>, {x}); }
constexpr Val floor(Val x) { return bind(prim<Floor>, {x}); }
constexpr Val rem(Val a, Val b) { return detail::binary(prim<Rem>, a, b); }
// What simplification may write that no equation held before.
inline constexpr const Prim* simplifying_prims[] = {&prim<Neg>, &prim<Add>, &prim<Sub>};

constexpr Val maximum(Val a, Val b) { return detail::binary(prim<Max>, a, b); }
constexpr Val minimum(Val a, Val b) { return detail::binary(prim<Min>, a, b); }
constexpr Val integer_pow(Val x, std::int64_t n) { return bind(prim<IntegerPow>, {x}, Params().integer(n)); }

}  // namespace fx::inline v0
