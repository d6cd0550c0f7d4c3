// transforms/inspect.hpp -- make_jaxpr and eval_shape: what a function does, without running it.
#pragma once
#include "../print.hpp"
#include "call.hpp"

namespace fx::inline v0 {

// A traced function as a value: print it, compare its text.
struct Jaxpr {
  Graph graph;
  constexpr Str text() const { return fx::text(graph); }
  std::string str() const { return std::string(text().view()); }
  friend constexpr bool operator==(const Jaxpr& j, std::string_view s) { return j.text() == s; }
};

namespace detail {
template <class F>
struct MakeJaxpr {
  using Traces = F;
  F f;
  Loc where;
  template <class... A>
  constexpr Jaxpr operator()(const A&... args) const {
    return call(as_spec(args, where)...);
  }

 private:
  template <class... T>
  constexpr Jaxpr call(const T&... args) const {
    Trace t(where, false);
    nest<F>(t, {});
    return {trace_function(t, f, where, nullptr, args...).closed.graph};
  }
};
template <class F>
struct EvalShape {
  using Traces = F;
  F f;
  Loc where;
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    return call(as_spec(args, where)...);
  }

 private:
  template <class... T>
  constexpr auto call(const T&... args) const {
    Trace t(where, false);
    nest<F>(t, {});
    auto traced = trace_function(t, f, where, nullptr, args...);
    int j = 0;
    tree::for_each_leaf(traced.out,
                        [&](Array& a) { a = spec(traced.closed.graph.type(traced.closed.graph.outs[j++]), where); });
    return traced.out;
  }
};
}  // namespace detail

// The Graph of f as traced: make_jaxpr(f)(args...), where an argument may be a Type such as fx::type(fx::f32, {3}).
template <class F>
constexpr auto make_jaxpr(F f, Loc where = Loc::here()) {
  return detail::MakeJaxpr<F>{std::move(f), where};
}
// The result of f with specs (types without values) as leaves: eval_shape(f)(args...).
template <class F>
constexpr auto eval_shape(F f, Loc where = Loc::here()) {
  return detail::EvalShape<F>{std::move(f), where};
}

}  // namespace fx::inline v0
