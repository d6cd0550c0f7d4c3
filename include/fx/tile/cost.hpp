// tile/cost.hpp -- the cost model: which blocks fit on chip, what a kernel copies, how long a Target would take.
#pragma once
#include "program.hpp"

namespace fx::inline v0::tile {

// Sets the blocks of k: as large as fit into the Target's on-chip memory twice, the last two dimensions in multiples of
// its vector tile where they are long enough.
void choose_blocks(Kernel& k, const Program& p, const Target& t);

// What one run of k does. aliased[k]: the input in whose memory output k lies, or -1; none without it.
Counts predicted(const Kernel& k, const Program& p, Span<const int> aliased = {});

// Arithmetic and time of one run.
struct Estimate {
  double flops = 0, bytes = 0, seconds = 0;
};
Estimate estimate(const Kernel& k, const Program& p, const Target& t);

// Number of grid steps of k.
std::int64_t steps(const Kernel& k);
// Dimensions as the grid walks them: element i is the i-th outermost.
Dims walk_order(const Kernel& k);
// Elements of a block of the given extents that an access reads or writes.
std::int64_t footprint(const Access& a, const Dims& extent);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "cost_model.hpp"
#endif
