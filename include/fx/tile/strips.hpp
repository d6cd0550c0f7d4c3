// tile/strips.hpp -- cut_strips: kernels that work row by row become one loop over strips of rows.
//
// What one of them makes and the next one reads then stays on chip: a softmax or a layer norm reads its operand once
// and writes its result once. The loop is a scan whose body is a program over the rows of a strip; no bit changes,
// because rows do not meet. On one core a sum of columns (or another known fold) joins them: it is a carry that each
// row updates, in the order that the fold prescribes, and what it adds up needs no memory.
#pragma once
#include "cost.hpp"
#include "memory.hpp"

namespace fx::inline v0::tile {

// Before blocks are chosen and memory is planned. A run whose rows all fit on chip becomes a loop of one step: machine
// code takes a loop as one function; but not in the body of a loop (`inside`), which may be one function itself.
void cut_strips(Program& p, const Target& t, bool inside);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "strips_cut.hpp"
#endif
