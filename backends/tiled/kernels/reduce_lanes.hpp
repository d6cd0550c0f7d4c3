// kernels/reduce_lanes.hpp -- the inner state of a fold along rows: the lanes of a block, and the total before it.
#pragma once
#include <fx/ops/layout.hpp>

#include "copy.hpp"
#include "fold.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// acc[c] = fold(acc[c], x[i * stride + c]) for i < rows in order, c < cols.
FX_INLINE void fold_rows(const Fold& f, void* acc, const char* x, std::int64_t rows, std::int64_t cols,
                         std::int64_t stride, void* scratch) {
  if (f.is_native()) return fold_columns(f.loops, size_of(f.dtype), acc, x, rows, cols, stride);
  for (std::int64_t i = 0; i < rows; ++i) fold_into(f, acc, x + i * stride * size_of(f.dtype), cols, scratch);
}

// A row's state: its total, then the lanes of the block at hand.
inline constexpr std::int64_t lanes_at = 64;
FX_INLINE void lanes_begin(const Fold& f, char* state) {
  fill(state, f.identity, 1, size_of(f.dtype));
  fill(state + lanes_at, f.identity, reduce_lanes(f.dtype), size_of(f.dtype));
}
// The block at hand is complete or the last: its lanes fold in halves, and the last one onto the total.
FX_INLINE void lanes_close(const Fold& f, char* state, void* scratch) {
  char* lanes = state + lanes_at;
  const int size = size_of(f.dtype), n = reduce_lanes(f.dtype);
  if (f.is_native()) {
    f.loops.close(state, lanes);
  } else {
    for (int half = n / 2; half > 0; half /= 2) fold_into(f, lanes, lanes + half * size, half, scratch);
    fold_into(f, state, lanes, 1, scratch);
  }
}
// Elements first .. first + count - 1: up to a whole round of lanes, whole rounds, and what is left, block by block.
FX_INLINE void lanes_feed(const Fold& f, char* state, const char* x, std::int64_t first, std::int64_t count,
                          void* scratch) {
  const std::int64_t size = size_of(f.dtype), n = reduce_lanes(f.dtype);
  char* lanes = state + lanes_at;
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t block_end = (first / reduce_block + 1) * reduce_block, stop = block_end < end ? block_end : end;
    auto feed = [&](std::int64_t rounds, std::int64_t elements) {
      if (rounds * elements == 0) return;
      fold_rows(f, lanes + first % n * size, x, rounds, elements, n, scratch);
      first += rounds * elements, x += rounds * elements * size;
    };
    const std::int64_t to_round = (n - first % n) % n;
    feed(1, to_round < stop - first ? to_round : stop - first);
    feed((stop - first) / n, n);
    feed(1, stop - first);
    if (stop < block_end) return;
    lanes_close(f, state, scratch);
    fill(lanes, f.identity, n, int(size));
  }
}

}  // namespace fx::inline v0::tiled::kernels
#endif
