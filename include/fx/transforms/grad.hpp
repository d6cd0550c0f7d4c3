// transforms/grad.hpp -- grad and value_and_grad: the gradient of a function with a scalar result.
#pragma once
#include "call.hpp"

namespace fx::inline v0 {

namespace detail {
constexpr Graph gradient_graph(const Graph& g, Span<const char> wrt, Loc where) {
  if (FX_CONSTANT_EVALUATED()) return fx::value_and_grad(g, wrt);
  return at_line(where, [&] { return door::value_and_grad(g, wrt); });
}

constexpr void check_scalar(std::string_view transform, const Type& t, int leaves, Loc loc) {
  if (leaves == 1 && t.rank() == 0 && is_float(t.dtype)) return;
  Str s(transform);
  s += ": the function must return one floating-point scalar, got ";
  if (leaves != 1)
    s.num(leaves) += " values";
  else
    put(s, t);
  s += "; reduce it with np::sum or np::mean, return extras through fx::aux, or use fx::jvp or fx::vjp";
  fail(leaves == 1 && t.rank() == 0 ? ErrorCode::dtype : ErrorCode::shape, s, loc);
}

template <class F, bool WithValue, int... Argnums>
struct Grad {
  using Traces = F;
  F f;
  Loc where;

  template <class... A>
  constexpr auto operator()(const A&... args) const {
    return call(as_tree(args, where)...);
  }

 private:
  static constexpr std::string_view name = WithValue ? "value_and_grad" : "grad";

  template <class... T>
  constexpr auto call(const T&... args) const {
    static_assert(((Argnums >= 0 && Argnums < int(sizeof...(T))) && ...),
                  "fx::grad: argnums are numbers of arguments, from 0 on");
    const int argnums[] = {Argnums...};
    Vec<NodeRef> in = argument_leaves(where, args...);
    const Vec<char> flags = flag_leaves(name, argnums, where, args...);
    Trace t(where, true);
    nest<F>(t, in);
    auto traced = trace_function(t, f, where, nullptr, args...);
    const Graph& g = traced.closed.graph;
    check(g, traced.out);
    Vec<char> wrt(flags);
    wrt.resize(g.ins.size(), 0);
    in.append(traced.closed.captured);
    const Vec<NodeRef> r = call_graph(gradient_graph(g, wrt, where), in, where);
    int at = 0;
    auto out = with_leaves(traced.out, r, at);
    auto gradients = pick(r, at, args...);
    if constexpr (WithValue)
      return std::pair(std::move(out), std::move(gradients));
    else if constexpr (is_aux<decltype(out)>)
      return std::pair(std::move(gradients), std::move(out.aux));
    else
      return gradients;
  }

  template <class Out>
  constexpr void check(const Graph& g, const Out& out) const {
    int leaves = 0;
    if constexpr (is_aux<Out>)
      leaves = tree::leaf_count(out.value);
    else
      leaves = tree::leaf_count(out);
    check_scalar(name, g.outs.empty() ? Type{} : g.type(g.outs[0]), leaves, where);
  }

  // One argument: its gradient; several: a tuple.
  template <class... T>
  static constexpr auto pick(const Vec<NodeRef>& r, int at, const T&... args) {
    if constexpr (sizeof...(Argnums) == 1) {
      return with_leaves(std::get<(Argnums, ...)>(std::tie(args...)), r, at);
    } else {
      // Gradients come in the order of the arguments; argnums may name these in another one.
      const int leaves[] = {tree::leaf_count(args)...};
      auto from = [&](int number) {
        int start = at;
        for (int k = 0; k < number; ++k)
          if (((Argnums == k) || ...)) start += leaves[k];
        return start;
      };
      auto gradient = [&](const auto& arg, int start) { return with_leaves(arg, r, start); };
      return std::tuple{gradient(std::get<Argnums>(std::tie(args...)), from(Argnums))...};
    }
  }
};
}  // namespace detail

// The gradient of f with respect to the arguments numbered Argnums (0 unless given): the argument's own structure, a
// tuple for several. f returns a floating-point scalar, or fx::aux(scalar, extra), and then the result is
// pair(gradient, extra). Errors: another result (shape, dtype); an integer argument (dtype).
template <int... Argnums, class F>
constexpr auto grad(F f, Loc where = Loc::here()) {
  if constexpr (sizeof...(Argnums) == 0)
    return detail::Grad<F, false, 0>{std::move(f), where};
  else
    return detail::Grad<F, false, Argnums...>{std::move(f), where};
}
// pair(result of f, gradient).
template <int... Argnums, class F>
constexpr auto value_and_grad(F f, Loc where = Loc::here()) {
  if constexpr (sizeof...(Argnums) == 0)
    return detail::Grad<F, true, 0>{std::move(f), where};
  else
    return detail::Grad<F, true, Argnums...>{std::move(f), where};
}

}  // namespace fx::inline v0
