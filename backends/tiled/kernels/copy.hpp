// kernels/copy.hpp -- copy_box, a strided copy between arrays of any layout, and fill.
#pragma once
#include <cstdint>
#include <fx/config.hpp>

namespace fx::inline v0::tiled {

// out[sum i_d * out_strides[d]] = in[sum i_d * in_strides[d]] for all 0 <= i_d < sizes[d]. Strides are in elements of
// 1, 2, 4, 8 or 16 bytes; those of the input may be 0 or negative. Rank at most max_rank; out and in do not overlap.
void copy_box(void* out, const std::int64_t* out_strides, const void* in, const std::int64_t* in_strides,
              const std::int64_t* sizes, int rank, int element_size);

// n elements of 1, 4 or 8 bytes, each the low bytes of `bits`.
void fill(void* out, std::uint64_t bits, std::int64_t n, int element_size);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "copy_body.hpp"
#endif
