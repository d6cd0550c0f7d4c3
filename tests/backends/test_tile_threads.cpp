// Kernels that threads share give the bits of one thread, also when several callers share at once.
#include <thread>
#include <vector>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
Val times(Val x, Val y, int batches = 0) {
  DotDims d;
  for (int i = 0; i < batches; ++i) d.lhs_batch.push_back(i), d.rhs_batch.push_back(i);
  d.lhs_contract = {batches + 1}, d.rhs_contract = {batches};
  return dot_general(x, y, d);
}
// The same bits compiled for 1 thread, for 4, and by 3 callers of what was compiled for 4.
void check_threads(const Graph& g) {
  const int before = threads();
  const Vec<Elements> in = samples(g);
  set_threads(1);
  const auto alone = compile(g);
  const Vec<Elements> expected = call_bits(*alone, g, in);
  set_threads(4);
  const auto shared = compile(g);
  CHECK(shared->workspace() > alone->workspace());
  check_same(g, expected, call_bits(*shared, g, in));
  std::vector<Vec<Elements>> got(3);
  std::vector<std::thread> callers;
  for (Vec<Elements>& r : got) callers.emplace_back([&] { r = call_bits(*shared, g, in); });
  for (std::thread& t : callers) t.join();
  for (const Vec<Elements>& r : got) check_same(g, expected, r);
  set_threads(2);  // fewer than it was compiled for
  check_same(g, expected, call_bits(*shared, g, in));
  set_threads(before);
}
}  // namespace

TEST_CASE("threads: products, by rows, by columns, in batches, with an epilogue") {
  Builder b;
  Val x = b.input({f32, {201, 150}}), y = b.input({f32, {150, 230}}), u = b.input({f64, {5, 120, 60}}),
      v = b.input({f64, {5, 60, 130}});
  Val z = times(x, y);
  check_threads(b.finish(Vec<Val>{times(transpose(y, {1, 0}), transpose(x, {1, 0})), tanh(z) - z, times(u, v, 1)}));
}

TEST_CASE("threads: products that make their operands") {
  for (bool by_rows : {false, true}) {
    const std::int64_t m = by_rows ? 300 : 150, n = by_rows ? 150 : 300;
    Builder b;
    Val x = b.input({f32, {m, 200}}), y = b.input({f32, {200, n}}), s = b.input({f32, {n}});
    const Graph g = b.finish(Vec<Val>{times(x * 2.0, y + 1.0) + broadcast_in_dim(s, {m, n}, {1})});
    const auto e = compile(g);
    const tile::Kernel& k = e->program().kernels[0];
    CHECK((k.made[0] || k.made[1]));
    check_threads(g);
  }
}

TEST_CASE("threads: elementwise kernels") {
  Builder b;
  Val x = b.input({f32, {700, 400}}), row = b.input({f32, {400}});
  check_threads(b.finish(Vec<Val>{exp(x) + broadcast_in_dim(row, {700, 400}, {1})}));
  Builder c;  // one row; positions; turned around
  Val w = c.input({f32, {300001}}), t = c.input({f64, {400, 500}});
  check_threads(c.finish(
      Vec<Val>{sin(w), w * iota(c, f32, {300001}, 0), sin(transpose(t, {1, 0})) + iota(c, f64, {500, 400}, 1)}));
}

TEST_CASE("threads: strips of rows, reductions of rows and of columns") {
  Builder b;
  Val x = b.input({f32, {1000, 900}});
  Val e = exp(x - broadcast_in_dim(reduce_max(x, {1}), {1000, 900}, {0}));
  check_threads(b.finish(Vec<Val>{e / broadcast_in_dim(reduce_sum(e, {1}), {1000, 900}, {0})}));
  Builder c;
  Val y = c.input({f32, {900, 1100}});
  check_threads(c.finish(Vec<Val>{reduce_sum(sin(y), {1}), reduce_max(cos(y), {0})}));
}
