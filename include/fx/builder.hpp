// builder.hpp -- the Builder's work: binding, capture, merging of equal equations, folding, dead code, inlining,
// digest.
#pragma once
#include "prim.hpp"

namespace fx::inline v0 {

constexpr Val Builder::literal(DType d, std::uint64_t bits) {
  auto slot = [&](DType dtype, std::uint64_t value) {
    std::uint64_t h = (value ^ (std::uint64_t(dtype) << 56)) * 0x9E3779B97F4A7C15ull;
    return unsigned((h ^ (h >> 32)) & std::uint64_t(literal_table_.size() - 1));
  };
  const unsigned mask = unsigned(literal_table_.size()) - 1;
  if (!literal_table_.empty())
    for (unsigned h = slot(d, bits); literal_table_[int(h)] >= 0; h = (h + 1) & mask) {
      const int v = literal_table_[int(h)];
      if (g.literal(v) == bits && g.type(v).dtype == d) return {this, v};
    }
  g.literals.push_back(bits);
  const Val r = new_var({Var::literal, type_id(Type{d, {}}), g.literals.size() - 1});
  auto enter = [&](int v) {
    const unsigned m = unsigned(literal_table_.size()) - 1;
    unsigned h = slot(g.type(v).dtype, g.literal(v));
    while (literal_table_[int(h)] >= 0) h = (h + 1) & m;
    literal_table_[int(h)] = v;
  };
  if (2 * g.literals.size() < literal_table_.size()) {
    enter(r.id);
    return r;
  }
  literal_table_ = Vec<int>(literal_table_.empty() ? 16 : 2 * literal_table_.size(), -1);
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.is_literal(v)) enter(v);
  return r;
}

constexpr int Builder::use(Val v) {
  if (v.b == this) return v.id;
  if (!v.b) { fx::fail(ErrorCode::internal, "a literal without a dtype reached Builder::use"); }
  if (v.b->g.is_literal(v.id)) return literal(v.b->type(v).dtype, v.b->g.literal(v.id)).id;
  return capture(v);
}

constexpr int Builder::capture(Val v) {
  bool only_source = captured.empty() || captured[0].b == v.b;
  if (only_source) {
    if (capture_id_.size() <= v.id) capture_id_.resize(v.b->g.vars.size(), -1);
    if (capture_id_[v.id] >= 0) return captured_vars[capture_id_[v.id]];
    capture_id_[v.id] = captured.size();
  } else {
    for (int i = 0; i < captured.size(); ++i)
      if (captured[i].b == v.b && captured[i].id == v.id) return captured_vars[i];
  }
  captured.push_back(v);
  captured_vars.push_back(input(v.b->type(v)).id);
  return captured_vars.back();
}

constexpr int Builder::loc_id() {
  for (int i = g.locs.size() - 1, tries = 4; i >= 0 && tries > 0; --i, --tries)
    if (g.locs[i].line == loc.line && g.locs[i].file == loc.file) return i;
  g.locs.push_back(loc);
  return g.locs.size() - 1;
}

constexpr int Builder::add_words(const Params& params) {
  const int at = g.words.size();
  g.words.append(params.words);
  return at;
}

namespace detail {
// Sub-graphs and labels are words that index pools: move them from the pools of `from` to those of g.
template <class Subs, class Labels>
constexpr void remap_pools(Graph& g, Span<const AttrSpec> specs, int at, const Subs& subs, const Labels& labels) {
  for (const AttrSpec& s : specs) {
    if (s.kind == AttrKind::graph) {
      const GraphRef& sub = subs[int(g.words[at + 1])];
      int id = g.subs.size() - 1;
      while (id >= 0 && !(g.subs[id] == sub)) --id;
      if (id < 0) {
        id = g.subs.size();
        g.subs.push_back(sub);
      }
      g.words[at + 1] = id;
    } else if (s.kind == AttrKind::label) {
      const Str& label = labels[int(g.words[at + 1])];
      int id = g.labels.size() - 1;
      while (id >= 0 && !(g.labels[id] == label)) --id;
      if (id < 0) {
        id = g.labels.size();
        g.labels.push_back(label);
      }
      g.words[at + 1] = id;
    }
    at += 1 + int(g.words[at]);
  }
}

constexpr std::uint64_t combine(std::uint64_t h, std::uint64_t w) {
  h = (h ^ w) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}
}  // namespace detail

constexpr unsigned Builder::hash_eqn(const Eqn& e) const {
  std::uint64_t h = e.prim->id;
  for (int v : g.in(e)) h = detail::combine(h, std::uint64_t(v));
  for (int i = 0; i < e.n_attrs; ++i) h = detail::combine(h, std::uint64_t(g.words[e.attrs + i]));
  return unsigned(h >> 32);
}

constexpr bool Builder::same_eqn(const Eqn& a, const Eqn& b) const {
  if (!(*a.prim == *b.prim) || a.n_in != b.n_in || a.n_attrs != b.n_attrs || a.n_out != b.n_out) return false;
  for (int i = 0; i < a.n_in; ++i)
    if (g.operands[a.in + i] != g.operands[b.in + i]) return false;
  for (int i = 0; i < a.n_attrs; ++i)
    if (g.words[a.attrs + i] != g.words[b.attrs + i]) return false;
  return true;
}

constexpr int Builder::merge(const Eqn& e) {
  if (2 * (g.eqns.size() + 1) >= table_.size()) {
    table_ = Vec<int>(table_.empty() ? 64 : 2 * table_.size(), -1);
    const unsigned mask = unsigned(table_.size()) - 1;
    for (int i = 0; i < g.eqns.size(); ++i) {
      unsigned h = hashes_[i] & mask;
      while (table_[int(h)] >= 0) h = (h + 1) & mask;
      table_[int(h)] = i;
    }
  }
  const unsigned mask = unsigned(table_.size()) - 1, hash = hash_eqn(e);
  unsigned h = hash & mask;
  for (; table_[int(h)] >= 0; h = (h + 1) & mask)
    if (const int i = table_[int(h)]; hashes_[i] == hash && same_eqn(g.eqns[i], e)) return i;
  table_[int(h)] = g.eqns.size();
  hashes_.resize(g.eqns.size() + 1);
  hashes_.back() = hash;
  return -1;
}

// An elementwise equation on literals alone is a literal.
constexpr bool Builder::fold(const Prim& p, Span<const Val> in, const Params& params, Val& out) {
  if (p.kind != Kind::elementwise || !p.folds || in.empty() || in.size() > 4) return false;
  DType dtypes[4]{};
  std::uint64_t values[4]{};
  for (int i = 0; i < in.size(); ++i) {
    if (!g.is_literal(in[i].id)) return false;
    dtypes[i] = type(in[i]).dtype;
    values[i] = g.literal(in[i].id);
  }
  TypeCtx t{*this, p, in, {params.words, &g}};
  p.type(t);
  if (failure.set || t.out.size() != 1) return false;
  const DType result = t.out[0].dtype;
  ScalarCtx c{{dtypes, in.size()}, {values, in.size()}, {&result, 1}, {params.words, &g}, {}};
  p.scalar(c);
  out = literal(result, c.out[0]);
  return true;
}

// A literal that was broadcast is a literal again where an elementwise equation reads it. True: all operands were such.
constexpr bool Builder::fold_spread(const Prim& p, Vec<Val>& in, const Params& params, Val& out) {
  if (p.kind != Kind::elementwise) return false;
  Vec<Val> plain(in);
  int spread = -1;
  bool shaped = false;
  for (Val& v : plain) {
    const Var& d = g.vars[v.id];
    if (d.kind == Var::result && g.eqns[d.at].prim->name == "broadcast_in_dim" &&
        g.is_literal(g.operands[g.eqns[d.at].in])) {
      spread = d.at;
      v.id = g.operands[g.eqns[d.at].in];
    } else {
      shaped = shaped || !g.is_literal(v.id);
    }
  }
  if (spread < 0) return false;
  if (shaped) {
    in = std::move(plain);
    return false;
  }
  Val value;
  if (!fold(p, plain, params, value)) return false;
  const Val operands[] = {value};
  out = bind_here(*g.eqns[spread].prim, operands, params_of(g, g.eqns[spread]));
  return true;
}

constexpr Val Builder::bind_here(const Prim& p, Span<const Val> in, const Params& params) {
  Vec<Val> own;
  own.reserve(in.size());
  for (const Val& v : in) own.push_back({this, use(v)});
  if (Val folded; simplify && (fold(p, own, params, folded) || fold_spread(p, own, params, folded))) return folded;

  Eqn e;
  e.prim = &p;
  e.in = g.operands.size();
  e.n_in = own.size();
  for (const Val& v : own) g.operands.push_back(v.id);
  e.attrs = add_words(params);
  e.n_attrs = params.words.size();
  if (!params.subs.empty() || !params.labels.empty())
    detail::remap_pools(g, p.attrs, e.attrs, params.subs, params.labels);
  TypeCtx t{*this, p, own, fx::attrs(g, e)};
  p.type(t);
  if (failure.set) t.out.clear(), t.out.push_back(own.empty() ? Type{} : type(own[0]));
  e.n_out = t.out.size();
  auto drop = [&] {
    g.operands.resize(e.in);
    g.words.resize(e.attrs);
  };
  if (simplify && !failure.set) {
    if (p.simplifies) {
      SimplifyCtx s{*this, p, own, params, fx::attrs(g, e), t.out[0]};
      if (Val simpler = p.simplify(s)) {
        // What the rewrite bound stands behind this equation's words in the pools; leave those few words unused.
        return simpler;
      }
    }
    if (int equal = merge(e); equal >= 0) {
      drop();
      return {this, g.eqns[equal].out};
    }
  }
  e.out = g.vars.size();
  for (const Type& type : t.out) g.vars.push_back({Var::result, type_id(type), g.eqns.size()});
  e.loc = loc_id();
  g.eqns.push_back(e);
  return {this, e.out};
}

constexpr Params params_of(const Graph& g, const Eqn& e) {
  Params p;
  p.words = Vec<std::int64_t>(Span<const std::int64_t>(g.words.data() + e.attrs, e.n_attrs));
  int at = 0;
  for (const AttrSpec& s : e.prim->attrs) {
    if (s.kind == AttrKind::graph) {
      p.subs.push_back(g.subs[int(p.words[at + 1])]);
      p.words[at + 1] = p.subs.size() - 1;
    } else if (s.kind == AttrKind::label) {
      p.labels.push_back(g.labels[int(p.words[at + 1])]);
      p.words[at + 1] = p.labels.size() - 1;
    }
    at += 1 + int(p.words[at]);
  }
  return p;
}

namespace detail {
// Walks g, giving `bind_one(eqn, operand Vals) -> first result` each equation; vals[v] is the value of variable v.
template <class F>
constexpr void walk(Builder& b, const Graph& g, Span<const Val> ins, Vec<Val>& vals, F&& bind_one) {
  vals = Vec<Val>(g.vars.size());
  for (int i = 0; i < g.ins.size(); ++i) vals[g.ins[i]] = ins[i];
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.is_literal(v)) vals[v] = b.literal(g.type(v).dtype, g.literal(v));
  Vec<Val> in;
  for (const Eqn& e : g.eqns) {
    in.clear();
    for (int v : g.in(e)) in.push_back(vals[v]);
    b.loc = g.locs[e.loc];
    bind_one(e, Span<const Val>(in));
  }
}
}  // namespace detail

namespace detail {
Vec<Val> inline_run_time(Builder& b, const Graph& g, Span<const Val> ins);
constexpr Vec<Val> inline_here(Builder& b, const Graph& g, Span<const Val> ins) {
  Vec<Val> vals;
  const Loc loc = b.loc;
  walk(b, g, ins, vals, [&](const Eqn& e, Span<const Val> in) {
    Val first = b.bind(*e.prim, in, params_of(g, e));
    for (int j = 0; j < e.n_out; ++j) vals[e.out + j] = Val(first.b, first.id + j);
  });
  b.loc = loc;
  Vec<Val> outs;
  for (int v : g.outs) outs.push_back(vals[v]);
  return outs;
}
}  // namespace detail
constexpr Vec<Val> inline_graph(Builder& b, const Graph& g, Span<const Val> ins) {
  if (FX_CONSTANT_EVALUATED()) return detail::inline_here(b, g, ins);
  return detail::inline_run_time(b, g, ins);
}

namespace detail {
// What is left of equation `eqn` when its dead parts go.
struct Pruned {
  int eqn = -1;
  Vec<char> in, out;
  Params params;
};
constexpr bool prune(const Graph& g, const Eqn& e, int at, Span<const char> live, Vec<Pruned>& pruned) {
  PruneCtx c{g, e, live.sub(e.out, e.n_out)};
  if (!e.prim->prune(c)) return false;
  pruned.push_back({at, std::move(c.in), std::move(c.out), std::move(c.params)});
  return true;
}
}  // namespace detail

constexpr Graph Builder::finish_here(Span<const Val> outs) {
  Vec<int> out_vars;
  for (const Val& v : outs) out_vars.push_back(use(v));
  Vec<char> live(g.vars.size(), 0);
  for (int v : out_vars) live[v] = 1;
  Vec<char> live_eqn(g.eqns.size(), 0);
  Vec<detail::Pruned> pruned;  // equations of which a part is dead, the last first
  for (int i = g.eqns.size() - 1; i >= 0; --i) {
    const Eqn& e = g.eqns[i];
    for (int j = 0; j < e.n_out; ++j) live_eqn[i] |= live[e.out + j];
    if (!live_eqn[i]) continue;
    const bool smaller = e.prim->prunes && detail::prune(g, e, i, live, pruned);
    for (int k = 0; k < e.n_in; ++k)
      if (!smaller || pruned.back().in[k]) live[g.in(e)[k]] = 1;
  }
  Graph r;
  Vec<int> renamed(g.vars.size(), -1);
  auto keep = [&](int v) {
    const Var& old = g.vars[v];
    int t = r.types.size() - 1, tries = 64;
    while (t >= 0 && tries-- > 0 && !(r.types[t] == g.types[old.type])) --t;
    if (t < 0 || tries < 0) {
      t = r.types.size();
      r.types.push_back(g.types[old.type]);
    }
    renamed[v] = r.vars.size();
    r.vars.push_back({old.kind, t, old.at});
  };
  Vec<char> is_captured(g.vars.size(), 0);
  for (int v : captured_vars) is_captured[v] = 1;
  auto keep_input = [&](int v) {
    keep(v);
    r.vars.back().at = r.ins.size();
    r.ins.push_back(renamed[v]);
  };
  for (int v : g.ins)
    if (!is_captured[v]) keep_input(v);
  Vec<Val> used;
  Vec<int> used_vars;
  for (int i = 0; i < captured.size(); ++i)
    if (live[captured_vars[i]]) {
      keep_input(captured_vars[i]);
      used.push_back(captured[i]);
      used_vars.push_back(captured_vars[i]);
    }
  r.captured = used.size();
  captured = std::move(used);
  captured_vars = std::move(used_vars);
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.vars[v].kind == Var::literal && live[v]) {
      keep(v);
      r.vars.back().at = r.literals.size();
      r.literals.push_back(g.literal(v));
    }
  for (int i = 0; i < g.eqns.size(); ++i) {
    if (!live_eqn[i]) continue;
    Eqn e = g.eqns[i];
    const detail::Pruned* p = !pruned.empty() && pruned.back().eqn == i ? &pruned.back() : nullptr;
    const Span<const int> in = g.in(e);
    e.in = r.operands.size();
    for (int k = 0; k < in.size(); ++k)
      if (!p || p->in[k]) r.operands.push_back(renamed[in[k]]);
    e.n_in = r.operands.size() - e.in;
    const int at = r.words.size();
    if (p) {
      r.words.append(p->params.words);
      detail::remap_pools(r, e.prim->attrs, at, p->params.subs, p->params.labels);
    } else {
      r.words.append({g.words.data() + e.attrs, e.n_attrs});
      detail::remap_pools(r, e.prim->attrs, at, g.subs, g.labels);
    }
    e.attrs = at;
    e.n_attrs = r.words.size() - at;
    const int first = e.out;
    e.out = r.vars.size();
    for (int j = 0; j < g.eqns[i].n_out; ++j) {
      if (p && !p->out[j]) continue;
      keep(first + j);
      r.vars.back().at = r.eqns.size();
    }
    e.n_out = r.vars.size() - e.out;
    if (p) pruned.pop_back();
    if (r.locs.empty() || r.locs.back().line != g.locs[e.loc].line || r.locs.back().file != g.locs[e.loc].file)
      r.locs.push_back(g.locs[e.loc]);
    e.loc = r.locs.size() - 1;
    r.eqns.push_back(e);
  }
  for (int v : out_vars) r.outs.push_back(renamed[v]);
  return r;
}

constexpr Graph simplify(const Graph& g) {
  Builder b(true);
  Vec<Val> ins;
  for (int v : g.ins) ins.push_back(b.input(g.type(v)));
  Graph r = b.finish(inline_graph(b, g, ins));
  r.captured = g.captured;
  return r;
}

// Variables count as their place among inputs and results, literals as their values: the numbering of g does not
// matter.
constexpr Digest digest(const Graph& g) {
  Hasher h;
  h.word(std::uint64_t(g.ins.size()) << 32 | std::uint64_t(g.outs.size()));
  h.word(std::uint64_t(g.captured));
  Vec<int> place(g.vars.size(), -1);
  int n = 0;
  for (int v : g.ins) {
    place[v] = n++;
    hash(h, g.type(v));
  }
  auto use = [&](int v) {
    if (!g.is_literal(v)) return h.word(std::uint64_t(place[v]));
    h.word(~std::uint64_t(g.type(v).dtype));
    h.word(g.literal(v));
  };
  for (const Eqn& e : g.eqns) {
    h.word(e.prim->id);
    h.word(std::uint64_t(e.n_in) << 32 | std::uint64_t(e.n_out));
    for (int v : g.in(e)) use(v);
    for (int j = 0; j < e.n_out; ++j) place[e.out + j] = n++;
    int at = e.attrs;
    for (const AttrSpec& s : e.prim->attrs) {
      const int count = int(g.words[at]);
      h.word(std::uint64_t(count));
      for (int i = 1; i <= count; ++i) {
        const std::int64_t w = g.words[at + i];
        if (s.kind == AttrKind::graph)
          h.digest(digest(*g.subs[int(w)]));
        else if (s.kind == AttrKind::dims)
          hash(h, Dim(w));
        else if (s.kind != AttrKind::label)
          h.word(std::uint64_t(w));
      }
      at += 1 + count;
    }
  }
  for (int v : g.outs) use(v);
  return h.finish();
}

#if FX_BODIES
FX_INLINE Val Builder::bind_run_time(const Prim& p, Span<const Val> in, const Params& params) {
  return detail::at_line(loc, [&] { return bind_here(p, in, params); });
}
FX_INLINE Graph Builder::finish_run_time(Span<const Val> outs) { return finish_here(outs); }
FX_INLINE Vec<Val> detail::inline_run_time(Builder& b, const Graph& g, Span<const Val> ins) {
  return inline_here(b, g, ins);
}
#endif

}  // namespace fx::inline v0
