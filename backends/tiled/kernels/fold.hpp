// kernels/fold.hpp -- Fold: the operation of a reduction, a running fold or a combining write, by a primitive's name or record.
#pragma once
#include "vector_program.hpp"

namespace fx::inline v0::tiled {

enum class FoldOp : std::uint8_t {
  sum, prod, max, min,  // known: native loops
  argmax, argmin,
  fold, arg             // another primitive's: two operands through its recorded program
};

namespace kernels {
// The loops of a known fold; their states are those of reduce.hpp.
struct FoldLoops {
  // acc[c] = fold(acc[c], x[i * stride + c]) for i < rows in order, c < cols.
  void (*columns)(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) = nullptr;
  // Elements first .. first + count - 1 of a row.
  void (*row)(void* state, const void* x, std::int64_t first, std::int64_t count) = nullptr;
  // Folds the lanes of the block at hand onto the blocks before it.
  void (*close)(void* state) = nullptr;
  // out[c] = fold(before[c], x[c]); out may be before or x.
  void (*next)(void* out, const void* before, const void* x, std::int64_t n) = nullptr;
  // out[i * step] = fold(out[(i - 1) * step], x[i * step]); the first element as it is.
  void (*chain)(void* out, const void* x, std::int64_t n, std::int64_t step) = nullptr;
};
// The loops of a known arg-fold.
struct ArgLoops {
  // Rows first .. first + rows - 1; `begins`: there is no best yet.
  void (*columns)(void* best, std::int64_t* at, const void* x, std::int64_t first, std::int64_t rows, std::int64_t cols,
                  std::int64_t stride, bool begins) = nullptr;
  void (*row)(void* state, const void* x, std::int64_t first, std::int64_t count) = nullptr;
  // Takes in the lanes of the last block, of `count` elements that start at `first`.
  void (*close)(void* state, std::int64_t first, std::int64_t count) = nullptr;
  // Takes in the best of elements that come later.
  void (*merge)(void* state, const void* later) = nullptr;
};
}  // namespace kernels

struct Fold {
  FoldOp op = FoldOp::sum;
  DType dtype = DType::f32;    // of the elements
  DType to = DType::f32;       // of the results: dtype, or the integer dtype of positions
  std::uint64_t identity = 0;  // bits; folds start from it
  std::uint64_t empty = 0;     // bits of the result of no elements
  kernels::FoldLoops loops;    // sum .. min
  kernels::ArgLoops arg_loops; // argmax, argmin
  VectorProgram program;       // fold, arg

  // For a primitive of kind reduce or cumulative, or an elementwise one of two operands (combining writes, which need no
  // identity), on elements of `dtype`; `to` is the result dtype of an arg-fold.
  static Fold make(const Prim& p, DType dtype, const Attrs& attrs = {}, DType to = DType::i32);

  bool is_arg() const { return op == FoldOp::argmax || op == FoldOp::argmin || op == FoldOp::arg; }
  bool is_native() const { return op < FoldOp::fold; }
  // Scratch, 64-byte aligned, that the functions taking a Fold need: one for each thread, prepared once. 0 bytes for the
  // known folds, which take a null scratch.
  std::int64_t scratch_bytes() const { return is_native() ? 0 : program.scratch_bytes(); }
  void prepare(void* scratch) const {
    if (!is_native()) program.prepare(scratch);
  }
};

// acc[i] = fold(acc[i], x[i]) for i < n. Not for arg-folds.
void fold_into(const Fold& f, void* acc, const void* x, std::int64_t n, void* scratch);
// out[i] = fold(before[i], x[i]); out may be before or x. Not for arg-folds.
void fold_next(const Fold& f, void* out, const void* before, const void* x, std::int64_t n, void* scratch);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "fold_body.hpp"
#endif
