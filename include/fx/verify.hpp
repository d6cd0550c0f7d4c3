// verify.hpp -- the verifier: whether a Graph is what its passes promise, or the first equation that is not, and why.
//
// It trusts nothing in the Graph, which may come from a faulty rule: pools are looked into only after a check of the
// index.
#pragma once
#include "prim.hpp"

#if FX_BODIES
namespace fx::inline v0 {
namespace detail {

// The checks of one Graph, without its sub-graphs. Each returns false after writing to `why`. All Graphs must have
// passed `structure` before `rules` is asked of any: type rules look into sub-graphs.
class Verifier {
  const Graph& g_;
  Str& why_;
  Builder scratch_;  // its Graph is a copy: where type rules look up their operands

 public:
  Verifier(const Graph& g, Str& why) : g_(g), why_(why) {}

  bool structure() {
    int next = 0;  // results are numbered in the order of the equations
    return types() && vars() && inputs() && each([&](int i, const Eqn& e) { return equation(i, e, next); }) &&
           outputs();
  }
  bool rules() {
    scratch_.g = g_;
    return each([&](int, const Eqn& e) { return results(e); });
  }

 private:
  template <class F>
  bool each(F&& holds) {
    for (int i = 0; i < g_.eqns.size(); ++i) {
      const Eqn& e = g_.eqns[i];
      if (holds(i, e)) continue;
      Str s("equation ");
      s.num(i);
      if (e.prim) s += " (", s += e.prim->name, s += ')';
      s += ": ";
      s += why_;
      why_ = s;
      return false;
    }
    return true;
  }
  bool no(std::string_view what) {
    why_ = Str(what);
    return false;
  }
  bool no(std::string_view what, std::int64_t n, std::string_view rest = {}) {
    why_ = Str(what);
    why_.num(n);
    why_ += rest;
    return false;
  }
  static bool within(std::int64_t at, std::int64_t n, int size) {
    return at >= 0 && n >= 0 && at <= size && n <= size - at;
  }
  bool is_var(int v) const { return v >= 0 && v < g_.vars.size(); }

  bool types() {
    for (int t = 0; t < g_.types.size(); ++t) {
      const Type& type = g_.types[t];
      if (int(type.dtype) >= dtype_count) return no("type ", t, " has an unknown dtype");
      if (type.dims.n < 0 || type.dims.n > max_rank) return no("type ", t, " has an impossible rank");
      if (type.is_static() && numel(type) < 0) return no("type ", t, " has too many elements");
    }
    return true;
  }

  bool vars() {
    for (int v = 0; v < g_.vars.size(); ++v) {
      const Var& var = g_.vars[v];
      if (var.type < 0 || var.type >= g_.types.size()) return no("variable ", v, " has a type that is not in the pool");
      const int pool = var.kind == Var::input     ? g_.ins.size()
                       : var.kind == Var::literal ? g_.literals.size()
                                                  : g_.eqns.size();
      if (var.kind > Var::result) return no("variable ", v, " is of no kind");
      if (var.at < 0 || var.at >= pool)
        return no("variable ", v, " refers to an input, literal or equation that does not exist");
      if (var.kind == Var::input && g_.ins[var.at] != v)
        return no("variable ", v, " claims to be another variable's input");
      if (var.kind != Var::literal) continue;
      const Type& t = g_.type(v);
      if (t.rank() != 0) return no("variable ", v, " is a literal and not of rank 0");
      if (!computes(t.dtype)) return no("variable ", v, " is a literal of a dtype without arithmetic");
      const std::uint64_t bits = g_.literal(v);
      if (t.dtype == boolean ? bits > 1 : size_of(t.dtype) == 4 && bits >> 32)
        return no("variable ", v, " is a literal with bits beyond its dtype");
    }
    return true;
  }

  bool inputs() {
    for (int i = 0; i < g_.ins.size(); ++i) {
      const int v = g_.ins[i];
      if (!is_var(v) || g_.vars[v].kind != Var::input || g_.vars[v].at != i)
        return no("input ", i, " is no variable of that kind");
    }
    return g_.captured >= 0 && g_.captured <= g_.ins.size() ? true
                                                            : no("more captured inputs than inputs: ", g_.captured);
  }

  bool outputs() {
    for (int j = 0; j < g_.outs.size(); ++j)
      if (!is_var(g_.outs[j])) return no("output ", j, " is no variable");
    for (int v = 0; v < g_.vars.size(); ++v) {
      const Var& var = g_.vars[v];
      if (var.kind != Var::result) continue;
      const Eqn& e = g_.eqns[var.at];
      if (v < e.out || v >= e.out + e.n_out) return no("variable ", v, " is no result of the equation it names");
    }
    return true;
  }

  bool equation(int i, const Eqn& e, int& next) {
    if (!e.prim || !e.prim->type) return no("no primitive");
    if (e.loc < 0 || e.loc >= g_.locs.size()) return no("no line");
    if (!within(e.in, e.n_in, g_.operands.size())) return no("operands outside the pool");
    if (!within(e.attrs, e.n_attrs, g_.words.size())) return no("attributes outside the pool");
    if (e.n_out < 1 || !within(e.out, e.n_out, g_.vars.size()) || e.out < next)
      return no("results are not the next variables");
    next = e.out + e.n_out;
    for (int j = 0; j < e.n_out; ++j) {
      const Var& var = g_.vars[e.out + j];
      if (var.kind != Var::result || var.at != i) return no("result ", j, " belongs to something else");
    }
    for (int k = 0; k < e.n_in; ++k) {
      const int v = g_.operands[e.in + k];
      if (!is_var(v)) return no("operand ", k, " is no variable");
      if (g_.vars[v].kind == Var::result && g_.vars[v].at >= i)
        return no("operand ", k, " is used before its definition");
    }
    return attributes(e);
  }

  bool attributes(const Eqn& e) {
    int at = 0;
    for (const AttrSpec& s : e.prim->attrs) {
      if (at >= e.n_attrs) return attribute(s, "is missing");
      const std::int64_t n = g_.words[e.attrs + at];
      if (n < 0 || n > e.n_attrs - at - 1) return attribute(s, "is longer than the words of the equation");
      const Span<const std::int64_t> w(g_.words.data() + e.attrs + at + 1, int(n));
      const bool list = s.kind == AttrKind::ints || s.kind == AttrKind::dims;
      if (!list && n != 1) return attribute(s, "is not one word");
      if (s.kind == AttrKind::dims && n > max_rank) return attribute(s, "has more than 8 dimensions");
      if (s.kind == AttrKind::flag && w[0] != 0 && w[0] != 1) return attribute(s, "is neither 0 nor 1");
      if (s.kind == AttrKind::dtype && (w[0] < 0 || w[0] >= dtype_count)) return attribute(s, "is no dtype");
      if (s.kind == AttrKind::label && (w[0] < 0 || w[0] >= g_.labels.size()))
        return attribute(s, "is no label of the graph");
      if (s.kind == AttrKind::graph && (w[0] < 0 || w[0] >= g_.subs.size() || !g_.subs[int(w[0])]))
        return attribute(s, "is no sub-graph of the graph");
      at += 1 + int(n);
    }
    return at == e.n_attrs ? true : no("more words than attributes");
  }
  bool attribute(const AttrSpec& s, std::string_view what) {
    why_ = Str("attribute ");
    why_ += s.name;
    why_ += " ";
    why_ += what;
    return false;
  }

  // The type rule again, on the operands' types.
  bool results(const Eqn& e) {
    Vec<Val> in;
    for (int v : g_.in(e)) in.push_back({&scratch_, v});
    TypeCtx c{scratch_, *e.prim, in, attrs(g_, e)};
    scratch_.failure = Failure();
    try {
      e.prim->type(c);
    } catch (const Error& error) {
      return no(scratch_.failure.set ? scratch_.failure.message.view() : std::string_view(error.what()));
    }
    if (c.out.size() != e.n_out) return no("the type rule gives another number of results: ", c.out.size());
    for (int j = 0; j < e.n_out; ++j) {
      if (c.out[j] == g_.type(e.out + j)) continue;
      no("result ", j, " has type ");
      put(why_, g_.type(e.out + j));
      why_ += ", the type rule gives ";
      put(why_, c.out[j]);
      return false;
    }
    return true;
  }
};

// A Graph to be checked, and where it stands in that which holds it.
struct Unverified {
  const Graph* g = nullptr;
  int holder = -1;  // in the list of all
  std::string_view attribute, prim;
};
// `why`, and the way to Graph i of the list (of a deep one its end).
inline Str located(const Vec<Unverified>& all, int i, const Str& why) {
  Str s;
  for (int n = 0; all[i].holder >= 0 && n < 4; i = all[i].holder, ++n) {
    Str outer(all[i].attribute);
    outer += " of ";
    outer += all[i].prim;
    outer += ": ";
    outer += s;
    s = outer;
  }
  s += why;
  return s;
}

}  // namespace detail

FX_INLINE Str verify(const Graph& g) {
  Vec<detail::Unverified> all;
  all.push_back({&g, -1, {}, {}});
  Str why;
  for (int i = 0; i < all.size(); ++i) {  // grows: sub-graphs follow, each once
    const Graph& now = *all[i].g;
    if (!detail::Verifier(now, why).structure()) return detail::located(all, i, why);
    for (const Eqn& e : now.eqns)
      for (int k = 0; k < e.prim->attrs.size(); ++k) {
        const AttrSpec& spec = e.prim->attrs[k];
        const Graph* sub = spec.kind == AttrKind::graph ? attrs(now, e).sub(k).get() : nullptr;
        for (int known = 0; sub && known < all.size(); ++known)
          if (all[known].g == sub) sub = nullptr;
        if (sub) all.push_back({sub, i, spec.name, e.prim->name});
      }
  }
  for (int i = 0; i < all.size(); ++i)
    if (!detail::Verifier(*all[i].g, why).rules()) return detail::located(all, i, why);
  return {};
}

}  // namespace fx::inline v0
#endif  // FX_BODIES
