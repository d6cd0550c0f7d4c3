// kernels/arg_loops.hpp -- argmax and argmin along rows and columns: the first of the largest keys (order_key.hpp).
#pragma once
#include <cstring>

#include "fold_ops.hpp"
#include "order_key.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// Elements become keys this many at a time, so that keys stay in the first-level cache. A NaN is the largest, also for
// argmin, whose keys run down.
inline constexpr std::int64_t arg_tile = 512;

// Positions among n keys are counted in rounds of all lanes, which a key's own width holds.
inline constexpr int arg_lanes = 16;

// The largest key in each lane (bytes / sizeof(K) of them) and the round of the first one.
template <class K, int bytes>
FX_LOOP void arg_lanes_loop(const K* x, std::int64_t rounds, K* best_out, K* round_out) {
  using V = typename Lanes<K, bytes>::type;
  using P = typename Lanes<K, bytes>::loose;
  V best = *reinterpret_cast<const P*>(x), at = V{}, now = V{};
  FX_AS_WRITTEN
  for (std::int64_t i = 1; i < rounds; ++i) {
    x += arg_lanes;
    now = now + K(1);
    const V v = *reinterpret_cast<const P*>(x);
    const V wins = v > best;
    best = wins ? v : best;
    at = wins ? now : at;
  }
  *reinterpret_cast<P*>(best_out) = best;
  *reinterpret_cast<P*>(round_out) = at;
}
// The first of the largest of n keys.
template <class K, int bytes>
FX_LOOP std::int64_t arg_keys_loop(const K* x, std::int64_t n) {
  const std::int64_t rounds = n / arg_lanes, whole = rounds * arg_lanes;
  std::int64_t at = 0;
  if (rounds) {
    K best[arg_lanes], round[arg_lanes];
    for (int l = 0; l < arg_lanes; l += bytes / int(sizeof(K)))
      arg_lanes_loop<K, bytes>(x + l, rounds, best + l, round + l);
    int first = 0;
    for (int l = 1; l < arg_lanes; ++l)
      if (best[l] > best[first] || (best[l] == best[first] && round[l] < round[first])) first = l;
    at = std::int64_t(round[first]) * arg_lanes + first;
  }
  for (std::int64_t i = whole; i < n; ++i)
    if (x[i] > x[at]) at = i;
  return at;
}
template <class K>
std::int64_t arg_keys_plain(const K* x, std::int64_t n) {
  return arg_keys_loop<K, 16>(x, n);
}
template <class K>
FX_AVX2 std::int64_t arg_keys_wide(const K* x, std::int64_t n) {
  return arg_keys_loop<K, 32>(x, n);
}
template <class K>
std::int64_t arg_keys(const K* x, std::int64_t n) {
  return level() == Level::baseline ? arg_keys_plain(x, n) : arg_keys_wide(x, n);
}

// The state of one row: the position of the best (-1: none yet) and its key.
struct ArgState {
  std::int64_t at, key;
};
template <class K>
void arg_row(ArgState& s, DType d, bool down, const void* in, std::int64_t first, std::int64_t count) {
  alignas(64) K keys[arg_tile];
  const char* x = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < count; i += arg_tile) {
    const std::int64_t here = count - i < arg_tile ? count - i : arg_tile;
    write_keys(d, x + i * size_of(d), here, 1, down, keys);
    const std::int64_t at = arg_keys(keys, here);
    if (s.at < 0 || keys[at] > s.key) s = {first + i + at, keys[at]};
  }
}

// Columns: the largest keys and their positions, side by side. The first row that comes in begins.
template <class K>
void arg_columns(K* best, std::int64_t* position, DType d, bool down, const void* in, std::int64_t first,
                 std::int64_t rows, std::int64_t cols, std::int64_t stride, bool begins) {
  alignas(64) K keys[arg_tile];
  const char* x = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < rows; ++i, begins = false)
    for (std::int64_t c = 0; c < cols; c += arg_tile) {
      const std::int64_t here = cols - c < arg_tile ? cols - c : arg_tile;
      write_keys(d, x + (i * stride + c) * size_of(d), here, 1, down, keys);
      FX_AS_WRITTEN
      for (std::int64_t k = 0; k < here; ++k)
        if (begins || keys[k] > best[c + k]) best[c + k] = keys[k], position[c + k] = first + i;
    }
}

// Calls f<K>() for the key type of d.
template <class F>
void with_key(DType d, F&& f) {
  if (key_size(d) == 4)
    f.template operator()<std::int32_t>();
  else
    f.template operator()<std::int64_t>();
}

}  // namespace fx::inline v0::tiled::kernels
#endif
