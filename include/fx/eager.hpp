// eager.hpp -- elementwise operations outside every trace: found by primitive, attributes and types of the operands,
// without a Graph, once they have run.
#pragma once
#include <mutex>

#include "base/atom.hpp"
#include "operators.hpp"
#include "run.hpp"
#include "runtime/table.hpp"

#if FX_BODIES
namespace fx::inline v0::detail {

struct EagerEntry {
  std::uint64_t hash = 0, prim = 0;
  Vec<std::int64_t> words;
  Vec<std::uint32_t> types;
  Callee callee;
};
// The first operations that a process runs; later ones are found by the digest of their Graph.
struct EagerTable {
  static constexpr int most = 4096;
  std::mutex mutex;
  Table<const EagerEntry> table;
  int count = 0;
};
// Leaked on purpose, like the executables.
FX_SHARED FX_INLINE EagerTable& eager_table() {
  static EagerTable* t = new EagerTable;
  return *t;
}

// What `p` needs on operands of these types.
FX_INLINE Callee eager_callee(const Prim& p, Span<const Type> types, const Params& params, Loc loc) {
  Builder b;
  b.loc = loc;
  Vec<Val> vals;
  for (const Type& t : types) vals.push_back(b.input(t));
  broadcast_all(vals, p.name, loc);
  const Val out[] = {b.bind(p, vals, params)};
  Callee c = callee(b.finish(out), loc);
  c.name = Str(p.name);
  return c;
}

FX_INLINE Array elementwise_run_time(const Prim& p, Span<const Operand> operands, const Params& params) {
  constexpr int few = 4;
  if (current_trace() || operands.size() > few || !params.subs.empty()) return elementwise_here(p, operands, params);
  for (const Operand& o : operands)
    if (!o.is_scalar() && node(*o.array, o.loc).kind != Node::concrete) return elementwise_here(p, operands, params);
  const Loc loc = operands[0].loc;
  const int n = operands.size();
  struct alignas(64) Number {  // as an Array has it: aligned, with slack
    std::uint64_t bits, slack[15];
  };
  Number numbers[few];
  Buffer in[few];
  std::uint32_t types[few];
  std::uint64_t hash = p.id;
  const Partner partner(operands);
  for (int i = 0; i < n; ++i) {
    const Operand& o = operands[i];
    if (o.is_scalar()) {
      const DType d = partner.of(o);
      numbers[i].bits = number_bits(o, d);  // little-endian
      in[i] = {&numbers[i], size_of(d)};
      types[i] = scalar_type_id(d);
    } else {
      const Node& x = node(*o.array, o.loc);
      in[i] = {x.storage->data, x.storage->bytes};
      types[i] = x.type_id;
    }
    mix_hash(hash, types[i]);
  }
  for (std::int64_t w : params.words) mix_hash(hash, std::uint64_t(w));

  EagerTable& known = eager_table();
  auto same = [&](const EagerEntry& e) {
    bool equal = e.prim == p.id && e.types.size() == n && e.words == params.words;
    for (int i = 0; equal && i < n; ++i) equal = e.types[i] == types[i];
    return equal;
  };
  NodeRef out[1];
  if (const EagerEntry* e = known.table.find(hash, same)) {
    run_on_memory(e->callee, {in, n}, out, loc);
    return Array(std::move(out[0]));
  }
  Vec<Type> full;
  for (const Operand& o : operands)
    full.push_back(o.is_scalar() ? Type{partner.of(o), {}} : node(*o.array, o.loc).type);
  const Callee c = eager_callee(p, full, params, loc);
  run_on_memory(c, {in, n}, out, loc);
  std::lock_guard<std::mutex> lock(known.mutex);
  if (known.count < EagerTable::most && !known.table.find(hash, same)) {
    ++known.count;
    known.table.insert(
        new EagerEntry{hash, p.id, params.words, Vec<std::uint32_t>(Span<const std::uint32_t>(types, n)), c});
  }
  return Array(std::move(out[0]));
}

}  // namespace fx::inline v0::detail
#endif
