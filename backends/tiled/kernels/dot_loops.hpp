// kernels/dot_loops.hpp -- the innermost loops of a matrix product: a tile of results, a few rows, a column.
//
// Every multiply-add is __builtin_fma, lane by lane on vectors; compilers make one instruction of the lanes. Without
// the instruction (x86-64 before 2013) it is a call of the C library: slow, and the same bits.
#pragma once
#include <fx/type.hpp>

#include "../code/tile.hpp"
#include "fold_ops.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// acc += a * b, in one rounding; integers wrap.
FX_LOOP void multiply_add(float& acc, float a, float b) { acc = __builtin_fmaf(a, b, acc); }
FX_LOOP void multiply_add(double& acc, double a, double b) { acc = __builtin_fma(a, b, acc); }
FX_LOOP void multiply_add(std::uint32_t& acc, std::uint32_t a, std::uint32_t b) { acc += a * b; }
FX_LOOP void multiply_add(std::uint64_t& acc, std::uint64_t a, std::uint64_t b) { acc += a * b; }
template <class T, int bytes>
FX_LOOP void multiply_add(typename Lanes<T, bytes>::type& acc, T a, const typename Lanes<T, bytes>::type& b) {
  if constexpr (std::is_floating_point_v<T>) {
    typename Lanes<T, bytes>::type r = acc;
#pragma GCC unroll 16
    for (int l = 0; l < bytes / int(sizeof(T)); ++l) {
      T lane = r[l];
      multiply_add(lane, a, b[l]);
      r[l] = lane;
    }
    acc = r;
  } else {
    acc = acc + b * a;
  }
}

// One tile: c[i, j] += sum of a[i * a_row + p * a_col] * b[p * b_row + j] for i < MR, j < NV vectors. `first`: from +0.
template <class T, int bytes, int MR, int NV>
FX_LOOP void tile_loop(const void* a_, std::int64_t a_row, std::int64_t a_col, const void* b_, std::int64_t b_row,
                       void* c_, std::int64_t c_row, std::int64_t k, bool first) {
  using V = typename Lanes<T, bytes>::type;
  using P = typename Lanes<T, bytes>::loose;
  constexpr int w = bytes / int(sizeof(T));
  const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
  T* c = static_cast<T*>(c_);
  V acc[MR][NV];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < NV; ++j) {
      if (first)
        acc[i][j] = V{};
      else
        acc[i][j] = *reinterpret_cast<const P*>(c + i * c_row + j * w);
    }
  for (; k > 0; --k, a += a_col, b += b_row) {
    V row[NV];
#pragma GCC unroll 16
    for (int j = 0; j < NV; ++j) row[j] = *reinterpret_cast<const P*>(b + j * w);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const T x = a[i * a_row];
#pragma GCC unroll 16
      for (int j = 0; j < NV; ++j) multiply_add<T, bytes>(acc[i][j], x, row[j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < NV; ++j) *reinterpret_cast<P*>(c + i * c_row + j * w) = acc[i][j];
}

// One row of results, some rows of b at a time: c[j] += a[p * a_col] * b[p * b_row + j] for p < some, in rising p.
template <class T, int bytes, int some>
FX_LOOP void row_piece(const T* a, std::int64_t a_col, const T* b, std::int64_t b_row, T* c, std::int64_t n) {
  using V = typename Lanes<T, bytes>::type;
  using P = typename Lanes<T, bytes>::loose;
  constexpr std::int64_t w = bytes / std::int64_t(sizeof(T));
  T x[some];
#pragma GCC unroll 16
  for (int p = 0; p < some; ++p) x[p] = a[p * a_col];
  std::int64_t j = 0;
  for (; j + w <= n; j += w) {
    V acc = *reinterpret_cast<const P*>(c + j);
#pragma GCC unroll 16
    for (int p = 0; p < some; ++p) {
      const V row = *reinterpret_cast<const P*>(b + p * b_row + j);
      multiply_add<T, bytes>(acc, x[p], row);
    }
    *reinterpret_cast<P*>(c + j) = acc;
  }
  FX_AS_WRITTEN
  for (; j < n; ++j)
    for (int p = 0; p < some; ++p) multiply_add(c[j], x[p], b[p * b_row + j]);
}
// A few rows: b is read once from memory, and its rows at hand once for each row of a from the cache.
template <class T, int bytes>
FX_LOOP void rows_loop(const void* a_, std::int64_t a_row, std::int64_t a_col, const void* b_, std::int64_t b_row,
                       void* c_, std::int64_t c_row, std::int64_t m, std::int64_t n, std::int64_t k) {
  const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
  T* c = static_cast<T*>(c_);
  std::int64_t p = 0;
  for (; p + 8 <= k; p += 8)
    for (std::int64_t i = 0; i < m; ++i)
      row_piece<T, bytes, 8>(a + i * a_row + p * a_col, a_col, b + p * b_row, b_row, c + i * c_row, n);
  for (; p < k; ++p)
    for (std::int64_t i = 0; i < m; ++i)
      row_piece<T, bytes, 1>(a + i * a_row + p * a_col, a_col, b + p * b_row, b_row, c + i * c_row, n);
}

// A column of results: eight chains at a time hide the latency of one. c[i * c_row] += sum of a[i * a_row + p * a_col]
// * b[p * b_row].
template <class T, int rows>
FX_LOOP void column_piece(const T* a, std::int64_t a_row, std::int64_t a_col, const T* b, std::int64_t b_row, T* c,
                          std::int64_t c_row, std::int64_t k) {
  T acc[rows];
  for (int i = 0; i < rows; ++i) acc[i] = c[i * c_row];
  for (; k > 0; --k, a += a_col, b += b_row) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) multiply_add(acc[i], a[i * a_row], *b);
  }
  for (int i = 0; i < rows; ++i) c[i * c_row] = acc[i];
}
template <class T>
FX_LOOP void column_loop(const void* a_, std::int64_t a_row, std::int64_t a_col, const void* b_, std::int64_t b_row,
                         void* c_, std::int64_t c_row, std::int64_t m, std::int64_t k) {
  const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
  T* c = static_cast<T*>(c_);
  for (; m >= 8; m -= 8, a += 8 * a_row, c += 8 * c_row) column_piece<T, 8>(a, a_row, a_col, b, b_row, c, c_row, k);
  for (; m > 0; --m, a += a_row, c += c_row) column_piece<T, 1>(a, a_row, a_col, b, b_row, c, c_row, k);
}

using TileLoop = code::Tile;
// The loops of one dtype and level, and the sizes they work in.
struct DotLoops {
  int rows = 0, cols = 0;  // of a tile
  std::int64_t depth = 0;  // of a strip of b that stays in the first-level cache
  TileLoop tile = nullptr;
  void (*few_rows)(const void* a, std::int64_t a_row, std::int64_t a_col, const void* b, std::int64_t b_row, void* c,
                   std::int64_t c_row, std::int64_t m, std::int64_t n, std::int64_t k) = nullptr;
  void (*column)(const void* a, std::int64_t a_row, std::int64_t a_col, const void* b, std::int64_t b_row, void* c,
                 std::int64_t c_row, std::int64_t m, std::int64_t k) = nullptr;
  int narrow_cols = 0;  // a tile of as many rows for what is left of the columns
  TileLoop narrow_tile = nullptr;
};

#define FX_DOT_LOOPS(version, attribute, bytes, MR, NV, strip)                                                       \
  template <class T>                                                                                                 \
  attribute void tile_##version(const void* a, std::int64_t ar, std::int64_t ac, const void* b, std::int64_t br,     \
                                void* c, std::int64_t cr, std::int64_t k, bool first) {                              \
    tile_loop<T, bytes, MR, NV>(a, ar, ac, b, br, c, cr, k, first);                                                  \
  }                                                                                                                  \
  template <class T>                                                                                                 \
  attribute void few_rows_##version(const void* a, std::int64_t ar, std::int64_t ac, const void* b, std::int64_t br, \
                                    void* c, std::int64_t cr, std::int64_t m, std::int64_t n, std::int64_t k) {      \
    rows_loop<T, bytes>(a, ar, ac, b, br, c, cr, m, n, k);                                                           \
  }                                                                                                                  \
  template <class T>                                                                                                 \
  attribute void column_##version(const void* a, std::int64_t ar, std::int64_t ac, const void* b, std::int64_t br,   \
                                  void* c, std::int64_t cr, std::int64_t m, std::int64_t k) {                        \
    column_loop<T>(a, ar, ac, b, br, c, cr, m, k);                                                                   \
  }                                                                                                                  \
  template <class T>                                                                                                 \
  DotLoops dot_##version() {                                                                                         \
    constexpr int cols = NV * bytes / int(sizeof(T));                                                                \
    return {MR,                                                                                                      \
            cols,                                                                                                    \
            strip / (cols * int(sizeof(T))),                                                                         \
            &tile_##version<T>,                                                                                      \
            &few_rows_##version<T>,                                                                                  \
            &column_##version<T>,                                                                                    \
            cols,                                                                                                    \
            &tile_##version<T>};                                                                                     \
  }
FX_DOT_LOOPS(plain, , 16, 4, 2, 16384)
FX_DOT_LOOPS(avx2, FX_AVX2, 32, 6, 2, 16384)
FX_DOT_LOOPS(avx512, FX_AVX512, 64, 6, 4, 32768)
#undef FX_DOT_LOOPS

// The same with tiles in machine code: wide ones, and one vector for the last columns.
FX_INLINE DotLoops with_machine_code(DotLoops r, DType d, Level l) {
  const int vectors = code::tile_vectors(l), lanes = code::vector_bytes(l) / size_of(d);
  if (!code::tile(d, l, vectors)) return r;
  const std::int64_t strip = l == Level::avx512 ? 32768 : 16384;  // bytes
  r.rows = code::tile_rows;
  r.cols = vectors * lanes;
  r.depth = strip / (r.cols * size_of(d));
  r.tile = code::tile(d, l, vectors);
  r.narrow_cols = lanes;
  r.narrow_tile = code::tile(d, l, 1);
  return r;
}
FX_INLINE DotLoops dot_loops(DType d, Level l) {
  if (is_integer(d)) return size_of(d) == 4 ? dot_plain<std::uint32_t>() : dot_plain<std::uint64_t>();
#if defined(__x86_64__)
  if (l == Level::avx512) return with_machine_code(d == f32 ? dot_avx512<float>() : dot_avx512<double>(), d, l);
  if (l == Level::avx2) return with_machine_code(d == f32 ? dot_avx2<float>() : dot_avx2<double>(), d, l);
#endif
  return d == f32 ? dot_plain<float>() : dot_plain<double>();
}

}  // namespace fx::inline v0::tiled::kernels
#endif
