// base/ref.hpp -- Ref<T>: an intrusive reference, shared between threads at run time and usable in constant evaluation.
#pragma once
#include "str.hpp"

namespace fx::inline v0 {

// Base of what a Ref refers to. The count is atomic at run time and plain in constant evaluation.
class Shared {
  int refs_ = 0;  // not mutable: g++ allows no mutable member in constant evaluation
  constexpr int& refs() const { return const_cast<Shared*>(this)->refs_; }

 public:
  constexpr Shared() = default;
  constexpr Shared(const Shared&) {}
  constexpr Shared& operator=(const Shared&) { return *this; }
  constexpr void retain() const {
    if (FX_CONSTANT_EVALUATED())
      ++refs();
    else
      __atomic_fetch_add(&refs(), 1, __ATOMIC_RELAXED);
  }
  // True when the last reference went: the caller deletes.
  constexpr bool release() const {
    if (FX_CONSTANT_EVALUATED()) return --refs() == 0;
    return __atomic_sub_fetch(&refs(), 1, __ATOMIC_ACQ_REL) == 0;
  }
  constexpr int use_count() const {
    if (FX_CONSTANT_EVALUATED()) return refs_;
    return __atomic_load_n(&refs_, __ATOMIC_ACQUIRE);
  }
};

template <class T>
class Ref {
  T* p_ = nullptr;

 public:
  constexpr Ref() = default;
  constexpr explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  constexpr Ref(const Ref& o) : p_(o.p_) {
    if (p_) p_->retain();
  }
  constexpr Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  constexpr Ref& operator=(const Ref& o) {
    T* const p = o.p_;  // o may be *this
    if (p) p->retain();
    drop();
    p_ = p;
    return *this;
  }
  constexpr Ref& operator=(Ref&& o) noexcept {
    if (this != &o) {
      drop();
      p_ = std::exchange(o.p_, nullptr);
    }
    return *this;
  }
  constexpr ~Ref() { drop(); }
  constexpr T* get() const { return p_; }
  constexpr T& operator*() const { return *p_; }
  constexpr T* operator->() const { return p_; }
  constexpr explicit operator bool() const { return p_ != nullptr; }
  friend constexpr bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  constexpr void drop() {
    if (p_ && p_->release()) dispose(p_);
    p_ = nullptr;
  }
  // At run time a class may have its memory come back by `static void recycle(T*)`.
  static constexpr void dispose(T* p) {
    if constexpr (requires { T::recycle(p); })
      if (!FX_CONSTANT_EVALUATED()) return T::recycle(p);
    delete p;
  }
};

}  // namespace fx::inline v0
