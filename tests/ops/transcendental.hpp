// ops/transcendental.hpp -- rows of the mathematical functions, and of the random bits.
#pragma once
#include "ops/tables.hpp"

namespace tables {

inline Table transcendental() {
  Table t{
      elementwise_row(prim<fx::Exp>, floats, {{}}),
      elementwise_row(prim<fx::Log>, floats, {{0.2, 4}}),
      elementwise_row(prim<fx::Log1p>, floats, {{-0.7, 3}}),
      elementwise_row(prim<fx::Tanh>, floats, {{}}),
      elementwise_row(prim<fx::Sin>, floats, {{-9, 9}}),
      elementwise_row(prim<fx::Cos>, floats, {{-9, 9}}),
      elementwise_row(prim<fx::Sqrt>, floats, {{0.2, 4}}),
      elementwise_row(prim<fx::Rsqrt>, floats, {{0.2, 4}}),
      elementwise_row(prim<fx::Logistic>, floats, {{-4, 4}}),
      elementwise_row(prim<fx::ErfInv>, floats, {{-0.9, 0.9}}),
      elementwise_row(prim<fx::Pow>, floats, {{0.3, 3}, {-2, 2}}),
  };
  Row threefry = elementwise_row(prim<fx::Threefry2x32>, fx::only(u32), {{0, 4e9}, {0, 4e9}, {0, 4e9}, {0, 4e9}});
  threefry.results.push_back(threefry.results[0]);
  t.push_back(threefry);
  return t;
}

}  // namespace tables
