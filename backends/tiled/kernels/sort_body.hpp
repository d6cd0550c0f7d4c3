// kernels/sort_body.hpp -- the sort: positions ordered by keys in stable passes, the last key first.
#pragma once
#include <cstring>

#include "order_key.hpp"
#include "sort.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

struct Ranked {
  std::int64_t key, at;
};

// Stable insertion sort of a short run.
FX_INLINE void insertion_sort(Ranked* x, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    const Ranked v = x[i];
    std::int64_t j = i;
    for (; j > 0 && x[j - 1].key > v.key; --j) x[j] = x[j - 1];
    x[j] = v;
  }
}
// Merges the sorted halves of x into out; equal keys come from the first half first.
FX_INLINE void merge(const Ranked* x, std::int64_t half, std::int64_t n, Ranked* out) {
  const Ranked *a = x, *b = x + half, *const a_end = b, *const b_end = x + n;
  while (a < a_end && b < b_end) {  // no branch depends on the keys
    const bool second = b->key < a->key;
    const Ranked* from = second ? b : a;
    *out++ = *from;
    b += second;
    a += !second;
  }
  std::memcpy(out, a, std::size_t(a_end - a) * sizeof *x);
  std::memcpy(out + (a_end - a), b, std::size_t(b_end - b) * sizeof *x);
}
// A stable merge sort from short runs upwards; gives where the result is, x or other.
FX_INLINE Ranked* merge_sort(Ranked* x, Ranked* other, std::int64_t n) {
  constexpr std::int64_t run = 16;
  for (std::int64_t i = 0; i < n; i += run) insertion_sort(x + i, n - i < run ? n - i : run);
  for (std::int64_t width = run; width < n; width *= 2) {
    for (std::int64_t i = 0; i < n; i += 2 * width) {
      const std::int64_t all = n - i < 2 * width ? n - i : 2 * width, half = all < width ? all : width;
      merge(x + i, half, all, other + i);
    }
    Ranked* t = x;
    x = other, other = t;
  }
  return x;
}

FX_INLINE bool is_sorted(const Ranked* x, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i)
    if (x[i].key < x[i - 1].key) return false;
  return true;
}

// line[i] = old line[order[i].at], of elements `step` apart.
template <class U>
void follow(const Ranked* order, const char* in, char* out, std::int64_t n, std::int64_t step, void* spare) {
  using T = alias_of<U>;
  const T* x = reinterpret_cast<const T*>(in);
  T *y = reinterpret_cast<T*>(out), *line = static_cast<T*>(spare);
  for (std::int64_t i = 0; i < n; ++i) line[i] = x[order[i].at * step];  // out may be in
  for (std::int64_t i = 0; i < n; ++i) y[i * step] = line[i];
}
FX_INLINE void follow(DType d, const Ranked* order, const char* in, char* out, std::int64_t n, std::int64_t step,
                      void* spare) {
  switch (size_of(d)) {
    case 1: return follow<std::uint8_t>(order, in, out, n, step, spare);
    case 4: return follow<std::uint32_t>(order, in, out, n, step, spare);
    default: return follow<std::uint64_t>(order, in, out, n, step, spare);
  }
}

// Puts into x[i].key the key of element x[i].at of a line.
FX_INLINE void rank_line(DType d, const char* line, std::int64_t step, Ranked* x, std::int64_t n, void* keys) {
  write_keys(d, line, n, step, false, keys);
  for (std::int64_t i = 0; i < n; ++i)
    x[i].key = key_size(d) == 4 ? static_cast<const std::int32_t*>(keys)[x[i].at]
                                : static_cast<const std::int64_t*>(keys)[x[i].at];
}
}  // namespace kernels

FX_INLINE std::int64_t sort_workspace(std::int64_t n) {
  return n * (2 * std::int64_t(sizeof(kernels::Ranked)) + 8) + 64;
}

FX_INLINE void sort(Span<const DType> dtypes, int num_keys, const void* const* in, void* const* out, std::int64_t outer,
                    std::int64_t n, std::int64_t inner, void* workspace) {
  auto* ranks = static_cast<kernels::Ranked*>(workspace);
  if (n == 0) return;
  void* line = ranks + 2 * n;  // keys, then elements on their way
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t j = 0; j < inner; ++j) {
      const std::int64_t start = o * n * inner + j;
      kernels::Ranked *x = ranks, *other = ranks + n;
      for (std::int64_t i = 0; i < n; ++i) x[i].at = i;
      for (int k = num_keys - 1; k >= 0; --k) {
        kernels::rank_line(dtypes[k], static_cast<const char*>(in[k]) + start * size_of(dtypes[k]), inner, x, n, line);
        if (kernels::is_sorted(x, n)) continue;
        kernels::Ranked* sorted = kernels::merge_sort(x, other, n);
        if (sorted != x) other = x, x = sorted;
      }
      for (int k = 0; k < dtypes.size(); ++k) {
        const std::int64_t at = start * size_of(dtypes[k]);
        kernels::follow(dtypes[k], x, static_cast<const char*>(in[k]) + at, static_cast<char*>(out[k]) + at, n, inner,
                        line);
      }
    }
}

}  // namespace fx::inline v0::tiled
#endif
