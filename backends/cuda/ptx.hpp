// cuda/ptx.hpp -- tile programs as PTX, NVIDIA's assembly language: text that its assembler and its driver take.
//
// Each map and reduce kernel is one .entry, and each loop over strips (a scan without carries over maps and reductions)
// is one whose thread blocks are the strips. They come from the same recorded instructions as the processor's code, and
// give the same bits, all NaNs being one value: every operation rounds to nearest by itself, subnormal numbers stay,
// and reductions keep the order of ops/reduce.hpp (its lanes are threads of a warp).
#pragma once
#include <fx/tile/program.hpp>
#include <string>

namespace fx::inline v0::cuda {

struct PtxTarget {
  std::string_view name;     // .target
  std::string_view version;  // of PTX: the first that knows it
  std::int64_t shared = 0;   // bytes of shared memory that a thread block may have without asking for more
};
inline constexpr PtxTarget sm_80{"sm_80", "7.0", 48 << 10}, sm_90{"sm_90", "7.8", 48 << 10};

// How an entry is launched: a grid of `grid` blocks of `block` threads; one 64-bit pointer for each of `buffers`, which
// points to where that buffer of the program starts; and, if scratch > 0, one to that many bytes of the entry's own.
struct PtxEntry {
  std::string name;
  int kernel = -1;
  std::int64_t grid = 1, scratch = 0;
  int block = 0;
  Vec<int> buffers;
};
struct PtxModule {
  std::string text;
  Vec<PtxEntry> entries;
};

// Whether a kernel has an entry.
bool has_ptx(const tile::Kernel& k);
// A module with the entries of some kernels of p. Errors (unsupported): a kernel that has none.
PtxModule ptx_module(const tile::Program& p, Span<const int> kernels, const PtxTarget& target = sm_80);
// The text with the entries of all kernels of p.
std::string ptx(const tile::Program& p, const PtxTarget& target = sm_80);

}  // namespace fx::inline v0::cuda

#if FX_BODIES
#include "ptx_module.hpp"
#endif
