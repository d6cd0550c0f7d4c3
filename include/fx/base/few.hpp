// base/few.hpp -- Few<T, N>: a list whose first N elements need no memory of their own.
#pragma once
#include <new>

#include "vec.hpp"

namespace fx::inline v0 {

// Made for at most `capacity` elements. Run time only.
template <class T, int N>
class Few {
  alignas(T) unsigned char room_[N * sizeof(T)];
  T* p_;
  int n_ = 0;

 public:
  explicit Few(int capacity)
      : p_(capacity <= N ? reinterpret_cast<T*>(room_)
                         : static_cast<T*>(::operator new(std::size_t(capacity) * sizeof(T)))) {}
  // n elements.
  Few(int n, const T& v) : Few(n) {
    while (n_ < n) push_back(v);
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  ~Few() {
    for (int i = 0; i < n_; ++i) p_[i].~T();
    if (reinterpret_cast<unsigned char*>(p_) != room_) ::operator delete(p_);
  }
  void push_back(T v) { new (p_ + n_++) T(std::move(v)); }
  void pop_back() { p_[--n_].~T(); }
  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  T* data() { return p_; }
  const T* data() const { return p_; }
  T* begin() { return p_; }
  T* end() { return p_ + n_; }
  const T* begin() const { return p_; }
  const T* end() const { return p_ + n_; }
  T& operator[](int i) { return p_[i]; }
  const T& operator[](int i) const { return p_[i]; }
};

}  // namespace fx::inline v0
