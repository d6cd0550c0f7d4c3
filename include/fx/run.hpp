// run.hpp -- runs a Graph on concrete Arrays: finds its executable, gives it buffers, and wraps the results.
#pragma once
#include "runtime/executables.hpp"
#include "trace.hpp"

namespace fx::inline v0::detail {

// The executable of g. Errors: a symbolic size (unsupported), one that exceeds 2^62 bytes (memory).
ExecutableRef compiled(const Graph& g, Loc loc);
// Runs x. donated[i]: only the caller holds input i, so its memory may become that of an output.
Vec<NodeRef> run_executable(const Executable& x, Span<const Type> out_types, Span<const NodeRef> in, Span<const char> donated, Loc loc);

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

FX_INLINE Vec<NodeRef> run_executable(const Executable& x, Span<const Type> out_types, Span<const NodeRef> in, Span<const char> donated, Loc loc) {
  for (const NodeRef& n : in) bytes(*n, loc);  // an Error unless it holds a value
  Vec<Ref<Storage>> from, to(out_types.size());
  for (int j = 0; j < to.size(); ++j) {
    const int i = x.may_alias(j);
    if (i >= 0 && i < donated.size() && donated[i] && in[i]->storage.get()->use_count() == 1) to[j] = in[i]->storage;
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
