// tile/cost_model.hpp -- the bodies of tile/cost.hpp.
#pragma once
#include "cost.hpp"
#include "memory.hpp"

namespace fx::inline v0::tile {

FX_INLINE Dims walk_order(const Kernel& k) {
  if (!k.order.empty()) return k.order;
  Dims r;
  for (int d = 0; d < k.space.n; ++d) r.push_back(d);
  return r;
}
FX_INLINE std::int64_t steps(const Kernel& k) {
  std::int64_t n = 1;
  for (int d = 0; d < k.space.n; ++d) n *= k.grid(d);
  return n;
}
FX_INLINE std::int64_t footprint(const Access& a, const Dims& extent) {
  std::int64_t n = 1;
  for (int d = 0; d < extent.n; ++d)
    if (d < a.stride.n && a.stride[d] != 0) n *= extent[d];
  return n;
}

namespace detail {
// Shapes may be larger than any memory: their sizes stop growing here, and allocation refuses them.
FX_INLINE std::int64_t capped_mul(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t cap = std::int64_t(1) << 56;
  const std::int64_t r = fx::detail::checked_mul(a, b);
  return r < 0 || r > cap ? cap : r;
}
FX_INLINE std::int64_t element_bytes(const Access& a, const Program& p) {
  return size_of(p.buffers[a.buffer].type.dtype);
}
FX_INLINE std::int64_t buffer_bytes(const Program& p, int b) {
  return numel(p.buffers[b].type) * size_of(p.buffers[b].type.dtype);
}

// Kernels that one call computes as a whole along some dimensions cannot split those.
FX_INLINE bool can_split(const Kernel& k, int d) {
  switch (k.kind) {
    case KernelKind::cumulative: return d < int(attrs(*k.op, k.op->eqns[0]).integer(0));
    case KernelKind::sort: return d < int(attrs(*k.op, k.op->eqns[0]).integer(0));
    case KernelKind::index: return false;
    default: return true;
  }
}

FX_INLINE std::int64_t block_bytes(const Kernel& k, const Program& p) {
  std::int64_t n = 0;
  for (const Vec<Access>* list : {&k.in, &k.out})
    for (const Access& a : *list) n += capped_mul(footprint(a, k.block), element_bytes(a, p));
  return 2 * n;  // double buffered
}

// A dimension along which each element of a product meets one of each operand.
FX_INLINE bool is_batch(const Kernel& k, int d) { return k.moves(0, d) && k.moves(1, d) && k.out[0].stride[d] != 0; }
// What blocks should be multiples of along a dimension.
FX_INLINE std::int64_t tile_size(const Kernel& k, int d, const Target& t) {
  if (k.kind == KernelKind::dot) return is_batch(k, d) ? 1 : k.moves(1, d) ? t.lanes : t.sublanes;
  return d == k.space.n - 1 ? t.lanes : d == k.space.n - 2 ? t.sublanes : 1;
}

// The dimension to halve next, or -1: the outermost, so that blocks stay contiguous; of products, after batches, the
// longest.
FX_INLINE int next_split(const Kernel& k, const Dims& unit) {
  int best = -1;
  for (std::int64_t i : walk_order(k)) {
    const int d = int(i);
    if (!can_split(k, d) || k.block[d] <= unit[d]) continue;
    if (k.kind != KernelKind::dot || is_batch(k, d)) return d;
    if (best < 0 || k.block[d] > k.block[best]) best = d;
  }
  return best;
}

// Bytes of blocks that are copied over the whole grid: a block is copied when it is another one than in the step
// before.
FX_INLINE std::int64_t copied(const Kernel& k, const Program& p, const Access& a) {
  if (steps(k) == 0) return 0;
  const Dims order = walk_order(k);
  int last = -1;  // the innermost dimension along which the block changes
  for (int i = 0; i < order.n; ++i)
    if (a.stride[int(order[i])] != 0 && k.grid(int(order[i])) > 1) last = i;
  std::int64_t n = element_bytes(a, p);
  for (int i = 0; i < order.n; ++i) {
    const int d = int(order[i]);
    if (a.stride[d] != 0)
      n = capped_mul(n, k.space[d]);
    else if (i <= last)
      n = capped_mul(n, k.grid(d));
  }
  return n;
}

// Whether two buffers lie in one memory, where aliased[k] is the input in whose memory output k is, or -1.
FX_INLINE bool one_memory(const Program& p, int a, int b, Span<const int> aliased) {
  if (same_memory(p, a, b)) return true;
  const BufferDecl &in = p.buffers[a], &out = p.buffers[b];
  return in.place == BufferDecl::input && out.place == BufferDecl::output && out.at < aliased.size() &&
         aliased[int(out.at)] == in.at;
}

FX_INLINE Counts count_scan(const Kernel& k, const Program& p, Span<const int> aliased) {
  Counts c;
  c.steps = k.space[0];
  for (int i = 0; i < k.carries; ++i) {
    const bool same = one_memory(p, k.in[k.consts + i].buffer, k.out[i].buffer, aliased);
    if (same || (k.space[0] > 0 && !k.in_place[i])) continue;
    c.bytes_in += buffer_bytes(p, k.out[i].buffer);
    c.bytes_out += buffer_bytes(p, k.out[i].buffer);
  }
  Vec<int> carried;
  for (int i = 0; i < k.carries; ++i) carried.push_back(k.in_place[i] ? k.consts + i : -1);
  for (const Kernel& step : k.loop->kernels) {
    const Counts inner = predicted(step, *k.loop, carried);
    c.steps += k.space[0] * inner.steps;
    c.bytes_in += k.space[0] * inner.bytes_in;
    c.bytes_out += k.space[0] * inner.bytes_out;
  }
  return c;
}

// A read or write at computed positions moves the window's elements; a write whose result lies elsewhere also all
// others.
FX_INLINE Counts count_index(const Kernel& k, const Program& p, Span<const int> aliased) {
  const Eqn& e = k.op->eqns[0];
  const IndexSpec spec = e.prim->index(*k.op, e);
  Counts c;
  c.steps = 1;
  c.bytes_out = numel(k.space) * element_bytes(k.out[0], p);
  c.bytes_in = c.bytes_out;
  for (int i = spec.indices; i < k.in.size(); ++i)
    if (!spec.write || i != spec.updates) c.bytes_in += numel(k.op->type(k.op->ins[i])) * element_bytes(k.in[i], p);
  if (spec.write && !one_memory(p, k.in[spec.operand].buffer, k.out[0].buffer, aliased)) {
    c.bytes_in += buffer_bytes(p, k.out[0].buffer);
    c.bytes_out += buffer_bytes(p, k.out[0].buffer);
  }
  return c;
}
}  // namespace detail

FX_INLINE void choose_blocks(Kernel& k, const Program& p, const Target& t) {
  k.block = k.space;
  Dims unit(k.space.n, 1);
  for (int d = 0; d < k.space.n; ++d) {
    if (k.block[d] < 1) k.block[d] = 1;
    const std::int64_t tile = detail::tile_size(k, d, t);
    unit[d] = tile < k.block[d] ? tile : k.block[d];
    if (k.kind == KernelKind::reduce && k.out[0].stride[d] == 0 && d != k.order[k.space.n - 1]) unit[d] = 1;
  }
  if (k.kind == KernelKind::scan) {
    k.block[0] = 1;
    return;
  }
  for (int pass = 0; pass < 2;
       ++pass, unit = Dims(k.space.n, 1))  // blocks below a vector tile only if nothing else fits
    while (detail::block_bytes(k, p) > t.on_chip) {
      const int d = detail::next_split(k, unit);
      if (d < 0) break;
      k.block[d] = ((k.block[d] + 1) / 2 + unit[d] - 1) / unit[d] * unit[d];
    }
}

FX_INLINE Counts predicted(const Kernel& k, const Program& p, Span<const int> aliased) {
  if (k.kind == KernelKind::scan) return detail::count_scan(k, p, aliased);
  if (k.kind == KernelKind::index) return detail::count_index(k, p, aliased);
  Counts c;
  c.steps = steps(k);
  for (const Access& a : k.in) c.bytes_in += detail::copied(k, p, a);
  for (const Access& a : k.out) c.bytes_out += detail::copied(k, p, a);
  return c;
}

FX_INLINE Vec<Counts> Program::predicted() const {
  Vec<Counts> r;
  for (const Kernel& k : kernels) r.push_back(tile::predicted(k, *this));
  return r;
}

namespace detail {
// A primitive that does not tell its cost counts one operation for each element it reads or makes.
FX_INLINE Cost cost_of(const Graph& g, const Eqn& e) {
  CostCtx c{g, e};
  try {
    e.prim->cost(c);
  } catch (const Error& missing) {
    if (missing.code != ErrorCode::rule) throw;
    c.cost = {};
    c.cost.flops = double(numel(g.type(e.n_in > 0 ? g.in(e)[0] : e.out)));
  }
  return c.cost;
}
FX_INLINE double flops(const Graph& g) {
  double n = 0;
  for (const Eqn& e : g.eqns) {
    if (e.prim->kind == Kind::index || e.prim->kind == Kind::layout) continue;
    const Cost c = cost_of(g, e);
    n += c.flops + 20 * c.transcendentals;  // about what a polynomial and its range reduction take
  }
  return n;
}
}  // namespace detail

FX_INLINE Estimate estimate(const Kernel& k, const Program& p, const Target& t) {
  Estimate e;
  if (k.loop) {
    for (const Kernel& inner : k.loop->kernels) {
      const Estimate one = estimate(inner, *k.loop, t);
      e.flops += double(k.space[0]) * one.flops;
      e.seconds += double(k.space[0]) * one.seconds;
    }
  }
  for (const GraphRef* g : {&k.made[0], &k.made[1], &k.body, &k.op})
    if (*g) e.flops += detail::flops(**g);
  const Counts c = predicted(k, p);
  e.bytes = double(c.bytes_in + c.bytes_out);
  if (!k.loop) {
    const double compute = t.flops_f32 > 0 ? e.flops / t.flops_f32 : 0,
                 copy = t.bandwidth > 0 ? e.bytes / t.bandwidth : 0;
    e.seconds = compute > copy ? compute : copy;
  }
  return e;
}

}  // namespace fx::inline v0::tile
