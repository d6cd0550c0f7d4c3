// transforms/jvp.hpp -- jvp (forward mode), vjp (reverse mode with a pull-back function), stop_gradient of trees.
#pragma once
#include "grad.hpp"

namespace fx::inline v0 {

namespace detail {
constexpr Graph jvp_graph(const Graph& g, Span<const char> wrt) {
  if (FX_CONSTANT_EVALUATED()) return fx::jvp(g, wrt);
  return door::jvp(g, wrt);
}
constexpr Graph vjp_graph(const Graph& g, Span<const char> wrt) {
  if (FX_CONSTANT_EVALUATED()) return fx::vjp(g, wrt);
  return door::vjp(g, wrt);
}

// Tangents or cotangents must have the types of what they belong to.
constexpr void check_like(std::string_view transform, std::string_view what, Span<const NodeRef> want, Span<const NodeRef> got, Loc loc) {
  bool ok = want.size() == got.size();
  int bad = 0;
  for (; ok && bad < want.size(); ++bad) ok = want[bad]->type == got[bad]->type;
  if (ok) return;
  Str s(transform);
  s += ": ";
  s += what;
  if (want.size() != got.size()) {
    s += " have ";
    s.num(got.size()) += " leaves, expected ";
    s.num(want.size());
  } else {
    s += ": leaf ";
    s.num(bad - 1) += " is ";
    put(s, got[bad - 1]->type);
    s += ", expected ";
    put(s, want[bad - 1]->type);
  }
  fail(want.size() != got.size() ? ErrorCode::tree : ErrorCode::shape, s, loc);
}
}  // namespace detail

// f(primals...) and its derivative along the tangents: pair(results, tangents of the results). primals and tangents are
// tuples of equal structure; the tangent of an integer result is zero.
// Errors: tangents that differ in structure (tree) or type (shape); integer primals (dtype).
template <class F, class... P, class... T>
constexpr auto jvp(F f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents, Loc where = Loc::here()) {
  using namespace detail;
  static_assert(sizeof...(P) == sizeof...(T), "fx::jvp: one tangent for each primal");
  return std::apply([&](const auto&... raw) {
    auto call = [&](const auto&... args) {
      Vec<NodeRef> in, dx;
      (append_leaves(args, in, where), ...);
      std::apply([&](const auto&... t) { (append_leaves(as_tree(t, where), dx, where), ...); }, tangents);
      check_like("jvp", "tangents", in, dx, where);
      int nums[sizeof...(args)];
      for (int i = 0; i < int(sizeof...(args)); ++i) nums[i] = i;
      Vec<char> wrt = flag_leaves("jvp", nums, where, args...);
      Vec<NodeRef> all(in);
      all.append(dx);
      Trace t(where, true);
      nest<F>(t, all);
      auto traced = trace_function(t, f, where, nullptr, args...);
      const Graph& g = traced.closed.graph;
      wrt.resize(g.ins.size(), 0);
      in.append(traced.closed.captured);
      in.append(dx);
      const Vec<NodeRef> r = call_graph(jvp_graph(g, wrt), in, where);
      int at = 0, d = g.outs.size();
      auto out = with_leaves(traced.out, r, at);
      Vec<NodeRef> dy;  // integer results have no tangent in the Graph: give zeros
      for (int j = 0; j < g.outs.size(); ++j) {
        if (differentiable(g.type(g.outs[j]))) {
          dy.push_back(r[d++]);
        } else {
          Recording zero(Span<const NodeRef>(), where);
          const Val z[] = {zeros(zero.b(), g.type(g.outs[j]))};
          dy.push_back(zero.results(z)[0]);
        }
      }
      at = 0;
      return std::pair(std::move(out), with_leaves(traced.out, dy, at));
    };
    return call(as_tree(raw, where)...);
  }, primals);
}

namespace detail {
// The pull-back of one vjp call: cotangents of the results -> cotangents of the arguments (a tuple for several).
template <class Out, class... A>
struct PullBack {
  Graph graph;        // residual inputs..., cotangents of the float results -> cotangents of the arguments
  Vec<NodeRef> residuals;
  Vec<Type> out_types;
  std::tuple<A...> args;
  Out like;
  Loc where;

  template <class C>
  constexpr auto operator()(const C& cotangents) const {
    Vec<NodeRef> in(residuals), ct;
    append_leaves(as_tree(cotangents, where), ct, where);
    if (ct.size() != out_types.size()) {
      Str s("vjp: cotangents have ");
      s.num(ct.size()) += " leaves, the results ";
      s.num(out_types.size());
      fail(ErrorCode::tree, s, where);
    }
    for (int j = 0; j < ct.size(); ++j) {
      if (!(ct[j]->type == out_types[j])) {
        Str s("vjp: cotangent ");
        s.num(j) += " is ";
        put(s, ct[j]->type);
        s += ", expected ";
        put(s, out_types[j]);
        fail(ErrorCode::shape, s, where);
      }
      if (differentiable(out_types[j])) in.push_back(ct[j]);
    }
    const Vec<NodeRef> r = call_graph(graph, in, where);
    int at = 0;
    if constexpr (sizeof...(A) == 1) return with_leaves(std::get<0>(args), r, at);
    else return std::apply([&](const A&... a) { return std::tuple<A...>{with_leaves(a, r, at)...}; }, args);
  }
};
}  // namespace detail

// pair(f(args...), pull-back). The pull-back maps cotangents, of the structure of the result, to those of the arguments; it
// recomputes the forward values it needs.
template <class F, class... P>
constexpr auto vjp(F f, const std::tuple<P...>& primals, Loc where = Loc::here()) {
  using namespace detail;
  return std::apply([&](const auto&... raw) {
    auto call = [&](const auto&... args) {
      Vec<NodeRef> in;
      (append_leaves(args, in, where), ...);
      int nums[sizeof...(args)];
      for (int i = 0; i < int(sizeof...(args)); ++i) nums[i] = i;
      Vec<char> wrt = flag_leaves("vjp", nums, where, args...);
      Trace t(where, true);
      nest<F>(t, in);
      auto traced = trace_function(t, f, where, nullptr, args...);
      const Graph& g = traced.closed.graph;
      wrt.resize(g.ins.size(), 0);
      in.append(traced.closed.captured);
      const Vec<NodeRef> r = call_graph(g, in, where);
      Graph back = vjp_graph(g, wrt);
      back.outs = Vec<int>(Span<const int>(back.outs.data() + g.outs.size(), back.outs.size() - g.outs.size()));
      Vec<Type> types;
      for (int v : g.outs) types.push_back(g.type(v));
      int at = 0;
      auto out = with_leaves(traced.out, r, at);
      using Out = decltype(out);
      return std::pair(out, PullBack<Out, std::remove_cvref_t<decltype(args)>...>{std::move(back), std::move(in), std::move(types), {args...}, out, where});
    };
    return call(as_tree(raw, where)...);
  }, primals);
}
template <class F, class P>
  requires(!requires { std::tuple_size<P>::value; })
constexpr auto vjp(F f, const P& primal, Loc where = Loc::here()) {
  return vjp(std::move(f), std::tuple<P>(primal), where);
}

}  // namespace fx::inline v0
