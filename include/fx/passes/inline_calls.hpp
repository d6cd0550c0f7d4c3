// passes/inline_calls.hpp -- inline_calls: a Graph whose calls of other Graphs are replaced by the equations called.
//
// Bodies of loops keep their calls: who lowers a body inlines it then.
#pragma once
#include "../prim.hpp"

namespace fx::inline v0 {

// g without calls (control equations of call form). Equations keep their order and lines.
Graph inline_calls(const Graph& g);

#if FX_BODIES
namespace detail {
constexpr bool is_call(const Eqn& e) { return e.prim->kind == Kind::control && e.prim->form == call_form; }

// The sub-graph of an equation that has one.
constexpr const Graph& sub_graph(const Graph& g, const Eqn& e) {
  int k = 0;
  while (e.prim->attrs[k].kind != AttrKind::graph) ++k;
  return *attrs(g, e).sub(k);
}

// A Graph that is being copied: calls nest, so these form a stack (and not a recursion: nesting has no limit).
struct InlineFrame {
  const Graph* g = nullptr;
  Vec<Val> vals;
  int next = 0;
};

FX_INLINE InlineFrame inline_frame(Builder& b, const Graph& g, Span<const Val> ins) {
  InlineFrame f{&g, Vec<Val>(g.vars.size())};
  for (int i = 0; i < g.ins.size(); ++i) f.vals[g.ins[i]] = ins[i];
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.is_literal(v)) f.vals[v] = b.literal(g.type(v).dtype, g.literal(v));
  return f;
}

// Copies equations of f until a call, which it returns, or the end.
FX_INLINE const Eqn* copy_until_call(Builder& b, InlineFrame& f) {
  Vec<Val> in;
  while (f.next < f.g->eqns.size()) {
    const Eqn& e = f.g->eqns[f.next++];
    if (is_call(e)) return &e;
    in.clear();
    for (int v : f.g->in(e)) in.push_back(f.vals[v]);
    b.loc = f.g->locs[e.loc];
    const Val first = b.bind(*e.prim, in, params_of(*f.g, e));
    for (int j = 0; j < e.n_out; ++j) f.vals[e.out + j] = Val(first.b, first.id + j);
  }
  return nullptr;
}
}  // namespace detail

FX_INLINE Graph inline_calls(const Graph& g) {
  bool any = false;
  for (const Eqn& e : g.eqns) any = any || detail::is_call(e);
  if (!any) return g;

  Builder b;
  Vec<Val> ins;
  for (int v : g.ins) ins.push_back(b.input(g.type(v)));
  Vec<detail::InlineFrame> stack;
  stack.push_back(detail::inline_frame(b, g, ins));
  for (;;) {
    detail::InlineFrame& f = stack.back();
    if (const Eqn* call = detail::copy_until_call(b, f)) {
      ins.clear();
      for (int v : f.g->in(*call)) ins.push_back(f.vals[v]);
      stack.push_back(detail::inline_frame(b, detail::sub_graph(*f.g, *call), ins));
      continue;
    }
    Vec<Val> outs;
    for (int v : f.g->outs) outs.push_back(f.vals[v]);
    stack.pop_back();
    if (stack.empty()) {
      Graph r = b.finish(outs);
      r.captured = g.captured;
      return r;
    }
    detail::InlineFrame& caller = stack.back();
    const Eqn& call = caller.g->eqns[caller.next - 1];
    for (int j = 0; j < outs.size(); ++j) caller.vals[call.out + j] = outs[j];
  }
}
#endif

}  // namespace fx::inline v0
