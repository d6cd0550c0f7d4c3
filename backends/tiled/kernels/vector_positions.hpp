// kernels/vector_positions.hpp -- the `index` instruction: positions of a block's elements along an output dimension.
#pragma once
#include <fx/ops/layout.hpp>

#include "vector_types.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// Elements of a row from `flat` on: their position stays for `stride` elements, then goes up by one and wraps at
// `size`.
template <class T>
void row_positions(T* out, std::int64_t flat, std::int64_t stride, std::int64_t size, int count) {
  std::int64_t at = flat / stride % size, stays = stride - flat % stride;
  for (int i = 0; i < count; at = at + 1 == size ? 0 : at + 1, stays = stride)
    for (; i < count && stays > 0; --stays) out[i++] = T(at);
}

FX_INLINE void write_positions(char* dst, DType dtype, const std::int64_t* sizes, int rank, int dim, std::int64_t start,
                               std::int64_t pitch, int cols, int first, int count) {
  std::int64_t stride = 1;
  for (int d = dim + 1; d < rank; ++d) stride *= sizes[d];
  fx::detail::with_type<numbers & computed>(dtype, [&]<class T>() {
    T* out = reinterpret_cast<T*>(dst);
    for (int i = first; i < first + count;) {
      const int row = i / cols, col = i % cols, left = first + count - i;
      const int here = cols - col < left ? cols - col : left;
      row_positions(out + (i - first), start + row * pitch + col, stride, sizes[dim], here);
      i += here;
    }
  });
}

}  // namespace fx::inline v0::tiled::kernels
#endif
