// runtime/workers.hpp -- Workers: threads that help a call with the parts of a large kernel.
//
// A caller invites the workers that are idle and takes parts itself until none is left. Then it takes back the
// invitations that nobody has accepted, and waits for the others: never for a thread that has not started. Nothing here
// locks or allocates, except that the threads themselves start at the first large kernel of the process.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "../base/error.hpp"

namespace fx::inline v0 {

// How many threads a call may use, itself included: FX_THREADS if that is set, else the processors this process may run
// on, at most 64. No result depends on it. 1: calls stay on their own thread.
int threads();
// Sets it, for calls of what is compiled from now on; fewer threads also hold for what is compiled already. Errors
// (value): less than 1 or more than 64.
void set_threads(int n, Loc loc = Loc::here());

namespace detail {
int available_threads();  // what threads() is if nobody sets it

// Hands out the numbers of parts, each once, to at most `callers` threads.
class Parts {
  std::atomic<std::int64_t> next_{0};
  int callers_;

 public:
  explicit Parts(int callers) : callers_(callers) {}
  int callers() const { return callers_; }
  std::int64_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }
};

// Calls work(data, who) on this thread with who = 0, and meanwhile on up to `most` - 1 idle workers with who from 1 to
// most - 1, each number at most once. Returns when all have returned. Work takes its parts from a Parts, so that it is
// done when one of the calls is; it throws nothing.
void share_work(int most, void (*work)(void* data, int who), void* data);
template <class F>
void share_work(int most, F&& f) {
  share_work(
      most, [](void* data, int who) { (*static_cast<std::remove_reference_t<F>*>(data))(who); }, &f);
}
}  // namespace detail

}  // namespace fx::inline v0

#if FX_BODIES
#include "workers_pool.hpp"
#endif
