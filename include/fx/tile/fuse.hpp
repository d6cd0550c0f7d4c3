// tile/fuse.hpp -- fuse: from a Graph to the tile program that computes it.
#pragma once
#include "cost.hpp"
#include "epilogue.hpp"
#include "lowering.hpp"
#include "memory.hpp"
#include "prologue.hpp"
#include "strips.hpp"

namespace fx::inline v0::tile {

// The Graph's shapes are static and its equations those of kinds that kernels exist for; calls are inlined here, also
// in the bodies of loops. Errors (unsupported): another kind, a dtype without arithmetic, a symbolic dimension.
// `inside`: it is the body of a loop.
Ref<const Program> fuse(const Graph& g, const Target& target, bool inside = false);

#if FX_BODIES
namespace detail {
FX_INLINE void check_lowerable(const Graph& g) {
  for (int v = 0; v < g.vars.size(); ++v) {
    const Type& t = g.type(v);
    if (t.is_static() && computes(t.dtype) && numel(t) >= 0) continue;
    Str s("a tile program cannot hold a value of type ");
    put(s, t);
    s += !t.is_static()       ? ": its size must be known"
         : !computes(t.dtype) ? ": no arithmetic on this dtype yet"
                              : ": too large";
    fail(ErrorCode::unsupported, s);
  }
}
}  // namespace detail

FX_INLINE Ref<const Program> fuse(const Graph& g, const Target& target, bool inside) {
  const Graph flat = inline_calls(g);
  detail::check_lowerable(flat);
  Program* p = new Program;
  Ref<const Program> owner(p);
  p->target = std::string(target.name);
  const Analysis analysis(flat);
  Lowering(analysis, *p, target).run();
  fuse_epilogues(*p);
  fuse_prologues(*p);
  cut_strips(*p, target, inside);
  for (Kernel& k : p->kernels) choose_blocks(k, *p, target);
  plan_memory(*p);
  return owner;
}

FX_INLINE void Lowering::lower_scan(const Eqn& e) {
  const Attrs a = attrs(g_, e);
  const std::int64_t length = a.list(0)[0];
  const int consts = int(a.integer(2)), carries = int(a.integer(3));
  const Dims space{length};
  auto rows = [&](int v, Access whole_array) {  // element strides of the leading dimension
    Dims row = g_.type(v).dims;
    row.erase(0);
    whole_array.stride = Dims(1, numel(row));
    return whole_array;
  };
  Vec<Access> in, out;
  for (int k = 0; k < e.n_in; ++k) {
    Access whole_array = dense(g_.in(e)[k]);
    whole_array.stride = Dims(1, 0);
    in.push_back(k < consts + carries ? whole_array : rows(g_.in(e)[k], whole_array));
  }
  for (int j = 0; j < e.n_out; ++j) {
    const Access whole_array{define(e.out + j), 0, Dims(1, 0)};
    out.push_back(j < carries ? whole_array : rows(e.out + j, whole_array));
  }
  Kernel& k = add(KernelKind::scan, space);
  k.in = std::move(in);
  k.out = std::move(out);
  k.loop = fuse(simplify(inline_calls(*a.sub(4))), target_, true);
  k.reverse = a.flag(1);
  k.consts = consts;
  k.carries = carries;
  k.in_place = carries_in_place(*k.loop, consts, carries);
}
#endif

}  // namespace fx::inline v0::tile
