// runtime/disk_cache_threads.cpp -- many threads, and two users of one directory as two processes would be.
#include <atomic>
#include <thread>

#include "runtime/disk_cache.hpp"
using namespace disk_cache_test;

TEST_CASE("disk cache: readers see all of an entry or none while others write it") {
  Directory d;
  std::string why;
  const int n = 3000;
  Vec<std::uint8_t> contents[2] = {Vec<std::uint8_t>(n, std::uint8_t(1)), Vec<std::uint8_t>(n / 2, std::uint8_t(2))};
  std::atomic<int> wrong{0}, whole{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::string own_why;
      CacheFiles files(d.path.string(), 1 << 20, own_why);
      std::int64_t evicted = 0;
      for (int round = 0; round < 50; ++round) {
        const Digest key{1, std::uint64_t(round % 3)};
        if (t % 2 == 0) {
          wrong += !files.write(key, contents[t / 2 % 2], evicted);
          continue;
        }
        const CacheFiles::Read r = files.read(key);
        if (r.found == CacheFiles::Found::no) continue;
        wrong += r.found == CacheFiles::Found::bad;
        if (r.found != CacheFiles::Found::yes) continue;
        ++whole;
        const Span<const std::uint8_t> c = r.content();
        wrong += c.size() != (c[0] == 1 ? n : n / 2);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(d.entries().size() == 3);
}

TEST_CASE("disk cache: threads that compile, hit and evict at once") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string(), 6000});  // room for a few
  const int graphs = 6;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 12; ++round) {
        const Graph g = some_graph((t + round) % graphs);
        const ExecutableRef e = fx::detail::compile_or_load(g, cpu_backend(), key_of(g));
        const Vec<Elements> in = samples(g), expected = evaluate(g, in);
        Vec<Ref<Storage>> ins{pack(g.type(g.ins[0]), in[0])}, outs(2);
        run(*e, ins, types_of(g, g.outs), outs);
        for (int k = 0; k < 2; ++k) wrong += !(unpack(g.type(g.outs[k]), *outs[k]) == expected[k]);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  const DiskCacheStats s = disk_cache_stats();
  CHECK(s.hits > 0);
  CHECK(s.written > 0);
}
