// runtime/hits.cpp -- a call that finds what was compiled takes no lock and no memory from the system: malloc, free and
// pthread_mutex_lock are counted in this binary.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <fx/fx.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAPS 0
#endif
#endif
#if !defined(TRAPS) && defined(__GLIBC__)
#define TRAPS 1
#endif

using fx::Array;

namespace {
struct Counts {
  int mallocs = 0, frees = 0, locks = 0;
};
thread_local Counts counts;
}  // namespace

#if TRAPS
extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT
void* __libc_realloc(void*, std::size_t);         // NOLINT
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT
void __libc_free(void*);                          // NOLINT
void* malloc(std::size_t n) noexcept {            // NOLINT
  ++counts.mallocs;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) noexcept {  // NOLINT
  ++counts.mallocs;
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) noexcept {  // NOLINT
  ++counts.mallocs;
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t align, std::size_t n) noexcept {  // NOLINT
  ++counts.mallocs;
  return __libc_memalign(align, n);
}
void free(void* p) noexcept {  // NOLINT
  ++counts.frees;
  __libc_free(p);
}
int pthread_mutex_lock(pthread_mutex_t* m) noexcept {  // NOLINT
  using Lock = int (*)(pthread_mutex_t*);
  static std::atomic<Lock> next{nullptr};
  if (!next) next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++counts.locks;
  return next.load()(m);
}
}
#endif

namespace {

// What 100 calls of f take after three.
template <class F>
Counts taken(F&& f) {
  for (int i = 0; i < 3; ++i) f();
  const Counts before = counts;
  for (int i = 0; i < 100; ++i) f();
  return {counts.mallocs - before.mallocs, counts.frees - before.frees, counts.locks - before.locks};
}

template <class F>
int cost(F&& f) {
  const Counts c = taken(f);
  return c.mallocs + c.frees + c.locks;
}

bool traps_work() {
#if TRAPS
  std::mutex m;
  std::vector<std::unique_ptr<int>> kept;
  const Counts c = taken([&] {
    const std::lock_guard<std::mutex> lock(m);
    kept.clear();
    kept.push_back(std::make_unique<int>(1));
  });
  REQUIRE(c.mallocs >= 100);
  REQUIRE(c.frees >= 100);
  REQUIRE(c.locks == 100);
  return true;
#else
  MESSAGE("skipped: a sanitizer has taken malloc");
  return false;
#endif
}

struct State {
  Array x, v;
};

const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 7, 8};

TEST_CASE("hits: jitted calls take no lock and no memory from the system") {
  if (!traps_work()) return;
  const Array x(numbers), y(std::vector<float>(9, 2.0f)), w(numbers);
  const auto f = fx::jit([](Array a) { return (a + 1.0f) * 2.0f; });
  CHECK(cost([&] { f(x); }) == 0);
  CHECK(cost([&] { f(x), f(y); }) == 0);
  CHECK(cost([&] { f(f(x)); }) == 0);
  CHECK(cost([&] { f(2.0f); }) == 0);
  const auto captures = fx::jit([&](const Array& a, const Array& b) { return std::pair(a * w, fx::numpy::sum(b)); });
  CHECK(cost([&] { captures(x, y); }) == 0);
  const auto step = fx::jit([](State s) { return State{s.x + 0.1f * s.v, s.v - 0.1f * s.x}; });
  State s{x, x * 0.5f};
  CHECK(cost([&] { s = step(std::move(s)); }) == 0);
  CHECK(step.traces() == 1);
  CHECK(f.traces() == 3);
}
TEST_CASE("hits: eager operations take no lock and no memory from the system") {
  if (!traps_work()) return;
  const Array x(numbers), y(numbers), row(std::vector<float>(24, 1.0f), {3, 8});
  CHECK(cost([&] { x + y; }) == 0);
  CHECK(cost([&] { x + x; }) == 0);
  CHECK(cost([&] { x + 1.0f, 2 * x, row* x; }) == 0);
  CHECK(cost([&] { fx::where(x < y, -x, fx::tanh(y)); }) == 0);
  Array sum = x;
  CHECK(cost([&] { sum += x; }) == 0);
}
TEST_CASE("hits: call_into takes no lock and no memory from the system") {
  if (!traps_work()) return;
  const auto f = fx::jit([](Array a, Array b) { return std::pair(fx::numpy::cumsum(a * 2.0f), fx::numpy::sum(b)); });
  const fx::Compiled c = f.lower(fx::type(fx::f32, {8}), fx::type(fx::f32, {8})).compile();
  const Array room(std::vector<float>(std::size_t(c.workspace() / 4 + 1)));
  alignas(64) float a[16] = {1, 2, 3}, b[16] = {4, 5, 6}, total[16], running[16];
  const fx::Buffer in[] = {{a, 32}, {b, 32}}, out[] = {{running, 32}, {total, 32}};
  void* work = const_cast<float*>(room.view<float>().data());
  CHECK(cost([&] { c.call_into(in, out, work); }) == 0);
  CHECK(running[2] == 12);
  CHECK(total[0] == 15);
}
TEST_CASE("hits: calls that a trace file is made of take no lock and no memory either") {
  if (!traps_work()) return;
  const std::string path = "/tmp/fx_hits_" + std::to_string(getpid()) + ".json";
  const Array x(numbers);
  const auto f = fx::jit([](Array a) { return (a + 1.0f) * 2.0f; });
  {
    const fx::profile::Scope scope(path);
    CHECK(cost([&] { f(x), x + x; }) == 0);
  }
  CHECK(cost([&] { f(x), x + x; }) == 0);
  unlink(path.c_str());
}
TEST_CASE("hits: on another thread, once it has run") {
  if (!traps_work()) return;
  const Array x(numbers);
  const auto f = fx::jit([](Array a) { return a * 3.0f; });
  f(x);
  int c = -1;
  std::thread([&] { c = cost([&] { f(x), x + x; }); }).join();
  CHECK(c == 0);
}

}  // namespace
