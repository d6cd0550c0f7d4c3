// runtime/executables.hpp -- compiled Graphs by digest, for the whole process; and running one on Storages.
#pragma once
#include "buffers.hpp"
#include "registry.hpp"

namespace fx::inline v0 {

// g compiled by a backend, or what was compiled for an equal Graph before. Threads that ask for one Graph at once
// compile it once.
ExecutableRef executable_for(const Graph& g, const Backend& b);
ExecutableRef executable_for(const Graph& g);

struct ExecutableStats {
  std::int64_t compilations = 0, hits = 0;
  int entries = 0;
};
ExecutableStats executable_stats();
// At most this many are kept; those not used for the longest time go first.
void limit_executables(int entries);

// Runs e on its inputs. out: one entry for each output; an empty one is allocated, by its type. One that is given is
// written, and may be the Storage of input e.may_alias(k). Errors (memory): no room for outputs or workspace.
void run(const Executable& e, Span<const Ref<Storage>> in, Span<const Type> out_types, Span<Ref<Storage>> out);

}  // namespace fx::inline v0

#if FX_BODIES
#include "executables_cache.hpp"
#endif
