// passes/batch.hpp -- vmap as Graph -> Graph: mapped values have one more dimension, in front.
#pragma once
#include "transpose.hpp"

namespace fx::inline v0 {

namespace detail {
constexpr Vec<Val> batch_into(Builder& b, const Graph& g, Span<const char> mapped_in, Span<const Val> ins, Dim size,
                              Vec<char>& out_mapped) {
  Vec<char> mapped(g.vars.size(), 0);
  for (int i = 0; i < g.ins.size(); ++i) mapped[g.ins[i]] = mapped_in[i];
  Vec<Val> vals;
  Vec<char> in_mapped;
  walk(b, g, ins, vals, [&](const Eqn& e, Span<const Val> in) {
    bool any = false;
    in_mapped.clear();
    for (int v : g.in(e)) {
      in_mapped.push_back(mapped[v]);
      any = any || mapped[v];
    }
    if (!any) {
      Val first = b.bind(*e.prim, in, params_of(g, e));
      for (int j = 0; j < e.n_out; ++j) vals[e.out + j] = Val(first.b, first.id + j);
      return;
    }
    BatchCtx c{passes(), b, g, e, size, in, in_mapped};
    e.prim->batch(c);
    for (int j = 0; j < e.n_out; ++j) {
      vals[e.out + j] = c.out[j];
      mapped[e.out + j] = c.out_mapped[j];
    }
  });
  Vec<Val> outs;
  for (int j = 0; j < g.outs.size(); ++j) {
    const int v = g.outs[j];
    outs.push_back(out_mapped[j] && !mapped[v] ? broadcast_front(vals[v], size) : vals[v]);
    out_mapped[j] = out_mapped[j] || mapped[v];
  }
  return outs;
}

constexpr GraphRef batch(const Graph& g, Span<const char> mapped_in, Dim size, Vec<char>& out_mapped) {
  Builder b(true);
  Vec<Val> ins;
  for (int i = 0; i < g.ins.size(); ++i) {
    Type t = g.type(g.ins[i]);
    if (mapped_in[i]) t.dims.insert(0, size);
    ins.push_back(b.input(t));
  }
  const Vec<Val> outs = batch_into(b, g, mapped_in, ins, size, out_mapped);
  return GraphRef(new Graph(b.finish(outs)));
}

inline constexpr Passes pass_table{&linearize, &transpose, &batch, &linearize_into};
constexpr const Passes& passes() { return pass_table; }
}  // namespace detail

}  // namespace fx::inline v0
