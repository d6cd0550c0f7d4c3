// ops/transcendental.cpp -- exp log log1p tanh sin cos sqrt rsqrt logistic erf_inv pow, threefry2x32.
#include "ops/transcendental.hpp"

#include <doctest/doctest.h>

#include "reference/run.hpp"

TEST_CASE("transcendental: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested =
      reference::check_all(tables::transcendental(),
                           [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}

// The known answers that Random123 ships for threefry2x32 with 20 rounds.
TEST_CASE("threefry2x32: known answers") {
  struct Known {
    std::uint64_t key[2], counter[2], bits[2];
  };
  for (const Known& k : {Known{{0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe}},
                         Known{{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x1cb996fc, 0xbb002be7}},
                         Known{{0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}, {0xc4923a9c, 0x483df7a0}}}) {
    fx::Builder b;
    reference::Values in;
    std::vector<fx::Val> x;
    for (std::uint64_t word : {k.key[0], k.key[1], k.counter[0], k.counter[1]}) {
      x.push_back(b.input({fx::u32, {}}));
      in.push_back({{fx::u32, {}}, {reference::whole(fx::u32, word)}});
    }
    const fx::Bits2x32 bits = fx::threefry2x32(x[0], x[1], x[2], x[3]);
    const fx::Val outs[] = {bits.hi, bits.lo};
    const fx::Graph g = b.finish(fx::Span<const fx::Val>(outs, 2));
    for (const reference::Values& y : {reference::run(g, in), reference::evaluate(g, in)}) {
      CHECK(y[0].at[0].whole == k.bits[0]);
      CHECK(y[1].at[0].whole == k.bits[1]);
    }
  }
}
