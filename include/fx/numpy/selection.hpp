// numpy/selection.hpp -- elements chosen or ordered: where clip square astype sort argsort take take_along_axis tril
// triu diag.
#pragma once
#include "reductions.hpp"

namespace fx::inline v0 {

namespace numpy {
// Along which axis; fx::none: of the elements in row-major order.
struct SortOptions {
  detail::Axis axis = -1;
};
struct TakeOptions {
  detail::Axis axis = {};
};
}  // namespace numpy

namespace detail {
// Negative indices count from the end, once. Out of range ones are left to the gather or scatter.
constexpr Val wrapped(Val i, std::int64_t size) {
  if (in(type_of(i).dtype, unsigned_ints)) return i;
  return select(lt(i, 0.0), i + Val(double(size)), i);
}
constexpr void need_indices(const Type& t, std::string_view who, Loc loc) {
  need_dtype(integers & computed, t, who, "is no index; indices are i32, i64, u32 or u64", loc);
}
// x[..., indices, ...] along axis: the dimensions of the indices replace it. Outside: the nearest element.
constexpr Val taken(Val x, Val indices, int axis) {
  const Dims shape = type_of(x).dims, rows = type_of(indices).dims;
  IndexDims d;
  for (int k = 0; k < shape.n; ++k) {
    d.window.push_back(k == axis ? Dim(1) : shape.dim(k));
    if (k != axis) d.window_dims.push_back(k < axis ? k : k + rows.n - 1);
  }
  d.collapsed = d.index_map = Dims{axis};
  Dims vectors = rows;
  vectors.push_back(1);
  return gather(x, reshape(wrapped(indices, shape[axis]), vectors), d);
}
constexpr Val sort_input(Val x, const Axis& a, std::string_view who, Loc loc, int& axis) {
  if (a.given) {
    axis = axis_of(a.v, type_of(x), who, loc);
    return x;
  }
  need_sizes(type_of(x), who, loc);
  axis = 0;
  return flattened(x);
}
// Where column - row >= k (upper), or <= k.
constexpr Val triangle(Val x, std::int64_t k, bool upper, std::string_view who, Loc loc) {
  const Type t = type_of(x);
  if (t.rank() < 2) fail(ErrorCode::shape, message(who, t, "is no matrix"), loc);
  Builder& b = *x.b;
  Val row = iota(b, i64, t.dims, t.rank() - 2) + b.literal(i64, to_bits(k)),
      column = iota(b, i64, t.dims, t.rank() - 1);
  return select(upper ? ge(column, row) : le(column, row), x, 0.0);
}
// A square matrix with v on its k-th diagonal.
constexpr Val from_diagonal(Val v, std::int64_t k) {
  const std::int64_t by = k < 0 ? -k : k, n = type_of(v).dims[0] + by;
  Builder& b = *v.b;
  Val filled = broadcast_in_dim(pad(v, 0.0, Dims{0}, Dims{by}, Dims{0}), Dims{n, n}, Dims{k < 0 ? 1 : 0});
  Val offset = iota(b, i64, Dims{n, n}, 1) - iota(b, i64, Dims{n, n}, 0);
  return select(eq(offset, b.literal(i64, to_bits(k))), filled, 0.0);
}
constexpr Val to_diagonal(Val x, std::int64_t k) {
  const Dims shape = type_of(x).dims;
  const std::int64_t row = k < 0 ? -k : 0, column = k > 0 ? k : 0;
  const std::int64_t down = shape[0] - row, right = shape[1] - column, n = down < right ? down : right;
  Builder& b = *x.b;
  if (n <= 0) return zeros(b, {type_of(x).dtype, Dims{0}});
  Val i = iota(b, i64, Dims{n, 1}, 0);
  const Val parts[] = {i + Val(double(row)), i + Val(double(column))};
  IndexDims d;
  d.window = Dims{1, 1};
  d.collapsed = d.index_map = Dims{0, 1};
  return gather(x, concatenate(parts, 1), d);
}
}  // namespace detail

namespace numpy {

// where(condition, a, b): a where the condition holds, else b, broadcasting. Elementwise, so it lives in fx.
using fx::where;
// x * x.
constexpr Array square(Array::Op x) {
  return detail::record_unary(x, [](Val v) { return v * v; });
}
// x where it lies between low and high, else the nearer of them; all three broadcast.
constexpr Array clip(Array::Op x, Array::Op low, Array::Op high) {
  const detail::Operand operands[] = {x, low, high};
  detail::Recording r(operands, x.loc);
  detail::broadcast_all(r.vals, "np::clip", x.loc);
  return r.result(minimum(maximum(r.vals[0], r.vals[1]), r.vals[2]));
}
// x as another dtype: fx::convert.
constexpr Array astype(Array::Op x, DType dtype) { return fx::convert(x, dtype); }

// The elements in rising order along an axis (the last unless said); NaN comes last, -0 and +0 are equal.
constexpr Array sort(Array::Op x, const SortOptions& o = {}) {
  return detail::record_unary(x, [&](Val v) {
    int axis = 0;
    Val from = detail::sort_input(v, o.axis, "np::sort", x.loc, axis);
    return bind(prim<Sort>, {from}, Params().integer(axis).integer(1));
  });
}
// The positions (i32) of the elements in rising order; equal elements keep theirs.
constexpr Array argsort(Array::Op x, const SortOptions& o = {}) {
  return detail::record_unary(x, [&](Val v) {
    int axis = 0;
    Val from = detail::sort_input(v, o.axis, "np::argsort", x.loc, axis);
    Val place = fx::iota(*from.b, i32, type_of(from).dims, axis);
    Val sorted = bind(prim<Sort>, {from, place}, Params().integer(axis).integer(1));
    return Val(sorted.b, sorted.id + 1);
  });
}
// The elements at these indices along an axis, or in row-major order; the dimensions of the indices replace the axis.
// Negative indices count from the end; indices outside give the nearest element. Errors (dtype): no integers.
constexpr Array take(Array::Op x, Array::Op indices, const TakeOptions& o = {}) {
  const auto take_at = [&](Val v, Val i) {
    int axis = 0;
    detail::need_indices(type_of(i), "np::take", indices.loc);
    Val from = detail::sort_input(v, o.axis, "np::take", x.loc, axis);
    return detail::taken(from, i, axis);
  };
  if (!indices.is_scalar()) return detail::record_binary(x, indices, take_at);
  return detail::record_unary(x, [&](Val v) { return take_at(v, v.b->literal(indices.dtype, indices.bits)); });
}
// x[..., indices[...], ...] along an axis; x and the indices have equal sizes elsewhere (or 1). As take otherwise.
constexpr Array take_along_axis(Array::Op x, Array::Op indices, std::int64_t axis) {
  return detail::record_binary(x, indices, [&](Val v, Val i) {
    constexpr std::string_view who = "np::take_along_axis";
    const Type t = type_of(v), ti = type_of(i);
    detail::need_indices(ti, who, indices.loc);
    const int a = detail::axis_of(axis, t, who, x.loc);
    if (t.rank() != ti.rank()) {
      Str s = detail::message(who, t, "and the indices ");
      put(s, ti);
      s += " must have the same number of axes";
      fail(ErrorCode::shape, s, x.loc);
    }
    Dims dx = t.dims, di = ti.dims;
    dx[a] = di[a] = 1;
    Dims both = detail::broadcast_dims(dx, di, who, x.loc);
    dx = di = both;
    dx[a] = t.dims[a];
    di[a] = ti.dims[a];
    return take_along(fx::broadcast_to(v, dx), detail::wrapped(fx::broadcast_to(i, di), dx[a]), a);
  });
}
// The lower and the upper triangle of matrices, from the k-th diagonal on; the rest is 0.
constexpr Array tril(Array::Op x, std::int64_t k = 0) {
  return detail::record_unary(x, [&](Val v) { return detail::triangle(v, k, false, "np::tril", x.loc); });
}
constexpr Array triu(Array::Op x, std::int64_t k = 0) {
  return detail::record_unary(x, [&](Val v) { return detail::triangle(v, k, true, "np::triu", x.loc); });
}
// The k-th diagonal of a matrix; of a vector, the matrix that has it there.
constexpr Array diag(Array::Op x, std::int64_t k = 0) {
  return detail::record_unary(x, [&](Val v) {
    const Type t = type_of(v);
    detail::need_sizes(t, "np::diag", x.loc);
    if (t.rank() == 1) return detail::from_diagonal(v, k);
    if (t.rank() != 2)
      fail(ErrorCode::shape, detail::message("np::diag", t, "is neither a vector nor a matrix"), x.loc);
    return detail::to_diagonal(v, k);
  });
}

}  // namespace numpy
}  // namespace fx::inline v0
