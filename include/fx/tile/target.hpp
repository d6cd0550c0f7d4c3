// tile/target.hpp -- the machines that tile programs are made or costed for.
#pragma once
#include "../backend.hpp"

namespace fx::inline v0::tile {

// This processor: a core's second-level cache is the on-chip memory, a cache line group the vector tile.
const Target& host();

#if FX_BODIES
FX_SHARED FX_INLINE const Target& host() {
  static const Target t = [] {
    Target r;
    r.name = "cpu";
    r.on_chip = std::int64_t(1) << 20;
    return r;
  }();
  return t;
}
#endif

}  // namespace fx::inline v0::tile
