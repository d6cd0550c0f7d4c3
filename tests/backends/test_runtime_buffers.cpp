// Storage: alignment, slack, reuse, limits, failure.
#include <doctest/doctest.h>

#include <cstring>
#include <fx/runtime/buffers.hpp>
#include <string>
#include <vector>

using namespace fx;

TEST_CASE("buffers: aligned, writable to the end, slack behind") {
  for (std::int64_t n : {0, 1, 63, 64, 65, 127, 128, 129, 1000, 4096, 100000, 3 << 20}) {
    Ref<Storage> s = allocate(n);
    CHECK(s->bytes == n);
    CHECK(reinterpret_cast<std::uintptr_t>(s->data) % 64 == 0);
    std::memset(s->data, 1, std::size_t(n) + 64);
  }
}

TEST_CASE("buffers: size classes hold what they are asked for, and waste at most half") {
  for (std::int64_t n = 0; n < 3000000; n = n * 9 / 8 + 1) {
    release_cached_memory();
    allocate(n);
    const std::int64_t block = memory_stats().cached, needed = n + 64;
    CHECK(block >= needed);
    if (needed > 128) CHECK(block <= needed + needed / 2);
  }
  release_cached_memory();
}

TEST_CASE("buffers: a released block is used again") {
  release_cached_memory();
  void* first = allocate(5000)->data;
  CHECK(memory_stats().cached > 0);
  CHECK(allocate(5000)->data == first);
  void* large = allocate(std::int64_t(8) << 20)->data;
  CHECK(allocate(std::int64_t(8) << 20)->data == large);
  release_cached_memory();
  CHECK(memory_stats().cached == 0);
}

TEST_CASE("buffers: what lives is counted") {
  const std::int64_t before = memory_stats().allocated;
  {
    Ref<Storage> a = allocate(1000), b = a, c = allocate(24);
    CHECK(memory_stats().allocated == before + 1024);
    a = Ref<Storage>();
    CHECK(memory_stats().allocated == before + 1024);
  }
  CHECK(memory_stats().allocated == before);
}

TEST_CASE("buffers: many blocks wait, and go back when asked") {
  release_cached_memory();
  std::vector<Ref<Storage>> many;
  for (int i = 0; i < 100; ++i) many.push_back(allocate(1 << 16));
  many.clear();
  CHECK(memory_stats().cached >= 100 * (1 << 16));
  release_cached_memory();
  CHECK(memory_stats().cached == 0);
}

TEST_CASE("buffers: impossible sizes and failing memory are Errors that name the bytes") {
  for (std::int64_t n : {std::int64_t(-1), INT64_MIN, std::int64_t(1) << 50, INT64_MAX}) {
    try {
      allocate(n);
      FAIL("no Error");
    } catch (const Error& e) {
      CHECK(e.code == ErrorCode::memory);
      if (n > 0) CHECK(std::string(e.what()).find(std::to_string(n)) != std::string::npos);
    }
  }
  detail::fail_allocation_after(2);
  allocate(10);
  try {
    allocate(12345);
    FAIL("no Error");
  } catch (const Error& e) {
    CHECK(e.code == ErrorCode::memory);
    CHECK(std::string(e.what()).find("12345 bytes") != std::string::npos);
  }
  allocate(10);
  detail::fail_allocation_after(1);
  detail::fail_allocation_after(-1);
  allocate(10);
}
