// array_subscript.hpp -- what may stand between the parentheses of x(...) and x.at(...).
#pragma once
#include "node.hpp"

namespace fx::inline v0 {

class Array;

// `fx::none`: nothing in this place: an open end of a slice, an argument that vmap does not map.
struct None {};
inline constexpr None none{};

namespace detail {
struct AllOf {};
struct NewAxis {};
struct Ellipsis {};

// The C++ integers, without bool and char.
template <class T>
concept Integer = Element<T> && !__is_same(T, bool) && !__is_same(T, float) && !__is_same(T, double);

// A number or an open end.
struct SliceBound {
  std::int64_t v = 0;
  bool given = false;
  constexpr SliceBound(None = {}) {}
  template <Integer T>
  constexpr SliceBound(T value) : v(std::int64_t(value)), given(true) {}
};
struct SliceBounds {
  SliceBound start, stop, step;
};

// One subscript with the user's line: an integer, a slice, fx::all, fx::newaxis, fx::ellipsis, or an Array of indices.
struct Subscript {
  enum Kind : std::uint8_t { absent, integer, slice, newaxis, ellipsis, array } kind = absent;
  std::int64_t at = 0;  // of an integer
  SliceBounds bounds;   // of a slice
  NodeRef node;         // of an Array
  Loc loc;

  constexpr Subscript() = default;
  template <Integer T>
  constexpr Subscript(T i, Loc l = Loc::here()) : kind(integer), at(std::int64_t(i)), loc(l) {}
  constexpr Subscript(const SliceBounds& b, Loc l = Loc::here()) : kind(slice), bounds(b), loc(l) {}
  constexpr Subscript(AllOf, Loc l = Loc::here()) : kind(slice), loc(l) {}
  constexpr Subscript(NewAxis, Loc l = Loc::here()) : kind(newaxis), loc(l) {}
  constexpr Subscript(Ellipsis, Loc l = Loc::here()) : kind(ellipsis), loc(l) {}
  constexpr Subscript(const Array& indices, Loc l = Loc::here());
};
inline constexpr Subscript no_subscript{};
}  // namespace detail

// Subscripts: the whole axis; a new axis of size 1; as many whole axes as are left.
inline constexpr detail::AllOf all{};
inline constexpr detail::NewAxis newaxis{};
inline constexpr detail::Ellipsis ellipsis{};

// Subscript: the elements start, start + step, ... before stop, with Python's rules for negative numbers and for bounds
// outside; fx::none is an open end.
constexpr detail::SliceBounds slice(detail::SliceBound start, detail::SliceBound stop, detail::SliceBound step = none) {
  return {start, stop, step};
}
// A compile error with the cure: the size of a slice must not depend on values.
template <class A, class... B>
requires(__is_same(A, Array) || (__is_same(B, Array) || ...)) constexpr detail::SliceBounds
    slice(const A&, const B&...) {
  static_assert(sizeof(A) == 0,
                "fx::slice takes C++ integers; where a start is an Array, use fx::dynamic_slice(x, {start}, {size})");
  return {};
}
// Subscript: the first `stop` elements; all but the last -stop for a negative one.
constexpr detail::SliceBounds slice(detail::SliceBound stop) { return {none, stop, none}; }

}  // namespace fx::inline v0
