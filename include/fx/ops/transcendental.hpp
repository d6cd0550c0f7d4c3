// ops/transcendental.hpp -- exp log log1p tanh sin cos sqrt rsqrt pow logistic erf_inv.
//
// The bodies are in ops/math.hpp, written once over the value concept; the derivatives are JAX's.
#pragma once
#include "arithmetic.hpp"
#include "math.hpp"

namespace fx::inline v0 {

template <class P>
struct Transcendental : Unary<P> {
  static constexpr DTypes takes = floats;
  static constexpr bool transcendental = true;
};

struct Exp : Transcendental<Exp> {
  static constexpr std::string_view name = "exp";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::exp(x);
  }
  static constexpr Val tangent(Val t, Val, Val y) { return t * y; }
};
struct Log : Transcendental<Log> {
  static constexpr std::string_view name = "log";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::log(x);
  }
  static constexpr Val tangent(Val t, Val x, Val) { return t / x; }
};
struct Log1p : Transcendental<Log1p> {
  static constexpr std::string_view name = "log1p";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::log1p(x);
  }
  static constexpr Val tangent(Val t, Val x, Val) { return t / (x + 1.0); }
};
struct Tanh : Transcendental<Tanh> {
  static constexpr std::string_view name = "tanh";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::tanh(x);
  }
  // (1 + y)(1 - y): no cancellation where 1 - y*y would have it.
  static constexpr Val tangent(Val t, Val, Val y) {
    Val above = y + 1.0, below = 1.0 - y;
    return t * (above * below);
  }
};
struct Sin : Transcendental<Sin> {
  static constexpr std::string_view name = "sin";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::sin(x);
  }
  static constexpr Val tangent(Val t, Val x, Val);
};
struct Cos : Transcendental<Cos> {
  static constexpr std::string_view name = "cos";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::cos(x);
  }
  static constexpr Val tangent(Val t, Val x, Val) { return t * -bind(prim<Sin>, {x}); }
};
constexpr Val Sin::tangent(Val t, Val x, Val) { return t * bind(prim<Cos>, {x}); }

struct Sqrt : Transcendental<Sqrt> {
  static constexpr std::string_view name = "sqrt";
  template <class V>
  static constexpr V emit(V x) {
    return sqrt(x);
  }
  static constexpr Val tangent(Val t, Val, Val y) { return t * (0.5 / y); }
};
struct Rsqrt : Transcendental<Rsqrt> {
  static constexpr std::string_view name = "rsqrt";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::rsqrt(x);
  }
  static constexpr Val tangent(Val t, Val x, Val y) { return t * (-0.5 * (y / x)); }
};
struct Logistic : Transcendental<Logistic> {
  static constexpr std::string_view name = "logistic";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::logistic(x);
  }
  static constexpr Val tangent(Val t, Val, Val y) { return t * (y * (1.0 - y)); }
};
struct ErfInv : Transcendental<ErfInv> {
  static constexpr std::string_view name = "erf_inv";
  template <class V>
  static constexpr V emit(V x) {
    return detail::math::erf_inv(x);
  }
  static constexpr Val tangent(Val t, Val, Val y) {
    return t * (0.88622692545275801365 * bind(prim<Exp>, {y * y}));
  }  // sqrt(pi)/2
};

struct Pow : Binary<Pow> {
  static constexpr std::string_view name = "pow";
  static constexpr DTypes takes = floats;
  static constexpr bool transcendental = true;
  template <class V>
  static constexpr V emit(V a, V b) {
    return detail::math::pow(a, b);
  }
  // d/da = b a^(b-1), 0 at b = 0; d/db = log(a) a^b with log(0) read as 0 (JAX).
  static constexpr Val tangent(int k, Val t, Val a, Val b, Val y) {
    if (k == 0) {
      Val flat = eq(b, 0.0), slope = b * detail::binary(prim<Pow>, a, b - 1.0);
      return t * select(flat, like(y, 0.0), slope);
    }
    return t * (bind(prim<Log>, {select(eq(a, 0.0), like(y, 1.0), a)}) * y);
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.is_literal(1, 1.0) ? c.in[0] : Val(); }
};

constexpr Val exp(Val x) { return bind(prim<Exp>, {x}); }
constexpr Val log(Val x) { return bind(prim<Log>, {x}); }
constexpr Val log1p(Val x) { return bind(prim<Log1p>, {x}); }
constexpr Val tanh(Val x) { return bind(prim<Tanh>, {x}); }
constexpr Val sin(Val x) { return bind(prim<Sin>, {x}); }
constexpr Val cos(Val x) { return bind(prim<Cos>, {x}); }
constexpr Val sqrt(Val x) { return bind(prim<Sqrt>, {x}); }
constexpr Val rsqrt(Val x) { return bind(prim<Rsqrt>, {x}); }
constexpr Val logistic(Val x) { return bind(prim<Logistic>, {x}); }
constexpr Val erf_inv(Val x) { return bind(prim<ErfInv>, {x}); }
constexpr Val pow(Val a, Val b) { return detail::binary(prim<Pow>, a, b); }

}  // namespace fx::inline v0
