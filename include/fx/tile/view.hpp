// tile/view.hpp -- View: a value that lies in another one's memory, found there by strides; and views of views.
#pragma once
#include "../prim.hpp"

namespace fx::inline v0::tile {

// Element i of a value of shape `dims` is element `offset + sum of stride[d] * i[d]` of `base`, a value stored densely.
struct View {
  int base = -1;
  std::int64_t offset = 0;
  Dims dims, stride;
  // The elements lie one after the other: from `offset` on, it is a dense array.
  bool is_dense() const;
};

// All of a value stored densely.
View whole(int base, const Dims& dims);
// The view of v that a layout equation makes which copies one box onto its whole result: element i of the result is
// element `offset + sum of stride[d] * i[d]` of v in row-major order. False: no strides say so; v must be stored first.
bool compose(const View& v, const Dims& dims, const Dims& stride, std::int64_t offset, View& result);
// The same from the equation; false also if it is no view.
bool compose(const View& v, const Graph& g, const Eqn& e, View& result);

#if FX_BODIES
FX_INLINE bool View::is_dense() const {
  std::int64_t next = 1;
  for (int d = dims.n - 1; d >= 0; --d) {
    if (dims[d] == 0) return true;
    if (dims[d] > 1 && stride[d] != next) return false;
    next *= dims[d];
  }
  return true;
}

FX_INLINE View whole(int base, const Dims& dims) { return {base, 0, dims, strides_of(dims)}; }

namespace detail {
// The dimensions of a view as digits of a row-major number: size, weight in that number, stride in memory. Neighbours
// that memory does not tell apart are one digit.
struct Digits {
  int n = 0;
  std::int64_t size[max_rank], weight[max_rank], stride[max_rank], low[max_rank], high[max_rank];
};
FX_INLINE Digits digits_of(const View& v) {
  Digits g;
  for (int d = 0; d < v.dims.n; ++d) {
    if (v.dims[d] == 1) continue;
    if (g.n > 0 && g.stride[g.n - 1] == v.dims[d] * v.stride[d]) {
      g.size[g.n - 1] *= v.dims[d];
      g.stride[g.n - 1] = v.stride[d];
    } else {
      g.size[g.n] = v.dims[d];
      g.stride[g.n++] = v.stride[d];
    }
  }
  std::int64_t weight = 1;
  for (int j = g.n - 1; j >= 0; --j) {
    g.weight[j] = weight;
    weight *= g.size[j];
  }
  return g;
}
}  // namespace detail

FX_INLINE bool compose(const View& v, const Dims& dims, const Dims& stride, std::int64_t offset, View& result) {
  result = {v.base, v.offset, dims, Dims(dims.n, 0)};
  if (numel(dims) == 0) return true;
  detail::Digits g = detail::digits_of(v);
  for (int j = 0; j < g.n; ++j) {
    g.low[j] = g.high[j] = offset / g.weight[j];
    offset %= g.weight[j];
    result.offset += g.low[j] * g.stride[j];
  }
  // Each result dimension must move within one digit, without carry: then the digits are found by strides.
  for (int i = 0; i < dims.n; ++i) {
    if (dims[i] == 1 || stride[i] == 0) continue;
    const std::int64_t size = stride[i] < 0 ? -stride[i] : stride[i];
    int j = 0;
    while (j < g.n && g.weight[j] > size) ++j;
    if (j == g.n || size % g.weight[j] != 0) return false;
    const std::int64_t step = stride[i] / g.weight[j], reach = step * (dims[i] - 1);
    (reach < 0 ? g.low[j] : g.high[j]) += reach;
    result.stride[i] = step * g.stride[j];
  }
  for (int j = 0; j < g.n; ++j)
    if (g.low[j] < 0 || g.high[j] >= g.size[j]) return false;
  return true;
}

FX_INLINE bool compose(const View& v, const Graph& g, const Eqn& e, View& result) {
  if (e.prim->kind != Kind::layout || !e.prim->pieces || e.n_out != 1) return false;
  LayoutCtx c{g, e};
  e.prim->pieces(c);
  if (c.pieces.size() != 1 || c.fill >= 0 || c.pieces[0].operand != 0) return false;
  const Piece& p = c.pieces[0];
  const Dims& dims = c.out_type().dims;
  if (p.out_offset != 0) return false;
  if (p.size == dims && p.out_stride == strides_of(dims)) return compose(v, dims, p.in_stride, p.in_offset, result);
  // One run of all elements: another shape of the same numbers.
  const Dims all{numel(dims)}, one{1};
  if (p.size == all && p.in_stride == one && p.out_stride == one)
    return compose(v, dims, strides_of(dims), p.in_offset, result);
  return false;
}
#endif

}  // namespace fx::inline v0::tile
