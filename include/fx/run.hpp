// run.hpp -- runs a Graph on concrete Arrays: finds its executable, gives it buffers, and wraps the results.
#pragma once
#include "base/few.hpp"
#include "runtime/executables.hpp"
#include "runtime/profile.hpp"
#include "trace.hpp"

namespace fx::inline v0::detail {

// An executable and what a call of it needs to know.
struct Callee {
  struct Result {
    Type type;
    std::uint32_t type_id = 0;
    std::int64_t bytes = 0;
  };
  ExecutableRef executable;
  Vec<Result> results;
  std::int64_t workspace = 0;
  Str name;  // in a trace file
  mutable ProfileName profile_name;
};
// An input of a call. donated: only the caller holds the node, so its memory may become that of a result.
struct CallInput {
  const Node* node = nullptr;
  bool donated = false;
};

// The executable of g. Errors: a symbolic size (unsupported), one that exceeds 2^62 bytes (memory).
ExecutableRef compiled(const Graph& g, Loc loc);
Callee callee(const Graph& g, Loc loc);
// Runs c: out[k] is its result k; those that are given have their memory. in: the memory of the inputs.
void run_on_memory(const Callee& c, Span<const Buffer> in, Span<NodeRef> out, Loc loc);
// Runs c on nodes that hold values, `captured` last.
void run_on_nodes(const Callee& c, Span<const CallInput> in, Span<const NodeRef> captured, Span<NodeRef> out, Loc loc);

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
FX_INLINE Callee callee(const Graph& g, Loc loc) {
  Callee c;
  c.executable = compiled(g, loc);
  c.workspace = c.executable->workspace();
  for (int v : g.outs) c.results.push_back({g.type(v), type_id(g.type(v)), bytes_of(g.type(v), loc)});
  return c;
}

inline NodeRef result_node(const Callee::Result& r, Loc loc) {
  return make_node_run_time(Node::concrete, r.type, r.type_id, loc);
}
FX_INLINE void run_on_memory(const Callee& c, Span<const Buffer> in, Span<NodeRef> out, Loc loc) {
  at_line(loc, [&] {
    const ProfileCall call(c.profile_name, c.name.view());
    Few<Buffer, 8> to(out.size());
    for (int k = 0; k < out.size(); ++k) {
      if (!out[k]) {
        out[k] = result_node(c.results[k], loc);
        out[k]->storage = allocate(c.results[k].bytes);
      }
      to.push_back({out[k]->storage->data, out[k]->storage->bytes});
    }
    const Workspace work(c.workspace);
    call.run(*c.executable, in, to, work.data());
  });
}

// Gives results the memory of donated inputs that nobody else holds, each that of one input.
FX_INLINE void donate(const Callee& c, Span<const CallInput> in, Span<NodeRef> out, Loc loc) {
  Few<int, 16> free(in.size());
  for (int i = 0; i < in.size(); ++i)
    if (in[i].donated && in[i].node->storage->use_count() == 1) free.push_back(i);
  for (int j = 0; j < out.size() && !free.empty(); ++j) {
    const int best = c.executable->may_alias(j);
    int at = -1;
    for (int k = 0; k < free.size(); ++k)
      if (free[k] == best || (at < 0 && c.executable->may_alias(j, free[k]))) at = k;
    if (at < 0) continue;
    out[j] = result_node(c.results[j], loc);
    out[j]->storage = in[free[at]].node->storage;
    free[at] = free[free.size() - 1];
    free.pop_back();
  }
}
FX_INLINE void run_on_nodes(const Callee& c, Span<const CallInput> in, Span<const NodeRef> captured, Span<NodeRef> out,
                            Loc loc) {
  Few<Buffer, 16> from(in.size() + captured.size());
  bool donated = false;
  for (const CallInput& i : in) {
    from.push_back({i.node->storage->data, i.node->storage->bytes});
    donated = donated || i.donated;
  }
  for (const NodeRef& n : captured) from.push_back({n->storage->data, n->storage->bytes});
  if (donated) donate(c, in, out, loc);
  run_on_memory(c, from, out, loc);
}

FX_INLINE Vec<NodeRef> execute(const Graph& g, Span<const NodeRef> in, Span<const char> donated, Loc loc) {
  Callee c = callee(g, loc);
  c.name = Str(g.eqns.size() == 1 ? g.eqns[0].prim->name : std::string_view("function"));
  Few<CallInput, 16> inputs(in.size());
  for (int i = 0; i < in.size(); ++i) {
    bytes(*in[i], loc);  // an Error unless it holds a value
    inputs.push_back({in[i].get(), i < donated.size() && donated[i]});
  }
  Vec<NodeRef> out(c.results.size());
  run_on_nodes(c, inputs, {}, out, loc);
  return out;
}
#endif

}  // namespace fx::inline v0::detail
