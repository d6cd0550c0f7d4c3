// kernels/index_body.hpp -- the loops of gather and scatter: for each index vector one box, copied or folded.
#pragma once
#include <cstring>
#include <type_traits>

#include "copy.hpp"
#include "index.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

// An index as a signed number; what is too large for one is out of range on the same side.
FX_INLINE std::int64_t read_index(DType d, const void* p, std::int64_t i) {
  constexpr std::int64_t max = INT64_MAX;
  switch (d) {
    case DType::i32: return static_cast<const std::int32_t*>(p)[i];
    case DType::u32: return static_cast<const std::uint32_t*>(p)[i];
    case DType::i64: return static_cast<const std::int64_t*>(p)[i];
    default: {
      const std::uint64_t v = static_cast<const std::uint64_t*>(p)[i];
      return v > std::uint64_t(max) ? max : std::int64_t(v);
    }
  }
}

// What one loop works out once. "Array" is the operand, "result" the updates of a scatter, too.
struct IndexPlan {
  const IndexLoop& loop;
  Box window, zeros;            // between array (scatter: out) and result; zeros: from one zero to the result
  Dims strides;                 // of the array
  Dims row_sizes, row_strides;  // the result's dimensions that run over the index vectors

  explicit IndexPlan(const IndexLoop& l) : loop(l), strides(strides_of(l.operand)) {
    const IndexSpec& s = l.spec;
    const Dims result_strides = strides_of(l.result);
    int dim = 0;  // of the array: the next one whose window is in the result
    auto skip = [&] {
      while (dim < l.operand.n && (s.collapsed.contains(dim) || s.operand_batch.contains(dim))) ++dim;
    };
    for (int r = 0; r < l.result.n; ++r) {
      if (!s.window_dims.contains(r)) {
        row_sizes.push_back(l.result[r]);
        row_strides.push_back(result_strides[r]);
        continue;
      }
      skip();
      if (s.write)
        window.add(l.result[r], result_strides[r], strides[dim]);
      else
        window.add(l.result[r], strides[dim], result_strides[r]);
      zeros.add(l.result[r], 0, result_strides[r]);
      ++dim;
    }
    window.order();
    zeros.order();
  }

  // Where the window of an index vector starts in the array, or -1: it does not lie inside. `position`: of the vector.
  std::int64_t start(const void* const* indices, std::int64_t row, const std::int64_t* position) const {
    const IndexSpec& s = loop.spec;
    std::int64_t at = 0;
    for (int i = 0; i < s.operand_batch.n; ++i) at += position[s.index_batch[i]] * strides[int(s.operand_batch[i])];
    for (int j = 0; j < s.index_map.n; ++j) {
      const int dim = int(s.index_map[j]);
      const std::int64_t last = loop.operand[dim] - s.window[dim];
      std::int64_t v = s.scalar_indices ? read_index(loop.index_dtype, indices[j], 0)
                                        : read_index(loop.index_dtype, indices[0], row * s.index_map.n + j);
      if (v < 0 || v > last) {
        if (!s.clamp) return -1;
        v = v < 0 ? 0 : last;
      }
      at += v * strides[dim];
    }
    return at;
  }

  // f(start in the array, offset in the result) for all index vectors in row-major order.
  template <class F>
  void each(const void* const* indices, F&& f) const {
    if (numel(loop.result) == 0) return;
    std::int64_t position[max_rank] = {}, offset = 0;
    for (std::int64_t row = 0;; ++row) {
      f(start(indices, row, position), offset);
      int d = row_sizes.n - 1;
      for (; d >= 0; --d) {
        offset += row_strides[d];
        if (++position[d] < row_sizes[d]) break;
        offset -= row_strides[d] * row_sizes[d];
        position[d] = 0;
      }
      if (d < 0) return;
    }
  }
};

// The common case: each index vector names `width` neighbours of the array, which are neighbours in the result, too,
// one index vector after the other.
struct IndexRows {
  std::int64_t rows = 0, width = 1;  // no rows: it is not that case
  explicit IndexRows(const IndexLoop& l) {
    const IndexSpec& s = l.spec;
    const int batch = l.result.n - s.window_dims.n;
    if (s.scalar_indices || !s.operand_batch.empty() || numel(l.result) == 0) return;
    for (int j = 0; j < s.window_dims.n; ++j)
      if (s.window_dims[j] != batch + j) return;
    // Neighbours: from some dimension on the window is whole, before it has size 1.
    bool whole = true;
    for (int d = l.operand.n - 1; d >= 0; --d) {
      if (!whole && s.window[d] != 1) return;
      width *= s.window[d];
      whole = whole && s.window[d] == l.operand[d];
    }
    rows = numel(l.result) / width;
  }
};

// Where the windows of index vectors first .. first + n - 1 start in the array, in elements; -1: not inside.
template <class I>
void read_starts(const IndexLoop& l, const Dims& strides, const I* index, std::int64_t n, std::int64_t* at) {
  const int parts = l.spec.index_map.n;
  for (std::int64_t k = 0; k < n; ++k) at[k] = 0;
  for (int j = 0; j < parts; ++j) {
    const int dim = int(l.spec.index_map[j]);
    const std::int64_t last = l.operand[dim] - l.spec.window[dim], stride = strides[dim];
    for (std::int64_t k = 0; k < n; ++k) {
      const I i = index[k * parts + j];
      bool low = false;
      if constexpr (std::is_signed_v<I>) low = i < 0;
      const bool high = !low && std::uint64_t(i) > std::uint64_t(last);
      const std::int64_t v = low ? 0 : high ? last : std::int64_t(i);
      at[k] = at[k] < 0 || (!l.spec.clamp && (low || high)) ? -1 : at[k] + v * stride;
    }
  }
}
// f(number of the index vector, its window's start) for all of them in order.
template <class F>
void each_start(const IndexLoop& l, std::int64_t rows, const void* indices, F&& f) {
  constexpr std::int64_t some = 256;
  std::int64_t at[some];
  const Dims strides = strides_of(l.operand);
  const std::int64_t bytes = l.spec.index_map.n * size_of(l.index_dtype);
  for (std::int64_t r = 0; r < rows; r += some) {
    const std::int64_t n = rows - r < some ? rows - r : some;
    const void* from = static_cast<const char*>(indices) + r * bytes;
    fx::detail::with_type<integers & computed>(
        l.index_dtype, [&]<class I>() { read_starts(l, strides, static_cast<const I*>(from), n, at); });
    for (std::int64_t k = 0; k < n; ++k) f(r + k, at[k]);
  }
}
// Copies `width` elements; a single one without a call.
FX_LOOP void copy_row(char* to, const char* from, std::int64_t width, std::int64_t size) {
  if (width == 1 && size == 4) return void(std::memcpy(to, from, 4));
  if (width == 1 && size == 8) return void(std::memcpy(to, from, 8));
  std::memcpy(to, from, std::size_t(width * size));
}
FX_INLINE void gather_rows(const IndexLoop& l, const IndexRows& r, const char* from, const void* indices, char* to) {
  const std::int64_t size = l.element_size, width = r.width, bytes = width * size;
  each_start(l, r.rows, indices, [&](std::int64_t row, std::int64_t start) {
    if (start < 0)
      std::memset(to + row * bytes, 0, std::size_t(bytes));
    else
      copy_row(to + row * bytes, from + start * size, width, size);
  });
}
FX_INLINE void scatter_rows(const IndexLoop& l, const IndexRows& r, const Fold* combine, const void* indices,
                            const char* from, char* to, void* scratch) {
  const std::int64_t size = l.element_size, width = r.width, bytes = width * size;
  auto each = [&](auto&& put) {
    each_start(l, r.rows, indices, [&](std::int64_t row, std::int64_t start) {
      if (start >= 0) put(to + start * size, from + row * bytes);
    });
  };
  if (!combine) return each([&](char* a, const char* x) { copy_row(a, x, width, size); });
  if (combine->op != FoldOp::sum || width != 1)
    return each([&](char* a, const char* x) { fold_into(*combine, a, x, width, scratch); });
  fx::detail::with_type<numbers & computed>(combine->dtype, [&]<class T>() {
    each([&](char* a, const char* x) {  // unsigned, so that integers wrap
      using W = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
      W sum, more;
      std::memcpy(&sum, a, sizeof sum);
      std::memcpy(&more, x, sizeof more);
      sum += more;
      std::memcpy(a, &sum, sizeof sum);
    });
  });
}

FX_INLINE void copy_window(const Box& b, void* out, const void* in, int size) {
  switch (size) {
    case 1: return copy_as<1>(b, out, in);
    case 4: return copy_as<4>(b, out, in);
    default: return copy_as<8>(b, out, in);
  }
}

// out = fold(out, in) over a window: contiguous rows at once, others element by element.
FX_INLINE void fold_window(const Fold& f, const Box& b, int dim, char* out, const char* in, void* scratch) {
  const std::int64_t size = size_of(f.dtype);
  if (dim == b.rank) return fold_into(f, out, in, 1, scratch);
  if (dim == b.rank - 1 && b.in[dim] == 1 && b.out[dim] == 1) return fold_into(f, out, in, b.size[dim], scratch);
  for (std::int64_t i = 0; i < b.size[dim]; ++i)
    fold_window(f, b, dim + 1, out + i * b.out[dim] * size, in + i * b.in[dim] * size, scratch);
}
}  // namespace kernels

FX_INLINE void gather(const IndexLoop& loop, const void* operand, const void* const* indices, void* result) {
  const char* from = static_cast<const char*>(operand);
  char* to = static_cast<char*>(result);
  if (const kernels::IndexRows rows(loop); rows.rows > 0) return kernels::gather_rows(loop, rows, from, indices[0], to);
  const kernels::IndexPlan plan(loop);
  const std::int64_t size = loop.element_size;
  const std::uint64_t zero = 0;
  plan.each(indices, [&](std::int64_t start, std::int64_t offset) {
    if (start < 0)
      kernels::copy_window(plan.zeros, to + offset * size, &zero, loop.element_size);
    else
      kernels::copy_window(plan.window, to + offset * size, from + start * size, loop.element_size);
  });
}

FX_INLINE void scatter(const IndexLoop& loop, const Fold* combine, const void* const* indices, const void* updates,
                       void* out, void* scratch) {
  const char* from = static_cast<const char*>(updates);
  char* to = static_cast<char*>(out);
  if (const kernels::IndexRows rows(loop); rows.rows > 0)
    return kernels::scatter_rows(loop, rows, combine, indices[0], from, to, scratch);
  const kernels::IndexPlan plan(loop);
  const std::int64_t size = loop.element_size;
  plan.each(indices, [&](std::int64_t start, std::int64_t offset) {
    if (start < 0) return;
    if (combine)
      kernels::fold_window(*combine, plan.window, 0, to + start * size, from + offset * size, scratch);
    else
      kernels::copy_window(plan.window, to + start * size, from + offset * size, loop.element_size);
  });
}

}  // namespace fx::inline v0::tiled
#endif
