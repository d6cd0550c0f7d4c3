// config.hpp -- version, linkage of the bodies, and the few compiler facts everything else relies on.
#pragma once

#define FX_VERSION_MAJOR 0
#define FX_VERSION_MINOR 1
#define FX_VERSION_PATCH 0

// FX_INLINE marks every non-template body that only run time needs. Header-only: `inline`. With the fx::compiled target
// (FX_COMPILED defined) clients see declarations only (FX_BODIES is 0) and src/fx.cpp (FX_SOURCE) provides the bodies.
#if defined(FX_COMPILED) && !defined(FX_SOURCE)
#define FX_BODIES 0
#define FX_INLINE
#elif defined(FX_COMPILED)
#define FX_BODIES 1
#define FX_INLINE
#else
#define FX_BODIES 1
#define FX_INLINE inline
#endif

// Run-time singletons must be one object per process, also when a user's library hides its symbols.
#define FX_SHARED __attribute__((visibility("default")))

#if defined(__FAST_MATH__) && !defined(FX_ALLOW_FAST_MATH)
#error "fx: -ffast-math breaks fx's promise of identical results; compile without it, or define FX_ALLOW_FAST_MATH"
#endif

static_assert(sizeof(void*) == 8 && sizeof(int) == 4, "fx: 64-bit targets only");

namespace fx::inline v0 {
// The largest number of dimensions of an Array.
inline constexpr int max_rank = 8;
}  // namespace fx::inline v0
