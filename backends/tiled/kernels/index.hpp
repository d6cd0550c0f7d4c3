// kernels/index.hpp -- gather and scatter: reads and writes of windows at computed positions (see ops/index.hpp).
#pragma once
#include <fx/prim.hpp>

#include "fold.hpp"

namespace fx::inline v0::tiled {

// What the loops need to know of an equation of kind index. Arrays are dense and row-major.
struct IndexLoop {
  IndexSpec spec;
  Dims operand;                    // the array read or written
  Dims indices;                    // unused if spec.scalar_indices
  Dims result;                     // gather: the result; scatter: the updates
  DType index_dtype = DType::i32;  // i32, i64, u32, u64
  int element_size = 4;            // 1, 4, 8
};

// `indices`: one array; if spec.scalar_indices, one scalar for each entry of spec.index_map. A window that does not lie
// inside as a whole is moved inside (spec.clamp), or reads as 0.
void gather(const IndexLoop& loop, const void* operand, const void* const* indices, void* result);

// Writes into `out`, which holds the operand already. Updates come in row-major order of the indices, windows outside
// are dropped or moved. combine: null replaces, else out = combine(out, update), with its scratch.
void scatter(const IndexLoop& loop, const Fold* combine, const void* const* indices, const void* updates, void* out,
             void* scratch);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "index_body.hpp"
#endif
