// code/memory_arena.hpp -- the arena behind CodeBlock.
#pragma once
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "memory.hpp"

#if defined(__linux__) && defined(__x86_64__)
#include <pthread.h>
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
  static constexpr std::int64_t start = 64;  // some sanitizers look at what lies before a function

  Arena() {
#if defined(__linux__) && defined(__x86_64__)
    const int file = new_file();
    if (file < 0) return;
    map(file);
    close(file);
    if (!usable()) return;
    free_.push_back({start, capacity - start});
    current_ = this;
    pthread_atfork([] { current_->before_fork(); }, [] { current_->after_fork(false); },
                   [] { current_->after_fork(true); });
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
    top_ = at + bytes > top_ ? at + bytes : top_;
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
  std::int64_t top_ = start;  // nothing was ever written from here on
  int fork_file_ = -1;
  static inline Arena* current_ = nullptr;

#if defined(__linux__) && defined(__x86_64__)
  static int new_file() {
    const int file = memfd_create("fx code", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, capacity) == 0) return file;
    if (file >= 0) close(file);
    return -1;
  }
  // Maps the file, to execute where code is executed now if there is any. Leaves things as they are if it fails.
  void map(int file) {
    void* w = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (w == MAP_FAILED) return;
    const int fixed = execute_ ? MAP_FIXED : 0;
    void* x = mmap(const_cast<char*>(execute_), capacity, PROT_READ | PROT_EXEC, MAP_SHARED | fixed, file, 0);
    if (x == MAP_FAILED) {
      munmap(w, capacity);
      return;
    }
    if (write_) munmap(write_, capacity);
    write_ = static_cast<char*>(w);
    execute_ = static_cast<const char*>(x);
  }
  // A forked process gets a file of its own with the same code: it and its parent write at the same places.
  void before_fork() {
    mutex_.lock();
    fork_file_ = new_file();
    for (std::int64_t at = 0; fork_file_ >= 0 && at < top_;) {
      const auto n = pwrite(fork_file_, execute_ + at, std::size_t(top_ - at), at);
      if (n > 0) {
        at += n;
        continue;
      }
      close(fork_file_);
      fork_file_ = -1;
    }
  }
  void after_fork(bool child) {
    if (fork_file_ >= 0) {
      if (child) map(fork_file_);
      close(fork_file_);
    } else if (child) {
      free_.clear();  // it keeps its code and makes no more
    }
    mutex_.unlock();
  }
#endif
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
