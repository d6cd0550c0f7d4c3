// kernels/dot_loops.hpp -- the innermost loops of a matrix product: a tile of results, pieces of a row, of a column.
//
// Machine code where it can be made (code/tile.hpp, code/skinny.hpp), else the loops here, with the same bits.
// Every multiply-add is __builtin_fma, lane by lane on vectors; compilers make one instruction of the lanes. Without
// the instruction (x86-64 before 2013) it is a call of the C library: slow, and the same bits.
#pragma once
#include <cstring>
#include <fx/type.hpp>

#include "dot_types.hpp"
#include "fold_ops.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

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

template <class T, int bytes, int MR, int NV>
void plain_tile(const void* a, std::int64_t a_row, std::int64_t a_col, const void* b, std::int64_t b_row, void* c,
                std::int64_t c_row, std::int64_t k, bool first) {
  tile_loop<T, bytes, MR, NV>(a, a_row, a_col, b, b_row, c, c_row, k, first);
}
template <class T, int some>
void plain_row_piece(const void* x_, const void* b_, std::int64_t b_row, void* c_, std::int64_t n) {
  const T *x = static_cast<const T*>(x_), *b = static_cast<const T*>(b_);
  T* c = static_cast<T*>(c_);
  for (std::int64_t j = 0; j < n; ++j)
    for (int p = 0; p < some; ++p) multiply_add(c[j], x[p], b[p * b_row + j]);
}
// One row.
template <class T>
void plain_column_piece(const void* a_, std::int64_t, std::int64_t a_col, const void* b_, std::int64_t b_row, void* c_,
                        std::int64_t, std::int64_t k) {
  const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
  T acc = *static_cast<T*>(c_);
  for (; k > 0; --k, a += a_col, b += b_row) multiply_add(acc, *a, *b);
  *static_cast<T*>(c_) = acc;
}

template <class T>
DotLoops plain_loops() {
  constexpr int bytes = 16, rows = 4, vectors = 2, cols = vectors * bytes / int(sizeof(T)), strip = 16384;
  DotLoops r;
  r.size = sizeof(T);
  r.rows = rows;
  r.cols = r.narrow_cols = cols;
  r.depth = strip / (cols * int(sizeof(T)));
  r.tile = r.narrow_tile = &plain_tile<T, bytes, rows, vectors>;
  r.row = &plain_row_piece<T, code::row_terms>;
  r.row_of_one = &plain_row_piece<T, 1>;
  r.column_rows = 1;
  r.column[0] = &plain_column_piece<T>;
  return r;
}

// The same in machine code: wide tiles, and one vector for the last columns. `r` where none can be made.
FX_INLINE DotLoops machine_loops(DotLoops r, DType d, Level l) {
  const int lanes = code::vector_bytes(l) / size_of(d);
  if (!code::tile(d, l, 1, 1)) return r;
  const std::int64_t strip = l == Level::avx512 ? 32768 : 16384;  // bytes
  r.rows = code::tile_rows(l);
  r.cols = code::tile_vectors * lanes;
  r.narrow_cols = lanes;
  r.depth = strip / (r.cols * size_of(d));
  for (int rows = 1; rows <= r.rows; ++rows) {
    r.last[rows - 1] = code::tile(d, l, rows, code::tile_vectors);
    r.narrow_last[rows - 1] = code::tile(d, l, rows, 1);
  }
  r.tile = r.last[r.rows - 1];
  r.narrow_tile = r.narrow_last[r.rows - 1];
  r.row = code::row_piece(d, l, code::row_terms);
  r.row_of_one = code::row_piece(d, l, 1);
  r.column_rows = code::column_rows;
  for (int rows = 1; rows <= r.column_rows; ++rows) r.column[rows - 1] = code::column_piece(d, l, rows);
  return r;
}
}  // namespace kernels

FX_INLINE DotLoops dot_loops(DType d, Level l) {
  using namespace kernels;
  if (is_integer(d)) return size_of(d) == 4 ? plain_loops<std::uint32_t>() : plain_loops<std::uint64_t>();
  return machine_loops(d == f32 ? plain_loops<float>() : plain_loops<double>(), d, l);
}

namespace kernels {
// c[i * c_row + j] += sum of a[i * a_row + p * a_col] * b[p * b_row + j]: b is read once from memory, and its rows at
// hand once for each row of a from the cache.
FX_INLINE void few_rows(const DotLoops& l, const char* a, std::int64_t a_row, std::int64_t a_col, const char* b,
                        std::int64_t b_row, char* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                        std::int64_t k) {
  constexpr int some = code::row_terms;
  for (std::int64_t p = 0; p < k;) {
    const bool one = k - p < some;
    for (std::int64_t i = 0; i < m; ++i) {
      const char* from = a + (i * a_row + p * a_col) * l.size;
      alignas(8) char x[8 * some];
      for (int q = 0; q < (one ? 1 : some); ++q)
        std::memcpy(x + q * l.size, from + q * a_col * l.size, std::size_t(l.size));
      (one ? l.row_of_one : l.row)(x, b + p * b_row * l.size, b_row, c + i * c_row * l.size, n);
    }
    p += one ? 1 : some;
  }
}
// c[i * c_row] += sum of a[i * a_row + p * a_col] * b[p * b_row]: the rows in pieces of about one size.
FX_INLINE void column(const DotLoops& l, const char* a, std::int64_t a_row, std::int64_t a_col, const char* b,
                      std::int64_t b_row, char* c, std::int64_t c_row, std::int64_t m, std::int64_t k) {
  const std::int64_t pieces = (m + l.column_rows - 1) / l.column_rows;
  std::int64_t i = 0;
  for (std::int64_t piece = pieces; piece > 0; --piece) {
    const std::int64_t rows = (m - i + piece - 1) / piece;
    l.column[rows - 1](a + i * a_row * l.size, a_row, a_col, b, b_row, c + i * c_row * l.size, c_row, k);
    i += rows;
  }
}

}  // namespace kernels
}  // namespace fx::inline v0::tiled
#endif
