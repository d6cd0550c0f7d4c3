// runtime/profile_threads.cpp -- threads call and compile while trace files begin and end.
#include <atomic>
#include <fx/fx.hpp>
#include <thread>

#include "runtime/profile.hpp"
using namespace profile_test;
using fx::Array;

TEST_CASE("profile: each thread is one line of the file") {
  const TraceFile file;
  const auto f = fx::jit([](Array a) { return a * 9.0f + 1.0f; }, {.name = "shared"});
  {
    const fx::profile::Scope scope(file.path.string());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const Array x(std::vector<float>(std::size_t(t + 1), 1.0f));
        for (int i = 0; i < 50; ++i) f(x);
      });
    for (std::thread& t : threads) t.join();
  }
  std::map<int, int> calls;
  for (const Event& e : having(file.events(), "call", "shared")) ++calls[e.thread];
  CHECK(calls.size() == 4);
  for (const auto& [thread, n] : calls) CHECK(n == 50);
}

TEST_CASE("profile: files begin and end while others call") {
  const auto f = fx::jit([](Array a) { return a * 11.0f - 1.0f; }, {.name = "busy"});
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Array x(std::vector<float>(std::size_t(t + 1), 1.0f));
      for (int n = 0; !end; ++n) {
        f(x);
        if (n % 64 == 0) fx::jit([n](Array a) { return a + double(n); }, {.name = "new"})(x);
      }
    });
  for (int i = 0; i < 10; ++i) {
    const TraceFile file;
    fx::profile::start(file.path.string());
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    fx::profile::stop();
    for (const Event& e : file.events()) CHECK(!e.name.empty());
  }
  end = true;
  for (std::thread& t : threads) t.join();
}
