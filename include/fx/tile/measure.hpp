// tile/measure.hpp -- this processor: its cache and instruction set, and the rates of one core.
#pragma once
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "target.hpp"

namespace fx::inline v0::tile {
namespace detail {

FX_INLINE std::string_view host_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "portable";
#endif
}

FX_INLINE double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// Independent chains of multiply-adds: as many as hide their latency, few enough for the registers.
#ifdef __clang__
#define FX_UNROLL
#else
#define FX_UNROLL _Pragma("GCC unroll 24")
#endif
#define FX_MEASURE_FMA(name, attribute, bytes, chains)                                                            \
  attribute FX_INLINE double name(std::int64_t rounds) {                                                          \
    typedef float V __attribute__((vector_size(bytes)));                                                          \
    V a[chains], x = V{} + 0.999f, y = V{} + 0.001f;                                                              \
    FX_UNROLL for (int i = 0; i < chains; ++i) a[i] = V{} + float(i);                                             \
    for (std::int64_t r = 0; r < rounds; ++r) { FX_UNROLL for (int i = 0; i < chains; ++i) a[i] = a[i] * x + y; } \
    float sum = 0;                                                                                                \
    FX_UNROLL for (int i = 0; i < chains; ++i) sum += a[i][0];                                                    \
    volatile float keep = sum;                                                                                    \
    (void)keep;                                                                                                   \
    return double(rounds) * chains * (bytes / 4) * 2;                                                             \
  }
FX_MEASURE_FMA(fma_portable, , 16, 10)
#if defined(__x86_64__)
FX_MEASURE_FMA(fma_avx2, [[gnu::target("avx2,fma")]], 32, 12)
FX_MEASURE_FMA(fma_avx512, [[gnu::target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]], 64, 24)
#endif
#undef FX_MEASURE_FMA
#undef FX_UNROLL

FX_INLINE double measure_flops() {
  double (*run)(std::int64_t) = &fma_portable;
#if defined(__x86_64__)
  if (host_isa() == "avx2") run = &fma_avx2;
  if (host_isa() == "avx512") run = &fma_avx512;
#endif
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = now(), done = run(200'000), rate = done / (now() - start);
    if (rate > best) best = rate;
  }
  return best;
}

// Bytes read and written per second by copying memory that no cache holds.
FX_INLINE double measure_bandwidth() {
  const std::size_t bytes = std::size_t(64) << 20;
  char *from = static_cast<char*>(std::malloc(bytes)), *to = static_cast<char*>(std::malloc(bytes));
  double best = 0;
  if (from && to) {
    std::memset(from, 1, bytes);
    std::memset(to, 1, bytes);
    for (int i = 0; i < 5; ++i) {
      const double start = now();
      std::memcpy(to, from, bytes);
      __asm__ volatile("" : : "r"(to) : "memory");
      const double rate = 2 * double(bytes) / (now() - start);
      if (rate > best) best = rate;
    }
  }
  std::free(from);
  std::free(to);
  return best;
}
}  // namespace detail

FX_SHARED FX_INLINE const Target& host() {
  static const Target t = [] {
    Target r;
    r.name = "cpu";
    r.isa = detail::host_isa();
#if defined(_SC_LEVEL2_CACHE_SIZE)
    r.on_chip = std::int64_t(sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
    if (r.on_chip < (256 << 10)) r.on_chip = 1 << 20;  // unknown
    return r;
  }();
  return t;
}

FX_SHARED FX_INLINE const Target& measured_host() {
  static const Target t = [] {
    Target r = host();
    r.flops_f32 = r.flops_bf16 = detail::measure_flops();
    r.bandwidth = detail::measure_bandwidth();
    r.source = "measured on one core";
    return r;
  }();
  return t;
}

FX_INLINE const Target* target_named(std::string_view name) {
  for (const Target* t : {&tpu_v5e, &tpu_v5p, &tpu_v6e, &h200, &host()})
    if (t->name == name) return t;
  return nullptr;
}

}  // namespace fx::inline v0::tile
