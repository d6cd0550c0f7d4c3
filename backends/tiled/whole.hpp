// tiled/whole.hpp -- kernels on densely stored operands: running folds, sort, reads and writes at computed positions.
#pragma once
#include <cstring>

#include "kernels/cumulative.hpp"
#include "kernels/index.hpp"
#include "kernels/sort.hpp"
#include "step.hpp"

namespace fx::inline v0::tiled {

class CumulativeStep : public Step {
 public:
  explicit CumulativeStep(const tile::Kernel& kernel, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override { return fold_.scratch_bytes(); }
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;

 private:
  Fold fold_;
  int axis_ = 0;
  bool reverse_ = false;
};

class SortStep : public Step {
 public:
  explicit SortStep(const tile::Kernel& kernel);
  std::int64_t scratch_bytes() const override;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;

 private:
  int axis_ = 0, keys_ = 1;
  Vec<DType> dtypes_;
  std::int64_t pointers() const { return align64(2 * k.in.size() * std::int64_t(sizeof(void*))); }
};

class IndexStep : public Step {
 public:
  explicit IndexStep(const tile::Kernel& kernel, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;

 private:
  IndexLoop loop_;
  Fold combine_;
};

#if FX_BODIES
namespace detail {
// A block of whole dimensions from `axis` on as [outer, n, inner].
struct Lines {
  std::int64_t outer = 1, n = 1, inner = 1;
  Lines(const Dims& extent, int axis) : n(extent[axis]) {
    for (int d = 0; d < extent.n; ++d)
      if (d != axis) (d < axis ? outer : inner) *= extent[d];
  }
};
}  // namespace detail

FX_INLINE CumulativeStep::CumulativeStep(const tile::Kernel& kernel, Prepared* prepared) : Step(kernel) {
  const Eqn& e = k.op->eqns[0];
  const Attrs a = attrs(*k.op, e);
  axis_ = int(a.integer(0));
  reverse_ = a.flag(1);
  fold_ = Fold::make(*e.prim, k.op->type(e.out).dtype, a, DType::i32, prepared);
}
FX_INLINE void CumulativeStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  fold_.prepare(scratch);
  const int size = m.element_size(k.out[0]);
  each_block(k, m, counts, [&](const Block& b) {
    const detail::Lines l(b.extent, axis_);
    cumulative(fold_, m.at(k.in[0]) + offset(k.in[0], b.start) * size,
               m.at(k.out[0]) + offset(k.out[0], b.start) * size, l.outer, l.n, l.inner, reverse_, scratch);
  });
}

FX_INLINE SortStep::SortStep(const tile::Kernel& kernel) : Step(kernel) {
  const Attrs a = attrs(*k.op, k.op->eqns[0]);
  axis_ = int(a.integer(0));
  keys_ = int(a.integer(1));
  for (int v : k.op->ins) dtypes_.push_back(k.op->type(v).dtype);
}
FX_INLINE std::int64_t SortStep::scratch_bytes() const { return pointers() + sort_workspace(k.space[axis_]); }
FX_INLINE void SortStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  const int n = k.in.size();
  const void** in = reinterpret_cast<const void**>(scratch);
  void** out = reinterpret_cast<void**>(scratch) + n;
  each_block(k, m, counts, [&](const Block& b) {
    const detail::Lines l(b.extent, axis_);
    for (int i = 0; i < n; ++i) {
      in[i] = m.at(k.in[i]) + offset(k.in[i], b.start) * m.element_size(k.in[i]);
      out[i] = m.at(k.out[i]) + offset(k.out[i], b.start) * m.element_size(k.out[i]);
    }
    sort(dtypes_, keys_, in, out, l.outer, l.n, l.inner, scratch + pointers());
  });
}

FX_INLINE IndexStep::IndexStep(const tile::Kernel& kernel, Prepared* prepared) : Step(kernel) {
  const Graph& g = *k.op;
  const Eqn& e = g.eqns[0];
  loop_.spec = e.prim->index(g, e);
  const IndexSpec& s = loop_.spec;
  auto dims = [&](int operand) { return g.type(g.ins[operand]).dims; };
  loop_.operand = dims(s.operand);
  if (!s.scalar_indices) loop_.indices = dims(s.indices);
  if (s.indices < g.ins.size()) loop_.index_dtype = g.type(g.ins[s.indices]).dtype;
  loop_.result = s.write ? dims(s.updates) : g.type(e.out).dims;
  loop_.element_size = size_of(g.type(e.out).dtype);
  if (s.combine) combine_ = Fold::make(*s.combine, g.type(e.out).dtype, {}, DType::i32, prepared);
}
FX_INLINE std::int64_t IndexStep::scratch_bytes() const {
  return align64(k.in.size() * std::int64_t(sizeof(void*))) + (loop_.spec.combine ? combine_.scratch_bytes() : 0);
}
FX_INLINE void IndexStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  const IndexSpec& s = loop_.spec;
  const void** indices = reinterpret_cast<const void**>(scratch);
  for (int i = s.indices; i < k.in.size(); ++i) indices[i - s.indices] = m.at(k.in[i]);
  char *operand = m.at(k.in[s.operand]), *out = m.at(k.out[0]);
  const std::int64_t bytes = numel(loop_.operand) * loop_.element_size;
  if (counts) {
    ++counts->steps;
    const std::int64_t moved = numel(loop_.result) * loop_.element_size + (s.write && operand != out ? bytes : 0);
    counts->bytes_in += moved;
    counts->bytes_out += moved;
    for (int i = s.indices; i < k.in.size(); ++i)
      if (!s.write || i != s.updates) counts->bytes_in += numel(k.op->type(k.op->ins[i])) * m.element_size(k.in[i]);
  }
  if (!s.write) return gather(loop_, operand, indices, out);
  if (operand != out && bytes > 0) std::memcpy(out, operand, std::size_t(bytes));
  scratch += align64(k.in.size() * std::int64_t(sizeof(void*)));
  if (s.combine) combine_.prepare(scratch);
  scatter(loop_, s.combine ? &combine_ : nullptr, indices, m.at(k.in[s.updates]), out, scratch);
}
#endif

}  // namespace fx::inline v0::tiled
