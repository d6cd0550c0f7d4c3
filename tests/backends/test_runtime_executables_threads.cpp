// Many threads compile and run at once.
#include <atomic>
#include <thread>

#include "backends/tile_util.hpp"
using namespace tile_test;

TEST_CASE("executables: one compilation for all threads, and equal results") {
  auto graph = [](int i) {
    Builder b;
    Val x = b.input({f32, {37, 11}});
    return b.finish(Vec<Val>{reduce_sum(exp(x) * double(i), {1}), x + double(i)});
  };
  const int graphs = 4;
  Vec<Vec<Elements>> expected;
  for (int i = 0; i < graphs; ++i) expected.push_back(evaluate(graph(i), samples(graph(i))));
  const std::int64_t before = executable_stats().compilations;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const int i = (t + round) % graphs;
        const Graph g = graph(i);
        ExecutableRef e = executable_for(g);
        Vec<Ref<Storage>> ins{pack(g.type(g.ins[0]), samples(g)[0])}, outs(2);
        run(*e, ins, types_of(g, g.outs), outs);
        for (int k = 0; k < 2; ++k)
          if (!(unpack(g.type(g.outs[k]), *outs[k]) == expected[i][k])) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(executable_stats().compilations == before + graphs);
}
