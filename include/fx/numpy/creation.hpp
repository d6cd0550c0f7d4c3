// numpy/creation.hpp -- new Arrays: zeros ones full eye arange linspace iota, and the *_like of another Array.
#pragma once
#include "axes.hpp"

namespace fx::inline v0 {

namespace numpy {
// endpoint: the last number is `stop`.
struct LinspaceOptions {
  bool endpoint = true;
  DType dtype = f32;
};
}  // namespace numpy

namespace detail {
// Errors: a negative size (shape), a dtype without arithmetic in this version (unsupported).
constexpr void check_new(const Type& t, std::string_view who, Loc loc) {
  for (int i = 0; i < t.rank(); ++i) {
    if (!t.dims.dim(i).is_negative()) continue;
    Str s = message(who);
    (s += "size ").num(t.dims[i]) += " of axis ";
    s.num(i) += " is negative";
    fail(ErrorCode::shape, s, loc);
  }
  if (computes(t.dtype)) return;
  Str s = message(who);
  s += "arithmetic on ";
  s += name(t.dtype);
  s += " comes in a later version; use f32 or i32";
  fail(ErrorCode::unsupported, s, loc);
}
constexpr Array filled(const Type& t, double v, std::string_view who, Loc loc) {
  check_new(t, who, loc);
  Recording r(Span<const Operand>(), loc);
  return r.result(full(r.b(), t, v));
}
// Of x only the type and the place in a trace count.
constexpr Array filled_like(const Operand& x, double v, const MaybeDType& d, std::string_view who) {
  Recording r(Span<const Operand>(&x, 1), x.loc);
  const Type t{d.value_or(type_of(r.vals[0]).dtype), type_of(r.vals[0]).dims};
  check_new(t, who, x.loc);
  return r.result(full(r.b(), t, v));
}

// start + i * step for i < n, computed as f64 (floats) or i64 (integers), then rounded to dtype d.
constexpr Val ramp(Builder& b, DType d, std::int64_t n, double start, double step) {
  return convert(iota(b, f64, Dims{n}, 0) * Val(step) + Val(start), d);
}
constexpr Val ramp(Builder& b, DType d, std::int64_t n, std::int64_t start, std::int64_t step) {
  if (start == 0 && step == 1) return iota(b, d, Dims{n}, 0);
  Val i = iota(b, i64, Dims{n}, 0);
  return convert(i * b.literal(i64, to_bits(step)) + b.literal(i64, to_bits(start)), d);
}
// How many of start, start + step, ... lie before stop.
constexpr std::int64_t ramp_count(double start, double stop, double step) {
  const double n = (stop - start) / step;
  if (!(n > 0)) return 0;
  if (n > 4e18) return std::int64_t(4e18);
  const auto whole = std::int64_t(n);
  return whole + (double(whole) < n);
}
constexpr std::int64_t ramp_count(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const std::uint64_t gap =
      step > 0 ? std::uint64_t(stop) - std::uint64_t(start) : std::uint64_t(start) - std::uint64_t(stop);
  const std::uint64_t by = step > 0 ? std::uint64_t(step) : 0 - std::uint64_t(step);
  const std::uint64_t n = (gap - 1) / by + 1;
  return n > std::uint64_t(1) << 62 ? std::int64_t(1) << 62 : std::int64_t(n);
}
template <class T>
constexpr Array arange(T start, T stop, T step, DType d, Loc loc) {
  if (step == T(0) || step != step || start != start || stop != stop)
    fail(ErrorCode::value, "np::arange: the step is 0, or a bound is NaN", loc);
  const Type t{d, Dims{ramp_count(start, stop, step)}};
  check_new(t, "np::arange", loc);
  Recording r(Span<const Operand>(), loc);
  return r.result(ramp(r.b(), d, t.dims[0], start, step));
}
// What arange computes in: integers stay integers.
template <class... T>
using ramp_type = std::conditional_t<(Integer<T> && ...), std::int64_t, double>;
}  // namespace detail

namespace numpy {

// Arrays of one value: zeros({2, 3}), ones({n}, fx::i32). f32 unless said; sizes may be symbolic.
// Errors: a negative size (shape), a dtype that does not compute yet (unsupported), too many bytes (memory).
constexpr Array zeros(const Dims& shape, DType dtype = f32, Loc where = Loc::here()) {
  return detail::filled({dtype, shape}, 0, "np::zeros", where);
}
constexpr Array ones(const Dims& shape, DType dtype = f32, Loc where = Loc::here()) {
  return detail::filled({dtype, shape}, 1, "np::ones", where);
}
// `value`, a number (f32 unless said) or an Array (its dtype unless said), broadcast to the shape.
constexpr Array full(const Dims& shape, Array::Op value, detail::MaybeDType dtype = {}) {
  detail::Recording r(Span<const detail::Operand>(&value, 1), value.loc);
  const DType d = dtype.value_or(value.is_scalar() ? f32 : type_of(r.vals[0]).dtype);
  detail::check_new({d, shape}, "np::full", value.loc);
  Val v = type_of(r.vals[0]).dtype == d ? r.vals[0] : fx::convert(r.vals[0], d);
  return r.result(detail::broadcast_to_checked(v, shape, "np::full", value.loc));
}
// The shape of x, and its dtype unless said.
constexpr Array zeros_like(Array::Op x, detail::MaybeDType dtype = {}) {
  return detail::filled_like(x, 0, dtype, "np::zeros_like");
}
constexpr Array ones_like(Array::Op x, detail::MaybeDType dtype = {}) {
  return detail::filled_like(x, 1, dtype, "np::ones_like");
}
// A number as value takes x's dtype, which must hold it (dtype); an Array must have it.
constexpr Array full_like(Array::Op x, Array::Op value) {
  return detail::record_with(x, value, [&](Val v, Val fill) {
    detail::need_same_dtype(type_of(v), type_of(fill), "np::full_like", x.loc);
    return detail::broadcast_to_checked(fill, type_of(v).dims, "np::full_like", value.loc);
  });
}

// n rows and m columns with ones where column - row = k.
constexpr Array eye(std::int64_t n, std::int64_t m, std::int64_t k = 0, DType dtype = f32, Loc where = Loc::here()) {
  const Type t{dtype, Dims{n, m}};
  detail::check_new(t, "np::eye", where);
  detail::Recording r(Span<const detail::Operand>(), where);
  Val row = fx::iota(r.b(), i64, t.dims, 0), column = fx::iota(r.b(), i64, t.dims, 1);
  return r.result(fx::convert(eq(column, row + r.b().literal(i64, detail::to_bits(k))), dtype));
}
constexpr Array eye(std::int64_t n, DType dtype = f32, Loc where = Loc::here()) { return eye(n, n, 0, dtype, where); }

// start, start + step, ... before stop. Integers give i32 and floats f32 unless said (as JAX); floats are computed in
// f64. Errors (value): step 0.
template <Element A, Element B, Element C = int>
constexpr Array arange(A start, B stop, C step = 1, detail::MaybeDType dtype = {}, Loc where = Loc::here()) {
  using T = detail::ramp_type<A, B, C>;
  return detail::arange(T(start), T(stop), T(step), dtype.value_or(__is_same(T, double) ? f32 : i32), where);
}
template <Element A, Element B>
constexpr Array arange(A start, B stop, DType dtype, Loc where = Loc::here()) {
  return arange(start, stop, 1, dtype, where);
}
// 0, 1, ... before stop.
template <Element A>
constexpr Array arange(A stop, detail::MaybeDType dtype = {}, Loc where = Loc::here()) {
  return arange(A(0), stop, 1, dtype, where);
}
// n evenly spaced numbers from start to stop, computed in f64. Errors: n < 0 (shape).
constexpr Array linspace(double start, double stop, std::int64_t n = 50, const LinspaceOptions& o = {},
                         Loc where = Loc::here()) {
  const Type t{o.dtype, Dims{n}};
  detail::check_new(t, "np::linspace", where);
  const std::int64_t gaps = n - (o.endpoint ? 1 : 0);
  const double step = gaps > 0 ? (stop - start) / double(gaps) : stop - start;
  detail::Recording r(Span<const detail::Operand>(), where);
  Val y = detail::ramp(r.b(), f64, n, start, step);
  if (o.endpoint && n > 1) y = select(eq(fx::iota(r.b(), i64, t.dims, 0), double(n - 1)), stop, y);
  return r.result(fx::convert(y, o.dtype));
}
// 0, 1, 2, ... along one axis of the shape, repeated along the others.
constexpr Array iota(const Dims& shape, detail::Axis axis = 0, DType dtype = i32, Loc where = Loc::here()) {
  const Type t{dtype, shape};
  detail::check_new(t, "np::iota", where);
  detail::Recording r(Span<const detail::Operand>(), where);
  return r.result(fx::iota(r.b(), dtype, shape, detail::axis_of(axis.v, t, "np::iota", where)));
}

}  // namespace numpy
}  // namespace fx::inline v0
