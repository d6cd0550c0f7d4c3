// ops/random.hpp -- threefry2x32, the counter-based generator behind fx::random.
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); 20 rounds, as in JAX.
#pragma once
#include "iota.hpp"

namespace fx::inline v0 {

// (key0, key1, counter0, counter1) -> two words of random bits.
struct Threefry2x32 : Elementwise<Threefry2x32, 4> {
  static constexpr std::string_view name = "threefry2x32";
  static constexpr DTypes takes = only(u32);
  static constexpr bool flat = true;
  static constexpr void type(TypeCtx& c) {
    Elementwise<Threefry2x32, 4>::type(c);
    if (!c.failed()) c.result(Type(c.out[0]));
  }
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    using V = typename World::template V<T>;
    V ks[3] = {World::template get<T>(c, 0), World::template get<T>(c, 1), V()};
    ks[2] = ks[0] ^ ks[1] ^ V::c(0x1BD11BDAu);
    V x0 = World::template get<T>(c, 2) + ks[0], x1 = World::template get<T>(c, 3) + ks[1];
    constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    for (int group = 0; group < 5; ++group) {
      for (unsigned r : rotations[group % 2]) {
        x0 = x0 + x1;
        x1 = x0 ^ (shl(x1, V::c(r)) | shr(x1, V::c(32 - r)));
      }
      x0 = x0 + ks[(group + 1) % 3];
      x1 = x1 + ks[(group + 2) % 3] + V::c(unsigned(group + 1));
    }
    World::put(c, 0, x0);
    World::put(c, 1, x1);
  }
};

struct Bits2x32 {
  Val hi, lo;
};
constexpr Bits2x32 threefry2x32(Val key0, Val key1, Val counter0, Val counter1) {
  Val first = bind(prim<Threefry2x32>, {key0, key1, counter0, counter1});
  return {first, Val(first.b, first.id + 1)};
}

}  // namespace fx::inline v0
