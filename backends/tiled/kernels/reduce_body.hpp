// kernels/reduce_body.hpp -- reductions whole and in pieces: states and their order of blocks.
#pragma once
#include <bit>
#include <cstring>

#include "reduce.hpp"
#include "reduce_arg.hpp"
#include "reduce_lanes.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

static_assert(std::endian::native == std::endian::little, "fx's bit patterns assume a little-endian machine");
FX_INLINE void store_position(DType to, std::int64_t at, void* out) { std::memcpy(out, &at, std::size_t(size_of(to))); }

// A state starts with the number of elements fed to the block at hand.
inline constexpr std::int64_t open_bytes = 64;
FX_INLINE std::int64_t& open(void* state) { return *static_cast<std::int64_t*>(state); }
FX_INLINE char* inner(void* state) { return static_cast<char*>(state) + open_bytes; }
FX_INLINE ArgState& arg_state(void* state) { return *reinterpret_cast<ArgState*>(inner(state)); }

FX_INLINE void row_close(const Fold& f, void* state, void* scratch) {
  if (!f.is_arg() && open(state) > 0) lanes_close(f, inner(state), scratch);
  open(state) = 0;
}

// Columns: totals and the chains of the block at hand; of arg-folds the best and their positions.
FX_INLINE std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
FX_INLINE char* chains(const Fold& f, void* state, std::int64_t cols) {
  return inner(state) + padded(cols * (f.is_arg() ? best_size(f) : size_of(f.dtype)));
}
FX_INLINE std::int64_t* positions(const Fold& f, void* state, std::int64_t cols) {
  return reinterpret_cast<std::int64_t*>(chains(f, state, cols));
}
FX_INLINE void col_close(const Fold& f, void* state, std::int64_t cols, void* scratch) {
  if (!f.is_arg() && open(state) > 0) fold_into(f, inner(state), chains(f, state, cols), cols, scratch);
  open(state) = 0;
}
}  // namespace kernels

FX_INLINE std::int64_t row_state_bytes(const Fold& f) {
  return kernels::open_bytes + kernels::lanes_at + kernels::padded(reduce_lanes(f.dtype) * size_of(f.dtype));
}
FX_INLINE void row_begin(const Fold& f, void* state) {
  kernels::open(state) = 0;
  if (f.is_arg())
    kernels::arg_state(state) = {-1, 0};
  else
    kernels::lanes_begin(f, kernels::inner(state));
}
FX_INLINE void row_feed(const Fold& f, void* state, const void* in, std::int64_t first, std::int64_t count,
                        void* scratch) {
  const char* x = static_cast<const char*>(in);
  if (f.is_arg())
    kernels::arg_row_feed(f, kernels::arg_state(state), x, first, count, scratch);
  else
    kernels::lanes_feed(f, kernels::inner(state), x, first, count, scratch);
  kernels::open(state) = (first + count) % reduce_block;
}
FX_INLINE void row_merge(const Fold& f, void* state, void* block, void* scratch) {
  kernels::row_close(f, block, scratch);
  if (f.is_arg())
    kernels::arg_row_merge(f, kernels::arg_state(state), kernels::arg_state(block), scratch);
  else
    fold_into(f, kernels::inner(state), kernels::inner(block), 1, scratch);
}
FX_INLINE void row_finish(const Fold& f, void* state, std::int64_t n, void* out, void* scratch) {
  if (n == 0) return fill(out, f.empty, 1, size_of(f.to));
  kernels::row_close(f, state, scratch);
  if (f.is_arg())
    kernels::store_position(f.to, kernels::arg_state(state).at, out);
  else
    std::memcpy(out, kernels::inner(state), std::size_t(size_of(f.dtype)));
}
FX_INLINE void reduce_rows(const Fold& f, const void* in, std::int64_t rows, std::int64_t n, std::int64_t row_stride,
                           void* out, void* scratch) {
  const int lanes = reduce_lanes(f.dtype);
  if (f.is_native() && !f.is_arg() && f.loops.whole_rows && rows > 0 && n > 0 && n <= reduce_block && n % lanes == 0)
    return f.loops.whole_rows(out, in, n / lanes, rows, row_stride * size_of(f.dtype), &f.identity);
  alignas(64) char state[kernels::open_bytes + kernels::lanes_at + 32 * 8];  // 32 lanes or 8 bytes: g++ fears both
  for (std::int64_t r = 0; r < rows; ++r) {
    row_begin(f, state);
    row_feed(f, state, static_cast<const char*>(in) + r * row_stride * size_of(f.dtype), 0, n, scratch);
    row_finish(f, state, n, static_cast<char*>(out) + r * size_of(f.to), scratch);
  }
}

FX_INLINE std::int64_t col_state_bytes(const Fold& f, std::int64_t cols) {
  if (f.is_arg()) return kernels::open_bytes + kernels::padded(cols * kernels::best_size(f)) + cols * 8;
  return kernels::open_bytes + 2 * kernels::padded(cols * size_of(f.dtype));
}
FX_INLINE void col_begin(const Fold& f, void* state, std::int64_t cols) {
  kernels::open(state) = 0;
  if (f.is_arg()) return;  // the first row begins
  fill(kernels::inner(state), f.identity, cols, size_of(f.dtype));
  fill(kernels::chains(f, state, cols), f.identity, cols, size_of(f.dtype));
}
FX_INLINE void col_feed(const Fold& f, void* state, std::int64_t cols, const void* in, std::int64_t row_stride,
                        std::int64_t first, std::int64_t count, void* scratch) {
  const char* x = static_cast<const char*>(in);
  std::int64_t& open = kernels::open(state);
  if (f.is_arg()) {  // open: whether there is a best
    kernels::arg_columns_feed(f, kernels::inner(state), kernels::positions(f, state, cols), x, first, count, cols,
                              row_stride, open == 0, scratch);
    open += count;
    return;
  }
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t left = reduce_block - first % reduce_block, here = left < end - first ? left : end - first;
    kernels::fold_rows(f, kernels::chains(f, state, cols), x, here, cols, row_stride, scratch);
    first += here, x += here * row_stride * size_of(f.dtype);
    open = here;
    if (here < left) return;
    kernels::col_close(f, state, cols, scratch);
    fill(kernels::chains(f, state, cols), f.identity, cols, size_of(f.dtype));
  }
}
FX_INLINE void col_merge(const Fold& f, void* state, void* block, std::int64_t cols, void* scratch) {
  kernels::col_close(f, block, cols, scratch);
  if (f.is_arg())
    kernels::arg_columns_merge(f, kernels::inner(state), kernels::positions(f, state, cols), kernels::inner(block),
                               kernels::positions(f, block, cols), cols, scratch);
  else
    fold_into(f, kernels::inner(state), kernels::inner(block), cols, scratch);
}
FX_INLINE void col_finish(const Fold& f, void* state, std::int64_t cols, std::int64_t n, void* out, void* scratch) {
  if (n == 0 || cols == 0) return fill(out, f.empty, cols, size_of(f.to));
  kernels::col_close(f, state, cols, scratch);
  if (!f.is_arg()) return void(std::memcpy(out, kernels::inner(state), std::size_t(cols * size_of(f.dtype))));
  const std::int64_t* at = kernels::positions(f, state, cols);
  for (std::int64_t c = 0; c < cols; ++c)
    kernels::store_position(f.to, at[c], static_cast<char*>(out) + c * size_of(f.to));
}
FX_INLINE void reduce_cols(const Fold& f, const void* in, std::int64_t n, std::int64_t cols, std::int64_t row_stride,
                           void* out, void* scratch) {
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
