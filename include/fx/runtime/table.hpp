// runtime/table.hpp -- Table<T>: a hash table of entries that only grows, read without locks.
#pragma once
#include <atomic>
#include <cstdint>

namespace fx::inline v0::detail {

// Entries belong to the owner, have a member `hash`, and live as long as the table. find: any thread, at any time.
// insert: one thread at a time.
template <class T>
class Table {
  struct Slots {
    unsigned mask;
    Slots* older;  // readers may still be in it
    std::atomic<T*>* at;
  };
  std::atomic<Slots*> slots_{nullptr};
  unsigned count_ = 0;

  static void put(const Slots& s, T* e) {
    unsigned i = unsigned(e->hash) & s.mask;
    while (s.at[i].load(std::memory_order_relaxed)) i = (i + 1) & s.mask;
    s.at[i].store(e, std::memory_order_release);
  }
  Slots* grow(Slots* old) {
    const unsigned size = old ? 4 * (old->mask + 1) : 8;
    Slots* s = new Slots{size - 1, old, new std::atomic<T*>[size]()};
    for (unsigned i = 0; old && i <= old->mask; ++i)
      if (T* e = old->at[i].load(std::memory_order_relaxed)) put(*s, e);
    slots_.store(s, std::memory_order_release);
    return s;
  }

 public:
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    for (Slots *s = slots_.load(std::memory_order_relaxed), *older; s; s = older) {
      older = s->older;
      delete[] s->at;
      delete s;
    }
  }
  // The entry with this hash for which same(entry), or null.
  template <class Same>
  T* find(std::uint64_t hash, Same&& same) const {
    const Slots* s = slots_.load(std::memory_order_acquire);
    if (!s) return nullptr;
    for (unsigned i = unsigned(hash) & s->mask;; i = (i + 1) & s->mask) {
      T* e = s->at[i].load(std::memory_order_acquire);
      if (!e || (e->hash == hash && same(*e))) return e;
    }
  }
  void insert(T* e) {
    Slots* s = slots_.load(std::memory_order_relaxed);
    if (!s || 2 * ++count_ > s->mask + 1) s = grow(s);
    put(*s, e);
  }
};

}  // namespace fx::inline v0::detail
