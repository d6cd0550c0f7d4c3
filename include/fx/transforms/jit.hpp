// transforms/jit.hpp -- jit: traced once per types and structure of the arguments, then a call of what was compiled.
//
// A jit object owns its cache; function objects without state share one by type, plain functions by address, so
// `fx::jit(f)(x)` in a loop hits. On a hit the function itself does not run: what changes belongs in an argument.
#pragma once
#include "jit_cache.hpp"

namespace fx::inline v0 {

struct JitOptions {
  std::string_view name = "f";
  bool checked = false;  // on a hit trace again and compare: an Error (trace) if the function has changed
};

// A compiled function: its text, and calls with the caller's own memory.
class Compiled {
 public:
  Graph graph;
  ExecutableRef executable;
  // "ir": the Graph as compiled; "tile": the tile program. Errors (value): another name.
  std::string text(std::string_view what, Loc where = Loc::here()) const;
  // Bytes of 64-byte aligned workspace that call_into needs.
  std::int64_t workspace() const { return executable->workspace(); }
  // Runs on dense row-major buffers in the order of the leaves (captured Arrays last); allocates nothing.
  // Errors (value): another number of buffers, or ones that are too small or not aligned.
  void call_into(Span<const Buffer> in, Span<const Buffer> out, void* work, Loc where = Loc::here()) const;
};

// A traced function, before it is compiled.
class Lowered {
 public:
  Graph graph;
  std::string text() const { return std::string(fx::text(graph).view()); }
  // Errors (unsupported): a symbolic size.
  Compiled compile(Loc where = Loc::here()) const { return {graph, detail::compiled(graph, where)}; }
};

namespace detail {
// How an argument travels in a call: what is named stays where it is, the rest moves in.
template <class A>
using held_t = std::conditional_t<std::is_lvalue_reference_v<A> && !Element<std::remove_cvref_t<A>>,
                                  const std::remove_cvref_t<A>&, tree_t<A>>;
template <class A>
constexpr held_t<A> hold(std::remove_reference_t<A>& v, Loc loc) {
  if constexpr (std::is_reference_v<held_t<A>>)
    return v;
  else
    return as_tree(std::forward<A>(v), loc);
}

template <class F>
class JitFunction {
  F f_;
  JitOptions options_;
  Ref<JitCache> cache_;
  Loc where_;
  // Holds memory in constant evaluation, so that a jit object of static storage is made at run time, with a cache.
  Vec<char> transient_;

 public:
  using Traces = F;
  constexpr JitFunction(F f, JitOptions o, Loc where) : f_(std::move(f)), options_(o), where_(where) {
    if (FX_CONSTANT_EVALUATED())
      transient_.push_back(1);
    else
      cache_ = cache_for(f_);
  }

  // Arguments given by std::move are donated: memory that nobody else holds may become that of results.
  template <class... A>
  constexpr auto operator()(A&&... args) const {
    if (FX_CONSTANT_EVALUATED()) return as_tree(f_(as_tree(args, where_)...), where_);
    return call<held_t<A>...>(hold<A>(args, where_)...);
  }
  // The Graph for these arguments (Arrays, specs or Types), to print or compile ahead.
  template <class... A>
  Lowered lower(const A&... args) const {
    return lower_trees(as_spec(args, where_)...);
  }
  // What was traced, hit, donated and retraced, and for which types.
  std::string explain() const { return cache_->explain(options_.name); }
  std::int64_t traces() const { return cache_->traces(); }
  std::int64_t calls() const { return cache_->calls(); }

 private:
  template <class... T>
  Lowered lower_trees(const T&... args) const {
    Trace t(where_, false);
    const ProfileSpan span(ProfileKind::trace, "trace", options_.name);
    return {trace_function(t, f_, where_, nullptr, args...).closed.graph};
  }

  // The leaves of arguments; those that only `args` hold are donated.
  template <class... H>
  struct Inputs : Few<CallInput, 16> {
    explicit Inputs([[maybe_unused]] Loc loc, const H&... args)
        : Few<CallInput, 16>((0 + ... + tree::leaf_count(args))) {
      [[maybe_unused]] int number = 0;
      (take<H>(args, number++, loc), ...);
    }
    bool concrete() const {
      for (const CallInput& i : *this)
        if (i.node->kind != Node::concrete) return false;
      return true;
    }

   private:
    template <class Held, class T>
    void take(const T& arg, int number, Loc loc) {
      for_each_full_leaf("argument", number, arg, loc, [&](const Array& a, int) {
        const Node& n = node(a, loc);
        this->push_back({&n, !std::is_reference_v<Held> && n.use_count() == 1});
      });
    }
  };
  template <class... T>
  static JitKey key_of(Span<const CallInput> in, const T&... args) {
    std::uint64_t structure = 0;
    (tree::structure_hash(args, structure), ...);
    return {&signature_of<T...>, structure, in};
  }

  // H: const T& for an argument that stays, T for one that moved in.
  template <class... H>
  auto call(H... args) const {
    using Out = tree_t<decltype(f_(std::declval<std::remove_cvref_t<H>>()...))>;
    if (current_trace()) return inside<Out>(args...);
    const Inputs<H...> in(where_, args...);
    if (!in.concrete()) return miss<Out, std::remove_cvref_t<H>...>(std::forward<H>(args)...);
    const JitCache::Hit hit(*cache_, key_of(in, args...));
    if (!hit) return miss<Out, std::remove_cvref_t<H>...>(std::forward<H>(args)...);
    if (options_.checked) {
      Trace t(where_, false);
      check_unchanged(*hit, trace_function(t, f_, where_, nullptr, args...).closed, options_.name, where_);
    }
    return run<Out>(*hit, in);
  }
  template <class Out>
  Out run(const JitCode& code, Span<const CallInput> in) const {
    Few<NodeRef, 8> out(code.callee.results.size(), NodeRef());
    cache_->call(code, in, out, where_);
    Out r = static_cast<const OutLike<Out>&>(*code.out).like;
    int at = 0;
    tree::for_each_leaf(r, [&](Array& a) { a = Array(std::move(out[at++])); });
    return r;
  }

  template <class Out, class... T>
  Out miss(T... args) const {
    const JitCodeRef code = trace_code<Out>(args...);
    const Inputs<T...> in(where_, args...);
    for (const CallInput& i : in) bytes(*i.node, where_);  // an Error unless it holds a value
    cache_->enter(key_of(in, args...), code);
    return run<Out>(*code, in);
  }

  // Called while another function is traced: a `jit` equation.
  template <class Out, class... T>
  Out inside(const T&... args) const {
    Vec<NodeRef> in = argument_leaves(where_, args...);
    Trace t(where_, false);
    auto traced = trace_function(t, f_, where_, nullptr, args...);
    in.append(traced.closed.captured);
    Recording r(in, where_);
    const int n = traced.closed.graph.outs.size();
    Vec<Val> outs;
    if (n) {
      Params p;
      p.label(options_.name).graph(GraphRef(new Graph(std::move(traced.closed.graph))));
      Val first = r.b().bind(prim<Jit>, r.vals, p);
      for (int j = 0; j < n; ++j) outs.push_back(Val(first.b, first.id + j));
    }
    int at = 0;
    return with_leaves(traced.out, r.results(outs), at);
  }

  template <class Out, class... T>
  JitCodeRef trace_code(const T&... args) const {
    JitCode* code = new JitCode;
    const JitCodeRef r(code);
    const std::uint64_t before = count_trace();
    Trace t(where_, false);
    auto traced = [&] {
      const ProfileSpan span(ProfileKind::trace, "trace", options_.name);
      return trace_function(t, f_, where_, nullptr, args...);
    }();
    code->graph = std::move(traced.closed.graph);
    code->captured = std::move(traced.closed.captured);
    for (const NodeRef& n : code->captured) code->older.push_back(n->serial < before);
    code->callee = callee(code->graph, where_);
    code->callee.name = Str(options_.name);
    tree::for_each_leaf(traced.out, [](Array& a) { a = Array(); });
    code->out = Ref<OutHolder>(new OutLike<Out>(std::move(traced.out)));
    return r;
  }
};
}  // namespace detail

#if FX_BODIES
FX_INLINE std::string Compiled::text(std::string_view what, Loc where) const {
  return detail::at_line(where, [&] { return executable->text(what); });
}
FX_INLINE void Compiled::call_into(Span<const Buffer> in, Span<const Buffer> out, void* work, Loc where) const {
  auto aligned = [](const void* p) { return p && reinterpret_cast<std::uintptr_t>(p) % 64 == 0; };
  auto check = [&](std::string_view what, Span<const Buffer> given, const Vec<int>& vars) {
    bool ok = given.size() == vars.size();
    for (int i = 0; ok && i < vars.size(); ++i) {
      const std::int64_t size = numel(graph.type(vars[i])) * size_of(graph.type(vars[i]).dtype);
      ok = size == 0 || (given[i].bytes >= size && aligned(given[i].data));
    }
    if (ok) return;
    Str s("call_into: the ");
    s += what;
    s += ": 64-byte aligned memory for each of";
    for (int v : vars) (s += ' ', put(s, graph.type(v)));
    s += " is expected";
    fail(ErrorCode::value, s, where);
  };
  check("inputs", in, graph.ins);
  check("outputs", out, graph.outs);
  if (workspace() > 0 && !aligned(work))
    fail(ErrorCode::value, "call_into: the workspace must be 64-byte aligned memory", where);
  detail::at_line(where, [&] {
    if (!detail::profiled()) return executable->run(in, out, work);
    detail::ProfileName name;
    detail::ProfileCall(name, "call_into").run(*executable, in, out, work);
  });
}
#endif

// f, traced once per structure and types of its arguments and static values, then compiled.
template <class F>
constexpr auto jit(F f, JitOptions options = {}, Loc where = Loc::here()) {
  return detail::JitFunction<F>(std::move(f), options, where);
}

}  // namespace fx::inline v0
