// passes/transpose.hpp -- the transpose of a linear Graph, and with linearize the gradient.
#pragma once
#include "linearize.hpp"

namespace fx::inline v0 {

namespace detail {
// Binds in b the transpose of g, which is linear in the flagged inputs: `ins` are the values of the other inputs (zero
// for the linear ones), `cts` the cotangents of the outputs, zero where there is none. Returns those of the inputs.
constexpr Vec<Val> transpose_into(Builder& b, const Graph& g, Span<const char> linear_in, Span<const Val> ins,
                                  Span<const Val> cts) {
  Vec<char> linear(g.vars.size(), 0);
  Vec<Val> value(g.vars.size()), ct(g.vars.size());
  for (int i = 0; i < g.ins.size(); ++i) {
    linear[g.ins[i]] = linear_in[i];
    value[g.ins[i]] = ins[i];
  }
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.is_literal(v)) value[v] = b.literal(g.type(v).dtype, g.literal(v));
  Vec<Val> in;
  for (const Eqn& e : g.eqns) {  // what does not depend on the linear inputs is computed forwards
    bool any = false;
    for (int v : g.in(e)) any = any || linear[v];
    for (int j = 0; j < e.n_out; ++j) linear[e.out + j] = any;
    if (any) continue;
    in.clear();
    for (int v : g.in(e)) in.push_back(value[v]);
    b.loc = g.locs[e.loc];
    Val first = b.bind(*e.prim, in, params_of(g, e));
    for (int j = 0; j < e.n_out; ++j) value[e.out + j] = Val(first.b, first.id + j);
  }
  auto accumulate = [&](int v, Val d) { ct[v] = ct[v].is_zero() ? d : ct[v] + d; };
  for (int j = 0; j < g.outs.size(); ++j)
    if (cts[j] && linear[g.outs[j]]) accumulate(g.outs[j], cts[j]);
  Vec<char> lin;
  Vec<Val> out_ct;
  for (int i = g.eqns.size() - 1; i >= 0; --i) {
    const Eqn& e = g.eqns[i];
    bool any = false;
    out_ct.clear();
    for (int j = 0; j < e.n_out; ++j) {
      out_ct.push_back(ct[e.out + j]);
      any = any || !ct[e.out + j].is_zero();
    }
    if (!any || !linear[e.out]) continue;
    in.clear();
    lin.clear();
    for (int v : g.in(e)) {
      in.push_back(value[v]);
      lin.push_back(linear[v]);
    }
    b.loc = g.locs[e.loc];
    TransposeCtx c{passes(), b, g, e, in, lin, out_ct};
    c.sum = Vec<Val>(e.n_in);
    e.prim->transpose(c);
    for (int k = 0; k < e.n_in; ++k)
      if (c.sum[k] && linear[g.in(e)[k]]) accumulate(g.in(e)[k], c.sum[k]);
  }
  Vec<Val> r;
  for (int v : g.ins) r.push_back(ct[v]);
  return r;
}

constexpr GraphRef transpose(const Graph& g, Span<const char> linear_in) {
  Builder b(true);
  Vec<Val> ins(g.ins.size()), cts, outs;
  for (int i = 0; i < g.ins.size(); ++i)
    if (!linear_in[i]) ins[i] = b.input(g.type(g.ins[i]));
  for (int v : g.outs) cts.push_back(b.input(g.type(v)));
  const Vec<Val> r = transpose_into(b, g, linear_in, ins, cts);
  for (int i = 0; i < g.ins.size(); ++i)
    if (linear_in[i]) outs.push_back(r[i] ? r[i] : zeros(b, g.type(g.ins[i])));
  return GraphRef(new Graph(b.finish(outs)));
}

// Linearizes g at x with respect to the flagged inputs and pulls back: y gets the outputs; returns the cotangents of
// the flagged inputs. `cts_of(y)` gives the cotangents of the outputs.
template <class F>
constexpr Vec<Val> pull_back(Builder& b, const Graph& g, Span<const char> wrt, Span<const Val> x, Vec<Val>& y,
                             F&& cts_of) {
  Builder linear(true, b.depth + 1);
  Vec<Val> t, dy;
  for (int i = 0; i < g.ins.size(); ++i) t.push_back(wrt[i] ? linear.input(g.type(g.ins[i])) : Val());
  linearize_into(b, linear, g, x, t, y, dy);
  Vec<Val> tangents, cts;
  const Vec<Val> given = cts_of(y);
  for (int j = 0; j < dy.size(); ++j)
    if (dy[j]) {
      tangents.push_back(dy[j]);
      cts.push_back(given[j]);
    }
  const Graph lin = linear.finish(tangents);
  Vec<char> linear_in(lin.ins.size(), 0);
  Vec<Val> ins(lin.ins.size());
  const int n = lin.ins.size() - lin.captured;
  for (int i = 0; i < lin.ins.size(); ++i) {
    if (i < n)
      linear_in[i] = 1;
    else
      ins[i] = linear.captured[i - n];
  }
  Vec<Val> r = transpose_into(b, lin, linear_in, ins, cts);
  r.resize(n);
  for (int i = 0; i < n; ++i)
    if (r[i].is_zero()) r[i] = zeros(b, lin.type(lin.ins[i]));
  return r;
}
}  // namespace detail

// (ins...) -> (outs..., gradients of output 0 with respect to the flagged ins...). Output 0 is a rank-0 float.
constexpr Graph value_and_grad(const Graph& g, Span<const char> wrt) {
  Builder b(true);
  Vec<Val> x, y;
  for (int v : g.ins) x.push_back(b.input(g.type(v)));
  const Vec<Val> d = detail::pull_back(b, g, wrt, x, y, [&](const Vec<Val>& outs) {
    Vec<Val> cts(outs.size());
    cts[0] = like(outs[0], 1.0);
    return cts;
  });
  y.append(d);
  return b.finish(y);
}

// (ins..., cotangents of the float outs...) -> (outs..., cotangents of the flagged ins...).
constexpr Graph vjp(const Graph& g, Span<const char> wrt) {
  Builder b(true);
  Vec<Val> x, y, ct(g.outs.size());
  for (int v : g.ins) x.push_back(b.input(g.type(v)));
  for (int j = 0; j < g.outs.size(); ++j)
    if (detail::differentiable(g.type(g.outs[j]))) ct[j] = b.input(g.type(g.outs[j]));
  const Vec<Val> d = detail::pull_back(b, g, wrt, x, y, [&](const Vec<Val>&) { return ct; });
  y.append(d);
  return b.finish(y);
}

}  // namespace fx::inline v0
