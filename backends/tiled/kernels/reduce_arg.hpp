// kernels/reduce_arg.hpp -- the inner state of an arg-fold: the best so far and its position, of a row or of columns.
#pragma once
#include <cstring>

#include "arg_loops.hpp"
#include "fold.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// Of argmax and argmin the state holds keys; of another arg-fold, elements.
FX_INLINE bool runs_down(const Fold& f) { return f.op == FoldOp::argmin; }
FX_INLINE int best_size(const Fold& f) { return f.op == FoldOp::arg ? size_of(f.dtype) : key_size(f.dtype); }

// Whether `next` beats `best` in another arg-fold, for n of each.
FX_INLINE void better(const Fold& f, const void* best, const void* next, int n, bool* wins, void* scratch) {
  const void* in[] = {best, next};
  void* out[] = {wins};
  f.program.run(scratch, in, out, n);
}
FX_INLINE void take(const Fold& f, ArgState& s, std::int64_t at, const void* x, void* scratch) {
  bool wins = s.at < 0;
  if (!wins) better(f, &s.key, x, 1, &wins, scratch);
  if (!wins) return;
  s.at = at;
  std::memcpy(&s.key, x, std::size_t(size_of(f.dtype)));
}

FX_INLINE void arg_row_feed(const Fold& f, ArgState& s, const char* x, std::int64_t first, std::int64_t count,
                            void* scratch) {
  if (f.op ==
      FoldOp::arg) {  // one after the other: the slowest way, and the only one that asks nothing of the comparison
    for (std::int64_t i = 0; i < count; ++i) take(f, s, first + i, x + i * size_of(f.dtype), scratch);
  } else {
    with_key(f.dtype, [&]<class K>() { arg_row<K>(s, f.dtype, runs_down(f), x, first, count); });
  }
}
FX_INLINE void arg_row_merge(const Fold& f, ArgState& s, const ArgState& later, void* scratch) {
  if (later.at < 0) return;
  if (f.op == FoldOp::arg)
    take(f, s, later.at, &later.key, scratch);
  else if (s.at < 0 || later.key > s.key)
    s = later;
}

FX_INLINE void other_columns(const Fold& f, char* best, std::int64_t* position, const char* x, std::int64_t first,
                             std::int64_t rows, std::int64_t cols, std::int64_t stride, bool begins, void* scratch) {
  const std::int64_t size = size_of(f.dtype);
  bool wins[arg_tile];
  for (std::int64_t i = 0; i < rows; ++i, x += stride * size, begins = false)
    for (std::int64_t c = 0; c < cols; c += arg_tile) {
      const int here = int(cols - c < arg_tile ? cols - c : arg_tile);
      if (!begins) better(f, best + c * size, x + c * size, here, wins, scratch);
      for (std::int64_t k = c; k < c + here; ++k) {
        if (!begins && !wins[k - c]) continue;
        std::memcpy(best + k * size, x + k * size, std::size_t(size));
        position[k] = first + i;
      }
    }
}
FX_INLINE void arg_columns_feed(const Fold& f, char* best, std::int64_t* position, const char* x, std::int64_t first,
                                std::int64_t rows, std::int64_t cols, std::int64_t stride, bool begins, void* scratch) {
  if (f.op == FoldOp::arg) return other_columns(f, best, position, x, first, rows, cols, stride, begins, scratch);
  with_key(f.dtype, [&]<class K>() {
    arg_columns<K>(reinterpret_cast<K*>(best), position, f.dtype, runs_down(f), x, first, rows, cols, stride, begins);
  });
}
FX_INLINE void arg_columns_merge(const Fold& f, char* best, std::int64_t* position, const char* later,
                                 const std::int64_t* later_position, std::int64_t cols, void* scratch) {
  const std::int64_t size = best_size(f);
  for (std::int64_t c = 0; c < cols; ++c, best += size, later += size) {
    bool wins = false;
    if (f.op == FoldOp::arg)
      better(f, best, later, 1, &wins, scratch);
    else
      with_key(f.dtype,
               [&]<class K>() { wins = *reinterpret_cast<const K*>(later) > *reinterpret_cast<const K*>(best); });
    if (!wins) continue;
    std::memcpy(best, later, std::size_t(size));
    position[c] = later_position[c];
  }
}

}  // namespace fx::inline v0::tiled::kernels
#endif
