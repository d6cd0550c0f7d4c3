// kernels/fold_ops.hpp -- the known folds on an element or on a vector of elements.
//
// The same text serves both: a comparison gives a bool or a mask, and ?: picks by it. Arguments are references, because
// a vector that no register of the caller can hold has no agreed way to be passed.
#pragma once
#include <cstdint>
#include <type_traits>

#include "level.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// `bytes` bytes of elements T as one value; loose: in memory, anywhere.
template <class T, int bytes>
struct Lanes {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T loose __attribute__((vector_size(bytes), aligned(sizeof(T)), __may_alias__));
};
// A single element, in the same form.
template <class T>
struct Single {
  using type = T;
  using loose = T;
};

namespace fold {
template <class X>
struct Bits;  // the unsigned integers as wide as a float, or as a vector's floats
template <>
struct Bits<float> {
  using type = std::uint32_t;
};
template <>
struct Bits<double> {
  using type = std::uint64_t;
};

struct Sum {
  template <class T, class X>
  FX_LOOP static void run(X& a, const X& b) {
    a = X(a + b);
  }
};
struct Prod {
  template <class T, class X>
  FX_LOOP static void run(X& a, const X& b) {
    a = X(a * b);
  }
};

// IEEE 754-2019 maximum and minimum, as fx::detail::extremum: NaN wins, -0 < +0.
template <bool max>
struct Extremum {
  template <class T, class X>
  FX_LOOP static void run(X& a, const X& b) {
    if constexpr (std::is_floating_point_v<T>) {
      using U = typename Bits<T>::type;
      if constexpr (sizeof(X) == sizeof(T))
        tie<U>(a, b);
      else
        tie<typename Lanes<U, sizeof(X)>::type>(a, b);
    } else {
      if constexpr (max)
        a = a < b ? b : a;
      else
        a = b < a ? b : a;
    }
  }

 private:
  // Equal operands are zeros or have the same bits: their common bits are the larger, all their bits the smaller one.
  template <class U, class X>
  FX_LOOP static void tie(X& a, const X& b) {
    const U x = __builtin_bit_cast(U, a), y = __builtin_bit_cast(U, b);
    const X both = __builtin_bit_cast(X, U(max ? x & y : x | y));
    X r;
    if constexpr (max)
      r = a >= b ? a : b;
    else
      r = a <= b ? a : b;
    r = a == b ? both : r;
    a = a != a ? a : r;
  }
};
using Max = Extremum<true>;
using Min = Extremum<false>;
}  // namespace fold
}  // namespace fx::inline v0::tiled::kernels
#endif
