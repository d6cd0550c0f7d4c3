// tiled/image.hpp -- the image of a TiledExecutable: the level its code is for, the Graph, the tile program, and the
// machine code of its bodies. Reading it takes the place of fusion, cost model, memory plan and code generation.
#pragma once
#include <fx/ops/arithmetic.hpp>
#include <fx/tile/program_bytes.hpp>

#include "backend.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

FX_INLINE ExecutableRef TiledBackend::compile(const Graph& g, ByteWriter& image) const {
  if (level() == Level::baseline || !code::executable_memory()) return compile(g);
  GraphRef graph = detail::simplified(g);
  Ref<const tile::Program> program = detail::fused(*graph, target_);
  image.word(std::uint64_t(level()));
  GraphWriter graphs(image);
  graphs.put(*graph);
  tile::put(image, graphs, *program);
  Prepared prepared(image);
  const ExecutableRef e(new TiledExecutable(std::move(graph), std::move(program), &prepared));
  if (!prepared.finish()) image.clear();
  return e;
}

namespace detail {
// All primitives that may occur in what was made of g: its own, their pairs, and what simplification writes. A table of
// every primitive of fx would have a program compile all of them.
FX_INLINE void add_prims(const Graph& g, Vec<const Prim*>& prims) {
  auto add = [&](const Prim* prim) {
    bool known = !prim;
    for (const Prim* p : prims) known = known || p->id == prim->id;
    if (!known) prims.push_back(prim);
  };
  for (const Eqn& e : g.eqns) {
    add(e.prim);
    add(e.prim->pair);  // for a fold that is a carry of a loop
  }
  for (const GraphRef& s : g.subs) add_prims(*s, prims);
}
FX_INLINE bool serves(const tile::Program& p, const Graph& g) {
  auto same = [&](const Vec<int>& buffers, const Vec<int>& vars) {
    bool all = buffers.size() == vars.size();
    for (int k = 0; all && k < vars.size(); ++k) all = p.buffers[buffers[k]].type == g.type(vars[k]);
    return all;
  };
  return same(p.ins, g.ins) && same(p.outs, g.outs);
}
}  // namespace detail

FX_INLINE ExecutableRef TiledBackend::load(const Graph& g, Span<const std::uint8_t> image) const {
  ByteReader from(image);
  if (level() == Level::baseline || from.word() != std::uint64_t(level())) return {};
  Vec<const Prim*> prims((Span<const Prim* const>(simplifying_prims)));
  detail::add_prims(g, prims);
  GraphReader graphs(from, prims);
  GraphRef graph = graphs.graph();
  Ref<const tile::Program> program = tile::read_program(from, graphs);
  Prepared prepared(from);
  if (!from.check(from.left() == 0) || !detail::serves(*program, g)) return {};
  try {
    const ExecutableRef e(new TiledExecutable(std::move(graph), std::move(program), &prepared));
    return prepared.finish() ? e : ExecutableRef();
  } catch (const Error&) { return {}; }  // a program that says what no kernel can do
}

}  // namespace fx::inline v0::tiled
#endif
