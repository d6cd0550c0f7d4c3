// cuda/ptx_reduce.hpp -- KernelWriter: reductions in the one fixed order (ops/reduce.hpp).
//
// Along the last dimensions the lanes of a block of 4096 are as many threads of one warp, which fold in halves by
// handing values down; else, and for positions of extrema, one thread walks the elements of a result.
#pragma once
#include <algorithm>
#include <fx/ops/layout.hpp>
#include <fx/ops/reduce.hpp>

#include "ptx_kernel.hpp"

#if FX_BODIES
namespace fx::inline v0::cuda {
namespace detail {
FX_INLINE Dims reduced_dims(const tile::Kernel& k) { return attrs(*k.op, k.op->eqns[0]).dims(0); }
FX_INLINE Dims kept_dims(const tile::Kernel& k) { return fx::detail::others(k.space.n, reduced_dims(k)); }
// Threads for one result: the lanes, if the reduced dimensions are the last ones.
FX_INLINE int lanes_of(const tile::Kernel& k) {
  const Eqn& e = k.op->eqns[0];
  const Dims kept = kept_dims(k);
  const bool rows = kept.n == 0 || kept[kept.n - 1] == kept.n - 1;
  return rows && e.prim->form != arg_form ? reduce_lanes(k.op->type(k.op->ins[0]).dtype) : 1;
}
}  // namespace detail

FX_INLINE std::int64_t KernelWriter::wanted(const tile::Kernel& k) {
  if (k.kind == tile::KernelKind::map) return numel(k.space);
  std::int64_t n = detail::lanes_of(k);
  for (std::int64_t d : detail::kept_dims(k)) n *= k.space[int(d)];
  return n;
}

FX_INLINE KernelWriter::Fold KernelWriter::fold() const {
  const Graph& g = *k_.op;
  const Eqn& e = g.eqns[0];
  const Attrs a = attrs(g, e);
  if (!e.prim->record)
    fail(ErrorCode::rule, "primitive '" + std::string(e.prim->name) + "' has no record rule, and folds need one");
  Fold f;
  f.dtype = g.type(g.ins[0]).dtype;
  f.to = g.type(e.out).dtype;
  f.arg = e.prim->form == arg_form;
  f.lanes = detail::lanes_of(k_);
  f.fold = tile::record_fold(*e.prim, f.dtype, 2, f.arg ? boolean : f.dtype, a);
  if (!f.arg) f.identity = tile::record_fold(*e.prim, f.dtype, 0, f.dtype, a);
  f.empty_is_identity = e.prim->id != name_id("reduce_sum");  // which starts from -0, and is +0 of nothing
  return f;
}

FX_INLINE void KernelWriter::store_empty(const Fold& f, const Digits& kept) {
  loop(threads_.number, kept.count, threads_.count, [&](Reg n) {
    Vec<Reg> to = addresses();
    advance(to, n, kept);
    const Reg zero = InstrWriter(w_, tables_).constant(f.dtype, 0);
    store(operands(), to.back(), f.empty_is_identity ? run(f.identity, {})[0] : zero);
  });
}

// Warps walk the results together: threads beyond the last one work on it again, and do not write.
FX_INLINE void KernelWriter::reduce() {
  record();
  const Fold f = fold();
  Dims order = detail::reduced_dims(k_);
  std::sort(order.d, order.d + order.n);  // elements are numbered in row-major order
  const Digits kept = digits(detail::kept_dims(k_)), reduced = digits(order);
  if (kept.count == 0) return;
  if (reduced.count == 0) return store_empty(f, kept);
  const std::int64_t per_warp = 32 / f.lanes;
  const Reg warp = w_.make(Reg::quad, "shr.u64", {threads_.number, 5});
  const Reg in_warp = w_.make(Reg::quad, "and.b64", {threads_.number, 31});
  const Reg lane = w_.make(Reg::quad, "and.b64", {in_warp, f.lanes - 1});
  const Reg group = w_.make(Reg::quad, "div.u64", {in_warp, f.lanes});
  const Reg first = w_.make(Reg::quad, "mul.lo.s64", {warp, per_warp});
  const Reg step = w_.make(Reg::quad, "div.u64", {threads_.count, f.lanes});
  loop(first, kept.count, step, [&](Reg base) {
    const Reg own = w_.make(Reg::quad, "add.s64", {base, group});
    const Reg row = w_.make(Reg::quad, "min.s64", {own, kept.count - 1});
    Vec<Reg> to = addresses();
    advance(to, row, kept);
    const Reg result = f.arg ? arg_row(f, to, reduced) : fold_row(f, to, reduced, lane);
    const Reg exists = w_.make(Reg::pred, "setp.lt.s64", {own, kept.count});
    const Reg leads = w_.make(Reg::pred, "setp.eq.s64", {lane, 0});
    const Reg writes = w_.make(Reg::pred, "and.pred", {exists, leads});
    store(operands(), to.back(), result, &writes);
  });
}

// Element `number` of a row whose accesses begin at `at`.
FX_INLINE Reg KernelWriter::next(Span<const Reg> at, const Digits& reduced, Reg number) {
  Vec<Reg> to(at);
  advance(to, number, reduced);
  return evaluate(to)[0];
}

FX_INLINE Reg KernelWriter::fold_row(const Fold& f, Span<const Reg> at, const Digits& reduced, Reg lane) {
  const Reg total = w_.fresh(f.dtype), acc = w_.fresh(f.dtype), zero = w_.make(Reg::quad, "mov.b64", {0});
  const Reg identity = run(f.identity, {})[0];
  w_.move(total, identity);
  loop(zero, reduced.count, reduce_block, [&](Reg block) {
    w_.move(acc, identity);
    const Reg end_of_block = w_.make(Reg::quad, "add.s64", {block, reduce_block});
    const Reg end = w_.make(Reg::quad, "min.s64", {end_of_block, reduced.count});
    const Reg from = f.lanes == 1 ? block : w_.make(Reg::quad, "add.s64", {block, lane});
    loop(from, end, f.lanes, [&](Reg n) {
      const Reg x = next(at, reduced, n), operands[] = {acc, x};
      w_.move(acc, run(f.fold, operands)[0]);
    });
    fold_lanes(f, acc);
    const Reg operands[] = {total, acc};
    w_.move(total, run(f.fold, operands)[0]);
  });
  return total;
}

// Lane l takes what lane l + half has, then half of that: what the upper lanes make on the way is not used.
FX_INLINE void KernelWriter::fold_lanes(const Fold& f, Reg acc) {
  for (int half = f.lanes / 2; half > 0; half /= 2) {
    const Reg above = from_lane_above(acc, half, f.lanes), operands[] = {acc, above};
    w_.move(acc, run(f.fold, operands)[0]);
  }
}

FX_INLINE Reg KernelWriter::from_lane_above(Reg v, int distance, int lanes) {
  const std::uint64_t within = std::uint64_t(32 - lanes) << 8 | 31;
  auto hand_down = [&](Reg word) {
    return w_.make(Reg::word, "shfl.sync.down.b32", {word, distance, bits_of(within), bits_of(0xffffffff)});
  };
  if (v.cls == Reg::word) return hand_down(v);
  if (v.cls == Reg::pred)
    return w_.make(Reg::pred, "setp.ne.u32", {hand_down(w_.make(Reg::word, "selp.b32", {1, 0, v})), 0});
  const Reg low = w_.make(Reg::word, "cvt.u32.u64", {v}), upper = w_.make(Reg::quad, "shr.u64", {v, 32});
  const Reg high = w_.make(Reg::word, "cvt.u32.u64", {upper});
  const Reg low64 = w_.make(Reg::quad, "cvt.u64.u32", {hand_down(low)});
  const Reg high64 = w_.make(Reg::quad, "cvt.u64.u32", {hand_down(high)});
  const Reg shifted = w_.make(Reg::quad, "shl.b64", {high64, 32});
  return w_.make(Reg::quad, "or.b64", {low64, shifted});
}

// The position of the first element that none beats.
FX_INLINE Reg KernelWriter::arg_row(const Fold& f, Span<const Reg> at, const Digits& reduced) {
  const Reg best = w_.fresh(f.dtype), place = w_.make(Reg::quad, "mov.b64", {0});
  const Reg zero = w_.make(Reg::quad, "mov.b64", {0}), one = w_.make(Reg::quad, "mov.b64", {1});
  w_.move(best, next(at, reduced, zero));
  loop(one, reduced.count, 1, [&](Reg n) {
    const Reg x = next(at, reduced, n), operands[] = {best, x};
    const Reg wins = run(f.fold, operands)[0];
    const Label stays = w_.label();
    w_.jump_if(wins, stays, true);
    w_.move(best, x);
    w_.move(place, n);
    w_.place(stays);
  });
  return size_of(f.to) == 8 ? place : w_.make(Reg::word, "cvt.u32.u64", {place});
}

}  // namespace fx::inline v0::cuda
#endif
