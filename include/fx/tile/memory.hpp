// tile/memory.hpp -- where each buffer lies: results in the memory of operands that die, the rest in reused workspace.
#pragma once
#include "program.hpp"

namespace fx::inline v0::tile {

// Sets the place of every buffer and the size of the workspace.
void plan_memory(Program& p);
// Whether two buffers of p lie in the same memory.
bool same_memory(const Program& p, int a, int b);
// For each output, an input whose memory it may have, or -1; no two outputs share one.
Vec<int> aliasable_inputs(const Program& p);
// Which carries of a loop may stay in one memory from step to step.
Vec<char> carries_in_place(const Program& loop, int consts, int carries);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "memory_plan.hpp"
#endif
