// kernels/fold_types.hpp -- which folds are known, and the loops that each of them has.
#pragma once
#include <fx/type.hpp>

#include "level.hpp"

namespace fx::inline v0::tiled {

// Known folds and arg-folds have native loops; `fold` and `arg` are another primitive's, whose recorded program runs.
enum class FoldOp : std::uint8_t { sum, prod, max, min, argmax, argmin, fold, arg };

namespace kernels {
// The loops of a known fold, on elements of its dtype.
struct FoldLoops {
  // As `columns`, in machine code, on a multiple of `lanes` columns; or null.
  void (*wide)(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) = nullptr;
  int lanes = 1;
  // Whole rows of one block, in machine code (code/fold.hpp); or null.
  void (*whole_rows)(void* out, const void* x, std::int64_t rounds, std::int64_t rows, std::int64_t row_bytes,
                     const void* identity) = nullptr;
  // Running folds in machine code (code/fold.hpp), of columns and of four lines; or null.
  void (*running_columns)(void* out, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t step,
                          std::int64_t between) = nullptr;
  void (*running_lines)(void* out, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t step,
                        std::int64_t between) = nullptr;
  // acc[c] = fold(acc[c], x[i * stride + c]) for i < rows in order, c < cols.
  void (*columns)(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) = nullptr;
  // Folds the upper half of the lanes onto the lower one, and so on, and the last lane onto the total.
  void (*close)(void* total, void* lanes) = nullptr;
  // out[i * step] = fold(out[(i - 1) * step], x[i * step]); the first element as it is.
  void (*chain)(void* out, const void* x, std::int64_t n, std::int64_t step) = nullptr;
};
FoldLoops fold_loops_of(FoldOp op, DType d, Level l);
}  // namespace kernels

}  // namespace fx::inline v0::tiled
