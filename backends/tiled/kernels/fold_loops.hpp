// kernels/fold_loops.hpp -- the loops of the known folds: chains side by side, the end of a block of lanes, one chain.
#pragma once
#include <fx/ops/layout.hpp>

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
FX_AVX2 void columns_wide(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  columns_loop<F, T, 32>(acc, x, rows, cols, stride);
}
// A wide version costs users compile time: for the common folds only.
template <class F, class T>
FoldLoops fold_loops(Level l) {
  constexpr bool common = !std::is_same_v<F, fold::Prod> && (std::is_floating_point_v<T> || sizeof(T) == 4);
  FoldLoops r{&columns_plain<F, T>, &close_loop<F, T>, &chain_loop<F, T>};
  if constexpr (common)
    if (l != Level::baseline) r.columns = &columns_wide<F, T>;
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
