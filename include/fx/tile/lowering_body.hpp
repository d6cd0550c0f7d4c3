// tile/lowering_body.hpp -- Lowering: the order of kernels, and those with elementwise bodies (map, reduce).
#pragma once
#include <algorithm>

#include "lowering.hpp"

namespace fx::inline v0::tile {

// The elementwise equations of one kernel as a Graph of their own, and how its inputs are read.
struct Lowering::Body {
  Lowering& l;
  int group;
  Builder b{true};  // folds: an equation on literals alone would have the shape of none of its users
  Vec<Access> in{};
  Val operand(int o) {
    o = l.a_.canon(o);
    if (const int lit = l.a_.literal(o); lit >= 0) return b.literal(l.g_.type(lit).dtype, l.g_.literal(lit));
    const Known& k = l.known_[o];
    if (k.group == group) return k.val;
    const int e = l.a_.defined_by(o);
    if (e >= 0 && l.a_.role(e) == Analysis::Role::trivial) {
      emit(l.g_.eqns[e]);
    } else {
      in.push_back(l.access(l.a_.view(o)));
      l.known_[o] = {group, b.input(l.g_.type(o))};
    }
    return l.known_[o].val;
  }
  void emit(const Eqn& e) {
    Vec<Val> ins;
    for (int o : l.g_.in(e)) ins.push_back(operand(o));
    if (e.n_out > 1 && constants(e, ins)) return;
    b.loc = l.g_.locs[e.loc];
    const Val first = b.bind(*e.prim, ins, params_of(l.g_, e));
    for (int j = 0; j < e.n_out; ++j) l.known_[e.out + j] = {group, Val(first.b, first.id + j)};
  }
  // Several results of literals alone, which bind does not fold.
  bool constants(const Eqn& e, Span<const Val> ins) {
    Vec<DType> in_types, out_types;
    Vec<std::uint64_t> bits;
    for (const Val& v : ins) {
      if (!b.g.is_literal(v.id)) return false;
      in_types.push_back(b.type(v).dtype);
      bits.push_back(b.g.literal(v.id));
    }
    for (int j = 0; j < e.n_out; ++j) out_types.push_back(l.g_.type(e.out + j).dtype);
    ScalarCtx c{in_types, bits, out_types, attrs(l.g_, e), {}};
    e.prim->scalar(c);
    for (int j = 0; j < e.n_out; ++j) l.known_[e.out + j] = {group, b.literal(out_types[j], c.out[j])};
    return true;
  }
};

FX_INLINE void Lowering::collect_members() {
  member_ = Vec<int>(a_.groups() + 1, 0);
  for (int i = 0; i < g_.eqns.size(); ++i)
    if (a_.group(i) >= 0) ++member_[a_.group(i) + 1];
  for (int k = 0; k < a_.groups(); ++k) member_[k + 1] += member_[k];
  members_.resize(member_[a_.groups()]);
  Vec<int> next(member_);
  for (int i = 0; i < g_.eqns.size(); ++i)
    if (a_.group(i) >= 0) members_[next[a_.group(i)]++] = i;
}

// Equations that can write into the memory of an operand if nothing reads it later.
FX_INLINE bool updates_operand(const Graph& g, const Eqn& e, int k) {
  if (e.prim->kind == Kind::index && e.prim->index) {
    const IndexSpec s = e.prim->index(g, e);
    return s.write && k == s.operand;
  }
  if (e.prim->kind != Kind::control || e.prim->form != scan_form) return false;
  const int consts = int(attrs(g, e).integer(2)), carries = int(attrs(g, e).integer(3));
  return k >= consts && k < consts + carries;
}

// Calls f(from, into) for groups that must run one before the other: the reader of a value after who makes it, and, so
// that it can be updated in place, the first equation that updates a value after its other readers. The latter only
// from groups of lower levels, or of the same one that update nothing: that closes no circle.
template <class F>
void Lowering::each_edge(F&& f) const {
  Vec<int> level(a_.groups(), 0), updater(g_.vars.size(), -1);
  Vec<char> updates(a_.groups(), 0);
  for (int i = 0; i < g_.eqns.size(); ++i) {
    const int own = a_.group(i);
    if (own < 0) continue;
    if (a_.level(i) > level[own]) level[own] = a_.level(i);
    const Span<const int> in = g_.in(g_.eqns[i]);
    for (int k = 0; k < in.size(); ++k) {
      if (a_.literal(in[k]) >= 0 || !updates_operand(g_, g_.eqns[i], k)) continue;
      updates[own] = 1;
      if (int& first = updater[a_.view(in[k]).base]; first < 0) first = own;
    }
  }
  for (int i = 0; i < g_.eqns.size(); ++i) {
    const int own = a_.group(i);
    if (own < 0) continue;
    for (int o : g_.in(g_.eqns[i])) {
      if (a_.literal(o) >= 0) continue;
      const int base = a_.view(o).base, e = a_.defined_by(base), after = updater[base];
      if (e >= 0 && a_.group(e) != own) f(a_.group(e), own);
      if (after >= 0 && after != own && (level[own] < level[after] || (level[own] == level[after] && !updates[own])))
        f(own, after);
    }
  }
}

FX_INLINE Vec<int> Lowering::order() const {
  const int n = a_.groups();
  Vec<int> waits(n, 0), start(n + 1, 0), to;  // edges, sorted by where they start
  each_edge([&](int from, int) { ++start[from + 1]; });
  for (int k = 0; k < n; ++k) start[k + 1] += start[k];
  to.resize(start[n]);
  Vec<int> next(start);
  each_edge([&](int from, int into) {
    to[next[from]++] = into;
    ++waits[into];
  });
  auto later = [&](int x, int y) { return members_[member_[x + 1] - 1] > members_[member_[y + 1] - 1]; };
  Vec<int> ready, result;
  for (int k = 0; k < n; ++k)
    if (waits[k] == 0) ready.push_back(k);
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const int k = ready.back();
    ready.pop_back();
    result.push_back(k);
    for (int i = start[k]; i < start[k + 1]; ++i)
      if (--waits[to[i]] == 0) {
        ready.push_back(to[i]);
        std::push_heap(ready.begin(), ready.end(), later);
      }
  }
  if (result.size() != n) fail(ErrorCode::internal, "fuse: kernels depend on each other in a circle");
  return result;
}

FX_INLINE void Lowering::lower_map(int group) {
  Body body{*this, group};
  Vec<Val> outs;
  Vec<Access> out;
  Dims space;
  for (int i = member_[group]; i < member_[group + 1]; ++i) {
    const Eqn& e = g_.eqns[members_[i]];
    space = g_.type(e.out).dims;
    body.emit(e);
  }
  for (int i = member_[group]; i < member_[group + 1]; ++i) {
    const Eqn& e = g_.eqns[members_[i]];
    for (int j = 0; j < e.n_out; ++j)
      if (a_.stored(e.out + j)) {
        outs.push_back(known_[e.out + j].val);
        out.push_back(dense_access(define(e.out + j), space));
      }
  }
  if (outs.empty()) return;
  Kernel& k = add(KernelKind::map, space);
  k.in = std::move(body.in);
  k.out = std::move(out);
  k.body = GraphRef(new Graph(body.b.finish(outs)));
}

FX_INLINE void Lowering::lower_reduce(int group, int eqn) {
  Body body{*this, group};
  for (int i = member_[group]; i < member_[group + 1]; ++i)
    if (members_[i] != eqn) body.emit(g_.eqns[members_[i]]);
  const Eqn& e = g_.eqns[eqn];
  const Dims space = g_.type(g_.in(e)[0]).dims, axes = attrs(g_, e).dims(0);
  const Val outs[] = {body.operand(g_.in(e)[0])};
  Kernel& k = add(KernelKind::reduce, space);
  k.in = std::move(body.in);
  k.body = GraphRef(new Graph(body.b.finish(outs)));
  k.op = single(e);
  Access out{define(e.out), 0, Dims(space.n, 0)};
  const Dims own = strides_of(g_.type(e.out).dims);
  for (int d = 0, j = 0; d < space.n; ++d)
    if (!axes.contains(d)) out.stride[d] = own[j++];
  k.out.push_back(out);
  for (int pass = 0; pass < 2; ++pass)  // reduced dimensions are walked inside the others
    for (int d = 0; d < space.n; ++d)
      if (axes.contains(d) == (pass == 1)) k.order.push_back(d);
}

}  // namespace fx::inline v0::tile
