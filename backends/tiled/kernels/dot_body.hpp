// kernels/dot_body.hpp -- the matrix product by blocks: what is packed, in which order blocks are taken.
//
// For each block of k: a block of a's rows is packed in panels as high as a tile, then each strip of b, as wide as a
// tile, is packed into the first-level cache and meets all panels. Small operands are read where they lie. Results wait
// in c between blocks of k, so that their chains go on where they stopped.
#pragma once
#include <cstring>

#include "copy.hpp"
#include "dot.hpp"
#include "dot_loops.hpp"
#include "vector_ops.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

// `count` lines, `step` elements apart, of `depth` elements, `along` apart: laid beside each other, and zeros up to
// `width`.
template <class U>
void pack_lines(char* to_, const char* from_, std::int64_t step, std::int64_t along, std::int64_t count,
                std::int64_t width, std::int64_t depth) {
  using T = alias_of<U>;
  T* to = reinterpret_cast<T*>(to_);
  const T* from = reinterpret_cast<const T*>(from_);
  if (count < width) std::memset(to_, 0, std::size_t(width * depth) * sizeof(T));
  if (step == 1) {
    for (std::int64_t p = 0; p < depth; ++p, to += width, from += along)
      std::memcpy(to, from, std::size_t(count) * sizeof(T));
    return;
  }
  constexpr std::int64_t some = 16;  // elements of a line at a time: the lines' pieces fit the first-level cache
  for (std::int64_t p = 0; p < depth; p += some, to += some * width, from += some * along) {
    const std::int64_t here = depth - p < some ? depth - p : some;
    for (std::int64_t l = 0; l < count; ++l) {
      FX_AS_WRITTEN
      for (std::int64_t q = 0; q < here; ++q) to[q * width + l] = from[l * step + q * along];
    }
  }
}

struct DotBlocks {
  DotLoops loops;
  std::int64_t size, depth, rows;          // bytes of an element; a block's extent in k and in m
  std::int64_t panels_at, tile_at, bytes;  // workspace: the strip of b, a's panels, a tile of c

  // For products of at most m rows and k terms.
  DotBlocks(DType d, std::int64_t m, std::int64_t k) : loops(dot_loops(d, level())), size(size_of(d)) {
    constexpr std::int64_t second_cache = 320 * 1024;  // of which a's panels take this much
    depth = k < loops.depth ? k : loops.depth;
    const std::int64_t fit = second_cache / (loops.depth * size) / loops.rows * loops.rows;
    const std::int64_t all = (m + loops.rows - 1) / loops.rows * loops.rows;
    rows = all < fit ? all : fit;
    panels_at = align(depth * loops.cols * size);
    tile_at = panels_at + align(rows * depth * size);
    bytes = tile_at + align(loops.rows * loops.cols * size);
  }
  static std::int64_t align(std::int64_t n) { return (n + 63) / 64 * 64; }
  void pack(char* to, const char* from, std::int64_t step, std::int64_t along, std::int64_t count, std::int64_t width,
            std::int64_t deep) const {
    if (size == 4)
      pack_lines<std::uint32_t>(to, from, step, along, count, width, deep);
    else
      pack_lines<std::uint64_t>(to, from, step, along, count, width, deep);
  }
  void copy(char* to, std::int64_t to_row, const char* from, std::int64_t from_row, std::int64_t m,
            std::int64_t n) const {
    for (std::int64_t i = 0; i < m; ++i)
      std::memcpy(to + i * to_row * size, from + i * from_row * size, std::size_t(n * size));
  }
};

// One product under way.
struct DotRun {
  const DotBlocks& by;
  const DotShape& s;
  const char *a, *b;
  char *c, *work;
  bool a_in_place, b_in_place;  // small enough to be read where it lies

  const char* a_at(std::int64_t i, std::int64_t p) const { return a + (i * s.a_row + p * s.a_col) * by.size; }
  const char* b_at(std::int64_t p, std::int64_t j) const { return b + (p * s.b_row + j * s.b_col) * by.size; }
  char* c_at(std::int64_t i, std::int64_t j) const { return c + (i * s.c_row + j) * by.size; }
  char* panel(std::int64_t i, std::int64_t depth) const { return work + by.panels_at + i * depth * by.size; }

  // A strip of b against all panels of a block. Gives its width.
  std::int64_t strip(std::int64_t i0, std::int64_t rows, std::int64_t p, std::int64_t depth, std::int64_t j) const {
    const DotLoops& l = by.loops;
    const bool first = p == 0 && !s.resume;
    const bool narrow = s.n - j < l.cols;
    const code::Tile tile = narrow ? l.narrow_tile : l.tile;
    const std::int64_t mr = l.rows, nr = narrow ? l.narrow_cols : l.cols, cols = s.n - j < nr ? s.n - j : nr;
    const bool in_place = b_in_place && cols == nr;
    const char* x = in_place ? b_at(p, j) : work;
    const std::int64_t x_row = in_place ? s.b_row : nr;
    if (!in_place) by.pack(work, b_at(p, j), s.b_col, s.b_row, cols, nr, depth);
    for (std::int64_t i = 0; i < rows; i += mr) {
      const std::int64_t here = rows - i < mr ? rows - i : mr;
      const bool direct = a_in_place && here == mr;
      const char* y = direct ? a_at(i0 + i, p) : panel(i, depth);
      const std::int64_t y_row = direct ? s.a_row : 1, y_col = direct ? s.a_col : mr;
      char* to = c_at(i0 + i, j);
      if (here == mr && cols == nr) {
        tile(y, y_row, y_col, x, x_row, to, s.c_row, depth, first);
      } else {  // c holds a part of the tile
        char* t = work + by.tile_at;
        if (!first) by.copy(t, nr, to, s.c_row, here, cols);
        tile(y, y_row, y_col, x, x_row, t, nr, depth, first);
        by.copy(to, s.c_row, t, nr, here, cols);
      }
    }
    return nr;
  }
  void pack_panels(std::int64_t i0, std::int64_t rows, std::int64_t p, std::int64_t depth) const {
    for (std::int64_t i = 0; i < rows; i += by.loops.rows) {
      const std::int64_t here = rows - i < by.loops.rows ? rows - i : by.loops.rows;
      if (a_in_place && here == by.loops.rows) continue;
      by.pack(panel(i, depth), a_at(i0 + i, p), s.a_row, s.a_col, here, by.loops.rows, depth);
    }
  }

  void run() const {
    for (std::int64_t p = 0; p < s.k; p += by.depth) {
      const std::int64_t depth = s.k - p < by.depth ? s.k - p : by.depth;
      for (std::int64_t i = 0; i < s.m; i += by.rows) {
        const std::int64_t rows = s.m - i < by.rows ? s.m - i : by.rows;
        pack_panels(i, rows, p, depth);
        for (std::int64_t j = 0; j < s.n;) j += strip(i, rows, p, depth, j);
      }
    }
  }
};

FX_INLINE void clear_rows(const DotShape& s, char* c, int size) {
  if (s.c_row == s.n || s.m == 1) return fill(c, 0, s.m * s.n, size);
  for (std::int64_t i = 0; i < s.m; ++i) fill(c + i * s.c_row * size, 0, s.n, size);
}

// Products with few rows or columns, which packing would only slow down.
FX_INLINE bool is_skinny(const DotShape& s) { return (s.m <= 4 && s.b_col == 1) || s.n == 1 || s.m == 1; }
// Adds such a product to c.
FX_INLINE void skinny_dot(const DotLoops& l, const DotShape& s, const char* a, const char* b, char* c) {
  if (s.m <= 4 && s.b_col == 1) {
    few_rows(l, a, s.a_row, s.a_col, b, s.b_row, c, s.c_row, s.m, s.n, s.k);
  } else if (s.n == 1 && s.a_row == 1 && s.c_row == 1) {  // the transposed product has one row
    few_rows(l, b, 0, s.b_row, a, s.a_col, c, 0, 1, s.m, s.k);
  } else if (s.n == 1) {
    column(l, a, s.a_row, s.a_col, b, s.b_row, c, s.c_row, s.m, s.k);
  } else {
    column(l, b, s.b_col, s.b_row, a, s.a_col, c, 1, s.n, s.k);
  }
}
}  // namespace kernels

FX_INLINE std::int64_t dot_workspace(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  (void)n;
  return kernels::DotBlocks(dtype, m, k).bytes;
}

FX_INLINE void dot(DType dtype, const DotShape& s, const void* a_, const void* b_, void* c_, void* workspace) {
  const char *a = static_cast<const char*>(a_), *b = static_cast<const char*>(b_);
  char* c = static_cast<char*>(c_);
  if (s.m == 0 || s.n == 0) return;
  const bool skinny = kernels::is_skinny(s);
  if ((s.k == 0 || skinny) && !s.resume) kernels::clear_rows(s, c, size_of(dtype));
  if (s.k == 0) return;
  const kernels::DotBlocks by(dtype, s.m, s.k);
  if (skinny) return kernels::skinny_dot(by.loops, s, a, b, c);
  // Packing pays when what is packed is used several times, and does not lie in the cache as it is.
  constexpr std::int64_t small = 64 * 1024;  // bytes
  const bool a_in_place = s.n <= 2 * by.loops.narrow_cols || s.m * s.k * by.size <= small;
  const bool b_in_place = s.b_col == 1 && (s.m <= 3 * by.loops.rows || s.n * s.k * by.size <= small);
  kernels::DotRun{by, s, a, b, c, static_cast<char*>(workspace), a_in_place, b_in_place}.run();
}

}  // namespace fx::inline v0::tiled
#endif
