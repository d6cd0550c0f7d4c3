// runtime/buffers.hpp -- Storage, the memory of one array, from a cache of size classes: fresh pages are slow to touch.
//
// A block is a 64-byte header (the Storage object and its size class), the data, and at least 64 spare bytes, so that
// vector code may read past the end. Small blocks go back to a free list of their thread, large ones and the overflow
// to a shared one; what exceeds its limit returns to the system. What a thread finds in its own lists costs
// no lock and no atomic operation: it counts for itself, and who asks for the counts sums them.
#pragma once
#include "../base/error.hpp"
#include "../base/ref.hpp"

namespace fx::inline v0 {

// The memory of one array: 64-byte aligned, with 64 readable bytes of slack after its end. Made by `allocate`.
struct Storage : Shared {
  void* data = nullptr;
  std::int64_t bytes = 0;

  ~Storage();
  static void operator delete(void* block) noexcept;

 private:
  Storage() = default;
  friend Ref<Storage> allocate(std::int64_t bytes);
  static void* operator new(std::size_t, void* at) noexcept { return at; }
};

// Uninitialised memory. Errors (memory): a size that no machine has (negative: it overflowed), or none is left.
Ref<Storage> allocate(std::int64_t bytes);

// What the allocator holds, in bytes over all threads.
struct MemoryStats {
  std::int64_t allocated = 0;  // in living Storages
  std::int64_t cached = 0;     // in free blocks that wait to be used again
};
MemoryStats memory_stats();
// Returns the free blocks of this thread and the shared ones to the system.
void release_cached_memory();

namespace detail {
// For tests: the n-th demand for an array or a workspace from now on this thread fails, once; -1: none does.
void fail_allocation_after(int n);

// Memory of the same free lists for objects that come and go with arrays.
inline constexpr std::size_t small_bytes = 192;
void* take_small();
void give_small(void* p) noexcept;

// 64-byte aligned memory for the duration of one run: the thread keeps it, unless it is large. Errors (memory).
class Workspace {
  Ref<Storage> own_;
  void* data_ = nullptr;
  bool of_thread_ = false;

 public:
  explicit Workspace(std::int64_t bytes) {
    if (bytes > 0) take(bytes);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (of_thread_) give();
  }
  void* data() const { return data_; }

 private:
  void take(std::int64_t bytes);
  void give();
};
}  // namespace detail

}  // namespace fx::inline v0

#if FX_BODIES
#include "buffers_pool.hpp"
#endif
