// kernels/reduce_body.hpp -- reductions whole and in pieces, from the loops of known folds or the program of another.
#pragma once
#include <bit>
#include <cstring>

#include "copy.hpp"
#include "reduce.hpp"
#include "reduce_custom.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

static_assert(std::endian::native == std::endian::little, "fx's bit patterns assume a little-endian machine");
FX_INLINE void store_position(DType to, std::int64_t at, void* out) { std::memcpy(out, &at, std::size_t(size_of(to))); }

// A state starts with the number of elements in the block at hand (arg-folds of columns: of all rows), and the position of
// that block.
struct Open {
  std::int64_t count, first;
};
inline constexpr std::int64_t open_bytes = 64;
FX_INLINE Open& open_of(void* state) { return *static_cast<Open*>(state); }
FX_INLINE char* inner_state(void* state) { return static_cast<char*>(state) + open_bytes; }
FX_INLINE void fed(void* state, std::int64_t end) {
  open_of(state) = {end % reduce_block, end / reduce_block * reduce_block};
}
FX_INLINE std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

FX_INLINE void row_close(const Fold& f, void* state, void* scratch) {
  Open& open = open_of(state);
  if (open.count == 0) return;
  if (f.op == FoldOp::fold) custom_close(f, inner_state(state), scratch);
  else if (f.op == FoldOp::arg) {
  } else if (f.is_arg()) f.arg_loops.close(inner_state(state), open.first, open.count);
  else f.loops.close(inner_state(state));
  open.count = 0;
}

// The inner state of columns: totals and the chains of the block at hand; of arg-folds: best values and their positions.
FX_INLINE char* second_part(const Fold& f, void* state, std::int64_t cols) {
  return inner_state(state) + padded(cols * size_of(f.dtype));
}
FX_INLINE void col_close(const Fold& f, void* state, std::int64_t cols, void* scratch) {
  if (f.is_arg() || open_of(state).count == 0) return;
  fold_into(f, inner_state(state), second_part(f, state, cols), cols, scratch);
  fill(second_part(f, state, cols), f.identity, cols, size_of(f.dtype));
  open_of(state).count = 0;
}
FX_INLINE void col_chains(const Fold& f, void* chains, const char* x, std::int64_t rows, std::int64_t cols,
                          std::int64_t stride, void* scratch) {
  if (f.is_native()) return f.loops.columns(chains, x, rows, cols, stride);
  for (std::int64_t i = 0; i < rows; ++i) fold_into(f, chains, x + i * stride * size_of(f.dtype), cols, scratch);
}
FX_INLINE void col_merge_arg(const Fold& f, void* state, void* block, std::int64_t cols, void* scratch) {
  const std::int64_t size = size_of(f.dtype);
  auto* at = reinterpret_cast<std::int64_t*>(second_part(f, state, cols));
  const auto* later = reinterpret_cast<const std::int64_t*>(second_part(f, block, cols));
  for (std::int64_t c = 0; c < cols; ++c) {
    bool wins = false;
    const char* x = inner_state(block) + c * size;
    char* best = inner_state(state) + c * size;
    if (f.op == FoldOp::arg) {
      custom_better(f, best, x, 1, &wins, scratch);
    } else {
      std::int64_t where = 0;  // 1 once x has won
      f.arg_loops.columns(best, &where, x, 1, 1, 1, 1, false);
      wins = where == 1;
    }
    if (!wins) continue;
    std::memcpy(best, x, std::size_t(size));
    at[c] = later[c];
  }
}
}  // namespace kernels

FX_INLINE std::int64_t row_state_bytes(const Fold& f) {
  const std::int64_t lanes = kernels::padded(reduce_lanes(f.dtype) * size_of(f.dtype));
  return kernels::open_bytes + 64 + (f.is_arg() ? 2 : 1) * lanes;
}
FX_INLINE void row_begin(const Fold& f, void* state) {
  kernels::open_of(state) = {0, 0};
  if (f.is_arg()) kernels::arg_begin(kernels::inner_state(state));
  else kernels::lanes_begin(f, kernels::inner_state(state));
}
FX_INLINE void row_feed(const Fold& f, void* state, const void* in, std::int64_t first, std::int64_t count, void* scratch) {
  char* inner = kernels::inner_state(state);
  if (f.op == FoldOp::fold) kernels::custom_row(f, inner, in, first, count, scratch);
  else if (f.op == FoldOp::arg) kernels::custom_arg(f, inner, in, first, count, scratch);
  else if (f.is_arg()) f.arg_loops.row(inner, in, first, count);
  else f.loops.row(inner, in, first, count);
  kernels::fed(state, first + count);
}
FX_INLINE void row_merge(const Fold& f, void* state, void* block, void* scratch) {
  kernels::row_close(f, block, scratch);
  char *to = kernels::inner_state(state), *from = kernels::inner_state(block);
  if (f.op == FoldOp::arg) kernels::custom_arg_merge(f, to, from, scratch);
  else if (f.is_arg()) f.arg_loops.merge(to, from);
  else fold_into(f, to, from, 1, scratch);
}
FX_INLINE void row_finish(const Fold& f, void* state, std::int64_t n, void* out, void* scratch) {
  if (n == 0) return fill(out, f.empty, 1, size_of(f.to));
  kernels::row_close(f, state, scratch);
  if (!f.is_arg()) std::memcpy(out, kernels::inner_state(state), std::size_t(size_of(f.dtype)));
  else kernels::store_position(f.to, kernels::arg_position(kernels::inner_state(state)), out);
}
FX_INLINE void reduce_rows(const Fold& f, const void* in, std::int64_t rows, std::int64_t n, std::int64_t row_stride, void* out,
                           void* scratch) {
  alignas(64) char state[kernels::open_bytes + 64 + 2 * 128];
  for (std::int64_t r = 0; r < rows; ++r) {
    row_begin(f, state);
    row_feed(f, state, static_cast<const char*>(in) + r * row_stride * size_of(f.dtype), 0, n, scratch);
    row_finish(f, state, n, static_cast<char*>(out) + r * size_of(f.to), scratch);
  }
}

FX_INLINE std::int64_t col_state_bytes(const Fold& f, std::int64_t cols) {
  const std::int64_t size = size_of(f.dtype);
  return kernels::open_bytes + kernels::padded(cols * size) + kernels::padded(cols * (f.is_arg() ? 8 : size));
}
FX_INLINE void col_begin(const Fold& f, void* state, std::int64_t cols) {
  kernels::open_of(state) = {0, 0};
  if (f.is_arg()) return;  // the first row begins
  fill(kernels::inner_state(state), f.identity, cols, size_of(f.dtype));
  fill(kernels::second_part(f, state, cols), f.identity, cols, size_of(f.dtype));
}
FX_INLINE void col_feed(const Fold& f, void* state, std::int64_t cols, const void* in, std::int64_t row_stride,
                        std::int64_t first, std::int64_t count, void* scratch) {
  const char* x = static_cast<const char*>(in);
  char* best = kernels::inner_state(state);
  char* second = kernels::second_part(f, state, cols);
  auto* at = reinterpret_cast<std::int64_t*>(second);
  const std::int64_t end = first + count;
  if (f.is_arg()) {
    const bool begins = kernels::open_of(state).count == 0;
    if (f.op == FoldOp::arg) kernels::custom_arg_columns(f, best, at, x, first, count, cols, row_stride, begins, scratch);
    else f.arg_loops.columns(best, at, x, first, count, cols, row_stride, begins);
    kernels::open_of(state).count += count;
    return;
  }
  while (first < end) {
    const std::int64_t left = reduce_block - first % reduce_block, here = left < end - first ? left : end - first;
    kernels::col_chains(f, second, x, here, cols, row_stride, scratch);
    first += here, x += here * row_stride * size_of(f.dtype);
    kernels::open_of(state).count = here;
    if (here == left) kernels::col_close(f, state, cols, scratch);
  }
}
FX_INLINE void col_merge(const Fold& f, void* state, void* block, std::int64_t cols, void* scratch) {
  if (f.is_arg()) return kernels::col_merge_arg(f, state, block, cols, scratch);
  kernels::col_close(f, block, cols, scratch);
  fold_into(f, kernels::inner_state(state), kernels::inner_state(block), cols, scratch);
}
FX_INLINE void col_finish(const Fold& f, void* state, std::int64_t cols, std::int64_t n, void* out, void* scratch) {
  if (n == 0) return fill(out, f.empty, cols, size_of(f.to));
  kernels::col_close(f, state, cols, scratch);
  if (!f.is_arg()) return void(std::memcpy(out, kernels::inner_state(state), std::size_t(cols * size_of(f.dtype))));
  const auto* at = reinterpret_cast<const std::int64_t*>(kernels::second_part(f, state, cols));
  for (std::int64_t c = 0; c < cols; ++c) kernels::store_position(f.to, at[c], static_cast<char*>(out) + c * size_of(f.to));
}
FX_INLINE void reduce_cols(const Fold& f, const void* in, std::int64_t n, std::int64_t cols, std::int64_t row_stride, void* out,
                           void* scratch) {
  constexpr std::int64_t some = 256;  // columns whose state fits the first-level cache, and the stack
  alignas(64) char state[kernels::open_bytes + 2 * 8 * some];
  for (std::int64_t c = 0; c < cols; c += some) {
    const std::int64_t here = cols - c < some ? cols - c : some;
    col_begin(f, state, here);
    col_feed(f, state, here, static_cast<const char*>(in) + c * size_of(f.dtype), row_stride, 0, n, scratch);
    col_finish(f, state, here, n, static_cast<char*>(out) + c * size_of(f.to), scratch);
  }
}

}  // namespace fx::inline v0::tiled
#endif
