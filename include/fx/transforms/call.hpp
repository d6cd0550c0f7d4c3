// transforms/call.hpp -- what every transform does: trace the user's function, rewrite the Graph, put it where it was
// called.
#pragma once
#include <tuple>

#include "../operators.hpp"
#include "../pytree.hpp"
#include "../random/key.hpp"
#include "../runtime/profile.hpp"

namespace fx::inline v0 {

// What a function returns to give results beside the one that is differentiated: `return fx::aux(loss, metrics)`.
template <class T, class A>
struct Aux {
  T value;
  A aux;
};
template <class T, class A>
constexpr Aux<T, A> aux(T value, A extra) {
  return {std::move(value), std::move(extra)};
}

namespace detail {
template <class T>
inline constexpr bool is_aux = false;
template <class T, class A>
inline constexpr bool is_aux<Aux<T, A>> = true;

// A whole argument or result may be a C++ number: inside it is an Array.
template <class T>
using tree_t = std::conditional_t<Element<std::remove_cvref_t<T>>, Array, std::remove_cvref_t<T>>;
template <class T>
constexpr tree_t<T> as_tree(T&& v, Loc loc) {
  if constexpr (Element<std::remove_cvref_t<T>>)
    return Array(v, loc);
  else
    return std::forward<T>(v);
}

// An argument by its type alone.
template <class T>
constexpr auto as_spec(const T& v, Loc loc) {
  if constexpr (__is_same(T, Type))
    return spec(v, loc);
  else
    return as_tree(v, loc);
}

// "argument 1, layers[0].w,": a leaf of a tree in a message. number < 0: there is only one such tree.
template <class T>
void put_leaf(Str& s, std::string_view what, int number, const T& tree, int leaf) {
  s += what;
  if (number >= 0) (s += ' ').num(number);
  const std::string path = tree::paths(tree)[std::size_t(leaf)];
  if (!path.empty()) ((s += ", ") += path) += ',';
}
template <class T>
[[noreturn]] void fail_empty(std::string_view what, int number, const T& tree, int leaf, Loc loc) {
  Str s;
  put_leaf(s, what, number, tree, leaf);
  s += " is an empty Array: it was moved from, or never given a value";
  fail(ErrorCode::state, s, loc);
}
// f(leaf, its number) for each leaf of a tree. Errors (state): an empty one.
template <class T, class F>
constexpr void for_each_full_leaf(std::string_view what, int number, T& tree, Loc loc, F&& f) {
  int leaf = 0;
  tree::for_each_leaf(tree, [&](auto& a) {
    if (a.empty()) fail_empty(what, number, tree, leaf, loc);
    f(a, leaf++);
  });
}
template <class T>
constexpr void append_leaves(std::string_view what, int number, const T& tree, Vec<NodeRef>& out, Loc loc) {
  for_each_full_leaf(what, number, tree, loc, [&](const Array& a, int) { out.push_back(node_ref(a, loc)); });
}
// The leaves of all arguments, in order.
template <class... A>
constexpr Vec<NodeRef> argument_leaves([[maybe_unused]] Loc loc, const A&... args) {
  Vec<NodeRef> r;
  int number = 0;
  (append_leaves("argument", number++, args, r, loc), ...);
  return r;
}
// A copy of `like` with the nodes from `at` on as its leaves.
template <class T>
constexpr T with_leaves(const T& like, Span<const NodeRef> nodes, int& at) {
  T r = like;
  tree::for_each_leaf(r, [&](Array& a) { a = Array(nodes[at++]); });
  return r;
}

// A traced function: its Graph, the Arrays it captured, and its result, whose leaves are spent.
template <class Out>
struct Traced {
  Trace::Closed closed;
  Out out;
};

// Traces f on arguments of these types. Type of leaf i: the argument's, or types[i] if given.
template <class F, class... A>
constexpr auto trace_function(Trace& t, F& f, Loc loc, const Type* types, const A&... args) {
  OpenTrace open(t);
  int i = 0, number = 0;
  [[maybe_unused]] auto traced = [&](auto copy) {
    for_each_full_leaf("argument", number++, copy, loc,
                       [&](Array& a, int) { a = Array(t.argument(types ? types[i++] : a.type(loc), loc)); });
    return copy;
  };
  std::tuple<A...> inner{traced(args)...};  // braces: in order
  using Out = tree_t<decltype(std::apply(f, std::move(inner)))>;
  Out out = as_tree(std::apply(f, std::move(inner)), loc);
  Vec<Val> outs;
  for_each_full_leaf("the result", -1, out, loc,
                     [&](const Array& a, int) { outs.push_back(t.use(node_ref(a, loc), loc)); });
  Traced<Out> r{t.close(outs), std::move(out)};
  if (t.b.failure.set) fail(t.b.failure.code, t.b.failure.message, t.b.failure.loc);
  return r;
}

// Inlines g into the open trace, or runs it.
constexpr Vec<NodeRef> call_graph(const Graph& g, Span<const NodeRef> in, Loc loc) {
  if (!FX_CONSTANT_EVALUATED() && !current_trace()) return run_graph(g, in, {}, loc);
  Recording r(in, loc);
  if (r.eager()) return run_graph(g, in, {}, loc);
  return r.results(inline_graph(r.b(), g, r.vals));
}

// Whether a function object may hold values of an outer trace; transforms tell by `Traces`, the function they hold.
template <class F>
inline constexpr bool may_capture = !std::is_empty_v<F> && !std::is_pointer_v<F>;
template <class F>
requires requires { typename F::Traces; }
inline constexpr bool may_capture<F> = may_capture<typename F::Traces>;

// Constant evaluation: the trace of the arguments is the outer one.
template <class F>
constexpr void nest(Trace& t, Span<const NodeRef> args) {
  if (!FX_CONSTANT_EVALUATED()) return;
  t.captures = may_capture<F>;
  Trace* outer = nullptr;
  for (const NodeRef& n : args) outer = deeper(outer, trace_of(*n));
  t.parent = outer;
  t.b.depth = outer ? outer->b.depth + 1 : 1;
}

template <class T>
[[noreturn]] void fail_integer(std::string_view transform, int number, const T& arg, int leaf, const Type& type,
                               Loc loc) {
  Str s(transform);
  s += ": ";
  put_leaf(s, "argument", number, arg, leaf);
  s += " is ";
  put(s, type);
  s += "; derivatives exist for floating-point values only: convert it, or ";
  s += transform == "jvp" || transform == "vjp" ? "capture it in the function" : "choose other argnums";
  fail(ErrorCode::dtype, s, loc);
}

// Which leaves belong to the arguments with the given numbers. Errors (dtype): they are no floats.
template <class... A>
constexpr Vec<char> flag_leaves(std::string_view transform, Span<const int> argnums, Loc loc, const A&... args) {
  Vec<char> wrt;
  int number = 0;
  auto one = [&](const auto& arg) {
    bool wanted = false;
    for (int k : argnums) wanted = wanted || k == number;
    int leaf = 0;
    tree::for_each_leaf(arg, [&](const Array& a) {
      wrt.push_back(wanted);
      if (wanted && !is_float(a.dtype(loc))) fail_integer(transform, number, arg, leaf, a.type(loc), loc);
      ++leaf;
    });
    ++number;
  };
  (one(args), ...);
  return wrt;
}
// The passes, compiled once: constant evaluation takes the constexpr body, run time these.
namespace door {
Graph value_and_grad(const Graph& g, Span<const char> wrt);
Graph jvp(const Graph& g, Span<const char> wrt);
Graph vjp(const Graph& g, Span<const char> wrt);
#if FX_BODIES
FX_INLINE Graph value_and_grad(const Graph& g, Span<const char> wrt) {
  const ProfileSpan span(ProfileKind::pass, "value_and_grad");
  return fx::value_and_grad(g, wrt);
}
FX_INLINE Graph jvp(const Graph& g, Span<const char> wrt) {
  const ProfileSpan span(ProfileKind::pass, "jvp");
  return fx::jvp(g, wrt);
}
FX_INLINE Graph vjp(const Graph& g, Span<const char> wrt) {
  const ProfileSpan span(ProfileKind::pass, "vjp");
  return fx::vjp(g, wrt);
}
#endif
}  // namespace door
}  // namespace detail

}  // namespace fx::inline v0
