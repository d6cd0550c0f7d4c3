// base/vec.hpp -- Vec<T>: the growable array of the core, usable in constant evaluation on every compiler fx supports.
//
// Why not std::vector: on clang with libstdc++ 12 it is only partly constant, and it costs twice the evaluation steps.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "../config.hpp"

namespace fx::inline v0 {

// A view of contiguous elements; the core's std::span (which costs 300 ms of compile time).
template <class T>
struct Span {
  T* p = nullptr;
  int n = 0;
  constexpr Span() = default;
  constexpr Span(T* data, int size) : p(data), n(size) {}
  template <class C>
  requires requires(C& c, T*& to) { to = c.data(), c.size(); }
  constexpr Span(C& c) : p(c.data()), n(int(c.size())) {}
  template <class C>
  requires requires(const C& c, T*& to) { to = c.data(), c.size(); }
  constexpr Span(const C& c) : p(c.data()), n(int(c.size())) {}
  template <std::size_t N>
  constexpr Span(T (&a)[N]) : p(a), n(int(N)) {}
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // a Span made from a list is an argument, and dies with the call
#endif
  constexpr Span(std::initializer_list<std::remove_const_t<T>> l) : p(l.begin()), n(int(l.size())) {}
#pragma GCC diagnostic pop
  constexpr int size() const { return n; }
  constexpr bool empty() const { return n == 0; }
  constexpr T* data() const { return p; }
  constexpr T* begin() const { return p; }
  constexpr T* end() const { return p + n; }
  constexpr T& operator[](int i) const { return p[i]; }
  constexpr T& back() const { return p[n - 1]; }
  constexpr Span sub(int from, int count) const { return {p + from, count}; }
};

template <class T>
class Vec {
  T* p_ = nullptr;
  int n_ = 0, cap_ = 0;

 public:
  constexpr Vec() = default;
  constexpr explicit Vec(int n, const T& v = T{}) {
    reserve(n);
    for (int i = 0; i < n; ++i) p_[i] = v;
    n_ = n;
  }
  constexpr Vec(std::initializer_list<T> l) {
    reserve(int(l.size()));
    for (const T& v : l) p_[n_++] = v;
  }
  constexpr explicit Vec(Span<const T> s) { append(s); }
  constexpr Vec(const Vec& o) { append(Span<const T>(o.p_, o.n_)); }
  constexpr Vec(Vec&& o) noexcept
      : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)), cap_(std::exchange(o.cap_, 0)) {}
  // No copy-and-swap: g++ 12 destroys the by-value parameter too early in constant evaluation (GCC PR 111284).
  constexpr Vec& operator=(const Vec& o) {
    if (this != &o) {
      n_ = 0;
      append(Span<const T>(o.p_, o.n_));
    }
    return *this;
  }
  constexpr Vec& operator=(Vec&& o) noexcept {
    if (this != &o) {
      delete[] p_;
      p_ = std::exchange(o.p_, nullptr);
      n_ = std::exchange(o.n_, 0);
      cap_ = std::exchange(o.cap_, 0);
    }
    return *this;
  }
  constexpr ~Vec() { delete[] p_; }

  constexpr int size() const { return n_; }
  constexpr bool empty() const { return n_ == 0; }
  constexpr T* data() { return p_; }
  constexpr const T* data() const { return p_; }
  constexpr T* begin() { return p_; }
  constexpr T* end() { return p_ + n_; }
  constexpr const T* begin() const { return p_; }
  constexpr const T* end() const { return p_ + n_; }
  constexpr T& operator[](int i) { return p_[i]; }
  constexpr const T& operator[](int i) const { return p_[i]; }
  constexpr T& back() { return p_[n_ - 1]; }
  constexpr const T& back() const { return p_[n_ - 1]; }

  constexpr void reserve(int cap) {
    if (cap <= cap_) return;
    T* q = new T[std::size_t(cap)]{};
    for (int i = 0; i < n_; ++i) q[i] = std::move(p_[i]);
    delete[] p_;
    p_ = q;
    cap_ = cap;
  }
  constexpr void push_back(T v) {
    if (n_ == cap_) reserve(cap_ ? 2 * cap_ : 8);
    p_[n_++] = std::move(v);
  }
  constexpr void append(Span<const T> s) {
    if (s.size() <= 0) return;
    if (n_ + s.size() > cap_) reserve(n_ + s.size() > 2 * cap_ ? n_ + s.size() : 2 * cap_);
    for (const T& v : s) p_[n_++] = v;
  }
  constexpr void resize(int n, const T& v = T{}) {
    if (n > cap_) reserve(n > 2 * cap_ ? n : 2 * cap_);
    for (int i = n_; i < n; ++i) p_[i] = v;
    n_ = n;
  }
  constexpr void pop_back() { --n_; }
  constexpr void clear() { n_ = 0; }
  constexpr bool operator==(const Vec& o) const {
    if (n_ != o.n_) return false;
    for (int i = 0; i < n_; ++i)
      if (!(p_[i] == o.p_[i])) return false;
    return true;
  }
};

}  // namespace fx::inline v0
