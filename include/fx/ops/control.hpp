// ops/control.hpp -- jit (a call of a Graph) and scan (a loop of known length that carries state).
#pragma once
#include "index.hpp"

namespace fx::inline v0 {

// Operands and results are those of the called Graph. Differentiation inlines it; the label is for people.
struct Jit {
  static constexpr std::string_view name = "jit";
  static constexpr Kind kind = Kind::control;
  static constexpr int form = call_form;
  static constexpr AttrSpec attrs[] = {{"name", AttrKind::label}, {"graph", AttrKind::graph}};
  static constexpr void type(TypeCtx& c) {
    const Graph& g = *c.attrs.sub(1);
    bool ok = g.ins.size() == c.size();
    for (int k = 0; ok && k < c.size(); ++k) ok = g.type(g.ins[k]) == c.type(k);
    if (!ok) return c.fail(ErrorCode::internal, Str("operands differ from the inputs of the called graph"));
    for (int v : g.outs) c.result(g.type(v));
  }
  static constexpr void jvp(JvpCtx& c) {
    c.passes.linearize_into(c.b, c.linear, *c.attrs().sub(1), c.x, c.t, c.y, c.dy);
  }
  static constexpr void transpose(TransposeCtx& c) {
    GraphRef g = c.passes.transpose(*c.attrs().sub(1), c.lin);
    Vec<Val> in;
    for (int k = 0; k < c.e.n_in; ++k)
      if (!c.linear(k)) in.push_back(c.x[k]);
    for (int j = 0; j < c.e.n_out; ++j) in.push_back(c.ct(j) ? c.ct(j) : zeros(c.b, c.out_type(j)));
    Vec<Val> out = inline_graph(c.b, *g, in);
    for (int k = 0, j = 0; k < c.e.n_in; ++k)
      if (c.linear(k)) c.add(k, out[j++]);
  }
  static constexpr void batch(BatchCtx& c) {
    Vec<char> out_mapped(c.e.n_out, 0);
    GraphRef g = c.passes.batch(*c.attrs().sub(1), c.is_mapped, c.size, out_mapped);
    Val first = c.b.bind(*c.e.prim, c.in, Params().label(c.attrs().label(0)).graph(g));
    for (int j = 0; j < c.e.n_out; ++j) c.result(Val(first.b, first.id + j), out_mapped[j]);
  }
};

// (consts..., carry..., xs...) -> (carry..., ys...): the body maps (consts, carry, a row of each x) to (carry, a row of
// each y), `length` times, from the last row on if `reverse`.
struct Scan {
  static constexpr std::string_view name = "scan";
  static constexpr Kind kind = Kind::control;
  static constexpr int form = scan_form;
  static constexpr AttrSpec attrs[] = {{"length", AttrKind::dims},
                                       {"reverse", AttrKind::flag},
                                       {"consts", AttrKind::integer},
                                       {"carry", AttrKind::integer},
                                       {"body", AttrKind::graph}};

  struct View {  // the attributes by name
    Dim length;
    bool reverse;
    int consts, carry;
    GraphRef body;
  };
  static constexpr View view(const Attrs& a) {
    return {Dim(a.list(0)[0]), a.flag(1), int(a.integer(2)), int(a.integer(3)), a.sub(4)};
  }
  static constexpr Params params(const View& v) {
    Params p;
    p.dims(Dims{v.length}).flag(v.reverse).integer(v.consts).integer(v.carry).graph(v.body);
    return p;
  }

  static constexpr void type(TypeCtx& c) {
    const View v = view(c.attrs);
    const Graph& body = *v.body;
    if (body.ins.size() != c.size())
      return c.fail(ErrorCode::internal, Str("operands differ in number from the inputs of the body"));
    if (c.attrs.list(0).size() != 1 || v.consts < 0 || v.carry < 0 || v.carry > c.size() - v.consts ||
        v.carry > body.outs.size())
      return c.fail(ErrorCode::internal, Str("length, consts and carry do not fit the body"));
    for (int k = 0; k < c.size(); ++k) {
      Type want = body.type(body.ins[k]);
      if (k >= v.consts + v.carry) want.dims.insert(0, v.length);
      if (c.type(k) == want) continue;
      Str s("operand ");
      s.num(k) += " must be ";
      put(s, want);
      s += ", got ";
      put(s, c.type(k));
      return c.fail(ErrorCode::shape, s);
    }
    for (int k = 0; k < v.carry; ++k) {
      const Type &in = body.type(body.ins[v.consts + k]), &out = body.type(body.outs[k]);
      if (in == out) continue;
      Str s("the body takes the carry as ");
      put(s, in);
      s += " and returns it as ";
      put(s, out);
      s += "; both must be one type";
      return c.fail(ErrorCode::shape, s);
    }
    for (int j = 0; j < body.outs.size(); ++j) {
      Type t = body.type(body.outs[j]);
      if (j >= v.carry) t.dims.insert(0, v.length);
      c.result(t);
    }
  }

  static constexpr void jvp(JvpCtx& c);
  static constexpr void transpose(TransposeCtx& c);
  static constexpr void batch(BatchCtx& c);
  static constexpr bool prune(PruneCtx& c);

  // g with its inputs in another order: input i of the result is input order[i] of g.
  static constexpr GraphRef reordered(const Graph& g, Span<const int> order) {
    Graph* r = new Graph(g);
    for (int i = 0; i < order.size(); ++i) {
      r->ins[i] = g.ins[order[i]];
      r->vars[r->ins[i]].at = i;
    }
    r->captured = 0;
    return GraphRef(r);
  }
};

// The body is linearized once; what its linear part needs of each step is stacked by the forward loop (consts
// excepted).
constexpr void Scan::jvp(JvpCtx& c) {
  const View v = view(c.attrs());
  const int n = c.e.n_in, xs = v.consts + v.carry;
  Vec<char> nonzero(n, 0), required(v.body->outs.size(), 0);
  for (int k = 0; k < n; ++k) nonzero[k] = !c.t[k].is_zero();
  Linearized lin;
  for (bool grown = true; grown;) {  // a carry has a tangent if its start has, or if the body gives it one
    for (int k = 0; k < v.carry; ++k) required[k] = nonzero[v.consts + k];
    lin = c.passes.linearize(*v.body, nonzero, required);
    grown = false;
    for (int k = 0; k < v.carry; ++k)
      if (lin.out_nonzero[k] && !nonzero[v.consts + k]) nonzero[v.consts + k] = 1, grown = true;
  }

  Graph* forward = new Graph(*lin.forward);
  GraphRef forward_ref(forward);
  const int outs = v.body->outs.size();
  Vec<int> stacked;  // residual -> position among the stacked ones, or -1: equal to a const
  forward->outs.resize(outs);
  int n_stacked = 0;
  for (int r = 0; r < lin.residuals; ++r) {
    const bool is_const = lin.residual_input[r] >= 0 && lin.residual_input[r] < v.consts;
    stacked.push_back(is_const ? -1 : n_stacked++);
    if (!is_const) forward->outs.push_back(lin.forward->outs[outs + r]);
  }
  Val first = c.b.bind(prim<Scan>, c.x, params({v.length, v.reverse, v.consts, v.carry, forward_ref}));
  for (int j = 0; j < outs; ++j) c.y.push_back(Val(first.b, first.id + j));

  // The linear loop: consts (equal residuals, tangents), carry tangents, xs (stacked residuals, tangents).
  int tangents = 0;
  for (char z : nonzero) tangents += z;
  Vec<int> order;
  Vec<Val> in;
  auto residuals = [&](bool of_consts) {
    for (int r = 0; r < lin.residuals; ++r)
      if ((stacked[r] < 0) == of_consts) {
        order.push_back(tangents + r);
        in.push_back(of_consts ? c.x[lin.residual_input[r]] : Val(first.b, first.id + outs + stacked[r]));
      }
  };
  auto tangents_of = [&](int from, int to) {
    for (int k = from; k < to; ++k) {
      if (!nonzero[k]) continue;
      int at = 0;
      for (int i = 0; i < k; ++i) at += nonzero[i];
      order.push_back(at);
      in.push_back(c.t[k] ? c.t[k] : zeros(c.linear, type_of(c.x[k])));
    }
  };
  residuals(true);
  tangents_of(0, v.consts);
  const int consts = in.size();
  tangents_of(v.consts, xs);
  const int carry = in.size() - consts;
  residuals(false);
  tangents_of(xs, n);
  Val t = c.linear.bind(prim<Scan>, in, params({v.length, v.reverse, consts, carry, reordered(*lin.linear, order)}));
  c.dy = Vec<Val>(outs);
  for (int j = 0, at = 0; j < outs; ++j)
    if (lin.out_nonzero[j]) c.dy[j] = Val(t.b, t.id + at++);
}

// The loop runs backwards: it carries the cotangents of the carry and of the linear consts.
constexpr void Scan::transpose(TransposeCtx& c) {
  const View v = view(c.attrs());
  const int n = c.e.n_in, xs = v.consts + v.carry, outs = c.e.n_out;
  Vec<char> lin(c.lin);
  for (int k = v.consts; k < xs; ++k) lin[k] = 1;
  // The loop is linear as a whole, so a carry that does not depend on the linear operands starts from 0.
  for (int k = v.consts; k < xs; ++k)
    if (!is_float(c.type(k).dtype))
      detail::missing_rule(c, name, "transpose",
                           "a carry of integers cannot be transposed; compute it outside the loop");
  GraphRef body_t = c.passes.transpose(*v.body, lin);  // (others, cts of outs) -> cts of the linear ins

  // New body: consts: others; carry: sums for linear consts, cts of the carry; xs: other rows, ct rows -> ct rows.
  Builder b(true);
  Vec<Val> other_const, sum, ct_carry, other_row, ct_row;
  const Graph& g = *v.body;
  for (int k = 0; k < v.consts; ++k)
    if (!lin[k]) other_const.push_back(b.input(g.type(g.ins[k])));
  for (int k = 0; k < v.consts; ++k)
    if (lin[k]) sum.push_back(b.input(g.type(g.ins[k])));
  for (int k = 0; k < v.carry; ++k) ct_carry.push_back(b.input(g.type(g.outs[k])));
  for (int k = xs; k < n; ++k)
    if (!lin[k]) other_row.push_back(b.input(g.type(g.ins[k])));
  for (int j = v.carry; j < outs; ++j) ct_row.push_back(b.input(g.type(g.outs[j])));
  Vec<Val> in(other_const);
  for (const Vec<Val>* part : {&other_row, &ct_carry, &ct_row}) in.append(*part);
  Vec<Val> cts = inline_graph(b, *body_t, in), out;
  int at = 0;
  for (int k = 0; k < sum.size(); ++k) out.push_back(sum[k] + cts[at++]);
  for (; at < cts.size(); ++at) out.push_back(cts[at]);
  GraphRef body(new Graph(b.finish(out)));

  Vec<Val> operands;
  auto others = [&](int from, int to) {
    for (int k = from; k < to; ++k)
      if (!lin[k]) operands.push_back(c.x[k]);
  };
  auto cotangents = [&](int from, int to) {
    for (int j = from; j < to; ++j) operands.push_back(c.ct(j) ? c.ct(j) : zeros(c.b, c.out_type(j)));
  };
  others(0, v.consts);
  for (int k = 0; k < v.consts; ++k)
    if (lin[k]) operands.push_back(zeros(c.b, c.type(k)));
  cotangents(0, v.carry);
  others(xs, n);
  cotangents(v.carry, outs);
  Val r =
      c.b.bind(prim<Scan>, operands, params({v.length, !v.reverse, other_const.size(), sum.size() + v.carry, body}));
  for (int k = 0, j = 0; k < n; ++k)
    if (lin[k]) {
      if (c.linear(k)) c.add(k, Val(r.b, r.id + j));
      ++j;
    }
}

constexpr void Scan::batch(BatchCtx& c) {
  const View v = view(c.attrs());
  const int n = c.e.n_in, xs = v.consts + v.carry;
  Vec<char> mapped(c.is_mapped), out_mapped;
  GraphRef body;
  for (bool grown = true; grown;) {  // a carry is mapped if its start is, or if the body makes it so
    out_mapped = Vec<char>(c.e.n_out, 0);
    for (int k = 0; k < v.carry; ++k) out_mapped[k] = mapped[v.consts + k];
    body = c.passes.batch(*v.body, mapped, c.size, out_mapped);
    grown = false;
    for (int k = 0; k < v.carry; ++k)
      if (out_mapped[k] && !mapped[v.consts + k]) mapped[v.consts + k] = 1, grown = true;
  }
  Vec<Val> in;
  for (int k = 0; k < n; ++k) {
    if (k >= xs && mapped[k])
      in.push_back(move_dim(c.in[k], 0, 1));
    else if (mapped[k] && !c.mapped(k))
      in.push_back(broadcast_front(c.in[k], c.size));
    else
      in.push_back(c.in[k]);
  }
  Val first = c.b.bind(prim<Scan>, in, params({v.length, v.reverse, v.consts, v.carry, body}));
  for (int j = 0; j < c.e.n_out; ++j) {
    Val y(first.b, first.id + j);
    c.result(j >= v.carry && out_mapped[j] ? move_dim(y, 1, 0) : y, out_mapped[j]);
  }
}

namespace detail {
// Which variables matter in the body of a loop, and in the loops inside it: one worklist for all, so that a value is
// seen once however deep it lies.
struct LoopLiveness {
  struct Frame {
    const Graph* body;
    int consts, carry, parent = -1, eqn = -1;
    Vec<char> live;
    Vec<int> child;  // the frame of an equation that is a loop
  };
  struct Item {
    int frame, var;
  };
  Vec<Frame> frames;
  Vec<Item> work;

  constexpr int add(const Scan::View& v, int parent, int eqn) {
    Frame f{v.body.get(), v.consts, v.carry, parent, eqn, Vec<char>(v.body->vars.size(), 0), {}};
    frames.push_back(std::move(f));
    return frames.size() - 1;
  }
  constexpr void mark(int frame, int var) {
    char& live = frames[frame].live[var];
    if (!live) live = 1, work.push_back({frame, var});
  }
  constexpr int loop_at(int frame, int eqn) {
    const Graph& g = *frames[frame].body;
    if (frames[frame].child.empty()) frames[frame].child = Vec<int>(g.eqns.size(), -1);
    if (frames[frame].child[eqn] < 0) {
      const int child = add(Scan::view(attrs(g, g.eqns[eqn])), frame, eqn);
      frames[frame].child[eqn] = child;
    }
    return frames[frame].child[eqn];
  }
  constexpr void result(int frame, int var, int eqn) {
    const Graph& g = *frames[frame].body;
    const Eqn& e = g.eqns[eqn];
    if (e.prim->kind != Kind::control || e.prim->form != Scan::form) {
      for (int o : g.in(e)) mark(frame, o);
      return;
    }
    const int child = loop_at(frame, eqn), j = var - e.out;
    mark(child, frames[child].body->outs[j]);
    if (j < frames[child].carry) mark(frame, g.in(e)[frames[child].consts + j]);
  }
  // A carry that matters at the start of a step matters at the end of the one before.
  constexpr void input(int frame, int k) {
    const Frame& f = frames[frame];
    const int parent = f.parent, eqn = f.eqn;
    if (k >= f.consts && k < f.consts + f.carry) mark(frame, f.body->outs[k - f.consts]);
    if (parent >= 0) mark(parent, frames[parent].body->in(frames[parent].body->eqns[eqn])[k]);
  }
  constexpr void run() {
    while (!work.empty()) {
      const Item i = work.back();
      work.pop_back();
      const Var& v = frames[i.frame].body->vars[i.var];
      if (v.kind == Var::result) result(i.frame, i.var, v.at);
      if (v.kind == Var::input) input(i.frame, v.at);
    }
  }
};

// g without the inputs and results that are not flagged; what stays does not need those inputs.
constexpr GraphRef without(const Graph& g, Span<const char> in, Span<const char> out) {
  Builder outside, b;  // captured inputs leave with the equations that read them
  Vec<Val> all, outs;
  for (int k = 0; k < g.ins.size(); ++k) all.push_back((in[k] ? b : outside).input(g.type(g.ins[k])));
  const Vec<Val> results = inline_graph(b, g, all);
  for (int j = 0; j < out.size(); ++j)
    if (out[j]) outs.push_back(results[j]);
  return GraphRef(new Graph(b.finish(outs)));
}

}  // namespace detail

// Results that nothing reads, carries that feed only those, and operands that only they read are no part of the loop.
constexpr bool Scan::prune(PruneCtx& c) {
  const View v = view(c.attrs());
  detail::LoopLiveness l;
  l.add(v, -1, -1);
  for (int j = 0; j < c.e.n_out; ++j)
    if (c.live[j]) l.mark(0, v.body->outs[j]);
  l.run();
  const Vec<char>& live = l.frames[0].live;
  View left = v;
  bool smaller = false;
  c.out = Vec<char>(c.live);
  for (int k = 0; k < c.e.n_in; ++k) {
    char stays = live[v.body->ins[k]];
    const bool carries = k >= v.consts && k < v.consts + v.carry;
    if (carries) stays = c.out[k - v.consts] |= stays;
    c.in.push_back(stays);
    if (stays) continue;
    smaller = true;
    left.consts -= k < v.consts;
    left.carry -= carries;
  }
  for (char stays : c.out) smaller = smaller || !stays;
  if (!smaller) return false;
  left.body = detail::without(*v.body, c.in, c.out);
  c.params = params(left);
  return true;
}

}  // namespace fx::inline v0
