// kernels/reduce.hpp -- folds and arg-folds along rows and columns, whole or streamed, in the one fixed order.
//
// The order is that of ops/reduce.hpp. Along rows (contiguous elements): element i belongs to block i / 4096 and,
// there, to lane i mod L; lanes start from the identity, fold in halves (l += l + L/2, ...), and blocks are folded in
// rising order onto the identity. Along columns L is 1: each block of 4096 is a chain. Arg-folds take the first
// extremum (a NaN is one), which no order can change.
#pragma once
#include <fx/ops/layout.hpp>

#include "fold.hpp"

namespace fx::inline v0::tiled {

// out[r] = fold of in[r * row_stride + i] over i < n, for r < rows.
void reduce_rows(const Fold& f, const void* in, std::int64_t rows, std::int64_t n, std::int64_t row_stride, void* out,
                 void* scratch);
// out[c] = fold of in[i * row_stride + c] over i < n, for c < cols.
void reduce_cols(const Fold& f, const void* in, std::int64_t n, std::int64_t cols, std::int64_t row_stride, void* out,
                 void* scratch);

// The same in pieces: begin, feed elements in rising order without gaps, finish. A state is 64-byte aligned.
//
// One row:
std::int64_t row_state_bytes(const Fold& f);
void row_begin(const Fold& f, void* state);
// Elements first .. first + count - 1 of the row.
void row_feed(const Fold& f, void* state, const void* in, std::int64_t first, std::int64_t count, void* scratch);
// `block` was begun apart and fed exactly one block: [first, first + 4096) with first a multiple of 4096, or up to the
// end. `state` holds all blocks before it. (Threads reduce blocks apart, and one of them merges.) `block` is spent.
void row_merge(const Fold& f, void* state, void* block, void* scratch);
// n: the elements fed altogether. Writes one result.
void row_finish(const Fold& f, void* state, std::int64_t n, void* out, void* scratch);

// `cols` columns side by side:
std::int64_t col_state_bytes(const Fold& f, std::int64_t cols);
void col_begin(const Fold& f, void* state, std::int64_t cols);
void col_feed(const Fold& f, void* state, std::int64_t cols, const void* in, std::int64_t row_stride,
              std::int64_t first, std::int64_t count, void* scratch);
void col_merge(const Fold& f, void* state, void* block, std::int64_t cols, void* scratch);
void col_finish(const Fold& f, void* state, std::int64_t cols, std::int64_t n, void* out, void* scratch);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "reduce_body.hpp"
#endif
