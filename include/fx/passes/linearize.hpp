// passes/linearize.hpp -- one walk that computes a Graph and its derivative along tangents that are not known yet.
//
// Primal equations go to one Builder, tangent equations to a nested one that captures the primal values it needs. So
// one forward rule per primitive gives jvp (inline the linear part) and, with the transpose pass, vjp. Radul, Paszke,
// Frostig, Johnson, Maclaurin: "You only linearize once" (POPL 2023).
#pragma once
#include "../ops/control.hpp"

namespace fx::inline v0 {

namespace detail {
constexpr const Passes& passes();

constexpr void linearize_into(Builder& b, Builder& linear, const Graph& g, Span<const Val> x, Span<const Val> t,
                              Vec<Val>& y, Vec<Val>& dy) {
  Vec<Val> primal, tangent(g.vars.size());
  for (int i = 0; i < g.ins.size(); ++i) tangent[g.ins[i]] = t[i];
  Vec<Val> in_t;
  const Loc loc = b.loc;
  walk(b, g, x, primal, [&](const Eqn& e, Span<const Val> in) {
    in_t.clear();
    bool any = false;
    for (int v : g.in(e)) {
      in_t.push_back(tangent[v]);
      any = any || !tangent[v].is_zero();
    }
    linear.loc = b.loc;
    JvpCtx c{passes(), b, linear, g, e, in, in_t};
    if (!any || e.prim->kind != Kind::control) {
      Val first = b.bind(*e.prim, in, params_of(g, e));
      for (int j = 0; j < e.n_out; ++j) c.y.push_back(Val(first.b, first.id + j));
    }
    c.dy = Vec<Val>(e.n_out);
    if (any) e.prim->jvp(c);
    for (int j = 0; j < e.n_out; ++j) {
      primal[e.out + j] = c.y[j];
      tangent[e.out + j] = c.dy[j];
    }
  });
  b.loc = loc;
  y.clear();
  dy.clear();
  for (int v : g.outs) {
    y.push_back(primal[v]);
    dy.push_back(tangent[v]);
  }
}

// Whether a variable carries derivatives: floats do.
constexpr bool differentiable(const Type& t) { return is_float(t.dtype); }

constexpr Linearized linearize(const Graph& g, Span<const char> nonzero_in, Span<const char> required_out) {
  Builder b(true), linear(true, 1);
  Vec<Val> x, t, y, dy;
  for (int i = 0; i < g.ins.size(); ++i) {
    x.push_back(b.input(g.type(g.ins[i])));
    t.push_back(nonzero_in[i] ? linear.input(g.type(g.ins[i])) : Val());
  }
  linearize_into(b, linear, g, x, t, y, dy);
  Linearized r;
  Vec<Val> tangents;
  for (int j = 0; j < dy.size(); ++j) {
    if (dy[j].is_zero() && required_out[j]) dy[j] = zeros(linear, g.type(g.outs[j]));
    r.out_nonzero.push_back(!dy[j].is_zero());
    if (dy[j]) tangents.push_back(dy[j]);
  }
  r.linear = GraphRef(new Graph(linear.finish(tangents)));
  r.residuals = linear.captured.size();
  for (const Val& v : linear.captured) {
    y.push_back(v);
    const Var& var = b.g.vars[v.id];
    r.residual_input.push_back(var.kind == Var::input ? var.at : -1);
  }
  r.forward = GraphRef(new Graph(b.finish(y)));
  return r;
}
}  // namespace detail

// (ins..., tangents of the flagged ins...) -> (outs..., tangents of the outs that are floats...).
constexpr Graph jvp(const Graph& g, Span<const char> wrt) {
  Builder b(true), linear(true, 1);
  Vec<Val> x, t, y, dy;
  for (int v : g.ins) x.push_back(b.input(g.type(v)));
  for (int i = 0; i < g.ins.size(); ++i) t.push_back(wrt[i] ? linear.input(g.type(g.ins[i])) : Val());
  detail::linearize_into(b, linear, g, x, t, y, dy);
  Vec<Val> tangents, in;
  for (const Val& d : dy)
    if (d) tangents.push_back(d);
  const Graph lin = linear.finish(tangents);
  for (int i = 0; i < g.ins.size(); ++i)
    if (wrt[i]) in.push_back(b.input(g.type(g.ins[i])));
  in.append(linear.captured);
  const Vec<Val> known = inline_graph(b, lin, in);
  for (int j = 0, at = 0; j < dy.size(); ++j) {
    const Type& out = g.type(g.outs[j]);
    if (dy[j])
      y.push_back(known[at++]);
    else if (detail::differentiable(out))
      y.push_back(zeros(b, out));
  }
  return b.finish(y);
}

}  // namespace fx::inline v0
