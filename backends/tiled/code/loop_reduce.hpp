// code/loop_reduce.hpp -- LoopBody: reductions, in the order that ops/reduce.hpp prescribes.
#pragma once
#include <fx/ops/layout.hpp>

#include "../kernels/fold.hpp"
#include "loop_kernels.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

// The fold of two vectors, lane by lane.
struct LoopBody::Folding {
  LoopBody& b;
  DType d;
  Fold fold;
  tile::RecordedBody body;
  int identity;

  Folding(LoopBody& loop, const Graph& op)
      : b(loop),
        d(op.type(op.ins[0]).dtype),
        fold(Fold::make(*op.eqns[0].prim, d, attrs(op, op.eqns[0]), op.type(op.eqns[0].out).dtype)) {
    if (fold.is_arg()) return;
    body = tile::record_fold(*op.eqns[0].prim, d, 2, d, attrs(op, op.eqns[0]));
    identity = b.constant(d, fold.identity);
  }
  int operator()(int acc, int x) const {
    Vec<int> regs(body.r.regs.size(), -1);
    regs[body.ins[0]] = acc, regs[body.ins[1]] = x;
    for (const Instr& i : body.r.code)
      if (i.op != Instr::input) regs[i.dst] = i.op == Instr::constant ? b.constant(i.type, i.imm) : b.instance(i, regs);
    return regs[body.outs[0]];
  }
  // The same in the first n lanes; the others of acc stay.
  int first(int acc, int x, int n) const {
    const int all = (*this)(acc, x);
    if (n == b.lanes) return all;
    Instr i{Instr::select, d};
    i.a = b.first_lanes(n), i.b = all, i.c = acc;
    return b.push(i, d);
  }
  // Of the lanes of several vectors: they fold in halves, and the last onto the identity.
  int across(Vec<int> acc) const {
    for (int n = acc.size() / 2; n > 0; n /= 2)
      for (int j = 0; j < n; ++j) acc[j] = (*this)(acc[j], acc[j + n]);
    for (int half = b.lanes / 2; half > 0; half /= 2) {
      Instr i{upper, d};
      i.a = acc[0], i.b = half;
      const int other = b.push(i, d);
      acc[0] = (*this)(acc[0], other);
    }
    return (*this)(identity, acc[0]);
  }
};

FX_INLINE int LoopBody::first_lanes(int n) {
  LoopPrepared p{input(boolean), boolean, {}, 0, {}};
  for (int l = 0; l < lanes; ++l) p.bits.push_back(l < n);
  prepared.push_back(std::move(p));
  if (prepared.size() > most_prepared) missing = "it is too large";
  return prepared.back().reg;
}

// The reduced dimensions in the order of the elements.
FX_INLINE Dims reduced_dims(const tile::Kernel& k) {
  const Dims any_order = attrs(*k.op, k.op->eqns[0]).dims(0);
  Dims r;
  for (int d = 0; d < k.space.n; ++d)
    if (any_order.contains(d)) r.push_back(d);
  return r;
}

// What is reduced, as an array: where it lies, or computed into a dense one (whose vectors need no memory where they
// are read as they are written).
FX_INLINE tile::Access LoopBody::reduced(const tile::Kernel& k, bool in_rows) {
  bool direct = tile::is_identity(*k.body);
  if (direct && in_rows) {  // the reduced dimensions must be one loop
    tile::Kernel rows;
    const Dims axes = reduced_dims(k);
    tile::Access a = k.in[0];
    a.stride = Dims();
    for (std::int64_t d : axes) rows.space.push_back(k.space[int(d)]), a.stride.push_back(k.in[0].stride[int(d)]);
    rows.in.push_back(a);
    direct = Box(rows, axes.n, true, lanes).loops.size() <= 1;
  }
  if (direct) return k.in[0];
  const DType d = k.op->type(k.op->ins[0]).dtype;
  tile::Kernel map;
  map.kind = tile::KernelKind::map;
  map.space = k.space;
  map.in = k.in;
  map.body = k.body;
  const tile::Access all{p_.buffers.size() + own_.size(), 0, strides_of(k.space)};
  own_.push_back({tile::BufferDecl::workspace, workspace, {d, k.space}});
  workspace += (numel(k.space) * size_of(d) + 63) / 64 * 64;
  map.out.push_back(all);
  add_map(map);
  return all;
}

FX_INLINE void LoopBody::add_reduce(const tile::Kernel& k) {
  const Dims axes = reduced_dims(k);
  const Folding fold(*this, *k.op);
  if (fold.fold.is_arg() || fold.d == boolean) {
    missing = "it has a reduction that is not made of vectors";
    return;
  }
  tile::Kernel kept;  // the dimensions that stay
  bool in_rows = true;
  std::int64_t count = 1;
  for (int d = 0; d < k.space.n; ++d) {
    if (axes.contains(d)) {
      count *= k.space[d];
    } else {
      in_rows = in_rows && d == kept.space.n;
      kept.space.push_back(k.space[d]);
    }
  }
  if (count > reduce_block) {
    missing = "it is too large";
    return;
  }
  const tile::Access from = count == 0 ? k.out[0] : reduced(k, in_rows);  // of nothing: never read
  if (missing) return;
  tile::Access in = from, out = k.out[0];
  in.stride = out.stride = Dims();
  for (int d = 0; d < k.space.n; ++d)
    if (!axes.contains(d)) in.stride.push_back(from.stride[d]), out.stride.push_back(k.out[0].stride[d]);
  kept.in.push_back(in);
  kept.out.push_back(out);
  Box box(kept, kept.space.n, !in_rows, in_rows ? 1 : lanes);
  if (box.empty()) return;
  do {
    const LoopPlace to = place(out, box.element(1), box.count());
    if (count == 0)
      store(constant(fold.d, fold.fold.empty), to);
    else
      store(in_rows ? fold_row(fold, k, from, box.element(0), axes, count)
                    : fold_column(fold, k, from, box.element(0), box.stride(0), to.lanes, axes),
            to);
  } while (!missing && box.next());
}

// Element e goes to lane e % reduce_lanes of the accumulators.
FX_INLINE int LoopBody::fold_row(const Folding& fold, const tile::Kernel& k, const tile::Access& from,
                                 std::int64_t element, const Dims& axes, std::int64_t count) {
  std::int64_t stride = 0;
  for (std::int64_t d : axes)
    if (k.space[int(d)] > 1) stride = from.stride[int(d)];
  Vec<int> acc(reduce_lanes(fold.d) / lanes, fold.identity);
  for (std::int64_t e = 0; e < count && !missing; e += lanes) {
    const int n = int(count - e < lanes ? count - e : lanes);
    int& a = acc[int(e / lanes) % acc.size()];
    a = fold.first(a, operand(from, element + e * stride, stride, n), n);
  }
  return fold.across(std::move(acc));
}

FX_INLINE int LoopBody::fold_column(const Folding& fold, const tile::Kernel& k, const tile::Access& from,
                                    std::int64_t element, std::int64_t stride, int n, const Dims& axes) {
  std::int64_t position[max_rank]{};
  int acc = fold.identity;
  for (int d = axes.n - 1; d >= 0 && !missing;) {
    std::int64_t at = element;
    for (int i = 0; i < axes.n; ++i) at += position[i] * from.stride[int(axes[i])];
    acc = fold(acc, operand(from, at, stride, n));
    for (d = axes.n - 1; d >= 0; --d) {
      if (++position[d] < k.space[int(axes[d])]) break;
      position[d] = 0;
    }
  }
  return fold(fold.identity, acc);
}

}  // namespace fx::inline v0::tiled::code
#endif
