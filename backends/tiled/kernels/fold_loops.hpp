// kernels/fold_loops.hpp -- the loops of the known folds along rows (lanes) and columns (chains), and of running folds.
#pragma once
#include <cstring>

#include <fx/ops/layout.hpp>

#include "fold.hpp"
#include "fold_ops.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// bool elements are bytes.
template <class T> using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
template <class T> constexpr int lanes_of = reduce_lanes(sizeof(T) == 4 ? DType::f32 : DType::f64);

// The state of one row: what the blocks before gave, and the lanes of the block at hand.
template <class T>
struct RowState {
  T total, identity;
  alignas(64) T lane[lanes_of<T>];
};

// acc[c] = F(acc[c], x[c], next row's x[c], ...) for one piece of X.
template <class F, class T, class X>
FX_LOOP void fold_column(T* acc, const T* x, std::int64_t rows, std::int64_t stride) {
  X a = *reinterpret_cast<const X*>(acc);
  for (std::int64_t i = 0; i < rows; ++i) {
    const X b = *reinterpret_cast<const X*>(x + i * stride);
    F::template run<T, X>(a, b);
  }
  *reinterpret_cast<X*>(acc) = a;
}
// Four vectors side by side, to hide the latency of one chain.
template <class F, class T, int bytes>
FX_LOOP void fold_columns4(T* acc, const T* x, std::int64_t rows, std::int64_t stride) {
  using V = typename Lanes<T, bytes>::type;
  using P = typename Lanes<T, bytes>::loose;
  constexpr int w = bytes / int(sizeof(T));
  P* to = reinterpret_cast<P*>(acc);
  V a0 = to[0], a1 = to[1], a2 = to[2], a3 = to[3];
  for (std::int64_t i = 0; i < rows; ++i, x += stride) {
    const V b0 = *reinterpret_cast<const P*>(x), b1 = *reinterpret_cast<const P*>(x + w),
            b2 = *reinterpret_cast<const P*>(x + 2 * w), b3 = *reinterpret_cast<const P*>(x + 3 * w);
    F::template run<T, V>(a0, b0);
    F::template run<T, V>(a1, b1);
    F::template run<T, V>(a2, b2);
    F::template run<T, V>(a3, b3);
  }
  to[0] = a0, to[1] = a1, to[2] = a2, to[3] = a3;
}

// Some rows at a time, so that the rows in use stay in the cache and the address translation while columns go by.
template <class F, class T, int bytes>
FX_LOOP void columns_loop(void* out, const void* in, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  constexpr std::int64_t w = bytes / std::int64_t(sizeof(T)), some = 16;
  T* acc = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in);
  for (std::int64_t i = 0; i < rows; i += some, x += some * stride) {
    const std::int64_t here = rows - i < some ? rows - i : some;
    std::int64_t c = 0;
    for (; c + 4 * w <= cols; c += 4 * w) fold_columns4<F, T, bytes>(acc + c, x + c, here, stride);
    for (; c + w <= cols; c += w) fold_column<F, T, typename Lanes<T, bytes>::loose>(acc + c, x + c, here, stride);
    for (; c < cols; ++c) fold_column<F, T, T>(acc + c, x + c, here, stride);
  }
}

// Folds the upper half of the lanes onto the lower one, and so on; the last lane onto the total.
template <class F, class T>
void close_loop(void* state) {
  RowState<T>& s = *static_cast<RowState<T>*>(state);
  for (int half = lanes_of<T> / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) F::template run<T, T>(s.lane[l], s.lane[l + half]);
  F::template run<T, T>(s.total, s.lane[0]);
  for (T& l : s.lane) l = s.identity;
}

// Whole rounds of all lanes: the columns of a matrix as wide as the lanes.
template <class F, class T, int bytes>
FX_LOOP void rounds_loop(T* lane, const T* x, std::int64_t rounds) {
  constexpr int lanes = lanes_of<T>, size = int(sizeof(T)), width = size * lanes < bytes ? 16 : bytes, w = width / size;
  int l = 0;
  for (; l + 4 * w <= lanes; l += 4 * w) fold_columns4<F, T, width>(lane + l, x + l, rounds, lanes);
  for (; l + w <= lanes; l += w) fold_column<F, T, typename Lanes<T, width>::loose>(lane + l, x + l, rounds, lanes);
}

template <class F, class T, int bytes>
FX_LOOP void row_loop(void* state, const void* in, std::int64_t first, std::int64_t count) {
  constexpr std::int64_t lanes = lanes_of<T>;
  T* lane = static_cast<RowState<T>*>(state)->lane;
  const T* x = static_cast<const T*>(in);
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t block_end = (first / reduce_block + 1) * reduce_block, stop = block_end < end ? block_end : end;
    for (; first < stop && first % lanes; ++first) F::template run<T, T>(lane[first % lanes], *x++);
    const std::int64_t rounds = (stop - first) / lanes;
    if (rounds) rounds_loop<F, T, bytes>(lane, x, rounds);
    first += rounds * lanes, x += rounds * lanes;
    for (; first < stop; ++first) F::template run<T, T>(lane[first % lanes], *x++);
    if (stop == block_end) close_loop<F, T>(state);
  }
}

template <class F, class T>
void next_loop(void* out, const void* before, const void* in, std::int64_t n) {
  using V = typename Lanes<T, 16>::loose;
  constexpr std::int64_t w = 16 / std::int64_t(sizeof(T));
  T* o = static_cast<T*>(out);
  const T *a = static_cast<const T*>(before), *b = static_cast<const T*>(in);
  std::int64_t i = 0;
  for (; i + w <= n; i += w) {
    V v = *reinterpret_cast<const V*>(a + i);
    const V x = *reinterpret_cast<const V*>(b + i);
    F::template run<T, V>(v, x);
    *reinterpret_cast<V*>(o + i) = v;
  }
  for (; i < n; ++i) {
    T v = a[i];
    F::template run<T, T>(v, b[i]);
    o[i] = v;
  }
}

template <class F, class T>
void chain_loop(void* out, const void* in, std::int64_t n, std::int64_t step) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in);
  T a = *x;
  *o = a;
  for (std::int64_t i = 1; i < n; ++i) {
    F::template run<T, T>(a, x[i * step]);
    o[i * step] = a;
  }
}

template <class F, class T>
void columns_plain(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  columns_loop<F, T, 16>(acc, x, rows, cols, stride);
}
template <class F, class T>
FX_AVX2 void columns_wide(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  columns_loop<F, T, 32>(acc, x, rows, cols, stride);
}
template <class F, class T>
void row_plain(void* state, const void* x, std::int64_t first, std::int64_t count) {
  row_loop<F, T, 16>(state, x, first, count);
}
template <class F, class T>
FX_AVX2 void row_wide(void* state, const void* x, std::int64_t first, std::int64_t count) {
  row_loop<F, T, 32>(state, x, first, count);
}

// A wide version costs users compile time: for the common folds only.
template <class F, class T>
FoldLoops fold_loops(Level l) {
  constexpr bool common = !std::is_same_v<F, fold::Prod> && (std::is_floating_point_v<T> || sizeof(T) == 4);
  FoldLoops r{&columns_plain<F, T>, &row_plain<F, T>, &close_loop<F, T>, &next_loop<F, T>, &chain_loop<F, T>};
  if constexpr (common)
    if (l != Level::baseline) r.columns = &columns_wide<F, T>, r.row = &row_wide<F, T>;
  return r;
}

// Sums and products of integers wrap: in unsigned arithmetic.
template <class F>
FoldLoops wrapping_fold(DType d, Level l) {
  FoldLoops r;
  if (is_integer(d)) d = size_of(d) == 4 ? u32 : u64;
  fx::detail::with_type<only(u32) | only(u64) | only(f32) | only(f64)>(d, [&]<class T>() { r = fold_loops<F, T>(l); });
  return r;
}
template <class F>
FoldLoops extremum_fold(DType d, Level l) {
  FoldLoops r;
  fx::detail::with_type<computed>(d, [&]<class T>() { r = fold_loops<F, Stored<T>>(l); });
  return r;
}
FX_INLINE FoldLoops fold_loops_of(FoldOp op, DType d, Level l) {
  switch (op) {
    case FoldOp::sum: return wrapping_fold<fold::Sum>(d, l);
    case FoldOp::prod: return wrapping_fold<fold::Prod>(d, l);
    case FoldOp::max: return extremum_fold<fold::Max>(d, l);
    default: return extremum_fold<fold::Min>(d, l);
  }
}

}  // namespace fx::inline v0::tiled::kernels
#endif
