// runtime/buffers_pool.hpp -- the size-class cache behind `allocate`: free lists of a thread, and shared ones.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "buffers.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FX_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FX_ASAN 1
#endif
#endif
#ifdef FX_ASAN  // of sanitizer/asan_interface.h, which not every compiler's package carries
extern "C" void __asan_poison_memory_region(const volatile void* at, std::size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void* at, std::size_t size);
#endif

namespace fx::inline v0::detail {

// Classes hold 2^k and 1.5 * 2^k bytes of data and slack, from 128 bytes on.
inline constexpr int size_classes = 80;
inline constexpr std::int64_t block_header = 64, block_slack = 64, large_block = std::int64_t(2) << 20;
inline constexpr std::int64_t largest_allocation = std::int64_t(1) << 46;
// A thread keeps at most this many blocks and bytes of one class.
inline constexpr int thread_block_limit = 256;
inline constexpr std::int64_t thread_bytes = std::int64_t(4) << 20;

constexpr std::int64_t class_bytes(int c) { return std::int64_t(c % 2 ? 192 : 128) << (c / 2); }
constexpr int class_of(std::int64_t bytes) {
  if (bytes <= 128) return 0;
  const int k = 63 - __builtin_clzll(std::uint64_t(bytes - 1));  // 2^k < bytes <= 2^(k+1)
  return bytes <= (std::int64_t(3) << (k - 1)) ? 2 * (k - 7) + 1 : 2 * (k - 6);
}

// A free block, and what outlives the Storage object in a block's header.
struct FreeBlock {
  FreeBlock* next = nullptr;
};
struct BlockInfo {
  int size_class = 0;
};
inline constexpr std::int64_t block_info_at = 48;
static_assert(sizeof(Storage) <= std::size_t(block_info_at) &&
              sizeof(BlockInfo) + block_info_at <= std::size_t(block_header));

inline BlockInfo& block_info(void* block) {
  return *reinterpret_cast<BlockInfo*>(static_cast<char*>(block) + block_info_at);
}

// Cached data is poisoned under AddressSanitizer, so a use after release is found although the block lives on.
inline void hide_block([[maybe_unused]] void* block, [[maybe_unused]] int c) {
#ifdef FX_ASAN
  __asan_poison_memory_region(static_cast<char*>(block) + block_header, std::size_t(class_bytes(c)));
#endif
}
inline void show_block([[maybe_unused]] void* block, [[maybe_unused]] int c, [[maybe_unused]] std::int64_t bytes) {
#ifdef FX_ASAN
  __asan_poison_memory_region(static_cast<char*>(block) + block_header, std::size_t(class_bytes(c)));
  __asan_unpoison_memory_region(static_cast<char*>(block) + block_header, std::size_t(bytes + block_slack));
#endif
}

// Bytes in living Storages, and in free blocks. One thread writes, all may read.
struct BlockCounts {
  std::atomic<std::int64_t> allocated{0}, cached{0};
};
inline void add(std::atomic<std::int64_t>& own, std::int64_t n) {
  own.store(own.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

struct ThreadBlocks;
struct SharedBlocks {
  std::mutex mutex;
  FreeBlock* free[size_classes]{};
  std::int64_t bytes = 0;                      // in `free`
  std::int64_t limit = std::int64_t(1) << 30;  // of `bytes`
  ThreadBlocks* threads = nullptr;
  BlockCounts gone;  // of threads that have ended
};

// Leaked on purpose: Storages may be released by destructors of static objects.
FX_SHARED FX_INLINE SharedBlocks& shared_blocks() {
  static SharedBlocks* s = [] {
    SharedBlocks* made = new SharedBlocks;
    const std::int64_t memory = std::int64_t(sysconf(_SC_PHYS_PAGES)) * std::int64_t(sysconf(_SC_PAGESIZE));
    if (memory > 0 && memory / 8 < made->limit) made->limit = memory / 8;
    return made;
  }();
  return *s;
}

// The free lists of one thread.
struct ThreadBlocks {
  FreeBlock* free[size_classes]{};
  int count[size_classes]{};
  BlockCounts counts;
  int fail_after = -1;
  void* work = nullptr;  // a block for workspaces
  int work_class = -1;
  bool work_used = false;
  ThreadBlocks *next = nullptr, **at = nullptr;  // in the list of all threads

  ThreadBlocks();
  ~ThreadBlocks();
  void give_to_all();
  bool refuses() {
    if (fail_after <= 0 || --fail_after > 0) return false;
    fail_after = -1;
    return true;
  }
};

// The lists of this thread; null before it has some, and when they are gone: they die before objects of longer life
// release their Storages.
FX_SHARED FX_INLINE ThreadBlocks*& thread_blocks_here() {
  static thread_local ThreadBlocks* t = nullptr;
  return t;
}
FX_SHARED FX_INLINE ThreadBlocks* start_thread_blocks() {
  static thread_local bool started = false;
  if (started) return nullptr;
  started = true;
  static thread_local ThreadBlocks t;
  return &t;
}
FX_INLINE ThreadBlocks* thread_blocks() {
  ThreadBlocks* t = thread_blocks_here();
  return t ? t : start_thread_blocks();
}

// t: the lists of this thread, or null.
FX_INLINE void count_allocated(ThreadBlocks* t, std::int64_t n) {
  if (t) return add(t->counts.allocated, n);
  shared_blocks().gone.allocated.fetch_add(n, std::memory_order_relaxed);
}
FX_INLINE void count_cached(ThreadBlocks* t, std::int64_t n) {
  if (t) return add(t->counts.cached, n);
  shared_blocks().gone.cached.fetch_add(n, std::memory_order_relaxed);
}

FX_INLINE void return_block(void* block, int c) {
#ifdef FX_ASAN
  __asan_unpoison_memory_region(static_cast<char*>(block) + block_header, std::size_t(class_bytes(c)));
#endif
  (void)c;
  std::free(block);
}

FX_INLINE void share_block(void* block, int c) {
  SharedBlocks& s = shared_blocks();
  {
    std::lock_guard<std::mutex> lock(s.mutex);
    if (s.bytes + class_bytes(c) <= s.limit) {
      s.free[c] = new (block) FreeBlock{s.free[c]};
      s.bytes += class_bytes(c);
      return;
    }
  }
  count_cached(thread_blocks_here(), -class_bytes(c));
  return_block(block, c);
}

FX_INLINE void* take_shared(int c) {
  SharedBlocks& s = shared_blocks();
  std::lock_guard<std::mutex> lock(s.mutex);
  FreeBlock* b = s.free[c];
  if (!b) return nullptr;
  s.free[c] = b->next;
  s.bytes -= class_bytes(c);
  return b;
}

FX_INLINE void* fresh_block(int c) {
  const std::int64_t total = block_header + class_bytes(c);
  const bool large = total >= large_block;
  const std::int64_t align = large ? large_block : 64, padded = (total + align - 1) / align * align;
  void* p = std::aligned_alloc(std::size_t(align), std::size_t(padded));
  if (p && large) madvise(p, std::size_t(padded), MADV_HUGEPAGE);  // fewer first touches; no harm where it is refused
  return p;
}

// A block of class c, or null. t: the lists of this thread, or null.
FX_INLINE void* take_block(ThreadBlocks* t, int c) {
  if (t)
    if (FreeBlock* b = t->free[c]) {
      t->free[c] = b->next;
      --t->count[c];
      add(t->counts.cached, -class_bytes(c));
      return b;
    }
  if (void* b = take_shared(c)) {
    count_cached(t, -class_bytes(c));
    return b;
  }
  if (void* b = fresh_block(c)) return b;
  release_cached_memory();
  return fresh_block(c);
}
FX_INLINE void give_block(ThreadBlocks* t, void* block, int c) {
  const std::int64_t size = class_bytes(c);
  count_cached(t, size);
  if (t && size < large_block && t->count[c] < thread_block_limit && (t->count[c] + 1) * size <= thread_bytes) {
    t->free[c] = new (block) FreeBlock{t->free[c]};
    ++t->count[c];
    return;
  }
  share_block(block, c);
}

FX_INLINE ThreadBlocks::ThreadBlocks() {
  SharedBlocks& s = shared_blocks();
  std::lock_guard<std::mutex> lock(s.mutex);
  next = s.threads;
  at = &s.threads;
  if (next) next->at = &next;
  s.threads = this;
  thread_blocks_here() = this;
}
FX_INLINE ThreadBlocks::~ThreadBlocks() {
  give_to_all();
  thread_blocks_here() = nullptr;
  SharedBlocks& s = shared_blocks();
  std::lock_guard<std::mutex> lock(s.mutex);
  *at = next;
  if (next) next->at = at;
  s.gone.allocated.fetch_add(counts.allocated, std::memory_order_relaxed);
  s.gone.cached.fetch_add(counts.cached, std::memory_order_relaxed);
}
FX_INLINE void ThreadBlocks::give_to_all() {
  if (work && !work_used) {
    share_block(work, work_class);
    work = nullptr;
    work_class = -1;
  }
  for (int c = 0; c < size_classes; ++c) {
    while (FreeBlock* b = free[c]) {
      free[c] = b->next;
      share_block(b, c);
    }
    count[c] = 0;
  }
}

FX_INLINE void fail_allocation_after(int n) { thread_blocks()->fail_after = n; }
[[noreturn]] FX_INLINE void fail_no_memory(std::int64_t bytes) {
  fail(ErrorCode::memory, "no memory is left for " + std::to_string(bytes) + " bytes");
}

// AddressSanitizer sees each object on its own.
FX_INLINE void* take_small() {
#ifdef FX_ASAN
  void* p = std::malloc(small_bytes);
#else
  static_assert(small_bytes == std::size_t(block_header + class_bytes(0)));
  void* p = take_block(thread_blocks(), 0);
#endif
  if (!p) fail_no_memory(small_bytes);
  return p;
}
FX_INLINE void give_small(void* p) noexcept {
#ifdef FX_ASAN
  std::free(p);
#else
  give_block(thread_blocks(), p, 0);
#endif
}

FX_INLINE void Workspace::take(std::int64_t bytes) {
  ThreadBlocks* t = thread_blocks();
  if (!t || t->work_used || bytes > thread_bytes) {
    own_ = allocate(bytes);
    data_ = own_->data;
    return;
  }
  if (t->refuses()) fail_no_memory(bytes);
  const int c = class_of(bytes + block_slack);
  if (c > t->work_class) {
    void* larger = take_block(t, c);
    if (!larger) fail_no_memory(bytes);
    if (t->work) share_block(t->work, t->work_class);
    t->work = larger;
    t->work_class = c;
    add(t->counts.cached, class_bytes(c));
  }
  show_block(t->work, t->work_class, bytes);
  t->work_used = of_thread_ = true;
  data_ = static_cast<char*>(t->work) + block_header;
}
FX_INLINE void Workspace::give() {
  ThreadBlocks* t = thread_blocks_here();
  t->work_used = false;
  hide_block(t->work, t->work_class);
}

}  // namespace fx::inline v0::detail

namespace fx::inline v0 {

FX_INLINE Ref<Storage> allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > detail::largest_allocation)
    fail(ErrorCode::memory, "an array is too large: " + (bytes < 0 ? std::string("its size overflows 64 bits")
                                                                   : std::to_string(bytes) + " bytes"));
  const int c = detail::class_of(bytes + detail::block_slack);
  detail::ThreadBlocks* t = detail::thread_blocks();
  void* block = t && t->refuses() ? nullptr : detail::take_block(t, c);
  if (!block) detail::fail_no_memory(bytes);
  detail::show_block(block, c, bytes);
  detail::block_info(block).size_class = c;
  Storage* s = new (block) Storage;
  s->data = static_cast<char*>(block) + detail::block_header;
  s->bytes = bytes;
  detail::count_allocated(t, bytes);
  return Ref<Storage>(s);
}

FX_INLINE Storage::~Storage() { detail::count_allocated(detail::thread_blocks(), -bytes); }

FX_INLINE void Storage::operator delete(void* block) noexcept {
  const int c = detail::block_info(block).size_class;
  detail::hide_block(block, c);
  detail::give_block(detail::thread_blocks(), block, c);
}

FX_INLINE MemoryStats memory_stats() {
  detail::SharedBlocks& s = detail::shared_blocks();
  std::lock_guard<std::mutex> lock(s.mutex);
  MemoryStats sum{s.gone.allocated, s.gone.cached};
  for (const detail::ThreadBlocks* t = s.threads; t; t = t->next) {
    sum.allocated += t->counts.allocated;
    sum.cached += t->counts.cached;
  }
  return sum;
}

FX_INLINE void release_cached_memory() {
  if (detail::ThreadBlocks* t = detail::thread_blocks()) t->give_to_all();
  for (int c = 0; c < detail::size_classes; ++c)
    while (void* b = detail::take_shared(c)) {
      detail::count_cached(detail::thread_blocks_here(), -detail::class_bytes(c));
      detail::return_block(b, c);
    }
}

}  // namespace fx::inline v0
