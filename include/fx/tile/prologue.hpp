// tile/prologue.hpp -- fuse_prologues: the elementwise kernel that makes an operand of a product becomes part of it.
//
// Parts of the operand are then made where they are packed, and the operand itself is never stored.
#pragma once
#include "memory.hpp"

namespace fx::inline v0::tile {

// After epilogues, before strips are cut, blocks chosen and memory planned. Small products and those of few rows or
// columns stay alone.
void fuse_prologues(Program& p);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "prologue_fuse.hpp"
#endif
