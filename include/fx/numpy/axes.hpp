// numpy/axes.hpp -- axis arguments: one, a list or all of them; negative ones count from the end; errors name both
// sides.
#pragma once
#include "../operators.hpp"

namespace fx::inline v0 {
namespace detail {

// One axis, or none of them in particular.
struct Axis {
  std::int64_t v = 0;
  bool given = false;
  constexpr Axis(None = {}) {}
  template <Integer T>
  constexpr Axis(T axis) : v(std::int64_t(axis)), given(true) {}
};
// Axes: 0, {0, -1}, or all (the default, and fx::none).
struct Axes {
  bool all = true;
  Dims list;  // as the user wrote them
  constexpr Axes(None = {}) {}
  template <Integer T>
  constexpr Axes(T axis) : all(false) {
    list.push_back(std::int64_t(axis));
  }
  constexpr Axes(std::initializer_list<std::int64_t> axes) : all(false) {
    for (std::int64_t a : axes) list.push_back(a);
  }
  constexpr Axes(Span<const std::int64_t> axes) : all(false), list(axes) {}
};
// A dtype, or the one that the function chooses.
struct MaybeDType {
  DType d = DType::f32;
  bool given = false;
  constexpr MaybeDType(None = {}) {}
  constexpr MaybeDType(DType dtype) : d(dtype), given(true) {}
  constexpr DType value_or(DType other) const { return given ? d : other; }
};

[[gnu::cold]] constexpr Str message(std::string_view who) {
  Str s(who);
  s += ": ";
  return s;
}
// "<who>: <type> <what>"
[[gnu::cold]] constexpr Str message(std::string_view who, const Type& t, std::string_view what) {
  Str s = message(who);
  put(s, t);
  s += ' ';
  s += what;
  return s;
}

// An axis of a value of this rank, from 0. Errors (shape): there is none of this number.
constexpr int axis_of(std::int64_t axis, int rank, const Type& t, std::string_view who, Loc loc) {
  if (axis >= -rank && axis < rank) return int(axis < 0 ? axis + rank : axis);
  Str s = message(who, t, "has no axis ");
  s.num(axis);
  if (rank == t.rank()) {
    s += rank == 0 ? "; it is a scalar" : "; its axes are ";
    if (rank) (s.num(-rank) += " to ").num(rank - 1);
  } else {
    s = message(who);
    (s += "axis ").num(axis) += " is out of range; the result has axes ";
    (s.num(-rank) += " to ").num(rank - 1);
  }
  fail(ErrorCode::shape, s, loc);
  return 0;
}
constexpr int axis_of(std::int64_t axis, const Type& t, std::string_view who, Loc loc) {
  return axis_of(axis, t.rank(), t, who, loc);
}

constexpr void sort_dims(Dims& d) {
  for (int i = 1; i < d.n; ++i)
    for (int j = i; j > 0 && d[j] < d[j - 1]; --j) std::swap(d[j], d[j - 1]);
}
// A list of axes from 0, in the order given. Errors (shape): one that does not exist, or that is there twice.
constexpr Dims axis_list(const Dims& axes, int rank, const Type& t, std::string_view who, Loc loc) {
  Dims r;
  for (std::int64_t a : axes) {
    const int axis = axis_of(a, rank, t, who, loc);
    if (r.contains(axis)) {
      Str s = message(who);
      (s += "axis ").num(axis) += " of ";
      put(s, t);
      s += " is given twice";
      fail(ErrorCode::shape, s, loc);
    }
    r.push_back(axis);
  }
  return r;
}
// The axes from 0 in rising order.
constexpr Dims axes_of(const Axes& axes, const Type& t, std::string_view who, Loc loc) {
  if (axes.all) return others(t.rank(), {});
  Dims r = axis_list(axes.list, t.rank(), t, who, loc);
  sort_dims(r);
  return r;
}

// Errors (unsupported): a symbolic size, where the function needs numbers.
constexpr void need_sizes(const Type& t, std::string_view who, Loc loc) {
  if (t.is_static()) return;
  fail(ErrorCode::unsupported, message(who, t, "has a symbolic size, and this function needs numbers in this version"),
       loc);
}
// Errors (dtype): another dtype than one of the set, which `what` names with the cure.
constexpr void need_dtype(DTypes set, const Type& t, std::string_view who, std::string_view what, Loc loc) {
  if (!in(t.dtype, set)) fail(ErrorCode::dtype, message(who, t, what), loc);
}
// Errors (dtype): two operands of different dtypes.
constexpr void need_same_dtype(const Type& a, const Type& b, std::string_view who, Loc loc) {
  if (a.dtype == b.dtype) return;
  Str s = message(who, a, "and ");
  put(s, b);
  s += " have different dtypes; fx never promotes: convert one with fx::convert";
  fail(ErrorCode::dtype, s, loc);
}
// The common shape of several values. Errors (shape): they do not broadcast.
constexpr Val broadcast_to_checked(Val x, const Dims& shape, std::string_view who, Loc loc) {
  const Type& t = type_of(x);
  bool ok = t.rank() <= shape.n;
  for (int i = 0; ok && i < t.rank(); ++i) {
    const std::int64_t want = shape[shape.n - t.rank() + i];
    ok = t.dims[i] == want || t.dims[i] == 1;
  }
  if (!ok) {
    Str s = message(who, t, "does not broadcast to ");
    put(s, shape);
    fail(ErrorCode::shape, s, loc);
  }
  return broadcast_to(x, shape);
}
// The shape with the given dimensions of size 1.
constexpr Dims with_ones(const Dims& shape, const Dims& axes) {
  Dims r = shape;
  for (std::int64_t a : axes) r[int(a)] = 1;
  return r;
}
// Number of elements along axes, all of static size.
constexpr std::int64_t count_along(const Dims& shape, const Dims& axes) {
  std::int64_t n = 1;
  for (std::int64_t a : axes) n *= shape[int(a)];
  return n;
}
// x with its dimensions in another order; x itself if it is the same.
constexpr Val permuted(Val x, const Dims& perm) {
  bool same = perm.n == type_of(x).rank();
  for (int i = 0; i < perm.n; ++i) same = same && perm[i] == i;
  return same ? x : transpose(x, perm);
}

// f(value) on one operand: the body of most functions here. f: Val(Val, Loc).
template <class F>
constexpr Array record_unary(const Operand& x, F&& f) {
  Recording r(Span<const Operand>(&x, 1), x.loc);
  return at_line(x.loc, [&] { return r.result(f(r.vals[0])); });
}
template <class F>
constexpr Array record_binary(const Operand& a, const Operand& b, F&& f) {
  const Operand operands[] = {a, b};
  Recording r(operands, a.loc);
  return at_line(a.loc, [&] { return r.result(f(r.vals[0], r.vals[1])); });
}
// The same, but a number as b must fit the dtype of a, even bool.
template <class F>
constexpr Array record_with(const Operand& a, const Operand& b, F&& f) {
  if (!b.is_scalar()) return record_binary(a, b, f);
  Recording r(Span<const Operand>(&a, 1), a.loc);
  return r.result(f(r.vals[0], r.number(b, type_of(r.vals[0]).dtype)));
}

}  // namespace detail
}  // namespace fx::inline v0
