// runtime/workers_threads.cpp -- parts are taken once each, by any number of callers at once, in each other, and after
// a fork.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fx/runtime/workers.hpp>
#include <thread>
#include <vector>

#include "errors/errors.hpp"

namespace {
// How often each of `n` parts was taken, and that nobody had a number of another at the same time.
bool each_once(int most, int n) {
  std::vector<std::atomic<int>> taken(static_cast<std::size_t>(n));
  std::atomic<std::uint64_t> here{0};
  std::atomic<bool> wrong{false};
  fx::detail::Parts parts(most);
  fx::detail::share_work(most, [&](int who) {
    const std::uint64_t bit = std::uint64_t(1) << who;
    if (who >= most || (here.fetch_or(bit) & bit)) wrong = true;
    for (std::int64_t p = parts.take(); p < n; p = parts.take()) ++taken[std::size_t(p)];
    here.fetch_and(~bit);
  });
  for (const std::atomic<int>& t : taken) wrong = wrong || t != 1;
  return !wrong && here == 0;
}
}  // namespace

TEST_CASE("workers: each part is taken once") {
  for (int most : {1, 2, 3, 8, 64, 1000})
    for (int n : {0, 1, 2, 100})
      for (int round = 0; round < 20; ++round) CHECK(each_once(most, n));
}

TEST_CASE("workers: many callers at once") {
  std::atomic<int> failed{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) failed += !each_once(4, 10);
    });
  for (std::thread& t : callers) t.join();
  CHECK(failed == 0);
}

TEST_CASE("workers: work that shares its own work") {
  std::atomic<int> failed{0};
  fx::detail::Parts parts(4);
  fx::detail::share_work(4, [&](int) {
    while (parts.take() < 50) failed += !each_once(4, 20);
  });
  CHECK(failed == 0);
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("workers: a process that was forked goes on alone") {
  CHECK(each_once(4, 100));
  const pid_t child = fork();
  if (child == 0) _exit(each_once(4, 100) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
#endif

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("workers: a wrong number in the environment is an Error at the first operation" * doctest::skip()) {
  if (!std::getenv("FX_THREADS")) return;
  const fx::Array x = errors::vector({1, 2});
  CHECK_ERROR(value, "FX_THREADS is \"many\": it must be a number from 1 to 64", x * x);
}
TEST_CASE("workers: numbers in the environment") {
  const pid_t child = fork();
  if (child == 0) {
    setenv("FX_THREADS", "many", 1);
    execl("/proc/self/exe", "fx_tests", "--no-skip", "--minimal", "--test-case=workers: a wrong number*", nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
#endif

TEST_CASE("workers: the number of threads") {
  const int before = fx::threads();
  CHECK(before >= 1);
  fx::set_threads(3);
  CHECK(fx::threads() == 3);
  fx::set_threads(before);
  for (int n : {0, -1, 65})
    CHECK_ERROR(value, "set_threads: " + std::to_string(n) + " threads: it must be a number from 1 to 64",
                fx::set_threads(n));
  for (const char* bad : {"0", "many", "2x", "100"}) {
    setenv("FX_THREADS", bad, 1);
    try {
      fx::detail::available_threads();
      FAIL_CHECK("no Error");
    } catch (const fx::Error& e) {
      CHECK(std::string(e.what()) ==
            "fx: FX_THREADS is \"" + std::string(bad) + "\": it must be a number from 1 to 64");
    }
  }
  setenv("FX_THREADS", "5", 1);
  CHECK(fx::detail::available_threads() == 5);
  unsetenv("FX_THREADS");
}
