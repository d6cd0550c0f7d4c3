// passes/digest.cpp -- equal Graphs have equal digests, and what differs in anything but names and lines differs there.
#include <doctest/doctest.h>

#include <fx/passes/batch.hpp>
#include <set>

#include "ops/control.hpp"

namespace {

using fx::Val, fx::f32, fx::f64, fx::i32, fx::Params;

struct Recipe {
  fx::DType dtype = f32;
  int size = 3;
  double literal = 2;
  std::int64_t power = 3;
  bool swapped = false, more = false, other_output = false, reverse = false;
  const char* label = "f";
  double inner = 1;
  int line = 1;
};

fx::Graph make(const Recipe& r) {
  const fx::GraphRef inner = tables::body({{r.dtype, {}}, {r.dtype, {}}}, [&](std::vector<Val> v) {
    return std::vector<Val>{v[0] + v[1] * r.inner, v[0]};
  });
  fx::Builder b;
  b.loc = fx::Loc("file", r.line);
  const Val x = b.input({r.dtype, {r.size}}), y = b.input({r.dtype, {r.size}});
  Val z = (r.swapped ? y - x : x - y) * r.literal;
  if (r.more) z = z + x;
  z = fx::integer_pow(z, r.power);
  const Val s =
      fx::bind(fx::prim<fx::Scan>, {fx::sum_all(z), z}, fx::Scan::params({fx::Dim(r.size), r.reverse, 0, 1, inner}));
  const Val c = fx::bind(fx::prim<fx::Jit>, {s, s}, Params().label(r.label).graph(inner));
  const Val outs[] = {c, r.other_output ? y : x};
  return b.finish(fx::Span<const Val>(outs, 2));
}

std::string key(const fx::Graph& g) {
  fx::Str s;
  fx::put(s, fx::digest(g));
  return std::string(s.view());
}

}  // namespace

TEST_CASE("digests") {
  const std::string plain = key(make({}));
  CHECK(plain.size() == 32);
  CHECK(key(make({})) == plain);
  CHECK(key(make({.label = "another"})) == plain);
  CHECK(key(make({.line = 77})) == plain);
  const std::set<std::string> all{plain,
                                  key(make({.dtype = f64})),
                                  key(make({.size = 4})),
                                  key(make({.literal = 2.5})),
                                  key(make({.literal = -2})),
                                  key(make({.power = 4})),
                                  key(make({.swapped = true})),
                                  key(make({.more = true})),
                                  key(make({.other_output = true})),
                                  key(make({.reverse = true})),
                                  key(make({.inner = 3}))};
  CHECK(all.size() == 11);
}

TEST_CASE("zeros of both signs, and NaNs by their bits, are different constants") {
  auto constant = [](std::uint64_t bits) {
    fx::Builder b;
    const Val outs[] = {b.literal(f32, bits)};
    return key(b.finish(fx::Span<const Val>(outs, 1)));
  };
  CHECK(constant(0) != constant(0x80000000));
  CHECK(constant(0x7fc00000) != constant(0x7fc00001));
}
