// node.hpp -- what an Array refers to: a buffer, a variable of an open trace, or only a type.
#pragma once
#include "passes/evaluate.hpp"
#include "runtime/buffers.hpp"

namespace fx::inline v0::detail {

class Trace;

// Tells Arrays of a trace that it has ended.
struct TraceToken : Shared {
  Trace* open = nullptr;
  Loc where;
};

struct Node : Shared {
  enum Kind : std::uint8_t { concrete, traced, spec } kind = concrete;
  Type type;
  Loc where;                 // the operation that made it
  std::uint64_t serial = 0;  // run time: order of creation
  Ref<Storage> storage;      // concrete, run time: dense row-major
  Elements elements;         // concrete, constant evaluation
  Ref<TraceToken> token;     // traced
  int var = -1;
};
using NodeRef = Ref<Node>;

std::uint64_t next_serial();

constexpr NodeRef make_node(Node::Kind kind, const Type& type, Loc where) {
  Node* n = new Node;
  n->kind = kind;
  n->type = type;
  n->where = where;
  if (!FX_CONSTANT_EVALUATED()) n->serial = next_serial();
  return NodeRef(n);
}

#if FX_BODIES
FX_INLINE std::uint64_t next_serial() {
  static std::uint64_t serial = 0;
  return __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
}
#endif

}  // namespace fx::inline v0::detail
