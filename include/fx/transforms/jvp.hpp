// transforms/jvp.hpp -- jvp (forward mode) and vjp (reverse mode with a pull-back function).
#pragma once
#include "grad.hpp"

namespace fx::inline v0 {

namespace detail {
constexpr Graph jvp_graph(const Graph& g, Span<const char> wrt, Loc where) {
  if (FX_CONSTANT_EVALUATED()) return fx::jvp(g, wrt);
  return at_line(where, [&] { return door::jvp(g, wrt); });
}
constexpr Graph vjp_graph(const Graph& g, Span<const char> wrt, Loc where) {
  if (FX_CONSTANT_EVALUATED()) return fx::vjp(g, wrt);
  return at_line(where, [&] { return door::vjp(g, wrt); });
}

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class... T>
constexpr auto as_trees(const std::tuple<T...>& t, Loc where) {
  return std::apply([&](const T&... v) { return std::tuple<tree_t<T>...>(as_tree(v, where)...); }, t);
}
// All of n arguments are differentiated.
template <class... A>
constexpr Vec<char> flag_all(std::string_view transform, Loc where, const A&... args) {
  int nums[sizeof...(A)];
  for (int i = 0; i < int(sizeof...(A)); ++i) nums[i] = i;
  return flag_leaves(transform, nums, where, args...);
}

// Tangents and cotangents must have the structure and types of what they belong to.
template <class W, class G>
[[noreturn]] void fail_unlike(std::string_view transform, std::string_view what, int number, const W& want,
                              const G& got, int leaf, Loc loc) {
  Str s(transform);
  s += ": ";
  if (leaf < 0) {
    s += what;
    if (number >= 0) (s += ' ').num(number);
    throw_structure(s, want, 2, got, loc);
  }
  const Type &have = gather_leaves<const Array>(got)[leaf]->type(loc),
             &need = gather_leaves<const Array>(want)[leaf]->type(loc);
  put_leaf(s, what, number, want, leaf);
  s += " is ";
  put(s, have);
  s += ", expected ";
  put(s, need);
  fail(have.dtype == need.dtype ? ErrorCode::shape : ErrorCode::dtype, s, loc);
}
template <class W, class G>
constexpr void check_like(std::string_view transform, std::string_view what, int number, const W& want, const G& got,
                          Loc loc) {
  if (!tree::same_structure(want, got)) fail_unlike(transform, what, number, want, got, -1, loc);
  const Vec<const Array*> wanted = gather_leaves<const Array>(want);
  for_each_full_leaf(what, number, got, loc, [&](const Array& a, int leaf) {
    if (!(a.type(loc) == wanted[leaf]->type(loc))) fail_unlike(transform, what, number, want, got, leaf, loc);
  });
}

// The tangents of all results: those in `given`, and zeros for integers, which have none in the Graph.
constexpr Vec<NodeRef> all_tangents(const Graph& g, Span<const NodeRef> given, Loc where) {
  Vec<NodeRef> r;
  int next = 0;
  for (int v : g.outs) {
    if (differentiable(g.type(v))) {
      r.push_back(given[next++]);
      continue;
    }
    Recording zero(Span<const NodeRef>(), where);
    const Val z[] = {zeros(zero.b(), g.type(v))};
    r.push_back(zero.results(z)[0]);
  }
  return r;
}

template <class F, class... P, class... T>
constexpr auto jvp_trees(F& f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents, Loc where) {
  return std::apply(
      [&](const P&... args) {
        Vec<NodeRef> in = argument_leaves(where, args...), dx;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          (check_like("jvp", "the tangent of argument", int(I), std::get<I>(primals), std::get<I>(tangents), where),
           ...);
          (append_leaves("the tangent of argument", int(I), std::get<I>(tangents), dx, where), ...);
        }
        (std::index_sequence_for<P...>());
        Vec<char> wrt = flag_all("jvp", where, args...);
        Vec<NodeRef> all_in(in);
        all_in.append(dx);
        Trace t(where, true);
        nest<F>(t, all_in);
        auto traced = trace_function(t, f, where, nullptr, args...);
        const Graph& g = traced.closed.graph;
        wrt.resize(g.ins.size(), 0);
        in.append(traced.closed.captured);
        in.append(dx);
        const Vec<NodeRef> r = call_graph(jvp_graph(g, wrt, where), in, where);
        const int n = g.outs.size();
        const Vec<NodeRef> dy = all_tangents(g, Span<const NodeRef>(r).sub(n, r.size() - n), where);
        int at = 0, d_at = 0;
        auto out = with_leaves(traced.out, r, at);
        return std::pair(std::move(out), with_leaves(traced.out, dy, d_at));
      },
      primals);
}
}  // namespace detail

// f(primals...) and its derivative along the tangents: pair(results, tangents of the results). primals and tangents are
// tuples of equal structure; the tangent of an integer result is zero.
// Errors: tangents that differ in structure (tree) or type (shape, dtype); integer primals (dtype).
template <class F, class... P, class... T>
constexpr auto jvp(F f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents, Loc where = Loc::here()) {
  static_assert(sizeof...(P) == sizeof...(T), "fx::jvp: one tangent for each primal");
  return detail::jvp_trees(f, detail::as_trees(primals, where), detail::as_trees(tangents, where), where);
}

namespace detail {
// The pull-back of one vjp call: cotangents of the results -> cotangents of the arguments (a tuple for several).
template <class Out, class... A>
struct PullBack {
  Graph graph;  // (the arguments' and captured leaves..., cotangents of the float results...) -> cotangents of the
                // arguments
  Vec<NodeRef> residuals;
  std::tuple<A...> args;
  Out like;
  Loc where;

  template <class C>
  constexpr auto operator()(const C& cotangents) const {
    return call(as_tree(cotangents, where));
  }

 private:
  template <class C>
  constexpr auto call(const C& cotangents) const {
    check_like("vjp", "the cotangent of the result", -1, like, cotangents, where);
    Vec<NodeRef> in(residuals);
    tree::for_each_leaf(cotangents, [&](const Array& a) {
      if (differentiable(a.type(where))) in.push_back(node_ref(a, where));
    });
    const Vec<NodeRef> r = call_graph(graph, in, where);
    int at = 0;
    if constexpr (sizeof...(A) == 1)
      return with_leaves(std::get<0>(args), r, at);
    else
      return std::apply([&](const A&... a) { return std::tuple<A...>{with_leaves(a, r, at)...}; }, args);
  }
};

template <class F, class... P>
constexpr auto vjp_trees(F& f, const std::tuple<P...>& primals, Loc where) {
  return std::apply(
      [&](const P&... args) {
        Vec<NodeRef> in = argument_leaves(where, args...);
        Vec<char> wrt = flag_all("vjp", where, args...);
        Trace t(where, true);
        nest<F>(t, in);
        auto traced = trace_function(t, f, where, nullptr, args...);
        const Graph& g = traced.closed.graph;
        wrt.resize(g.ins.size(), 0);
        in.append(traced.closed.captured);
        const Vec<NodeRef> r = call_graph(g, in, where);
        Graph back = vjp_graph(g, wrt, where);
        const int n = g.outs.size();
        back.outs = Vec<int>(Span<const int>(back.outs).sub(n, back.outs.size() - n));
        int at = 0;
        auto out = with_leaves(traced.out, r, at);
        using Out = decltype(out);
        return std::pair(out, PullBack<Out, P...>{std::move(back), std::move(in), primals, out, where});
      },
      primals);
}
}  // namespace detail

// pair(f(args...), pull-back). The pull-back maps cotangents, of the structure of the result, to those of the
// arguments; it recomputes the forward values it needs. Errors: integer arguments (dtype); cotangents that differ in
// structure (tree) or type (shape, dtype).
template <class F, class... P>
constexpr auto vjp(F f, const std::tuple<P...>& primals, Loc where = Loc::here()) {
  return detail::vjp_trees(f, detail::as_trees(primals, where), where);
}
template <class F, class P>
requires(!detail::is_tuple<P>) constexpr auto vjp(F f, const P& primal, Loc where = Loc::here()) {
  return vjp(std::move(f), std::tuple<P>(primal), where);
}

}  // namespace fx::inline v0
