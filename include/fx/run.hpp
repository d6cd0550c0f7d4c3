// run.hpp -- runs a Graph on concrete Arrays: finds its executable, gives it buffers, and wraps the results.
#pragma once
#include "runtime/executables.hpp"
#include "trace.hpp"

namespace fx::inline v0::detail {

// The executable of g. Errors: a symbolic size (unsupported), one that exceeds 2^62 bytes (memory).
ExecutableRef compiled(const Graph& g, Loc loc);
// Runs x. donated[i]: only the caller holds input i, so its memory may become that of an output.
Vec<NodeRef> run_executable(const Executable& x, Span<const Type> out_types, Span<const NodeRef> in,
                            Span<const char> donated, Loc loc);

#if FX_BODIES
FX_INLINE ExecutableRef compiled(const Graph& g, Loc loc) {
  for (const Type& t : g.types) {
    if (t.is_static()) {
      bytes_of(t, loc);
      continue;
    }
    Str s("a function with the symbolic size ");
    put(s, t);
    s += " can be traced and printed, and in this version not run; give the sizes as numbers";
    fail(ErrorCode::unsupported, s, loc);
  }
  return at_line(loc, [&] { return executable_for(g); });
}

FX_INLINE Vec<NodeRef> run_executable(const Executable& x, Span<const Type> out_types, Span<const NodeRef> in,
                                      Span<const char> donated, Loc loc) {
  for (const NodeRef& n : in) bytes(*n, loc);  // an Error unless it holds a value
  Vec<Ref<Storage>> from, to(out_types.size());
  Vec<int> free;  // donated inputs whose memory nobody else holds, nor an output yet
  for (int i = 0; i < donated.size(); ++i)
    if (donated[i] && in[i]->storage.get()->use_count() == 1) free.push_back(i);
  for (int j = 0; j < to.size() && !free.empty(); ++j) {
    const int best = x.may_alias(j);
    int at = -1;
    for (int k = 0; k < free.size(); ++k)
      if (free[k] == best || (at < 0 && x.may_alias(j, free[k]))) at = k;
    if (at < 0) continue;
    to[j] = in[free[at]]->storage;
    free[at] = free.back();
    free.pop_back();
  }
  for (const NodeRef& n : in) from.push_back(n->storage);
  at_line(loc, [&] { run(x, from, out_types, to); });
  Vec<NodeRef> results;
  for (int j = 0; j < to.size(); ++j) {
    results.push_back(make_node(Node::concrete, out_types[j], loc));
    results.back()->storage = std::move(to[j]);
  }
  return results;
}

FX_INLINE Vec<NodeRef> execute(const Graph& g, Span<const NodeRef> in, Span<const char> donated, Loc loc) {
  const ExecutableRef x = compiled(g, loc);
  Vec<Type> types;
  for (int v : g.outs) types.push_back(g.type(v));
  return run_executable(*x, types, in, donated, loc);
}
#endif

}  // namespace fx::inline v0::detail
