// tiled/reduce_run.hpp -- the bodies of tiled/reduce.hpp.
#pragma once
#include "kernels/copy.hpp"
#include "reduce.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

FX_INLINE ReduceStep::ReduceStep(const tile::Kernel& kernel, Prepared* prepared) : Step(kernel) {
  const Eqn& e = k.op->eqns[0];
  axes_ = attrs(*k.op, e).dims(0);
  const int rank = k.space.n;
  Dims kept, reduced;
  for (int d = 0; d < rank; ++d) (reduces(d) ? reduced : kept).push_back(d);
  rows_ = kept.n == 0 || kept[kept.n - 1] == kept.n - 1;  // the reduced dimensions are the last
  for (std::int64_t d : rows_ ? kept : reduced) order_.push_back(d);
  for (std::int64_t d : rows_ ? reduced : kept) order_.push_back(d);
  Dims position(rank, 0);
  for (int i = 0; i < rank; ++i) {
    position[int(order_[i])] = i;
    sizes_.push_back(k.space[int(order_[i])]);
  }
  const Dims strides = strides_of(sizes_);
  dense_ = Dims(rank, 0);
  for (int i = 0; i < rank; ++i) dense_[int(order_[i])] = strides[i];
  for (std::int64_t d : reduced) reduced_count_ *= k.space[int(d)];
  bool partial = false;  // a dimension outside was split already: those inside must not be walked several at a time
  for (int i = reduced.n - 1; i >= 0; --i) {
    const int d = int(reduced[i]);
    if (partial && k.block[d] > 1)
      fail(ErrorCode::value, "a reduction's blocks do not follow the order of its elements");
    partial = partial || k.block[d] < k.space[d];
  }
  identity_ = tile::is_identity(*k.body);
  fold_ = Fold::make(*e.prim, k.op->type(k.op->ins[0]).dtype, attrs(*k.op, e), k.op->type(e.out).dtype, prepared);
  kept_ = merge_loops(k, kept);
  reduced_ = merge_loops(k, reduced);
  const Vec<Loop>& across = rows_ ? reduced_ : kept_;
  program_ = compile_body(*k.body, position, columns_along(k, across.empty() ? nullptr : &across.back()), prepared);
}

// One run: the pieces of scratch, and where it is in the grid.
struct ReduceStep::Run {
  const ReduceStep& s;
  const tile::Kernel& k;
  const Memory& m;
  VectorInput* in;
  char *vector_scratch, *fold_scratch, *tile, *states;
  const Block* b = nullptr;
  bool begins = false, ends = false;  // the block holds the first, the last of the reduced elements

  // A place in the block: positions of the kept loops but the last, of the reduced ones but the last, and of both last.
  struct At {
    Odometer kept, reduced;
    std::int64_t kept_last = 0, reduced_last = 0;
  };
  std::int64_t element(const tile::Access& a, const At& at) const {
    std::int64_t n = offset(a, b->start);
    for (int i = 0; i < at.kept.n; ++i) n += at.kept.position[i] * s.kept_[i].stride(a);
    for (int i = 0; i < at.reduced.n; ++i) n += at.reduced.position[i] * s.reduced_[i].stride(a);
    if (!s.kept_.empty()) n += at.kept_last * s.kept_.back().stride(a);
    if (!s.reduced_.empty()) n += at.reduced_last * s.reduced_.back().stride(a);
    return n;
  }
  char* locate(const tile::Access& a, const At& at) const { return m.at(a) + element(a, at) * m.element_size(a); }
  std::int64_t dense_at(const At& at) const { return element({-1, 0, s.dense_}, at); }
  std::int64_t stride(const Vec<Loop>& loops, const tile::Access& a) const {
    return loops.empty() ? 0 : loops.back().stride(a);
  }
  std::int64_t extent(const Vec<Loop>& loops) const { return loops.empty() ? 1 : loops.back().extent(*b); }

  // Computes `rows` x `cols` elements into `tile`; rows run along the last loop of `along`, columns along that of
  // `across`.
  void evaluate(const At& at, const Vec<Loop>& along, const Vec<Loop>& across, int rows, int cols) const {
    for (int i = 0; i < k.in.size(); ++i)
      in[i] = {locate(k.in[i], at), stride(along, k.in[i]), stride(across, k.in[i])};
    const VectorOutput out{tile, cols};
    BlockPlace place;
    if (s.program_.uses_index()) place = {s.sizes_.d, s.sizes_.n, dense_at(at), stride(along, {-1, 0, s.dense_})};
    s.program_.run(vector_scratch, in, &out, rows, cols, place);
  }

  // Number of the first element at `at` among the reduced ones.
  std::int64_t reduced_index(const At& at) const {
    const std::int64_t n = dense_at(at);
    return s.rows_ ? n % s.reduced_count_ : n / (numel(s.sizes_) / s.reduced_count_);
  }

  void block(const Block& b);
  void rows() const;
  void row(At at, void* state) const;
  void columns() const;
  void column_chunk(At at, int cols, void* state) const;
};

FX_INLINE void ReduceStep::Run::rows() const {
  const std::int64_t n = extent(s.reduced_), count = extent(s.kept_);
  At at;
  for (int i = 0; i + 1 < s.kept_.size(); ++i) at.kept.add(s.kept_[i].extent(*b));
  const bool whole_rows = begins && ends && s.reduced_.size() <= 1;
  const bool in_place = s.identity_ && whole_rows && (n == 1 || stride(s.reduced_, k.in[0]) == 1);
  const bool short_rows = whole_rows && n <= s.elements_;
  std::int64_t number = 0;
  do {
    if (in_place) {
      at.kept_last = 0;
      reduce_rows(s.fold_, locate(k.in[0], at), count, n, stride(s.kept_, k.in[0]), locate(k.out[0], at), fold_scratch);
      continue;
    }
    const std::int64_t step = short_rows ? s.elements_ / n : 1;
    for (at.kept_last = 0; at.kept_last < count; at.kept_last += step) {
      const int rows = int(count - at.kept_last < step ? count - at.kept_last : step);
      if (short_rows) {
        evaluate(at, s.kept_, s.reduced_, rows, int(n));
        reduce_rows(s.fold_, tile, rows, n, n, locate(k.out[0], at), fold_scratch);
      } else {
        row(at, states + (begins && ends ? 0 : number++) * align64(row_state_bytes(s.fold_)));
      }
    }
  } while (at.kept.next());
}

// All elements of one row in this block.
FX_INLINE void ReduceStep::Run::row(At at, void* state) const {
  if (begins) row_begin(s.fold_, state);
  for (int i = 0; i + 1 < s.reduced_.size(); ++i) at.reduced.add(s.reduced_[i].extent(*b));
  const std::int64_t n = extent(s.reduced_);
  const bool in_place = s.identity_ && (n == 1 || stride(s.reduced_, k.in[0]) == 1);
  do {
    for (std::int64_t done = 0; done < n;) {
      at.reduced_last = done;
      const std::int64_t count = in_place || n - done < s.elements_ ? n - done : s.elements_;
      if (!in_place) evaluate(at, {}, s.reduced_, 1, int(count));
      row_feed(s.fold_, state, in_place ? locate(k.in[0], at) : tile, reduced_index(at), count, fold_scratch);
      done += count;
    }
  } while (at.reduced.next());
  at.reduced_last = 0;
  if (ends) row_finish(s.fold_, state, s.reduced_count_, locate(k.out[0], at), fold_scratch);
}

FX_INLINE void ReduceStep::Run::columns() const {
  At at;
  for (int i = 0; i + 1 < s.kept_.size(); ++i) at.kept.add(s.kept_[i].extent(*b));
  const std::int64_t cols = extent(s.kept_), chunk = cols < column_chunk_size ? cols : column_chunk_size;
  std::int64_t number = 0;
  do
    for (at.kept_last = 0; at.kept_last < cols; at.kept_last += chunk) {
      const int n = int(cols - at.kept_last < chunk ? cols - at.kept_last : chunk);
      column_chunk(at, n, states + (begins && ends ? 0 : number++) * align64(col_state_bytes(s.fold_, chunk)));
    }
  while (at.kept.next());
}

FX_INLINE void ReduceStep::Run::column_chunk(At at, int cols, void* state) const {
  if (begins) col_begin(s.fold_, state, cols);
  for (int i = 0; i + 1 < s.reduced_.size(); ++i) at.reduced.add(s.reduced_[i].extent(*b));
  const std::int64_t n = extent(s.reduced_);
  const bool in_place = s.identity_ && (cols == 1 || stride(s.kept_, k.in[0]) == 1);
  do {
    for (std::int64_t done = 0; done < n;) {
      at.reduced_last = done;
      const std::int64_t room = in_place ? n : s.elements_ / cols, count = n - done < room ? n - done : room;
      if (in_place) {
        col_feed(s.fold_, state, cols, locate(k.in[0], at), stride(s.reduced_, k.in[0]), reduced_index(at), count,
                 fold_scratch);
      } else {
        evaluate(at, s.reduced_, s.kept_, int(count), cols);
        col_feed(s.fold_, state, cols, tile, cols, reduced_index(at), count, fold_scratch);
      }
      done += count;
    }
  } while (at.reduced.next());
  at.reduced_last = 0;
  if (ends) col_finish(s.fold_, state, cols, s.reduced_count_, locate(k.out[0], at), fold_scratch);
}

FX_INLINE std::int64_t ReduceStep::scratch_bytes() const {
  std::int64_t states = 1, columns = 1;
  for (int d = 0; d < k.space.n; ++d)
    if (!reduces(d)) states *= k.block[d];
  if (!rows_) {
    columns = kept_.empty() ? 1 : kept_.back().inner * k.block[kept_.back().outer];
    if (columns == 0) columns = 1;  // nothing is kept
    const std::int64_t chunk = columns < column_chunk_size ? columns : column_chunk_size;
    states = states / columns * ((columns + chunk - 1) / chunk);
    columns = chunk;
  }
  const std::int64_t state = align64(rows_ ? row_state_bytes(fold_) : col_state_bytes(fold_, columns));
  return align64(k.in.size() * std::int64_t(sizeof(VectorInput))) + align64(program_.scratch_bytes(elements_)) +
         align64(fold_.scratch_bytes()) + align64(elements_ * 8) + (split() ? states : 1) * state;
}

FX_INLINE ReduceStep::Run ReduceStep::prepared(const Memory& m, char* scratch) const {
  Run r{*this, k, m, reinterpret_cast<VectorInput*>(scratch), nullptr, nullptr, nullptr, nullptr};
  r.vector_scratch = scratch + align64(k.in.size() * std::int64_t(sizeof(VectorInput)));
  r.fold_scratch = r.vector_scratch + align64(program_.scratch_bytes(elements_));
  r.tile = r.fold_scratch + align64(fold_.scratch_bytes());
  r.states = r.tile + align64(elements_ * 8);
  program_.prepare(r.vector_scratch, elements_);
  fold_.prepare(r.fold_scratch);
  return r;
}

FX_INLINE void ReduceStep::Run::block(const Block& block) {
  b = &block;
  begins = ends = true;
  for (int d = 0; d < k.space.n; ++d)
    if (s.reduces(d)) {
      begins = begins && block.start[d] == 0;
      ends = ends && block.start[d] + block.extent[d] == k.space[d];
    }
  if (s.rows_)
    rows();
  else
    columns();
}

FX_INLINE void ReduceStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  if (reduced_count_ == 0) {
    fill(m.at(k.out[0]), fold_.empty, numel(m.program->buffers[k.out[0].buffer].type), m.element_size(k.out[0]));
    return;
  }
  Run r = prepared(m, scratch);
  each_block(k, m, counts, [&](const Block& b) { r.block(b); });
}

FX_INLINE void ReduceStep::share(const Memory& m, char* scratch, Parts& parts) const {
  Run r = prepared(m, scratch);
  each_part(k, m, parts, [&](const Block& b) { r.block(b); });
}

}  // namespace fx::inline v0::tiled
#endif
