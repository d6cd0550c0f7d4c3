// run.hpp -- runs a Graph on concrete Arrays: finds its executable, gives it buffers, and wraps the results.
#pragma once
#include "runtime/executables.hpp"
#include "trace.hpp"

namespace fx::inline v0::detail {

// Runs x. donated[i]: only the caller holds input i, so its memory may become that of an output.
Vec<NodeRef> run_executable(const Executable& x, Span<const Type> out_types, Span<const NodeRef> in, Span<const char> donated, Loc loc);

#if FX_BODIES
FX_INLINE Vec<NodeRef> run_executable(const Executable& x, Span<const Type> out_types, Span<const NodeRef> in, Span<const char> donated, Loc loc) {
  Vec<Buffer> ins, outs;
  for (const NodeRef& n : in) {
    bytes(*n, loc);  // an Error unless it holds a value
    ins.push_back({n->storage->data, n->storage->bytes});
  }
  Vec<char> taken(in.size(), 0);
  Vec<NodeRef> results;
  try {
    for (int j = 0; j < out_types.size(); ++j) {
      NodeRef r = make_node(Node::concrete, out_types[j], loc);
      const int i = x.may_alias(j);
      if (i >= 0 && i < donated.size() && donated[i] && !taken[i] && in[i]->storage.get()->use_count() == 1) {
        r->storage = in[i]->storage;
        taken[i] = 1;
      } else {
        r->storage = allocate(checked_mul(numel(out_types[j]), size_of(out_types[j].dtype)));
      }
      outs.push_back({r->storage->data, r->storage->bytes});
      results.push_back(std::move(r));
    }
    const Ref<Storage> workspace = x.workspace() > 0 ? allocate(x.workspace()) : Ref<Storage>();
    x.run(ins, outs, workspace ? workspace->data : nullptr);
  } catch (Error& e) {
    if (!e.where.line) throw Error(e.code, std::string_view(e.what()).substr(4), loc);
    throw;
  }
  return results;
}

FX_INLINE Vec<NodeRef> execute(const Graph& g, Span<const NodeRef> in, Span<const char> donated, Loc loc) {
  Vec<Type> types;
  for (int v : g.outs) {
    if (!g.type(v).is_static()) {
      Str s("a function with the symbolic size ");
      put(s, g.type(v));
      s += " can be traced and printed, and in this version not run; give the sizes as numbers";
      fail(ErrorCode::unsupported, s, loc);
    }
    types.push_back(g.type(v));
  }
  const ExecutableRef x = executable_for(g);
  return run_executable(*x, types, in, donated, loc);
}
#endif

}  // namespace fx::inline v0::detail
