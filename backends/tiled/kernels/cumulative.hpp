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
}  // namespace kernels

FX_INLINE void cumulative(const Fold& f, const void* in, void* out, std::int64_t outer, std::int64_t n,
                          std::int64_t inner, bool reverse, void* scratch) {
  const std::int64_t row = inner * size_of(f.dtype), step = reverse ? -row : row;
  if (row == 0 || n == 0) return;
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t start = o * n * row + (reverse ? (n - 1) * row : 0);
    const char* x = static_cast<const char*>(in) + start;
    char* y = static_cast<char*>(out) + start;
    if (inner == 1 && f.is_native()) {
      f.loops.chain(y, x, n, reverse ? -1 : 1);
      continue;
    }
    if (x != y) std::memcpy(y, x, std::size_t(row));
    for (std::int64_t i = 1; i < n; ++i)
      kernels::next_row(f, y + i * step, y + (i - 1) * step, x + i * step, inner, scratch);
  }
}

}  // namespace fx::inline v0::tiled
#endif
