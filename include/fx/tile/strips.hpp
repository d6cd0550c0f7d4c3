// tile/strips.hpp -- cut_strips: kernels that work row by row become one loop over strips of rows.
//
// What one of them makes and the next one reads then stays on chip: a softmax or a layer norm reads its operand once
// and writes its result once. The loop is a scan without carries, whose body is a program over the rows of a strip; no
// bit changes, because rows do not meet.
#pragma once
#include "cost.hpp"
#include "memory.hpp"

namespace fx::inline v0::tile {

// Before blocks are chosen and memory is planned. A run whose rows all fit on chip becomes a loop of one step: machine
// code takes a loop as one function.
void cut_strips(Program& p, const Target& t);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "strips_cut.hpp"
#endif
