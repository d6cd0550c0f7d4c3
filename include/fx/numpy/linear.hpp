// numpy/linear.hpp -- matmul dot tensordot outer, all of them one dot_general.
#pragma once
#include "axes.hpp"

namespace fx::inline v0 {

namespace detail {
constexpr void check_product(const Type& a, const Type& b, std::string_view who, Loc loc) {
  need_same_dtype(a, b, who, loc);
  need_dtype(numbers, a, who, "holds no numbers; convert it with fx::convert", loc);
}
// Errors (shape): axis i of a and axis j of b, which are to be multiplied and summed, differ in size.
constexpr void need_same_size(const Type& a, int i, const Type& b, int j, std::string_view who, Loc loc) {
  if (a.dims[i] == b.dims[j]) return;
  Str s = message(who, a, "and ");
  put(s, b);
  s += " do not fit: axis ";
  (s.num(i) += " of the first has size ");
  put(s, a.dims.dim(i));
  (s += ", axis ").num(j) += " of the second ";
  put(s, b.dims.dim(j));
  fail(ErrorCode::shape, s, loc);
}

// How the batch dimensions of one matmul operand take part, for the dimensions of the result from the left: shared ones
// are batch dimensions of the product, the others (of size 1 or missing on the other side) are free ones.
struct MatmulSide {
  Dims shape;  // without batch dimensions of size 1 that the other operand repeats
  Dims batch;  // positions in `shape` of the shared batch dimensions
  Dims own;    // the result's numbers of the batch dimensions that only this operand has
};
constexpr MatmulSide matmul_side(const Dims& own, const Dims& other, int matrix) {
  MatmulSide s;
  const int n = own.n - matrix, m = other.n - matrix, rank = n > m ? n : m;
  for (int k = 0; k < rank; ++k) {
    const int i = k - (rank - n), j = k - (rank - m);
    if (i < 0) continue;
    const bool there = j >= 0 && other[j] == own[i];
    if (!there && own[i] == 1 && j >= 0) continue;
    (there ? s.batch : s.own).push_back(there ? s.shape.n : k);
    s.shape.push_back(own.dim(i));
  }
  for (int i = n; i < own.n; ++i) s.shape.push_back(own.dim(i));
  return s;
}
// The product of stacks of matrices; `a` and `b` have at least two dimensions and batch dimensions that broadcast.
constexpr Val matmul_stacks(Val a, Val b) {
  const Dims da = type_of(a).dims, db = type_of(b).dims;
  const int rank = (da.n > db.n ? da.n : db.n) - 2;
  const MatmulSide l = matmul_side(da, db, 2), r = matmul_side(db, da, 2);
  DotDims d;
  d.lhs_batch = l.batch;
  d.rhs_batch = r.batch;
  d.lhs_contract = Dims{l.shape.n - 1};
  d.rhs_contract = Dims{r.shape.n - 2};
  Val y = dot_general(reshape(a, l.shape), reshape(b, r.shape), d);  // shared, own of a, rows, own of b, columns
  Dims order;                                                        // dimension of the result -> dimension of y
  int shared = 0, left = l.batch.n, right = l.batch.n + l.own.n + 1;
  for (int k = 0; k < rank; ++k) order.push_back(l.own.contains(k) ? left++ : r.own.contains(k) ? right++ : shared++);
  order.push_back(left);
  order.push_back(right);
  return permuted(y, order);
}
constexpr Val matmul_val(Val a, Val b, std::string_view who, Loc loc) {
  const Type ta = type_of(a), tb = type_of(b);
  check_product(ta, tb, who, loc);
  if (ta.rank() == 0 || tb.rank() == 0)
    fail(ErrorCode::shape, message(who, ta.rank() ? tb : ta, "is a scalar; multiply by it with *"), loc);
  need_same_size(ta, ta.rank() - 1, tb, tb.rank() == 1 ? 0 : tb.rank() - 2, who, loc);
  const bool row = ta.rank() == 1, column = tb.rank() == 1;
  if (row || column) {  // a vector has no batch: contract, and nothing moves
    DotDims d;
    d.lhs_contract = Dims{ta.rank() - 1};
    d.rhs_contract = Dims{column ? 0 : tb.rank() - 2};
    return dot_general(a, b, d);
  }
  Dims batch_a = ta.dims, batch_b = tb.dims;
  batch_a.n -= 2;
  batch_b.n -= 2;
  broadcast_dims(batch_a, batch_b, who, loc);  // an Error, if they do not
  return matmul_stacks(a, b);
}
constexpr Val contract(Val a, const Dims& axes_a, Val b, const Dims& axes_b, std::string_view who, Loc loc) {
  const Type ta = type_of(a), tb = type_of(b);
  check_product(ta, tb, who, loc);
  for (int i = 0; i < axes_a.n; ++i) need_same_size(ta, int(axes_a[i]), tb, int(axes_b[i]), who, loc);
  DotDims d;
  d.lhs_contract = axes_a;
  d.rhs_contract = axes_b;
  return dot_general(a, b, d);
}
constexpr Val dot_val(Val a, Val b, Loc loc) {
  const int m = type_of(a).rank(), n = type_of(b).rank();
  if (m == 0 || n == 0) {
    check_product(type_of(a), type_of(b), "np::dot", loc);
    return broadcast_to(a, type_of(m ? a : b).dims) * broadcast_to(b, type_of(m ? a : b).dims);
  }
  return contract(a, Dims{m - 1}, b, Dims{n == 1 ? 0 : n - 2}, "np::dot", loc);
}
constexpr Val tensordot_val(Val a, const Axes& axes_a, Val b, const Axes& axes_b, Loc loc) {
  const Type ta = type_of(a), tb = type_of(b);
  const Dims i = axis_list(axes_a.list, ta.rank(), ta, "np::tensordot", loc),
             j = axis_list(axes_b.list, tb.rank(), tb, "np::tensordot", loc);
  if (i.n != j.n || axes_a.all || axes_b.all)
    fail(ErrorCode::shape, "np::tensordot: takes as many axes of the first operand as of the second", loc);
  return contract(a, i, b, j, "np::tensordot", loc);
}
}  // namespace detail

namespace numpy {

// The matrix product by NumPy's rules: vectors are rows or columns, dimensions before the last two are batches that
// broadcast. Errors: a scalar, sizes that do not fit (shape); dtypes that differ, bool (dtype).
constexpr Array matmul(Array::Op a, Array::Op b) {
  return detail::record_binary(a, b, [&](Val x, Val y) { return detail::matmul_val(x, y, "np::matmul", a.loc); });
}
// The sum over the last axis of a and the last but one (or only) of b; a scalar multiplies. Errors as matmul.
constexpr Array dot(Array::Op a, Array::Op b) {
  return detail::record_binary(a, b, [&](Val x, Val y) { return detail::dot_val(x, y, a.loc); });
}
// The sum of products over pairs of axes: tensordot(a, b, {1, 0}, {0, 1}). The result has the other axes of a, then of
// b. Errors: axes that do not exist, or whose sizes or numbers differ (shape).
constexpr Array tensordot(Array::Op a, Array::Op b, const detail::Axes& axes_a, const detail::Axes& axes_b) {
  return detail::record_binary(a, b, [&](Val x, Val y) { return detail::tensordot_val(x, axes_a, y, axes_b, a.loc); });
}
// The same over the last n axes of a and the first n of b.
constexpr Array tensordot(Array::Op a, Array::Op b, int n = 2) {
  return detail::record_binary(a, b, [&](Val x, Val y) {
    detail::Axes i = std::initializer_list<std::int64_t>{}, j = i;
    for (int k = 0; k < n; ++k) i.list.push_back(std::int64_t(k - n)), j.list.push_back(k);
    return detail::tensordot_val(x, i, y, j, a.loc);
  });
}
// The products of all elements of a with all of b, as [elements of a, elements of b].
constexpr Array outer(Array::Op a, Array::Op b) {
  return detail::record_binary(a, b, [&](Val x, Val y) {
    detail::check_product(type_of(x), type_of(y), "np::outer", a.loc);
    detail::need_sizes(type_of(x), "np::outer", a.loc);
    detail::need_sizes(type_of(y), "np::outer", b.loc);
    const Dims shape{numel(type_of(x)), numel(type_of(y))};
    return broadcast_in_dim(fx::reshape(x, Dims{shape[0]}), shape, Dims{0}) *
           broadcast_in_dim(fx::reshape(y, Dims{shape[1]}), shape, Dims{1});
  });
}

}  // namespace numpy
}  // namespace fx::inline v0
