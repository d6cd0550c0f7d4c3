// ops/logic.hpp -- comparisons, boolean and bit operations, shifts, select, convert, bitcast, stop_gradient.
#pragma once
#include "elementwise.hpp"

namespace fx::inline v0 {

template <class P>
struct Comparison : Binary<P> {
  static constexpr DTypes takes = any_dtype;
  static constexpr bool flat = true;
  static constexpr DType result(DType) { return boolean; }
};

#define FX_COMPARISON(Struct, text, expression)    \
  struct Struct : Comparison<Struct> {             \
    static constexpr std::string_view name = text; \
    template <class V>                             \
    static constexpr auto emit(V a, V b) {         \
      return expression;                           \
    }                                              \
  };
FX_COMPARISON(Eq, "eq", eq(a, b))
FX_COMPARISON(Ne, "ne", ne(a, b))
FX_COMPARISON(Lt, "lt", lt(a, b))
FX_COMPARISON(Le, "le", le(a, b))
FX_COMPARISON(Gt, "gt", lt(b, a))
FX_COMPARISON(Ge, "ge", le(b, a))
#undef FX_COMPARISON

#define FX_BITS(Struct, text, set, expression)     \
  struct Struct : Binary<Struct> {                 \
    static constexpr std::string_view name = text; \
    static constexpr DTypes takes = set;           \
    static constexpr bool flat = true;             \
    template <class V>                             \
    static constexpr V emit(V a, V b) {            \
      return expression;                           \
    }                                              \
  };
FX_BITS(And, "and", bit_types, (a & b))
FX_BITS(Or, "or", bit_types, (a | b))
FX_BITS(Xor, "xor", bit_types, (a ^ b))
FX_BITS(ShiftLeft, "shift_left", integers, (shl(a, b)))
#undef FX_BITS

namespace detail {
// The shift of V's bits as U.
template <class U, class V>
constexpr V shift_right_as(V a, V b) {
  return bitcast<typename V::type>(shr(bitcast<U>(a), bitcast<U>(b)));
}
}  // namespace detail

struct ShiftRightArithmetic : Binary<ShiftRightArithmetic> {
  static constexpr std::string_view name = "shift_right_arithmetic";
  static constexpr DTypes takes = integers;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V a, V b) {
    using T = typename V::type;
    if constexpr (T(-1) < T(0))
      return shr(a, b);
    else
      return detail::shift_right_as<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>(a, b);
  }
};
struct ShiftRightLogical : Binary<ShiftRightLogical> {
  static constexpr std::string_view name = "shift_right_logical";
  static constexpr DTypes takes = integers;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V a, V b) {
    using T = typename V::type;
    if constexpr (T(-1) > T(0))
      return shr(a, b);
    else
      return detail::shift_right_as<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(a, b);
  }
};

struct Not : Unary<Not> {
  static constexpr std::string_view name = "not";
  static constexpr DTypes takes = bit_types;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V x) {
    return ~x;
  }
};

constexpr Val eq(Val a, Val b) { return detail::binary(prim<Eq>, a, b); }
constexpr Val ne(Val a, Val b) { return detail::binary(prim<Ne>, a, b); }
constexpr Val lt(Val a, Val b) { return detail::binary(prim<Lt>, a, b); }
constexpr Val le(Val a, Val b) { return detail::binary(prim<Le>, a, b); }
constexpr Val gt(Val a, Val b) { return detail::binary(prim<Gt>, a, b); }
constexpr Val ge(Val a, Val b) { return detail::binary(prim<Ge>, a, b); }
constexpr Val logical_not(Val a) { return bind(prim<Not>, {a}); }
constexpr Val bit_and(Val a, Val b) { return detail::binary(prim<And>, a, b); }
constexpr Val bit_or(Val a, Val b) { return detail::binary(prim<Or>, a, b); }
constexpr Val bit_xor(Val a, Val b) { return detail::binary(prim<Xor>, a, b); }
constexpr Val shift_left(Val a, Val b) { return detail::binary(prim<ShiftLeft>, a, b); }
constexpr Val shift_right_arithmetic(Val a, Val b) { return detail::binary(prim<ShiftRightArithmetic>, a, b); }
constexpr Val shift_right_logical(Val a, Val b) { return detail::binary(prim<ShiftRightLogical>, a, b); }

// The literal v of the dtype of `other`.
constexpr Val like(Val other, double v) { return detail::coerce(Val(v), other); }

// predicate ? on_true : on_false, element by element.
struct Select : Elementwise<Select, 3> {
  static constexpr std::string_view name = "select";
  static constexpr DTypes takes = any_dtype;
  static constexpr int typed = 1;
  static constexpr void type(TypeCtx& c) {
    Elementwise<Select, 3>::type(c);
    if (!c.failed() && c.type(0).dtype != boolean) detail::check_dtype(c, 0, bools, "a boolean predicate");
  }
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    World::put(c, 0,
               select(World::template get<bool>(c, 0), World::template get<T>(c, 1), World::template get<T>(c, 2)));
  }
  static constexpr void jvp(JvpCtx& c) {
    if (c.t[1].is_zero() && c.t[2].is_zero()) return;
    Val a = c.t[1].is_zero() ? like(c.t[2], 0.0) : c.t[1];
    Val b = c.t[2].is_zero() ? like(c.t[1], 0.0) : c.t[2];
    c.dy[0] = bind(prim<Select>, {c.x[0], a, b});
  }
  static constexpr void transpose(TransposeCtx& c) {
    Val ct = c.ct(), zero = like(ct, 0.0);
    if (c.linear(1)) c.add(1, bind(prim<Select>, {c.x[0], ct, zero}));
    if (c.linear(2)) c.add(2, bind(prim<Select>, {c.x[0], zero, ct}));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    if (c.in[1].id == c.in[2].id && !c.b.g.is_literal(c.in[1].id)) return c.in[1];
    return {};
  }
};
constexpr Val select(Val p, Val a, Val b) {
  return bind(prim<Select>, {p, detail::coerce(a, b), detail::coerce(b, a)});
}

// To another dtype: floats to integers saturate (NaN gives 0), numbers to bool are `!= 0`, wider integers wrap.
struct Convert : Unary<Convert> {
  static constexpr std::string_view name = "convert";
  static constexpr DTypes takes = any_dtype;
  static constexpr AttrSpec attrs[] = {{"dtype", AttrKind::dtype}};
  static constexpr void type(TypeCtx& c) {
    Unary<Convert>::type(c);
    if (c.failed()) return;
    const DType to = c.attrs.dtype(0);
    if (!computes(to)) {
      Str s("to ");
      s += fx::name(to);
      s += ": arithmetic on this dtype comes in a later version";
      c.fail(ErrorCode::unsupported, s);
    }
    c.out[0].dtype = to;
  }
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    detail::with_type<computed>(c.attrs.dtype(0), [&]<class U>() {
      if constexpr (__is_same(T, U))
        World::put(c, 0, World::template get<T>(c, 0));
      else
        World::put(c, 0, convert<U>(World::template get<T>(c, 0)));
    });
  }
  static constexpr Val tangent(JvpCtx& c, Val t) {
    if (!is_float(c.attrs().dtype(0)) || !is_float(type_of(c.x[0]).dtype)) return {};
    return bind(prim<Convert>, {t}, params_of(c.g, c.e));
  }
  static constexpr void transpose(TransposeCtx& c) {
    c.add(0, bind(prim<Convert>, {c.ct()}, Params().dtype(c.type(0).dtype)));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    return c.b.type(c.in[0]).dtype == c.attrs.dtype(0) ? c.in[0] : Val();
  }
};
constexpr Val convert(Val x, DType d) { return bind(prim<Convert>, {x}, Params().dtype(d)); }

// The same bits as another dtype of equal size.
struct Bitcast : Unary<Bitcast> {
  static constexpr std::string_view name = "bitcast";
  static constexpr DTypes takes = any_dtype;
  static constexpr bool flat = true;
  static constexpr AttrSpec attrs[] = {{"dtype", AttrKind::dtype}};
  static constexpr void type(TypeCtx& c) {
    Unary<Bitcast>::type(c);
    if (c.failed()) return;
    const DType from = c.type(0).dtype, to = c.attrs.dtype(0);
    if (!computes(to) || size_of(from) != size_of(to) || (from == boolean) != (to == boolean)) {
      Str s("from ");
      s += fx::name(from);
      s += " to ";
      s += fx::name(to);
      s += ": dtypes of equal size are expected";
      c.fail(ErrorCode::dtype, s);
    }
    c.out[0].dtype = to;
  }
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    detail::with_type<computed>(c.attrs.dtype(0), [&]<class U>() {
      if constexpr (__is_same(T, U))
        World::put(c, 0, World::template get<T>(c, 0));
      else if constexpr (sizeof(T) == sizeof(U) && sizeof(T) > 1)
        World::put(c, 0, bitcast<U>(World::template get<T>(c, 0)));
    });
  }
};
constexpr Val bitcast(Val x, DType d) { return bind(prim<Bitcast>, {x}, Params().dtype(d)); }

// The identity, with no derivative.
struct StopGradient : Unary<StopGradient> {
  static constexpr std::string_view name = "stop_gradient";
  static constexpr DTypes takes = any_dtype;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V x) {
    return x;
  }
  // Once differentiation is over it is nothing; `simplify` runs on what will be compiled.
};
constexpr Val stop_gradient(Val x) { return bind(prim<StopGradient>, {x}); }

}  // namespace fx::inline v0
