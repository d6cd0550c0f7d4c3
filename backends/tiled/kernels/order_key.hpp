// kernels/order_key.hpp -- elements as integers in the same order, all that sorts and arg-folds need of them.
#pragma once
#include <fx/ops/layout.hpp>

#include "vector_ops.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// An integer that rises with v: -0 as +0, false below true, NaN (which has no order) `nan`.
template <class T>
FX_LOOP auto order_key(T v, bool nan_lowest) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = fx::detail::fp::uint_of<T>;
    using I = std::make_signed_t<U>;
    constexpr I max = I(~(U(1) << (8 * sizeof(T) - 1))), min = I(~max);
    const I bits = std::bit_cast<I>(v + T(0));      // -0 + 0 is +0
    const I key = bits < 0 ? I(bits ^ max) : bits;  // of negative numbers, the larger is the lower
    return v == v ? key : nan_lowest ? min : max;
  } else if constexpr (sizeof(T) == 1) {
    return std::int32_t(v);
  } else if constexpr (std::is_unsigned_v<T>) {
    using I = std::make_signed_t<T>;
    return I(v ^ (T(1) << (8 * sizeof(T) - 1)));
  } else {
    return v;
  }
}
template <class T>
using KeyOf = decltype(order_key(T(), false));

FX_LOOPS_BEGIN
// Contiguous elements in pieces of constant length, which compilers vectorise.
template <class T>
void keys_loop(const T* x, std::int64_t n, std::int64_t step, bool down, KeyOf<T>* out) {
  using K = KeyOf<T>;
  const K flip = down ? K(-1) : K(0);
  std::int64_t i = 0;
  for (; step == 1 && i + 32 <= n; i += 32) {
    FX_INDEPENDENT
    for (int k = 0; k < 32; ++k) out[i + k] = K(order_key(x[i + k], down) ^ flip);
  }
  FX_AS_WRITTEN
  for (; i < n; ++i) out[i] = K(order_key(x[i * step], down) ^ flip);
}
FX_LOOPS_END
FX_INLINE int key_size(DType d) { return size_of(d) == 8 ? 8 : 4; }
// Keys of n elements, `step` apart: i32 for dtypes of up to 4 bytes, else i64. down: in reverse order. A NaN comes
// last.
FX_INLINE void write_keys(DType d, const void* in, std::int64_t n, std::int64_t step, bool down, void* keys) {
  fx::detail::with_type<computed>(d, [&]<class U>() {
    using T = std::conditional_t<std::is_same_v<U, bool>, Byte, U>;
    keys_loop(static_cast<const T*>(in), n, step, down, static_cast<KeyOf<T>*>(keys));
  });
}

}  // namespace fx::inline v0::tiled::kernels
#endif
