// kernels/level.hpp -- which instruction set the loops use on this machine, and how a loop is compiled for each.
//
// A loop is one always_inline template. Plain and [[gnu::target]] functions around it give its versions; nothing else
// is compiled for more than the user's own flags, so no function of the standard library can leak an instruction that
// the machine lacks.
#pragma once
#include <atomic>
#include <fx/config.hpp>

// The body of a loop: inlined into functions that differ in their instruction set.
#define FX_LOOP [[gnu::always_inline]] inline
// Says of the next loop that its iterations are independent: a result may lie exactly on an operand, never beside it.
// FX_AS_WRITTEN: that it is fast enough as it stands; clang would unroll it many times over.
#if defined(__clang__)
#define FX_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave_count(2) unroll(disable)")
#define FX_AS_WRITTEN _Pragma("clang loop vectorize(disable) unroll(disable)")
// Around functions that hold such loops: that one of them stays scalar on some target is no user's business.
#define FX_LOOPS_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
#define FX_LOOPS_END _Pragma("clang diagnostic pop")
#else
#define FX_INDEPENDENT _Pragma("GCC ivdep")
#define FX_AS_WRITTEN
#define FX_LOOPS_BEGIN
#define FX_LOOPS_END
#endif
#if defined(__x86_64__)
#define FX_AVX2 [[gnu::target("avx2,fma")]]
#else
#define FX_AVX2
#endif

namespace fx::inline v0::tiled {

enum class Level : int { baseline, avx2, avx512 };

// What this machine has, up to the cap. Programs (VectorProgram, Fold) fix it when they are made.
Level level();
// For tests: all levels give the same bits.
void cap_level(Level highest);

#if FX_BODIES
namespace kernels {
FX_SHARED inline std::atomic<Level>& level_cap() {
  static std::atomic<Level> cap{Level::avx512};
  return cap;
}
FX_INLINE Level machine_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Level::baseline;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return Level::avx512;
  return Level::avx2;
#else
  return Level::baseline;
#endif
}
}  // namespace kernels

FX_INLINE Level level() {
  static const Level best = kernels::machine_level();
  const Level cap = kernels::level_cap().load(std::memory_order_relaxed);
  return cap < best ? cap : best;
}
FX_INLINE void cap_level(Level highest) { kernels::level_cap().store(highest, std::memory_order_relaxed); }
#endif

}  // namespace fx::inline v0::tiled
