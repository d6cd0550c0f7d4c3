// base/digest.hpp -- Digest: a 128-bit content hash, the same in every process and shared object.
//
// Two 64-bit lanes of multiply-xorshift mixing (the finaliser constants are those of MurmurHash3 and SplitMix64).
// It identifies content among honest programs; it is no defence against an adversary.
#pragma once
#include <cstdint>

#include "str.hpp"

namespace fx::inline v0 {

struct Digest {
  std::uint64_t hi = 0, lo = 0;
  constexpr bool operator==(const Digest&) const = default;
};

class Hasher {
  std::uint64_t a_ = 0x9E3779B97F4A7C15ull, b_ = 0xC2B2AE3D27D4EB4Full;
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDull;
    x = (x ^ (x >> 29)) * 0xC4CEB9FE1A85EC53ull;
    return x ^ (x >> 32);
  }

 public:
  constexpr void word(std::uint64_t w) {
    a_ = mix(a_ ^ w);
    b_ = mix(b_ + (w * 0xD6E8FEB86659FD93ull) + (a_ << 1));
  }
  constexpr void text(std::string_view s) {
    word(s.size());
    std::uint64_t w = 0;
    int k = 0;
    for (char c : s) {
      w = (w << 8) | std::uint8_t(c);
      if (++k == 8) word(w), w = 0, k = 0;
    }
    if (k) word(w);
  }
  constexpr void digest(const Digest& d) { word(d.hi), word(d.lo); }
  constexpr Digest finish() const { return {mix(a_ + 1), mix(b_ ^ a_)}; }
};

// The id of a name: FNV-1a (Fowler, Noll, Vo).
constexpr std::uint64_t name_id(std::string_view s) {
  std::uint64_t h = 14695981039346656037ull;
  for (char c : s) h = (h ^ std::uint8_t(c)) * 1099511628211ull;
  return h;
}

constexpr void put(Str& s, const Digest& d) { s.hex(d.hi, 16).hex(d.lo, 16); }

}  // namespace fx::inline v0
