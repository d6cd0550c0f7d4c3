// kernels/cumulative.hpp -- running folds along the middle dimension of [outer, n, inner], each one chain.
#pragma once
#include "fold.hpp"

namespace fx::inline v0::tiled {

// out[o, i, j] = out[o, i - 1, j] `fold` in[o, i, j], from the front; from the back if reverse. Dense; out may be in.
void cumulative(const Fold& f, const void* in, void* out, std::int64_t outer, std::int64_t n, std::int64_t inner,
                bool reverse, void* scratch);

}  // namespace fx::inline v0::tiled
