// kernels/reduce_custom.hpp -- the parts of a reduction for a fold that only its recorded program knows.
#pragma once
#include <cstring>

#include <fx/ops/layout.hpp>

#include "copy.hpp"
#include "fold.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// Folds, the known ones too (RowState): total and identity, then lanes.
inline constexpr std::int64_t lanes_at = 64;
FX_INLINE void lanes_begin(const Fold& f, void* state) {
  fill(state, f.identity, 2, size_of(f.dtype));
  fill(static_cast<char*>(state) + lanes_at, f.identity, reduce_lanes(f.dtype), size_of(f.dtype));
}
FX_INLINE void custom_close(const Fold& f, void* state, void* scratch) {
  char *total = static_cast<char*>(state), *lanes = total + lanes_at;
  const int size = size_of(f.dtype), n = reduce_lanes(f.dtype);
  for (int half = n / 2; half > 0; half /= 2) fold_into(f, lanes, lanes + half * size, half, scratch);
  fold_into(f, total, lanes, 1, scratch);
  fill(lanes, f.identity, n, size);
}
FX_INLINE void custom_row(const Fold& f, void* state, const void* in, std::int64_t first, std::int64_t count, void* scratch) {
  const int size = size_of(f.dtype), n = reduce_lanes(f.dtype);
  char* lanes = static_cast<char*>(state) + lanes_at;
  const char* x = static_cast<const char*>(in);
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t lane = first % n, here = n - lane < end - first ? n - lane : end - first;
    fold_into(f, lanes + lane * size, x, here, scratch);
    first += here, x += here * size;
    if (first % reduce_block == 0) custom_close(f, state, scratch);
  }
}

// Arg-folds, the known ones too (ArgState): the position first, -1 before there is one; then the value.
FX_INLINE void arg_begin(void* state) {
  const std::int64_t none = -1;
  std::memcpy(state, &none, sizeof none);
}
FX_INLINE std::int64_t arg_position(const void* state) {
  std::int64_t at;
  std::memcpy(&at, state, sizeof at);
  return at;
}
// Whether `next` beats `best`, for n of each.
FX_INLINE void custom_better(const Fold& f, const void* best, const void* next, int n, bool* wins, void* scratch) {
  const void* in[] = {best, next};
  void* out[] = {wins};
  f.program.run(scratch, in, out, n);
}
FX_INLINE void custom_take(const Fold& f, void* state, std::int64_t at, const void* x, void* scratch) {
  char* best = static_cast<char*>(state) + sizeof at;
  bool wins = arg_position(state) < 0;
  if (!wins) custom_better(f, best, x, 1, &wins, scratch);
  if (!wins) return;
  std::memcpy(state, &at, sizeof at);
  std::memcpy(best, x, std::size_t(size_of(f.dtype)));
}
// One element after the other: the slowest way, and the only one that asks nothing of the comparison.
FX_INLINE void custom_arg(const Fold& f, void* state, const void* in, std::int64_t first, std::int64_t count, void* scratch) {
  const char* x = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < count; ++i) custom_take(f, state, first + i, x + i * size_of(f.dtype), scratch);
}
FX_INLINE void custom_arg_merge(const Fold& f, void* state, const void* later, void* scratch) {
  const std::int64_t at = arg_position(later);
  if (at >= 0) custom_take(f, state, at, static_cast<const char*>(later) + sizeof at, scratch);
}
FX_INLINE void custom_arg_columns(const Fold& f, char* best, std::int64_t* at, const char* x, std::int64_t first,
                                  std::int64_t rows, std::int64_t cols, std::int64_t stride, bool begins, void* scratch) {
  constexpr int some = 256;
  const std::int64_t size = size_of(f.dtype);
  bool wins[some];
  for (std::int64_t i = first; i < first + rows; ++i, x += stride * size)
    for (std::int64_t c = 0; c < cols; c += some) {
      const int here = int(cols - c < some ? cols - c : some);
      if (begins && i == first) std::memset(wins, 1, sizeof wins);
      else custom_better(f, best + c * size, x + c * size, here, wins, scratch);
      for (std::int64_t k = c; k < c + here; ++k) {
        if (!wins[k - c]) continue;
        std::memcpy(best + k * size, x + k * size, std::size_t(size));
        at[k] = i;
      }
    }
}

}  // namespace fx::inline v0::tiled::kernels
#endif
