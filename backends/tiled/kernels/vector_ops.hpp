// kernels/vector_ops.hpp -- each vector instruction on one element, in the form that compilers turn into vector code.
//
// The meaning is that of Scalar<T> (fx/ops/scalar.hpp), bit for bit. bool elements are bytes of 0 or 1. Operations that
// only move or wrap bits are written for one unsigned type of each width.
#pragma once
#include <fx/ops/scalar.hpp>

#include "level.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

using Byte = std::uint8_t;

// Memory of any dtype may be read as T.
template <class T>
struct Aliased {
  typedef T type __attribute__((__may_alias__));
};
template <class T>
using alias_of = typename Aliased<T>::type;

namespace op {
namespace fp = fx::detail::fp;
using fx::detail::Scalar;

#define FX_UNARY(Name, ...)        \
  struct Name {                    \
    template <class T>             \
    FX_LOOP static auto run(T a) { \
      __VA_ARGS__                  \
    }                              \
  };
#define FX_BINARY(Name, ...)            \
  struct Name {                         \
    template <class T>                  \
    FX_LOOP static auto run(T a, T b) { \
      __VA_ARGS__                       \
    }                                   \
  };

FX_BINARY(Add, return T(a + b);)
FX_BINARY(Sub, return T(a - b);)
FX_BINARY(Mul, return T(a * b);)
FX_BINARY(Div, return a / b;)
FX_BINARY(Scale, return fp::scale(a, b);)
FX_BINARY(And, return T(a & b);)
FX_BINARY(Or, return T(a | b);)
FX_BINARY(Xor, return T(a ^ b);)
FX_BINARY(Lt, return Byte(a < b);)
FX_BINARY(Le, return Byte(a <= b);)
FX_BINARY(Eq, return Byte(a == b);)
FX_BINARY(Ne, return Byte(a != b);)
FX_BINARY(IDiv, return idiv(Scalar<T>{a}, Scalar<T>{b}).v;)
FX_BINARY(IRem, return irem(Scalar<T>{a}, Scalar<T>{b}).v;)
// C's fmod: exact.
FX_BINARY(FRem, if constexpr (sizeof(T) == 4) return __builtin_fmodf(a, b); else return __builtin_fmod(a, b);)
// Counts are unsigned here: negative ones are large.
FX_BINARY(Shl, constexpr T last = 8 * sizeof(T) - 1; return T(b <= last ? a << (b & last) : 0);)
FX_BINARY(Shr, constexpr T last = 8 * sizeof(T) - 1; return T(b <= last ? a >> (b & last) : 0);)
struct ShrSigned {
  template <class T>
  FX_LOOP static T run(T a, T b) {
    using U = std::make_unsigned_t<T>;
    constexpr U last = 8 * sizeof(T) - 1;
    return T(a >> (U(b) < last ? U(b) : last));
  }
};

FX_UNARY(Copy, return a;)
FX_UNARY(Not, return T(~a);)
FX_UNARY(NotBool, return T(a ^ T(1));)
FX_UNARY(Neg, return T(T(0) - a);)
FX_UNARY(FlipSign, return T(a ^ T(T(1) << (8 * sizeof(T) - 1)));)      // -a of a float, on its bits
FX_UNARY(ClearSign, return T(a & T(~(T(1) << (8 * sizeof(T) - 1))));)  // |a| of a float, on its bits
struct AbsSigned {
  template <class T>
  FX_LOOP static T run(T a) {
    using U = std::make_unsigned_t<T>;
    return T(a < T(0) ? U(0) - U(a) : U(a));
  }
};
FX_UNARY(Sqrt, return fp::sqrt(a);)
// Hardware that rounds vectors.
FX_UNARY(Rint, if constexpr (sizeof(T) == 4) return __builtin_rintf(a); else return __builtin_rint(a);)
// SSE2 cannot: adding 2^mantissa rounds, and a sign brings back -0.
struct RintSoft {
  template <class T>
  FX_LOOP static T run(T a) {
    constexpr T big = fp::Format<T>::pow2(fp::Format<T>::mant);
    const T m = magnitude(a), r = with_sign((m + big) - big, a);
    return m < big ? r : a;
  }
  FX_LOOP static float magnitude(float a) { return __builtin_fabsf(a); }
  FX_LOOP static double magnitude(double a) { return __builtin_fabs(a); }
  FX_LOOP static float with_sign(float a, float s) { return __builtin_copysignf(a, s); }
  FX_LOOP static double with_sign(double a, double s) { return __builtin_copysign(a, s); }
};
// From the nearest integer, less 1 if that lies above. The 1 is masked, for g++ does not vectorise a subtraction (which
// may trap) that depends on a comparison.
template <class Round>
struct Floor {
  template <class T>
  FX_LOOP static T run(T a) {
    using U = fp::uint_of<T>;
    const T t = Round::run(a);
    return t - std::bit_cast<T>(U(fp::bits(T(1)) & (U(0) - U(t > a))));
  }
};
struct Fma {
  template <class T>
  FX_LOOP static T run(T a, T b, T c) {
    if constexpr (sizeof(T) == 4)
      return __builtin_fmaf(a, b, c);
    else
      return __builtin_fma(a, b, c);
  }
};
struct Select {
  template <class T>
  FX_LOOP static T run(Byte m, T a, T b) {
    return m ? a : b;
  }
};
// As fp::convert. The value is brought into range before it is truncated, so that the loop has no branch.
template <class To>
struct Convert {
  template <class T>
  FX_LOOP static To run(T a) {
    if constexpr (fp::Real<T> && std::is_integral_v<To> && sizeof(To) == 8) {
      return fp::convert<To>(a);
    } else if constexpr (fp::Real<T> && !fp::Real<To>) {
      constexpr To max = To(std::make_unsigned_t<To>(-1) >> std::is_signed_v<To>), min = To(~max);
      constexpr T low = T(min), past = T(max / 2 + 1) * 2;  // powers of two, or 0
      const T number = a == a ? a : T(0);
      const T inside = number < past ? number : T(0);
      const To r = To(inside > low ? inside : low);
      return number < past ? r : max;
    } else if constexpr (sizeof(T) == 1) {
      return To(std::int32_t(a));
    } else {
      return To(a);
    }
  }
};
struct ToBool {
  template <class T>
  FX_LOOP static Byte run(T a) {
    return Byte(a != T(0));
  }
};

#undef FX_UNARY
#undef FX_BINARY
}  // namespace op
}  // namespace fx::inline v0::tiled::kernels
#endif
