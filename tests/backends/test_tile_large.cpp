// Large Graphs: compile time linear in the equations, a small stack, many values.
#include <pthread.h>
#include <time.h>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
// A chain that changes shape every 50 equations, with reductions and products in it.
Graph mixed(int equations) {
  Builder b;
  Val x = b.input({f32, {4, 4}}), y = x;
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  for (int n = 0; n < equations; n += 5) {
    y = tanh(y * x + 0.5);
    if (n % 50 == 0) y = dot_general(y, transpose(x, {1, 0}), d);
    if (n % 50 == 25) y = y - broadcast_in_dim(reduce_sum(y, {1}), {4, 4}, {0});
  }
  return b.finish(Vec<Val>{y});
}
Graph chain(int equations) {
  Builder b;
  Val x = b.input({f32, {8}}), y = x;
  for (int n = 0; n < equations; n += 2) y = y * x + 0.25;
  return b.finish(Vec<Val>{y});
}
// Many outputs, many values alive at once.
Graph wide(int equations) {
  Builder b;
  Val x = b.input({f32, {8}});
  Vec<Val> outs;
  Val y = x;
  for (int n = 0; n < equations; n += 4) {
    y = y + 1.0;
    outs.push_back(reduce_sum(reshape(y * x, {4, 2}), {1}));
  }
  return b.finish(outs);
}

void* run_small(void* f) {
  (*reinterpret_cast<void (*)()>(f))();
  return nullptr;
}
void in_small_stack(void (*f)()) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 1 << 20);
  pthread_t t;
  REQUIRE(pthread_create(&t, &attr, run_small, reinterpret_cast<void*>(f)) == 0);
  pthread_join(t, nullptr);
}
}  // namespace

TEST_CASE("large: 100,000 equations compile and run on a stack of 1 MiB") {
  in_small_stack([] {
    for (const Graph& g : {mixed(100000), chain(100000), wide(30000)}) {
      auto e = compile(g);
      const Vec<Elements> in = samples(g);
      run_bits(*e, g, in);
    }
  });
}

TEST_CASE("large: the bits of constant evaluation") {
  check(mixed(600));
  check(wide(600));
}
