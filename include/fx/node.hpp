// node.hpp -- what an Array refers to: a buffer, a variable of an open trace, or only a type.
#pragma once
#include "passes/evaluate.hpp"
#include "runtime/buffers.hpp"
#include "runtime/types.hpp"

namespace fx::inline v0::detail {

class Trace;

// Tells Arrays of a trace that it has ended.
struct TraceToken : Shared {
  Trace* open = nullptr;
  Loc where;
};

struct Node : Shared {
  enum Kind : std::uint8_t { concrete, traced, spec } kind = concrete;
  std::uint32_t type_id = 0;  // concrete, run time: the number of `type`
  Type type;
  Loc where;                 // the operation that made it
  std::uint64_t serial = 0;  // run time: traces opened before
  Ref<Storage> storage;      // concrete, run time: dense row-major
  Elements elements;         // concrete, constant evaluation
  Ref<TraceToken> token;     // traced
  int var = -1;

  constexpr Node(Kind k, const Type& t, Loc l) : kind(k), type(t), where(l) {}
  static void recycle(Node* n) noexcept;
};
using NodeRef = Ref<Node>;

// How many traces this process has opened; count_trace counts one more.
std::uint64_t traces_opened();
std::uint64_t count_trace();
// id: type_id(type) of a concrete node.
NodeRef make_node_run_time(Node::Kind kind, const Type& type, std::uint32_t id, Loc where);

constexpr NodeRef make_node(Node::Kind kind, const Type& type, Loc where) {
  if (FX_CONSTANT_EVALUATED()) return NodeRef(new Node(kind, type, where));
  return make_node_run_time(kind, type, kind == Node::concrete ? type_id(type) : 0, where);
}

#if FX_BODIES
FX_SHARED FX_INLINE std::uint64_t& trace_counter() {
  static std::uint64_t n = 0;
  return n;
}
FX_INLINE std::uint64_t traces_opened() { return __atomic_load_n(&trace_counter(), __ATOMIC_RELAXED); }
FX_INLINE std::uint64_t count_trace() { return __atomic_add_fetch(&trace_counter(), 1, __ATOMIC_RELAXED); }

FX_INLINE NodeRef make_node_run_time(Node::Kind kind, const Type& type, std::uint32_t id, Loc where) {
  static_assert(sizeof(Node) <= small_bytes);
  Node* n = new (take_small()) Node(kind, type, where);
  n->type_id = id;
  n->serial = traces_opened();
  return NodeRef(n);
}
FX_INLINE void Node::recycle(Node* n) noexcept {
  n->~Node();
  give_small(n);
}
#endif

}  // namespace fx::inline v0::detail
