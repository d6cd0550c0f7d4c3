// tiled/loops.hpp -- the loops over a block: neighbouring dimensions that all accesses walk as one are one loop.
#pragma once
#include "step.hpp"

namespace fx::inline v0::tiled {

// Dimensions `outer` to `last` of a space; all but `outer` are whole in every block, and `inner` elements together.
struct Loop {
  int outer = 0, last = 0;
  std::int64_t inner = 1;
  std::int64_t extent(const Block& b) const { return b.extent[outer] * inner; }
  std::int64_t stride(const tile::Access& a) const { return a.stride[last]; }
};

// The loops over the given dimensions (outermost first) of a kernel's blocks. Dimensions of size 1 have none.
inline Vec<Loop> merge_loops(const tile::Kernel& k, const Dims& dims) {
  Vec<Loop> loops;
  for (std::int64_t i : dims) {
    const int d = int(i);
    if (k.space[d] == 1) continue;
    bool joins = !loops.empty() && k.block[d] >= k.space[d];
    for (const Vec<tile::Access>* list : {&k.in, &k.out})
      for (const tile::Access& a : *list) joins = joins && a.stride[loops.back().last] == a.stride[d] * k.space[d];
    if (joins) {
      loops.back().last = d;
      loops.back().inner *= k.space[d];
    } else {
      loops.push_back({d, d, 1});
    }
  }
  return loops;
}

// A counter over several loops: position[i] < extent[i], the last fastest.
struct Odometer {
  int n = 0;
  std::int64_t position[max_rank]{}, extent[max_rank]{};
  void add(std::int64_t size) { extent[n++] = size; }
  // Moves on; false at the end.
  bool next() {
    for (int i = n - 1; i >= 0; --i) {
      if (++position[i] < extent[i]) return true;
      position[i] = 0;
    }
    return false;
  }
};

}  // namespace fx::inline v0::tiled
