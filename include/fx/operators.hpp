// operators.hpp -- the operators of Array and the elementwise functions found by ADL.
#pragma once
#include "trace.hpp"

namespace fx::inline v0 {

namespace detail {
// The shape two shapes broadcast to, aligned at the right (NumPy). Errors (shape): sizes that differ and are not 1.
constexpr Dims broadcast_dims(const Dims& a, const Dims& b, std::string_view op, Loc loc) {
  Dims r = a.n >= b.n ? a : b;
  const Dims& other = a.n >= b.n ? b : a;
  for (int i = 0; i < other.n; ++i) {
    const int at = r.n - other.n + i;
    if (r[at] == other[i] || other[i] == 1) continue;
    if (r[at] != 1) {
      Str s(op);
      s += ": shapes ";
      put(s, a);
      s += " and ";
      put(s, b);
      s += " do not broadcast: dimensions are aligned at the right, and must be equal or 1";
      fail(ErrorCode::shape, s, loc);
    }
    r[at] = other[i];
  }
  return r;
}
constexpr bool is_literal(Val v) { return v.b->g.is_literal(v.id); }

// An elementwise primitive on operands that broadcast; compiled once for run time.
constexpr Array elementwise_here(const Prim& p, Span<const Operand> operands, const Params& params);
Array elementwise_run_time(const Prim& p, Span<const Operand> operands, const Params& params);

// Values broadcast to one shape; literals stay as they are.
constexpr void broadcast_all(Vec<Val>& vals, std::string_view op, Loc loc) {
  Dims shape;
  for (const Val& v : vals)
    if (!is_literal(v)) shape = broadcast_dims(shape, type_of(v).dims, op, loc);
  for (Val& v : vals)
    if (!is_literal(v)) v = broadcast_to(v, shape);
}

constexpr Array elementwise_here(const Prim& p, Span<const Operand> operands, const Params& params) {
  const Loc loc = operands[0].loc;
  Recording r(operands, loc);
  broadcast_all(r.vals, p.name, loc);
  return r.result(r.b().bind(p, r.vals, params));
}
constexpr Array elementwise(const Prim& p, std::initializer_list<Operand> operands, const Params& params = {}) {
  const Span<const Operand> all(operands.begin(), int(operands.size()));
  if (FX_CONSTANT_EVALUATED()) return elementwise_here(p, all, params);
  return elementwise_run_time(p, all, params);
}
constexpr Array unary_op(const Prim& p, const Operand& x, const Params& params = {}) {
  return elementwise(p, {x}, params);
}
constexpr Array binary_op(const Prim& p, const Operand& a, const Operand& b) { return elementwise(p, {a, b}); }
}  // namespace detail

constexpr Array operator+(Array::Op a, Array::Op b) { return detail::binary_op(prim<Add>, a, b); }
constexpr Array operator-(Array::Op a, Array::Op b) { return detail::binary_op(prim<Sub>, a, b); }
constexpr Array operator*(Array::Op a, Array::Op b) { return detail::binary_op(prim<Mul>, a, b); }
// Integers divide truncating; x/0 is -1.
constexpr Array operator/(Array::Op a, Array::Op b) { return detail::binary_op(prim<Div>, a, b); }
// The remainder with the sign of a.
constexpr Array operator%(Array::Op a, Array::Op b) { return detail::binary_op(prim<Rem>, a, b); }
constexpr Array operator==(Array::Op a, Array::Op b) { return detail::binary_op(prim<Eq>, a, b); }
constexpr Array operator!=(Array::Op a, Array::Op b) { return detail::binary_op(prim<Ne>, a, b); }
constexpr Array operator<(Array::Op a, Array::Op b) { return detail::binary_op(prim<Lt>, a, b); }
constexpr Array operator<=(Array::Op a, Array::Op b) { return detail::binary_op(prim<Le>, a, b); }
constexpr Array operator>(Array::Op a, Array::Op b) { return detail::binary_op(prim<Gt>, a, b); }
constexpr Array operator>=(Array::Op a, Array::Op b) { return detail::binary_op(prim<Ge>, a, b); }
constexpr Array operator&(Array::Op a, Array::Op b) { return detail::binary_op(prim<And>, a, b); }
constexpr Array operator|(Array::Op a, Array::Op b) { return detail::binary_op(prim<Or>, a, b); }
constexpr Array operator^(Array::Op a, Array::Op b) { return detail::binary_op(prim<Xor>, a, b); }
constexpr Array operator-(Array::Op a) { return detail::unary_op(prim<Neg>, a); }
// The logical (bool) or bitwise (integers) complement. `!a` is the built-in one: it reads a concrete scalar.
constexpr Array operator~(Array::Op a) { return detail::unary_op(prim<Not>, a); }

// The line is the one of the right side: the left one has no room for it.
constexpr Array& Array::operator+=(Op o) { return *this = detail::Operand(*this, o.loc) + o; }
constexpr Array& Array::operator-=(Op o) { return *this = detail::Operand(*this, o.loc) - o; }
constexpr Array& Array::operator*=(Op o) { return *this = detail::Operand(*this, o.loc) * o; }
constexpr Array& Array::operator/=(Op o) { return *this = detail::Operand(*this, o.loc) / o; }

#define FX_UNARY(function, Struct) \
  constexpr Array function(Array::Op x) { return detail::unary_op(prim<Struct>, x); }
#define FX_BINARY(function, Struct) \
  constexpr Array function(Array::Op a, Array::Op b) { return detail::binary_op(prim<Struct>, a, b); }
FX_UNARY(exp, Exp)
FX_UNARY(log, Log)
FX_UNARY(log1p, Log1p)
FX_UNARY(tanh, Tanh)
FX_UNARY(sin, Sin)
FX_UNARY(cos, Cos)
FX_UNARY(sqrt, Sqrt)
FX_UNARY(rsqrt, Rsqrt)
FX_UNARY(logistic, Logistic)
FX_UNARY(erf_inv, ErfInv)
FX_UNARY(abs, Abs)
FX_UNARY(sign, Sign)
FX_UNARY(floor, Floor)
FX_UNARY(stop_gradient, StopGradient)
FX_BINARY(pow, Pow)
FX_BINARY(maximum, Max)
FX_BINARY(minimum, Min)
FX_BINARY(rem, Rem)
FX_BINARY(shift_left, ShiftLeft)
FX_BINARY(shift_right_arithmetic, ShiftRightArithmetic)
FX_BINARY(shift_right_logical, ShiftRightLogical)
#undef FX_UNARY
#undef FX_BINARY

// A primitive, such as a user's own, on Arrays: its first result. Operands of elementwise ones broadcast.
constexpr Array apply(const Prim& p, std::initializer_list<detail::Operand> operands, const Params& params = {}) {
  if (p.kind == Kind::elementwise) return detail::elementwise(p, operands, params);
  return detail::record_op({operands.begin(), int(operands.size())}, operands.begin()->loc,
                           [&](detail::Recording& r) { return r.b().bind(p, r.vals, params); });
}

// x*x*...*x, n times; 1/x^-n for negative n. Its derivative is exact also at 0.
constexpr Array integer_pow(Array::Op x, std::int64_t n) {
  return detail::unary_op(prim<IntegerPow>, x, Params().integer(n));
}
// x as another dtype: see Convert in ops/logic.hpp for saturation and rounding.
constexpr Array convert(Array::Op x, DType d) { return detail::unary_op(prim<Convert>, x, Params().dtype(d)); }
// The bits of x as another dtype of the same size.
constexpr Array bitcast(Array::Op x, DType d) { return detail::unary_op(prim<Bitcast>, x, Params().dtype(d)); }
// condition ? a : b, element by element, broadcasting.
constexpr Array where(Array::Op condition, Array::Op a, Array::Op b) {
  return detail::elementwise(prim<Select>, {condition, a, b});
}
constexpr Array select(Array::Op condition, Array::Op a, Array::Op b) { return where(condition, a, b); }

}  // namespace fx::inline v0

#if FX_BODIES
#include "eager.hpp"
#endif
