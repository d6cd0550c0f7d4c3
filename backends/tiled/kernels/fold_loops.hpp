// kernels/fold_loops.hpp -- the loops of the known folds: chains side by side, the end of a block of lanes, one chain.
#pragma once
#include <fx/ops/layout.hpp>

#include "../code/fold.hpp"
#include "fold_ops.hpp"
#include "fold_types.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// bool elements are bytes.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
template <class T>
constexpr int lanes_of = reduce_lanes(sizeof(T) == 4 ? DType::f32 : DType::f64);

// acc[c] = F(acc[c], x[c], next row's x[c], ...) for the elements c of one piece, Lanes or Single.
template <class F, class T, class Piece>
FX_LOOP void fold_column(T* acc, const T* x, std::int64_t rows, std::int64_t stride) {
  using X = typename Piece::type;
  using P = typename Piece::loose;
  X a = *reinterpret_cast<const P*>(acc);
  FX_AS_WRITTEN
  for (std::int64_t i = 0; i < rows; ++i) {
    const X b = *reinterpret_cast<const P*>(x + i * stride);
    F::template run<T, X>(a, b);
  }
  *reinterpret_cast<P*>(acc) = a;
}
// Four vectors side by side, to hide the latency of one chain.
template <class F, class T, int bytes>
FX_LOOP void fold_columns4(T* acc, const T* x, std::int64_t rows, std::int64_t stride) {
  using V = typename Lanes<T, bytes>::type;
  using P = typename Lanes<T, bytes>::loose;
  constexpr int w = bytes / int(sizeof(T));
  P* to = reinterpret_cast<P*>(acc);
  V a0 = to[0], a1 = to[1], a2 = to[2], a3 = to[3];
  FX_AS_WRITTEN
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
    for (; c + w <= cols; c += w) fold_column<F, T, Lanes<T, bytes>>(acc + c, x + c, here, stride);
    for (; c < cols; ++c) fold_column<F, T, Single<T>>(acc + c, x + c, here, stride);
  }
}

template <class F, class T>
void close_loop(void* total, void* lanes) {
  constexpr int w = 16 / int(sizeof(T));
  T* lane = static_cast<T*>(lanes);
  int half = lanes_of<T> / 2;
  for (; half >= w; half /= 2)
    for (int l = 0; l < half; l += w) fold_column<F, T, Lanes<T, 16>>(lane + l, lane + l + half, 1, 0);
  for (; half > 0; half /= 2) {
    FX_AS_WRITTEN
    for (int l = 0; l < half; ++l) F::template run<T, T>(lane[l], lane[l + half]);
  }
  F::template run<T, T>(*static_cast<T*>(total), *lane);
}

template <class F, class T>
void chain_loop(void* out, const void* in, std::int64_t n, std::int64_t step) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in);
  T a = *x;
  *o = a;
  FX_AS_WRITTEN
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
FoldLoops fold_loops() {
  FoldLoops r;
  r.columns = &columns_plain<F, T>;
  r.close = &close_loop<F, T>;
  r.chain = &chain_loop<F, T>;
  return r;
}

// Sums and products of integers wrap: in unsigned arithmetic.
template <class F>
FoldLoops wrapping_fold(DType d) {
  FoldLoops r;
  if (is_integer(d)) d = size_of(d) == 4 ? u32 : u64;
  fx::detail::with_type<only(u32) | only(u64) | only(f32) | only(f64)>(d, [&]<class T>() { r = fold_loops<F, T>(); });
  return r;
}
template <class F>
FoldLoops extremum_fold(DType d) {
  FoldLoops r;
  fx::detail::with_type<computed>(d, [&]<class T>() { r = fold_loops<F, Stored<T>>(); });
  return r;
}
FX_INLINE FoldLoops portable_fold(FoldOp op, DType d) {
  switch (op) {
    case FoldOp::sum: return wrapping_fold<fold::Sum>(d);
    case FoldOp::prod: return wrapping_fold<fold::Prod>(d);
    case FoldOp::max: return extremum_fold<fold::Max>(d);
    default: return extremum_fold<fold::Min>(d);
  }
}
FX_INLINE FoldLoops fold_loops_of(FoldOp op, DType d, Level l) {
  FoldLoops r = portable_fold(op, d);
  r.wide = code::fold_columns(op, d, l);
  r.whole_rows = code::fold_rows(op, d, l);
  r.running_columns = code::running_columns(op, d, l);
  r.running_lines = code::running_lines(op, d, l);
  r.lanes = (l == Level::avx512 ? 64 : 32) / size_of(d);
  return r;
}

// acc[c] = fold(acc[c], x[i * stride + c]) for i < rows in order, c < cols: some rows at a time, so that the rows in
// use stay in the cache and the address translation while columns go by.
FX_INLINE void fold_columns(const FoldLoops& l, int size, void* acc, const void* x, std::int64_t rows,
                            std::int64_t cols, std::int64_t stride) {
  const std::int64_t wide = l.wide ? cols / l.lanes * l.lanes : 0, some = cols > 256 ? 16 : rows;
  char* to = static_cast<char*>(acc);
  const char* from = static_cast<const char*>(x);
  for (std::int64_t i = 0; wide && i < rows; i += some)
    l.wide(to, from + i * stride * size, rows - i < some ? rows - i : some, wide, stride);
  if (wide < cols) l.columns(to + wide * size, from + wide * size, rows, cols - wide, stride);
}

}  // namespace fx::inline v0::tiled::kernels
#endif
