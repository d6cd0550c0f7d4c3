// Storages made, handed over and released by many threads at once.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <fx/runtime/buffers.hpp>
#include <mutex>
#include <thread>
#include <vector>

using namespace fx;

namespace {
// Released after the thread's own free lists are gone.
struct Late {
  Ref<Storage> held;
};
thread_local Late late;
}  // namespace

TEST_CASE("buffers: threads exchange blocks") {
  std::mutex mutex;
  std::vector<Ref<Storage>> pot;
  std::atomic<int> wrong{0};
  const std::int64_t before = memory_stats().allocated;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      late.held = allocate(100);
      for (int i = 0; i < 2000; ++i) {
        const std::int64_t n = (i * 37 + t * 11) % 5000 + (i % 100 == 0 ? (3 << 20) : 0);
        Ref<Storage> s = allocate(n);
        std::memset(s->data, t, std::size_t(n));
        const std::lock_guard<std::mutex> lock(mutex);
        pot.push_back(s);
        if (pot.size() > 20) {
          Ref<Storage> other = pot[std::size_t(i) % pot.size()];
          pot.erase(pot.begin() + i % 20);
          const char* p = static_cast<const char*>(other->data);
          if (other->bytes > 1 && p[0] != p[other->bytes - 1]) ++wrong;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  pot.clear();
  CHECK(memory_stats().allocated == before);
}
