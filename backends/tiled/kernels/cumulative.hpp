// kernels/cumulative.hpp -- running folds along the middle dimension of [outer, n, inner], each one chain.
#pragma once
#include <cstring>

#include "fold.hpp"

namespace fx::inline v0::tiled {

// out[o, i, j] = out[o, i - 1, j] `fold` in[o, i, j], from the front; from the back if reverse. Dense; out may be in.
void cumulative(const Fold& f, const void* in, void* out, std::int64_t outer, std::int64_t n, std::int64_t inner,
                bool reverse, void* scratch);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

// out[j] = fold(before[j], x[j]) for j < n. out may be x.
FX_INLINE void next_row(const Fold& f, char* out, const char* before, const char* x, std::int64_t n, void* scratch) {
  constexpr std::int64_t some = 2048;  // bytes
  alignas(64) char here[some];
  const std::int64_t size = size_of(f.dtype);
  for (std::int64_t i = 0; i < n * size; i += some) {
    const std::int64_t bytes = n * size - i < some ? n * size - i : some;
    std::memcpy(here, before + i, std::size_t(bytes));
    fold_into(f, here, x + i, bytes / size, scratch);
    std::memcpy(out + i, here, std::size_t(bytes));
  }
}

// Rows 1 to n - 1 of running folds along columns; wide ones some rows at a time, so that those in use stay in the
// cache.
FX_INLINE void running_rows(const Fold& f, char* y, const char* x, std::int64_t n, std::int64_t inner,
                            std::int64_t step, void* scratch) {
  const std::int64_t some = inner > 256 ? 4 : n;
  if (f.loops.running_columns)
    for (std::int64_t i = 1; i < n; i += some)
      f.loops.running_columns(y + i * step, x + i * step, n - i < some ? n - i : some, inner, step, 0);
  else
    for (std::int64_t i = 1; i < n; ++i) next_row(f, y + i * step, y + (i - 1) * step, x + i * step, inner, scratch);
}
// Four lines, of n elements each, next to each other.
FX_INLINE void four_lines(const Fold& f, char* y, const char* x, std::int64_t n, std::int64_t step) {
  const std::int64_t size = size_of(f.dtype), between = n * size;
  for (int k = 0; k < 4; ++k) std::memmove(y + k * between, x + k * between, std::size_t(size));
  if (n > 1) f.loops.running_lines(y + step, x + step, n - 1, 0, step, between);
}
}  // namespace kernels

FX_INLINE void cumulative(const Fold& f, const void* in, void* out, std::int64_t outer, std::int64_t n,
                          std::int64_t inner, bool reverse, void* scratch) {
  const std::int64_t row = inner * size_of(f.dtype), step = reverse ? -row : row;
  if (row == 0 || n == 0) return;
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t start = o * n * row + (reverse ? (n - 1) * row : 0);
    const char* x = static_cast<const char*>(in) + start;
    char* y = static_cast<char*>(out) + start;
    if (inner == 1 && f.loops.running_lines && outer - o >= 4) {
      kernels::four_lines(f, y, x, n, step);
      o += 3;
      continue;
    }
    if (inner == 1 && f.is_native()) {
      f.loops.chain(y, x, n, reverse ? -1 : 1);
      continue;
    }
    if (x != y) std::memcpy(y, x, std::size_t(row));
    kernels::running_rows(f, y, x, n, inner, step, scratch);
  }
}

}  // namespace fx::inline v0::tiled
#endif
