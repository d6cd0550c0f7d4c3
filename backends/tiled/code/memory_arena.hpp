// code/memory_arena.hpp -- the arena behind CodeBlock.
#pragma once
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "memory.hpp"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#if FX_BODIES
namespace fx::inline v0::tiled::code {
namespace detail {

// Address space for all code of the process; pages are taken when they are first written.
class Arena {
 public:
  struct Free {
    std::int64_t at, bytes;
  };
  static constexpr std::int64_t capacity = std::int64_t(1) << 28;

  Arena() {
#if defined(__linux__) && defined(__x86_64__)
    const int file = memfd_create("fx code", MFD_CLOEXEC);
    if (file < 0) return;
    void *w = MAP_FAILED, *x = MAP_FAILED;
    if (ftruncate(file, capacity) == 0) {
      w = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      x = mmap(nullptr, capacity, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    }
    close(file);
    if (w != MAP_FAILED && x != MAP_FAILED) {
      write_ = static_cast<char*>(w);
      execute_ = static_cast<const char*>(x);
      free_.push_back({0, capacity});
      return;
    }
    if (w != MAP_FAILED) munmap(w, capacity);
    if (x != MAP_FAILED) munmap(x, capacity);
#endif
  }
  bool usable() const { return execute_ != nullptr; }
  const void* at(std::int64_t offset) const { return execute_ + offset; }

  // The lowest place with enough room, so that no page is touched while used ones have room; -1 if there is none.
  std::int64_t take(Span<const std::uint8_t> code, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    Free* best = nullptr;
    for (Free& f : free_)
      if (f.bytes >= bytes && (!best || f.at < best->at)) best = &f;
    if (!best) return -1;
    const std::int64_t at = best->at;
    best->at += bytes;
    best->bytes -= bytes;
    if (best->bytes == 0) remove(*best);
    std::memcpy(write_ + at, code.begin(), std::size_t(code.size()));
    return at;
  }
  // Never throws: what finds no place in the list is not used again.
  void give_back(std::int64_t at, std::int64_t bytes) noexcept try {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < free_.size();) {
      const Free f = free_[i];
      if (f.at + f.bytes != at && at + bytes != f.at) {
        ++i;
        continue;
      }
      at = f.at < at ? f.at : at;
      bytes += f.bytes;
      remove(free_[i]);
    }
    free_.push_back({at, bytes});
  } catch (...) {}

 private:
  char* write_ = nullptr;
  const char* execute_ = nullptr;
  std::mutex mutex_;
  Vec<Free> free_;
  void remove(Free& f) {
    f = free_.back();
    free_.pop_back();
  }
};

// Leaked on purpose: code may run while static objects die.
FX_SHARED FX_INLINE Arena& arena() {
  static Arena* a = new Arena;
  return *a;
}
}  // namespace detail

FX_SHARED inline std::atomic<bool>& executable_memory_forbidden() {
  static std::atomic<bool> forbidden{false};
  return forbidden;
}
FX_INLINE void forbid_executable_memory(bool on) { executable_memory_forbidden().store(on, std::memory_order_relaxed); }
FX_INLINE bool executable_memory() {
  return !executable_memory_forbidden().load(std::memory_order_relaxed) && detail::arena().usable();
}

FX_INLINE CodeBlock::CodeBlock(Span<const std::uint8_t> code) {
  detail::Arena& a = detail::arena();
  if (!a.usable()) return;
  bytes_ = (code.size() + 63) / 64 * 64;
  at_ = a.take(code, bytes_);
  if (at_ >= 0) entry_ = a.at(at_);
}
FX_INLINE CodeBlock::CodeBlock(CodeBlock&& o) noexcept
    : entry_(std::exchange(o.entry_, nullptr)), at_(o.at_), bytes_(o.bytes_) {}
FX_INLINE CodeBlock& CodeBlock::operator=(CodeBlock&& o) noexcept {
  std::swap(entry_, o.entry_);
  std::swap(at_, o.at_);
  std::swap(bytes_, o.bytes_);
  return *this;
}
FX_INLINE CodeBlock::~CodeBlock() {
  if (entry_) detail::arena().give_back(at_, bytes_);
}

}  // namespace fx::inline v0::tiled::code
#endif
