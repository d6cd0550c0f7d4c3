// transforms/jit.hpp -- jit: traced once per types and structure of the arguments, then a call of what was compiled.
//
// A jit object owns its cache; function objects without state share one by type, plain functions by address, so
// `fx::jit(f)(x)` in a loop hits. On a hit the function itself does not run: what changes belongs in an argument.
#pragma once
#include <mutex>

#include "../print.hpp"
#include "../run.hpp"
#include "call.hpp"

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
struct OutHolder : Shared {
  virtual ~OutHolder() = default;
};
template <class Out>
struct OutLike : OutHolder {
  Out like;
  explicit OutLike(Out o) : like(std::move(o)) {}
};

struct JitEntry : Shared {
  const void* signature = nullptr;  // the C++ types of the arguments
  std::uint64_t structure = 0;
  Vec<Type> types;
  Graph graph;
  Vec<Type> out_types;
  Vec<NodeRef> captured;
  Vec<char> older;  // captured Arrays that existed before the trace
  ExecutableRef executable;
  Ref<OutHolder> out;
};

// The cache of one jit object, or of all with one type.
struct JitCache : Shared {
  std::mutex mutex;
  Vec<Ref<JitEntry>> entries;
  std::int64_t calls = 0, hits = 0, traces = 0, reassigned = 0, donated = 0;

  Ref<JitEntry> find(const void* signature, std::uint64_t structure, Span<const NodeRef> in, bool& reassigned_capture);
  void enter(Ref<JitEntry> e);
  std::string explain(std::string_view name);
};
template <class... A>
inline constexpr char signature_of = 0;

// Functions without state share a cache by type.
template <class F>
Ref<JitCache> cache_for(F f) {
  if constexpr (std::is_empty_v<F>) {
    static const Ref<JitCache>* shared = new Ref<JitCache>(new JitCache);
    return *shared;
  } else if constexpr (std::is_pointer_v<F>) {
    static std::mutex mutex;
    static auto* all = new std::vector<std::pair<F, Ref<JitCache>>>;
    std::lock_guard<std::mutex> lock(mutex);
    for (auto& [g, cache] : *all)
      if (g == f) return cache;
    all->emplace_back(f, Ref<JitCache>(new JitCache));
    return all->back().second;
  } else {
    return Ref<JitCache>(new JitCache);
  }
}
Vec<NodeRef> run_entry(const JitEntry& e, JitCache& cache, Vec<NodeRef>& in, Loc where);
void check_unchanged(const JitEntry& e, const Trace::Closed& again, std::string_view name, Loc where);

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
    return call(as_tree(std::forward<A>(args), where_)...);
  }
  // The Graph for these arguments (Arrays, specs or Types), to print or compile ahead.
  template <class... A>
  Lowered lower(const A&... args) const {
    return lower_trees(as_spec(args, where_)...);
  }
  // What was traced, hit, donated and retraced, and for which types.
  std::string explain() const { return cache_->explain(options_.name); }
  std::int64_t traces() const { return locked(cache_->traces); }
  std::int64_t calls() const { return locked(cache_->calls); }

 private:
  std::int64_t locked(const std::int64_t& counter) const {
    std::lock_guard<std::mutex> lock(cache_->mutex);
    return counter;
  }
  template <class... T>
  Lowered lower_trees(const T&... args) const {
    Trace t(where_, false);
    return {trace_function(t, f_, where_, nullptr, args...).closed.graph};
  }

  template <class... T>
  auto call(T... args) const {
    using Out = tree_t<decltype(f_(std::declval<T>()...))>;
    Vec<NodeRef> in = argument_leaves(where_, args...);
    if (current_trace()) return inside(in, args...);
    std::uint64_t structure = 0;
    (tree::structure_hash(args, structure), ...);
    bool reassigned = false;
    Ref<JitEntry> e = cache_->find(&signature_of<T...>, structure, in, reassigned);
    if (!e) {
      e = trace_entry<Out>(structure, in, args...);
      cache_->enter(e);
    } else if (options_.checked) {
      Trace t(where_, false);
      check_unchanged(*e, trace_function(t, f_, where_, nullptr, args...).closed, options_.name, where_);
    }
    auto release = [](auto&... a) { (tree::for_each_leaf(a, [](Array& x) { x = Array(); }), ...); };
    release(args...);  // what was moved in is now held by `in` alone
    const Vec<NodeRef> r = run_entry(*e, *cache_, in, where_);
    int at = 0;
    return with_leaves(static_cast<const OutLike<Out>&>(*e->out).like, r, at);
  }

  // Called while another function is traced: a `jit` equation.
  template <class... T>
  auto inside(Vec<NodeRef>& in, const T&... args) const {
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
  Ref<JitEntry> trace_entry(std::uint64_t structure, Span<const NodeRef> in, const T&... args) const {
    Ref<JitEntry> e(new JitEntry);
    const std::uint64_t before = next_serial();
    Trace t(where_, false);
    auto traced = trace_function(t, f_, where_, nullptr, args...);
    e->signature = &signature_of<T...>;
    e->structure = structure;
    for (const NodeRef& n : in) e->types.push_back(n->type);
    e->graph = std::move(traced.closed.graph);
    e->captured = std::move(traced.closed.captured);
    for (const NodeRef& n : e->captured) e->older.push_back(n->serial < before);
    for (int v : e->graph.outs) e->out_types.push_back(e->graph.type(v));
    e->executable = compiled(e->graph, where_);
    tree::for_each_leaf(traced.out, [](Array& a) { a = Array(); });
    e->out = Ref<OutHolder>(new OutLike<Out>(std::move(traced.out)));
    return e;
  }
};

#if FX_BODIES
FX_INLINE Ref<JitEntry> JitCache::find(const void* signature, std::uint64_t structure, Span<const NodeRef> in,
                                       bool& reassigned_capture) {
  std::lock_guard<std::mutex> lock(mutex);
  ++calls;
  for (int k = entries.size() - 1; k >= 0; --k) {
    const JitEntry& e = *entries[k];
    bool same = e.signature == signature && e.structure == structure && e.types.size() == in.size();
    for (int i = 0; same && i < in.size(); ++i) same = e.types[i] == in[i]->type;
    if (!same) continue;
    for (int i = 0; i < e.captured.size(); ++i)  // held by the cache alone: the variable holds another Array now
      reassigned_capture = reassigned_capture || (e.older[i] && e.captured[i].get()->use_count() == 1);
    if (!reassigned_capture) {
      ++hits;
      return entries[k];
    }
    ++reassigned;
    entries[k] = entries.back();
    entries.pop_back();
    return {};
  }
  return {};
}
FX_INLINE void JitCache::enter(Ref<JitEntry> e) {
  std::lock_guard<std::mutex> lock(mutex);
  ++traces;
  entries.push_back(std::move(e));
}
FX_INLINE std::string JitCache::explain(std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex);
  Str s("jit ");
  s += name;
  s += ": ";
  s.num(calls) += " calls, ";
  s.num(traces) += " traces, ";
  s.num(hits) += " hits, ";
  s.num(donated) += " buffers donated, ";
  s.num(reassigned) += " retraces because a captured Array was reassigned";
  for (const Ref<JitEntry>& e : entries) {
    s += "\n  (";
    for (int i = 0; i < e->types.size(); ++i) {
      if (i) s += ", ";
      put(s, e->types[i]);
    }
    s += "): ";
    s.num(e->graph.eqns.size()) += " equations, ";
    s.num(e->captured.size()) += " captured Arrays";
  }
  return std::string(s.view());
}
FX_INLINE Vec<NodeRef> run_entry(const JitEntry& e, JitCache& cache, Vec<NodeRef>& in, Loc where) {
  Vec<char> donated(in.size(), 0);
  std::int64_t given = 0;
  for (int i = 0; i < in.size(); ++i) {
    donated[i] = in[i].get()->use_count() == 1;
    given += donated[i];
  }
  if (given) {
    std::lock_guard<std::mutex> lock(cache.mutex);
    cache.donated += given;
  }
  in.append(e.captured);
  return run_executable(*e.executable, e.out_types, in, donated, where);
}
// Whether two Arrays are one, or concrete with equal elements.
FX_INLINE bool same_value(const Node& a, const Node& b) {
  if (&a == &b) return true;
  if (a.kind != Node::concrete || b.kind != Node::concrete || !(a.type == b.type)) return false;
  return __builtin_memcmp(a.storage->data, b.storage->data, std::size_t(a.storage->bytes)) == 0;
}
FX_INLINE void check_unchanged(const JitEntry& e, const Trace::Closed& again, std::string_view name, Loc where) {
  bool same = digest(e.graph) == digest(again.graph);
  for (int i = 0; same && i < e.captured.size(); ++i) same = same_value(*e.captured[i], *again.captured[i]);
  if (same) return;
  Str s("jit ");
  s += name;
  s += " (checked): the function traces differently than before, so it depends on something that is no argument; pass "
       "that as an argument";
  fail(ErrorCode::trace, s, where);
}
#endif
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
  detail::at_line(where, [&] { executable->run(in, out, work); });
}
#endif

// f, traced once per structure and types of its arguments and static values, then compiled.
template <class F>
constexpr auto jit(F f, JitOptions options = {}, Loc where = Loc::here()) {
  return detail::JitFunction<F>(std::move(f), options, where);
}

}  // namespace fx::inline v0
