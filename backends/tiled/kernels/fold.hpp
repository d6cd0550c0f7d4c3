// kernels/fold.hpp -- Fold: what a reduction, running fold or combining write does, from a primitive.
#pragma once
#include "fold_types.hpp"
#include "prepared.hpp"

namespace fx::inline v0::tiled {

struct Fold {
  FoldOp op = FoldOp::sum;
  DType dtype = DType::f32;    // of the elements
  DType to = DType::f32;       // of the results: dtype, or the integer dtype of positions
  std::uint64_t identity = 0;  // bits; folds start from it
  std::uint64_t empty = 0;     // bits of the result of no elements
  kernels::FoldLoops loops;    // sum .. min
  VectorProgram program;       // fold, arg

  // For a primitive of kind reduce or cumulative, or an elementwise one of two operands (combining writes, which need
  // no identity), on elements of `dtype`; `to` is the result dtype of an arg-fold.
  static Fold make(const Prim& p, DType dtype, const Attrs& attrs = {}, DType to = DType::i32,
                   Prepared* prepared = nullptr);

  bool is_arg() const { return op == FoldOp::argmax || op == FoldOp::argmin || op == FoldOp::arg; }
  bool is_native() const { return op < FoldOp::fold; }
  // Scratch, 64-byte aligned, that the functions taking a Fold need: one for each thread, prepared once. 0 bytes for
  // the known folds, which take a null scratch.
  std::int64_t scratch_bytes() const { return is_native() ? 0 : program.scratch_bytes(); }
  void prepare(void* scratch) const {
    if (!is_native()) program.prepare(scratch);
  }
};

// acc[i] = fold(acc[i], x[i]) for i < n. Not for arg-folds.
void fold_into(const Fold& f, void* acc, const void* x, std::int64_t n, void* scratch);

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "fold_body.hpp"
#endif
