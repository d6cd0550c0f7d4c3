// Blocks, grids and estimates: what the cost model chooses for a target, and that it never changes a bit.
#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
Graph mixed() {
  Builder b;
  Val x = b.input({f32, {600, 500}}), w = b.input({f32, {500, 400}});
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  Val y = tanh(dot_general(x, w, d));
  Val flipped = rev(y, {0});
  return b.finish(Vec<Val>{y, reduce_sum(y * 2.0, {0}), reduce_sum(y, {1}), y + flipped});
}

std::int64_t bytes_of_blocks(const tile::Kernel& k, const tile::Program& p) {
  std::int64_t n = 0;
  for (const Vec<tile::Access>* list : {&k.in, &k.out})
    for (const tile::Access& a : *list) n += tile::footprint(a, k.block) * size_of(p.buffers[a.buffer].type.dtype);
  return 2 * n;
}
// Calls f(kernel, its program), for the kernels of loops too and not for the loops.
template <class F>
void each_kernel(const tile::Program& p, F&& f) {
  for (const tile::Kernel& k : p.kernels) {
    if (k.loop)
      each_kernel(*k.loop, f);
    else
      f(k, p);
  }
}
}  // namespace

TEST_CASE("cost: blocks fit on chip, in multiples of vector tiles") {
  const Graph g = mixed();
  for (std::int64_t on_chip : {64 << 20, 1 << 20, 1 << 19, 1 << 18}) {
    auto e = compile(g, small_target(on_chip));
    each_kernel(e->program(), [&](const tile::Kernel& k, const tile::Program& p) {
      CHECK(bytes_of_blocks(k, p) <= on_chip);
      const int last = k.space.n - 1;
      CHECK((k.block[last] == k.space[last] || k.block[last] % 128 == 0));
      CHECK((k.block[last - 1] == k.space[last - 1] || k.block[last - 1] % 8 == 0));
    });
  }
}

TEST_CASE("cost: half the memory gives other grids and the same bits") {
  const Graph g = mixed();
  const Vec<Elements> in = samples(g);
  auto whole = compile(g, small_target(1 << 20)), half = compile(g, small_target(1 << 19));
  int same = 0;
  for (int k = 0; k < whole->program().kernels.size(); ++k)
    same += tile::steps(whole->program().kernels[k]) == tile::steps(half->program().kernels[k]);
  CHECK(same == 0);
  check_same(g, run_bits(*whole, g, in).out, run_bits(*half, g, in).out);
}

TEST_CASE("cost: published targets") {
  const Graph g = mixed();
  double before = 1e9;
  for (const Target* t : {&tile::tpu_v5e, &tile::tpu_v5p, &tile::tpu_v6e}) {
    CHECK(tile::target_named(t->name) == t);
    CHECK(!t->source.empty());
    Ref<const tile::Program> p = tile::fuse(g, *t);
    CHECK(p->target == t->name);
    double seconds = 0;
    for (const tile::Kernel& k : p->kernels) {
      CHECK(tile::steps(k) == 1);  // all of it fits
      seconds += tile::estimate(k, *p, *t).seconds;
    }
    CHECK(seconds > 0);
    if (t != &tile::tpu_v6e) CHECK(seconds < before);
    before = seconds;
  }
  CHECK(tile::target_named("abacus") == nullptr);
  CHECK(tile::host().on_chip >= 256 << 10);
}

TEST_CASE("cost: the estimate of a product is its arithmetic") {
  Builder b;
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  const Graph g = b.finish(Vec<Val>{dot_general(b.input({f32, {1024, 1024}}), b.input({f32, {1024, 1024}}), d)});
  Ref<const tile::Program> p = tile::fuse(g, tile::tpu_v5e);
  const tile::Estimate e = tile::estimate(p->kernels[0], *p, tile::tpu_v5e);
  CHECK(e.flops == 2.0 * 1024 * 1024 * 1024);
  CHECK(e.bytes == 3.0 * 1024 * 1024 * 4);
  CHECK(e.seconds == e.flops / tile::tpu_v5e.flops_f32);
}

TEST_CASE("cost: a contraction too long for the chip is walked in pieces") {
  Builder b;
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  const Graph g = b.finish(Vec<Val>{dot_general(b.input({f32, {40, 3000}}), b.input({f32, {3000, 50}}), d),
                                    dot_general(b.input({f64, {1, 3000}}), b.input({f64, {3000, 50}}), d),
                                    dot_general(b.input({i32, {40, 3000}}), b.input({i32, {3000, 1}}), d)});
  check(g);
  auto e = compile(g, small_target(1 << 16));
  CHECK(e->program().kernels[0].grid(2) > 1);
}
