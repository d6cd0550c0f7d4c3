// kernels/sort.hpp -- a stable sort of several arrays together along the middle dimension of [outer, n, inner].
#pragma once
#include <fx/type.hpp>

#include "level.hpp"

namespace fx::inline v0::tiled {

// Bytes of 64-byte aligned workspace for lines of n elements.
std::int64_t sort_workspace(std::int64_t n);

// Orders all arrays by the first num_keys of them, lexicographically. NaN comes last, -0 equals +0, false is below
// true. Dense; out[k] may be in[k].
void sort(Span<const DType> dtypes, int num_keys, const void* const* in, void* const* out, std::int64_t outer,
          std::int64_t n, std::int64_t inner, void* workspace);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "sort_body.hpp"
#endif
