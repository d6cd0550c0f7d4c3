// tiled/copy.hpp -- CopyStep: a strided box from one buffer to another.
#pragma once
#include "kernels/copy.hpp"
#include "step.hpp"

namespace fx::inline v0::tiled {

class CopyStep : public Step {
 public:
  using Step::Step;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;
};

#if FX_BODIES
FX_INLINE void CopyStep::run(const Memory& m, char*, tile::Counts* counts) const {
  const tile::Access &from = k.in[0], &to = k.out[0];
  const bool same = from.stride == to.stride && m.at(from) == m.at(to);  // a value that stays where it is
  const int size = m.element_size(to);
  if (!counts)
    return same ? void() : copy_box(m.at(to), to.stride.d, m.at(from), from.stride.d, k.space.d, k.space.n, size);
  each_block(k, m, counts, [&](const Block& b) {
    if (same) return;
    copy_box(m.at(to) + offset(to, b.start) * size, to.stride.d, m.at(from) + offset(from, b.start) * size,
             from.stride.d, b.extent.d, b.extent.n, size);
  });
}
#endif

}  // namespace fx::inline v0::tiled
