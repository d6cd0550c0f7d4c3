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
inline constexpr int thread_blocks = 32;
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

struct SharedBlocks {
  std::mutex mutex;
  FreeBlock* free[size_classes]{};
  std::int64_t bytes = 0;                      // in `free`
  std::int64_t limit = std::int64_t(1) << 30;  // of `bytes`
  std::atomic<std::int64_t> allocated{0}, cached{0};
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
  s.cached.fetch_sub(class_bytes(c), std::memory_order_relaxed);
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

// Whether the free lists of this thread are gone: they die before objects of longer life release their Storages.
FX_SHARED FX_INLINE bool& thread_blocks_gone() {
  static thread_local bool gone = false;
  return gone;
}

// The free lists of one thread.
struct ThreadBlocks {
  FreeBlock* free[size_classes]{};
  int count[size_classes]{};
  int fail_after = -1;

  void give_to_all() {
    for (int c = 0; c < size_classes; ++c) {
      while (FreeBlock* b = free[c]) {
        free[c] = b->next;
        share_block(b, c);
      }
      count[c] = 0;
    }
  }
  ~ThreadBlocks() {
    thread_blocks_gone() = true;
    give_to_all();
  }
};
FX_SHARED FX_INLINE ThreadBlocks& thread_blocks_of_this() {
  static thread_local ThreadBlocks t;
  return t;
}

FX_INLINE void* fresh_block(int c) {
  const std::int64_t total = block_header + class_bytes(c);
  const bool large = total >= large_block;
  const std::int64_t align = large ? large_block : 64, padded = (total + align - 1) / align * align;
  void* p = std::aligned_alloc(std::size_t(align), std::size_t(padded));
  if (p && large) madvise(p, std::size_t(padded), MADV_HUGEPAGE);  // fewer first touches; no harm where it is refused
  return p;
}

FX_INLINE void* find_block(int c) {
  SharedBlocks& s = shared_blocks();
  if (!thread_blocks_gone()) {
    ThreadBlocks& t = thread_blocks_of_this();
    if (t.fail_after > 0 && --t.fail_after == 0) {
      t.fail_after = -1;
      return nullptr;
    }
    if (FreeBlock* b = t.free[c]) {
      t.free[c] = b->next;
      --t.count[c];
      s.cached.fetch_sub(class_bytes(c), std::memory_order_relaxed);
      return b;
    }
  }
  if (void* b = take_shared(c)) {
    s.cached.fetch_sub(class_bytes(c), std::memory_order_relaxed);
    return b;
  }
  if (void* b = fresh_block(c)) return b;
  release_cached_memory();
  return fresh_block(c);
}

FX_INLINE void fail_allocation_after(int n) { thread_blocks_of_this().fail_after = n; }

}  // namespace fx::inline v0::detail

namespace fx::inline v0 {

FX_INLINE Ref<Storage> allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > detail::largest_allocation)
    fail(ErrorCode::memory, "an array is too large: " + (bytes < 0 ? std::string("its size overflows 64 bits")
                                                                   : std::to_string(bytes) + " bytes"));
  const int c = detail::class_of(bytes + detail::block_slack);
  void* block = detail::find_block(c);
  if (!block) fail(ErrorCode::memory, "no memory is left for " + std::to_string(bytes) + " bytes");
  detail::show_block(block, c, bytes);
  detail::block_info(block).size_class = c;
  Storage* s = new (block) Storage;
  s->data = static_cast<char*>(block) + detail::block_header;
  s->bytes = bytes;
  detail::shared_blocks().allocated.fetch_add(bytes, std::memory_order_relaxed);
  return Ref<Storage>(s);
}

FX_INLINE Storage::~Storage() { detail::shared_blocks().allocated.fetch_sub(bytes, std::memory_order_relaxed); }

FX_INLINE void Storage::operator delete(void* block) noexcept {
  const int c = detail::block_info(block).size_class;
  const std::int64_t size = detail::class_bytes(c);
  detail::SharedBlocks& s = detail::shared_blocks();
  detail::hide_block(block, c);
  s.cached.fetch_add(size, std::memory_order_relaxed);
  if (size < detail::large_block && !detail::thread_blocks_gone()) {
    detail::ThreadBlocks& t = detail::thread_blocks_of_this();
    if (t.count[c] < detail::thread_blocks && (t.count[c] + 1) * size <= detail::thread_bytes) {
      t.free[c] = new (block) detail::FreeBlock{t.free[c]};
      ++t.count[c];
      return;
    }
  }
  detail::share_block(block, c);
}

FX_INLINE MemoryStats memory_stats() {
  detail::SharedBlocks& s = detail::shared_blocks();
  return {s.allocated.load(std::memory_order_relaxed), s.cached.load(std::memory_order_relaxed)};
}

FX_INLINE void release_cached_memory() {
  if (!detail::thread_blocks_gone()) detail::thread_blocks_of_this().give_to_all();
  detail::SharedBlocks& s = detail::shared_blocks();
  for (int c = 0; c < detail::size_classes; ++c)
    while (void* b = detail::take_shared(c)) {
      s.cached.fetch_sub(detail::class_bytes(c), std::memory_order_relaxed);
      detail::return_block(b, c);
    }
}

}  // namespace fx::inline v0
