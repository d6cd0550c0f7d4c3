// runtime/workers_pool.hpp -- the bodies of runtime/workers.hpp.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <cstdlib>
#include <string>

#include "workers.hpp"

namespace fx::inline v0 {
namespace detail {
inline constexpr int most_threads = 64;

struct Invitation {
  void (*work)(void*, int);
  void* data;
};

// A worker and its mailbox: 0 (idle), an Invitation, or an accepted one (its address + 1). Only the worker accepts and
// empties; only a caller whose invitation it is takes that back. A mailbox lives as long as the process, so a caller
// may wait on it however soon the worker goes on.
struct alignas(64) Worker {
  std::atomic<std::uintptr_t> mail{0};
  int number = 0;

  void run() {
    for (;;) {
      std::uintptr_t m = mail.load(std::memory_order_acquire);
      for (int i = 0; i < 4000 && m == 0; ++i) {  // kernels of one call follow each other closely
        pause();
        m = mail.load(std::memory_order_acquire);
      }
      if (m == 0) {
        mail.wait(0, std::memory_order_acquire);
        continue;
      }
      if (!mail.compare_exchange_strong(m, m | 1, std::memory_order_acquire)) continue;
      const Invitation& i = *reinterpret_cast<const Invitation*>(m);
      i.work(i.data, number);
      mail.store(0, std::memory_order_release);
      mail.notify_all();
    }
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
};

// Never destroyed: its threads sleep until the process ends. After a fork there are none, and calls of the child find
// mailboxes that nobody empties: they take their invitations back.
struct Workers {
  Worker worker[most_threads];
  std::atomic<int> limit{0};    // what threads() says, 0 before it was asked
  std::atomic<int> started{1};  // numbers below have a thread, or nearly so; 0 is the caller

  void start(int n) {
    for (int i = started.load(std::memory_order_acquire); i < n;) {
      if (!started.compare_exchange_strong(i, i + 1)) continue;
      Worker& w = worker[i];
      w.number = i++;
      pthread_t thread;
      auto run = [](void* self) -> void* {
        static_cast<Worker*>(self)->run();
        return nullptr;
      };
      sigset_t all, before;  // signals are for the program's own threads
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      if (pthread_create(&thread, nullptr, run, &w) == 0) pthread_detach(thread);
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      // Where there are no more threads to be had, invitations are taken back.
    }
  }
};
FX_SHARED FX_INLINE Workers& workers() {
  static Workers* w = new Workers;
  return *w;
}

FX_INLINE int available_threads() {
  if (const char* given = std::getenv("FX_THREADS"); given && *given) {
    char* end = nullptr;
    const long n = std::strtol(given, &end, 10);
    if (*end == 0 && n >= 1 && n <= most_threads) return int(n);
    fail(ErrorCode::value,
         "FX_THREADS is \"" + std::string(given) + "\": it must be a number from 1 to " + std::to_string(most_threads));
  }
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < most_threads ? n : most_threads;
}

FX_INLINE void share_work(int most, void (*work)(void* data, int who), void* data) {
  Workers& all = workers();
  if (most > most_threads) most = most_threads;
  all.start(most);
  const Invitation invitation{work, data};
  const std::uintptr_t mine = reinterpret_cast<std::uintptr_t>(&invitation);
  std::uint64_t invited = 0;
  for (int i = 1; i < most; ++i) {
    std::uintptr_t idle = 0;
    if (!all.worker[i].mail.compare_exchange_strong(idle, mine, std::memory_order_release)) continue;
    invited |= std::uint64_t(1) << i;
    all.worker[i].mail.notify_all();
  }
  work(data, 0);
  for (int i = 1; i < most; ++i) {
    if (!(invited >> i & 1)) continue;
    std::atomic<std::uintptr_t>& mail = all.worker[i].mail;
    std::uintptr_t m = mine;
    if (mail.compare_exchange_strong(m, 0, std::memory_order_acquire)) continue;
    for (int spins = 0; m == (mine | 1); m = mail.load(std::memory_order_acquire))
      if (++spins < 4000)
        Worker::pause();
      else
        mail.wait(m, std::memory_order_acquire);
  }
}
}  // namespace detail

FX_INLINE int threads() {
  std::atomic<int>& limit = detail::workers().limit;
  if (const int n = limit.load(std::memory_order_relaxed)) return n;
  int none = 0;
  const int n = detail::available_threads();
  return limit.compare_exchange_strong(none, n) ? n : none;
}

FX_INLINE void set_threads(int n, Loc loc) {
  if (n < 1 || n > detail::most_threads)
    fail(ErrorCode::value,
         "set_threads: " + std::to_string(n) + " threads: it must be a number from 1 to " +
             std::to_string(detail::most_threads),
         loc);
  detail::workers().limit.store(n, std::memory_order_relaxed);
}

}  // namespace fx::inline v0
