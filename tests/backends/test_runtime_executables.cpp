// The executable cache, the registry, and running on Storages.
#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
Graph scaled(double by, std::int64_t n = 10) {
  Builder b;
  return b.finish(Vec<Val>{b.input({f32, {n}}) * by});
}
}  // namespace

TEST_CASE("executables: equal Graphs are compiled once") {
  const ExecutableStats before = executable_stats();
  ExecutableRef a = executable_for(scaled(3)), b = executable_for(scaled(3)), c = executable_for(scaled(4));
  CHECK(a == b);
  CHECK(!(a == c));
  const ExecutableStats after = executable_stats();
  CHECK(after.compilations == before.compilations + 2);
  CHECK(after.hits == before.hits + 1);
}

TEST_CASE("executables: another target is another key") {
  static const tiled::TiledBackend small(small_target(1 << 12));
  CHECK(!(executable_for(scaled(5)) == executable_for(scaled(5), small)));
  CHECK(!(fingerprint(small.target()) == fingerprint(cpu_backend().target())));
}

TEST_CASE("executables: the cache is bounded, the least used go first") {
  ExecutableRef kept = executable_for(scaled(100));
  limit_executables(16);
  for (int i = 0; i < 40; ++i) {
    executable_for(scaled(1000 + i));
    executable_for(scaled(100));
  }
  CHECK(executable_stats().entries <= 16);
  const std::int64_t compilations = executable_stats().compilations;
  CHECK(executable_for(scaled(100)) == kept);
  CHECK(executable_stats().compilations == compilations);
  limit_executables(4096);
}

TEST_CASE("executables: what fails to compile fails again, and leaves nothing behind") {
  Builder b;
  const Graph g = b.finish(Vec<Val>{b.input({bf16, {3}})});
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(executable_for(g), Error);
}

TEST_CASE("executables: run on Storages, outputs given or made") {
  const Graph g = scaled(2);
  ExecutableRef e = executable_for(g);
  Vec<Elements> in = samples(g);
  Vec<Ref<Storage>> ins{pack(g.type(g.ins[0]), in[0])}, outs(1);
  run(*e, ins, types_of(g, g.outs), outs);
  check_same(g, evaluate(g, in), Vec<Elements>{unpack(g.type(g.outs[0]), *outs[0])});
  CHECK(e->may_alias(0) == 0);
  Vec<Ref<Storage>> same(ins);
  run(*e, ins, types_of(g, g.outs), same);
  check_same(g, evaluate(g, in), Vec<Elements>{unpack(g.type(g.outs[0]), *ins[0])});
}

TEST_CASE("executables: memory that fails anywhere is an Error, and nothing leaks") {
  Builder b;
  Val x = b.input({f32, {100}});
  const Graph g = b.finish(Vec<Val>{cumsum(exp(x), 0), cumsum(x * 2.0, 0)});
  ExecutableRef e = executable_for(g);
  REQUIRE(e->workspace() > 0);
  Vec<Ref<Storage>> ins{pack(g.type(g.ins[0]), samples(g)[0])};
  const std::int64_t before = memory_stats().allocated;
  int failures = 0;
  for (int n = 1; n < 10; ++n) {
    Vec<Ref<Storage>> outs(2);
    detail::fail_allocation_after(n);
    try {
      run(*e, ins, types_of(g, g.outs), outs);
      break;
    } catch (const Error& error) {
      CHECK(error.code == ErrorCode::memory);
      ++failures;
    }
  }
  detail::fail_allocation_after(-1);
  CHECK(failures == 3);  // two outputs and the workspace
  CHECK(memory_stats().allocated == before);
}

TEST_CASE("executables: shapes too large for memory are Errors") {
  Builder b;
  const Graph g = b.finish(Vec<Val>{broadcast_to(b.input({f32, {}}), {1 << 30, 1 << 30})});
  Vec<Ref<Storage>> ins{allocate(4)}, outs(1);
  ExecutableRef e = executable_for(g);
  CHECK_THROWS_AS(run(*e, ins, types_of(g, g.outs), outs), Error);
}

TEST_CASE("registry: backends by name") {
  CHECK(&backend("cpu") == &cpu_backend());
  CHECK(cpu_backend().target().name == "cpu");
  try {
    backend("gpu9");
    FAIL("no Error");
  } catch (const Error& e) {
    CHECK(e.code == ErrorCode::value);
    CHECK(std::string(e.what()).find("\"cpu\"") != std::string::npos);
  }
  static const tiled::TiledBackend small(small_target(1 << 12));
  register_backend("small", small);
  register_backend("small", small);
  CHECK(&backend("small") == &small);
  CHECK_THROWS_AS(register_backend("small", cpu_backend()), Error);
  CHECK_THROWS_AS(register_backend("cpu", small), Error);
}
