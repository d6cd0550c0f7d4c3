// kernels/dot_body.hpp -- the matrix product by blocks: what is packed, in which order blocks are taken.
//
// For each block of k: b is packed in strips as wide as a tile, then block by block a's rows in panels as high as a
// tile; each strip, which the first-level cache holds, meets all panels of a block, which the second-level cache holds.
// Small operands are read where they lie. Results wait in c between blocks of k, so that their chains go on where they
// stopped. Where results go on to a DotFinish, b is packed for all of k first, and a block's results wait in the
// workspace until they are complete. What a DotSource makes is packed from where it was made.
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

// Strips of `bytes` in each of `depth` rows, which are read one after the other as far as pages allow: memory is
// fastest then. Strips are laid `apart` from each other.
template <int bytes>
void pack_rows(char* to, std::int64_t apart, const char* from, std::int64_t row, std::int64_t strips,
               std::int64_t depth) {
  constexpr std::int64_t most = 32;  // strips at a time: each has a page that is written
  for (; strips > 0; strips -= most, to += most * apart, from += most * bytes) {
    const std::int64_t some = strips < most ? strips : most;
    for (std::int64_t p = 0; p < depth; ++p)
      for (std::int64_t k = 0; k < some; ++k)
        std::memcpy(to + k * apart + p * bytes, from + p * row + k * bytes, bytes);
  }
}
// Whether there is a loop for that width.
FX_INLINE bool pack_rows(std::int64_t bytes, char* to, std::int64_t apart, const char* from, std::int64_t row,
                         std::int64_t strips, std::int64_t depth) {
  switch (bytes) {
    case 64: pack_rows<64>(to, apart, from, row, strips, depth); return true;
    case 128: pack_rows<128>(to, apart, from, row, strips, depth); return true;
    default: return false;
  }
}

struct DotBlocks {
  const DotLoops& loops;
  std::int64_t size, depth, rows, cols;  // bytes of an element; a block's extent in k, in m, in n
  std::int64_t span, pitch = 0;          // terms whose strips are packed together; columns of results that wait
  bool strip_by_strip = false;           // a strip's results are complete as soon as they are there
  std::int64_t strips_at, panels_at, tile_at, part_at, bytes;  // workspace: b's strips, a's panels, a tile, results

  // For products of at most m rows, n columns and k terms.
  DotBlocks(const DotLoops& l, std::int64_t m, std::int64_t n, std::int64_t k, bool finish) : loops(l), size(l.size) {
    constexpr std::int64_t second_cache = 320 * 1024;  // of which a's panels take this much
    constexpr std::int64_t widest = 2048;              // columns; b's strips of a block lie in the third-level cache
    const std::int64_t most_rows = second_cache / (loops.depth * size) / loops.rows * loops.rows;
    depth = least(k, loops.depth);
    rows = least(up(m, loops.rows), most_rows);
    cols = least(up(n, loops.cols), widest);
    span = depth;
    if (finish) {
      constexpr std::int64_t waiting = 1 << 20;  // bytes of results
      strip_by_strip = k <= depth;
      std::int64_t most = least(widest, widest * loops.depth / k);
      if (!strip_by_strip) most = least(most, waiting / (most_rows * size));
      cols = least(cols, most < loops.cols ? loops.cols : most / loops.cols * loops.cols);
      span = k;
      pitch = strip_by_strip ? loops.cols : cols;
    }
    strips_at = 0;
    panels_at = align(span * cols * size);
    tile_at = panels_at + align(rows * depth * size);
    part_at = tile_at + align(loops.rows * loops.cols * size);
    bytes = part_at + align(rows * pitch * size);
  }
  static std::int64_t align(std::int64_t n) { return (n + 63) / 64 * 64; }
  static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }
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
  const DotEnds& ends;

  // A block: rows i0 ..., columns j0 ... of the result, and terms p ... .
  struct Part {
    std::int64_t i0 = 0, rows = 0, j0 = 0, cols = 0, p = 0, depth = 0;
  };
  const char* a_at(std::int64_t i, std::int64_t p) const { return a + (i * s.a_row + p * s.a_col) * by.size; }
  const char* b_at(std::int64_t p, std::int64_t j) const { return b + (p * s.b_row + j * s.b_col) * by.size; }
  char* panel(std::int64_t i, std::int64_t depth) const { return work + by.panels_at + i * depth * by.size; }
  char* strip(const Part& t, std::int64_t j) const {
    return work + by.strips_at + (t.p % by.span * by.cols + j * t.depth) * by.size;
  }
  // Where the results of a block go, from its row i and column j on.
  char* to(const Part& t, std::int64_t i, std::int64_t j) const {
    if (!ends.c) return c + ((t.i0 + i) * s.c_row + t.j0 + j) * by.size;
    return work + by.part_at + (i * by.pitch + (by.strip_by_strip ? 0 : j)) * by.size;
  }

  // The width of the tile for the columns from j of a block on, and how many of its columns exist.
  int width(const Part& t, std::int64_t j) const {
    return t.cols - j < by.loops.cols ? by.loops.narrow_cols : by.loops.cols;
  }
  bool packed_strip(const Part& t, std::int64_t j) const { return !b_in_place || t.cols - j < width(t, j); }

  // Lines from `line` on, made in parts, which are packed. `place`(l, width): the panel or strip that starts at line l,
  // and how wide it is.
  template <class F>
  void pack_made(const DotSource& from, std::int64_t line, std::int64_t lines, std::int64_t unit, const Part& t,
                 F&& place) const {
    constexpr std::int64_t wide = 240;  // whole panels and strips, and whole turns of the body's loop
    const std::int64_t together = from.lines_beside ? wide / unit * unit : unit;
    for (std::int64_t l = 0; l < lines; l += together) {
      const std::int64_t here = by.least(lines - l, together), most = by.least(DotSource::staged / here, t.depth);
      for (std::int64_t q = 0; q < t.depth; q += most) {
        const std::int64_t terms = by.least(t.depth - q, most);
        const std::int64_t step = from.lines_beside ? 1 : terms, along = from.lines_beside ? here : 1;
        from.make(line + l, here, t.p + q, terms, from.stage, from.lines_beside ? here : terms);
        for (std::int64_t i = 0, width = 0; i < here; i += width) {
          char* const to = place(l + i, width);
          by.pack(to + q * width * by.size, from.stage + i * step * by.size, step, along, by.least(here - i, width),
                  width, terms);
        }
      }
    }
  }
  void make_strips(const Part& t) const {
    pack_made(*ends.b, t.j0, t.cols, by.loops.cols, t, [&](std::int64_t j, std::int64_t& wide) {
      wide = width(t, j);
      return strip(t, j);
    });
  }
  // Where terms are made beside each other, rows lie one after the other: tiles read those as well.
  bool by_rows() const { return ends.a && !ends.a->lines_beside; }
  void make_panels(const Part& t) const {
    if (!by_rows())
      return pack_made(*ends.a, t.i0, t.rows, by.loops.rows, t, [&](std::int64_t i, std::int64_t& wide) {
        wide = by.loops.rows;
        return panel(i, t.depth);
      });
    const std::int64_t more = by.up(t.rows, by.loops.rows) - t.rows;
    std::memset(panel(t.rows, t.depth), 0, std::size_t(more * t.depth * by.size));
    ends.a->make(t.i0, t.rows, t.p, t.depth, panel(0, t.depth), t.depth);
  }
  void pack_strips(const Part& t) const {
    if (ends.b) return make_strips(t);
    std::int64_t first = 0;  // that is packed one by one
    const std::int64_t wide = by.loops.cols * by.size, whole = t.cols / by.loops.cols;
    if (s.b_col == 1 && !b_in_place && whole > 0 &&
        pack_rows(wide, strip(t, 0), wide * t.depth, b_at(t.p, t.j0), s.b_row * by.size, whole, t.depth))
      first = whole * by.loops.cols;
    for (std::int64_t j = first; j < t.cols; j += width(t, j)) {
      const std::int64_t nr = width(t, j);
      if (packed_strip(t, j))
        by.pack(strip(t, j), b_at(t.p, t.j0 + j), s.b_col, s.b_row, by.least(t.cols - j, nr), nr, t.depth);
    }
  }
  void pack_panels(const Part& t) const {
    if (ends.a) return make_panels(t);
    for (std::int64_t i = 0; i < t.rows; i += by.loops.rows) {
      const std::int64_t here = by.least(t.rows - i, by.loops.rows);
      if (a_in_place && here == by.loops.rows) continue;
      by.pack(panel(i, t.depth), a_at(t.i0 + i, t.p), s.a_row, s.a_col, here, by.loops.rows, t.depth);
    }
  }
  // A strip of b against all panels of a block.
  void meet(const Part& t, std::int64_t j) const {
    const DotLoops& l = by.loops;
    const bool first = t.p == 0 && !s.resume;
    const std::int64_t mr = l.rows, nr = width(t, j), cols = by.least(t.cols - j, nr);
    const bool narrow = nr != l.cols, packed = packed_strip(t, j);
    const char* x = packed ? strip(t, j) : b_at(t.p, t.j0 + j);
    const std::int64_t x_row = packed ? nr : s.b_row, c_row = ends.c ? by.pitch : s.c_row;
    for (std::int64_t i = 0; i < t.rows; i += mr) {
      const std::int64_t here = by.least(t.rows - i, mr);
      const bool direct = a_in_place && here == mr;
      const char* y = direct ? a_at(t.i0 + i, t.p) : panel(i, t.depth);
      const std::int64_t y_row = direct      ? s.a_row
                                 : by_rows() ? t.depth
                                             : 1,
                         y_col = direct      ? s.a_col
                                 : by_rows() ? 1
                                             : mr;
      char* const at = to(t, i, j);
      const code::Tile low = (narrow ? l.narrow_last : l.last)[here - 1], full = narrow ? l.narrow_tile : l.tile;
      if (cols == nr && (here == mr || low)) {
        (here == mr ? full : low)(y, y_row, y_col, x, x_row, at, c_row, t.depth, first);
      } else {  // c holds a part of the tile
        char* tile = work + by.tile_at;
        if (!first) by.copy(tile, nr, at, c_row, here, cols);
        full(y, y_row, y_col, x, x_row, tile, nr, t.depth, first);
        by.copy(at, c_row, tile, nr, here, cols);
      }
    }
    if (ends.c && t.p + t.depth == s.k) ends.c->take(t.i0, t.rows, t.j0 + j, cols, to(t, 0, j), c_row);
  }

  // The blocks of k from p0 on whose strips are packed together, one after the other.
  template <class F>
  void each_depth(Part& t, std::int64_t p0, F&& f) const {
    const std::int64_t end = by.least(p0 + by.span, s.k);
    for (t.p = p0; t.p < end; t.p += by.depth) {
      t.depth = by.least(end - t.p, by.depth);
      f();
    }
  }
  void run() const {
    Part t;
    for (t.j0 = 0; t.j0 < s.n; t.j0 += by.cols) {
      t.cols = by.least(s.n - t.j0, by.cols);
      for (std::int64_t p0 = 0; p0 < s.k; p0 += by.span) {
        each_depth(t, p0, [&] { pack_strips(t); });
        for (t.i0 = 0; t.i0 < s.m; t.i0 += by.rows) {
          t.rows = by.least(s.m - t.i0, by.rows);
          each_depth(t, p0, [&] {
            pack_panels(t);
            for (std::int64_t j = 0; j < t.cols; j += width(t, j)) meet(t, j);
          });
        }
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

FX_INLINE std::int64_t dot_workspace(const DotLoops& loops, std::int64_t m, std::int64_t n, std::int64_t k,
                                     bool finish) {
  return kernels::DotBlocks(loops, m, n, k, finish).bytes;
}

namespace kernels {
FX_INLINE void blocked_dot(const DotLoops& loops, const DotShape& s, const char* a, const char* b, char* c,
                           char* workspace, const DotEnds& ends) {
  const DotBlocks by(loops, s.m, s.n, s.k, ends.c);
  // Packing pays when what is packed is used several times, and does not lie in the cache as it is.
  constexpr std::int64_t small = 64 * 1024;  // bytes
  const bool a_in_place = !ends.a && (s.n <= 2 * loops.narrow_cols || s.m * s.k * by.size <= small);
  const bool b_in_place = !ends.b && s.b_col == 1 && (s.m <= 3 * loops.rows || s.n * s.k * by.size <= small);
  DotRun{by, s, a, b, c, workspace, a_in_place, b_in_place, ends}.run();
}
}  // namespace kernels

FX_INLINE void dot(const DotLoops& loops, const DotShape& s, const void* a_, const void* b_, void* c_, void* workspace,
                   const DotEnds& ends) {
  const char *a = static_cast<const char*>(a_), *b = static_cast<const char*>(b_);
  char* c = static_cast<char*>(c_);
  if (s.m == 0 || s.n == 0) return;
  const bool skinny = !ends.any() && kernels::is_skinny(s);
  if ((s.k == 0 || skinny) && !s.resume) kernels::clear_rows(s, c, loops.size);
  if (s.k == 0) return;
  if (skinny) return kernels::skinny_dot(loops, s, a, b, c);
  kernels::blocked_dot(loops, s, a, b, c, static_cast<char*>(workspace), ends);
}

}  // namespace fx::inline v0::tiled
#endif
