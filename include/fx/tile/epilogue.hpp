// tile/epilogue.hpp -- fuse_epilogues: the elementwise kernel that reads a product becomes the product's own body.
//
// A tile of the result then goes through it while it is in the first-level cache, and the product itself is stored only
// if somebody else reads it.
#pragma once
#include "memory.hpp"

namespace fx::inline v0::tile {

// Before strips are cut, blocks chosen and memory planned. Small products and those of few rows or columns stay alone.
void fuse_epilogues(Program& p);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "epilogue_fuse.hpp"
#endif
