// kernels/vector_kernels.hpp -- the loop of each vector instruction over groups of 64 elements, and how it is chosen.
#pragma once
#include <fx/ops/layout.hpp>

#include "vector_ops.hpp"
#include "vector_types.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

FX_LOOPS_BEGIN
// dst[i] = Op(a[i], b[i], c[i]) with operand types A, B, C; void: not an operand.
template <class Op, class R, class A, class B, class C>
FX_LOOP void loop(char* dst, const Place* pa, const Place* pb, const Place* pc, std::int64_t groups) {
  constexpr bool two = !std::is_void_v<B>, three = !std::is_void_v<C>;
  using TB = std::conditional_t<two, B, Byte>;
  using TC = std::conditional_t<three, C, Byte>;
  auto* o = reinterpret_cast<alias_of<R>*>(dst);
  auto* a = reinterpret_cast<const alias_of<A>*>(pa->p);
  auto* b = reinterpret_cast<const alias_of<TB>*>(two ? pb->p : dst);
  auto* c = reinterpret_cast<const alias_of<TC>*>(three ? pc->p : dst);
  const std::int64_t sa = pa->step, sb = two ? pb->step : 0, sc = three ? pc->step : 0;
  for (; groups > 0; --groups, o += group, a += sa, b += sb, c += sc) {
    FX_INDEPENDENT
    for (int i = 0; i < group; ++i) {
      const A x = a[i];
      if constexpr (three) {
        const TB y = b[i];
        const TC z = c[i];
        o[i] = Op::run(x, y, z);
      } else if constexpr (two) {
        const TB y = b[i];
        o[i] = Op::run(x, y);
      } else {
        o[i] = Op::run(x);
      }
    }
  }
}

template <class Op, class R, class A, class B, class C>
void plain(char* dst, const Place* a, const Place* b, const Place* c, std::int64_t groups) {
  loop<Op, R, A, B, C>(dst, a, b, c, groups);
}
template <class Op, class R, class A, class B, class C>
FX_AVX2 void wide(char* dst, const Place* a, const Place* b, const Place* c, std::int64_t groups) {
  loop<Op, R, A, B, C>(dst, a, b, c, groups);
}
FX_LOOPS_END
// One version, where wide registers gain little or the loop stays scalar anyway. (Each loop costs users compile time;
// for the same reason there is no third one for AVX-512: these loops move data through the first-level cache.)
template <class Op, class R, class A, class B = void, class C = void>
constexpr Kernel single = &plain<Op, R, A, B, C>;
template <class Op, class R, class A, class B = void, class C = void>
Kernel versions(Level l) {
  if constexpr (std::is_same_v<A, Byte> && std::is_same_v<R, Byte>)
    return single<Op, R, A, B, C>;
  else
    return l == Level::baseline ? &plain<Op, R, A, B, C> : &wide<Op, R, A, B, C>;
}
template <class Op, class T>
Kernel unary(Level l) {
  return versions<Op, T, T>(l);
}
template <class Op, class T>
Kernel binary(Level l) {
  return versions<Op, T, T, T>(l);
}
template <class Op, class T>
Kernel comparison(Level l) {
  return versions<Op, Byte, T, T>(l);
}

#if defined(__x86_64__) && __has_builtin(__builtin_ia32_sqrtps) && __has_builtin(__builtin_ia32_sqrtpd)
// Compilers do not vectorise sqrt, which may set errno. The instruction belongs to the base set of the processor.
template <class T>
void sqrt_groups(char* dst, const Place* a, const Place*, const Place*, std::int64_t groups) {
  typedef T V __attribute__((vector_size(16), aligned(sizeof(T)), __may_alias__));
  constexpr int lanes = 16 / int(sizeof(T));
  const char* from = a->p;
  for (; groups > 0; --groups, from += a->step * std::int64_t(sizeof(T)))
    for (int i = 0; i < group; i += lanes, dst += 16) {
      const V x = *reinterpret_cast<const V*>(from + i * int(sizeof(T)));
      if constexpr (sizeof(T) == 4)
        *reinterpret_cast<V*>(dst) = __builtin_ia32_sqrtps(x);
      else
        *reinterpret_cast<V*>(dst) = __builtin_ia32_sqrtpd(x);
    }
}
template <class T>
Kernel sqrt_kernel(Level) {
  return &sqrt_groups<T>;
}
#else
template <class T>
Kernel sqrt_kernel(Level l) {
  return unary<op::Sqrt, T>(l);
}
#endif

// Table and its size are place c.
template <class T, class I>
void lookup_groups(char* dst, const Place* a, const Place*, const Place* c, std::int64_t groups) {
  auto* o = reinterpret_cast<alias_of<T>*>(dst);
  auto* index = reinterpret_cast<const alias_of<I>*>(a->p);
  auto* table = reinterpret_cast<const alias_of<T>*>(c->p);
  for (; groups > 0; --groups, o += group, index += a->step)
    for (int i = 0; i < group; ++i) {
      const I at = index[i];
      o[i] = table[at < I(0) ? I(0) : at < I(c->step) ? at : I(c->step - 1)];
    }
}

constexpr DTypes words = integers & computed, reals = floats & computed, dwords = words | reals;

// Calls f<U>() for the unsigned type as wide as d.
template <class F>
Kernel by_width(DType d, F&& f) {
  switch (size_of(d)) {
    case 1: return f.template operator()<Byte>();
    case 4: return f.template operator()<std::uint32_t>();
    default: return f.template operator()<std::uint64_t>();
  }
}
// Calls f<T>() for the type of d among `set`; bool as a byte. Null for other dtypes.
template <DTypes set, class F>
Kernel by_type(DType d, F&& f) {
  Kernel k = nullptr;
  fx::detail::with_type<set>(
      d, [&]<class T>() { k = f.template operator()<std::conditional_t<__is_same(T, bool), Byte, T>>(); });
  return k;
}
// Integers by width, floats by type.
template <class Op>
Kernel wrapping(DType d, Level l) {
  if (is_float(d)) return by_type<reals>(d, [&]<class T>() { return binary<Op, T>(l); });
  return size_of(d) == 4 ? binary<Op, std::uint32_t>(l) : binary<Op, std::uint64_t>(l);
}
template <class Op>
Kernel bitwise(DType d, Level l) {
  return by_width(d, [&]<class U>() { return binary<Op, U>(l); });
}
template <class Op>
Kernel compare(DType d, Level l) {
  return by_type<computed>(d, [&]<class T>() { return comparison<Op, T>(l); });
}

template <class T>
Kernel convert_from(DType to, Level l) {
  constexpr DTypes common = only(i32) | only(f32) | only(f64);
  if (to == boolean) return versions<op::ToBool, Byte, T>(l);
  return by_type<dwords>(to, [&]<class U>() {
    constexpr bool often = in(dtype_of<U>, common) && (sizeof(T) == 1 || in(dtype_of<T>, common));
    if constexpr (often)
      return versions<op::Convert<U>, U, T>(l);
    else
      return single<op::Convert<U>, U, T>;
  });
}

FX_INLINE Kernel arithmetic_kernel(const Instr& i, Level l) {
  const DType d = i.type;
  const bool real = is_float(d), narrow = size_of(d) == 4;
  if (d == boolean) return nullptr;
  switch (i.op) {
    case Instr::add: return wrapping<op::Add>(d, l);
    case Instr::sub: return wrapping<op::Sub>(d, l);
    case Instr::mul: return wrapping<op::Mul>(d, l);
    case Instr::div: return by_type<reals>(d, [&]<class T>() { return binary<op::Div, T>(l); });
    case Instr::neg:
      if (real) return narrow ? unary<op::FlipSign, std::uint32_t>(l) : unary<op::FlipSign, std::uint64_t>(l);
      return narrow ? unary<op::Neg, std::uint32_t>(l) : unary<op::Neg, std::uint64_t>(l);
    case Instr::abs:
      if (real) return narrow ? unary<op::ClearSign, std::uint32_t>(l) : unary<op::ClearSign, std::uint64_t>(l);
      if (in(d, unsigned_ints)) return by_width(d, [&]<class U>() { return unary<op::Copy, U>(l); });
      return by_type<only(i32) | only(i64)>(d, [&]<class T>() { return unary<op::AbsSigned, T>(l); });
    case Instr::fma: return by_type<reals>(d, [&]<class T>() { return versions<op::Fma, T, T, T, T>(l); });
    case Instr::sqrt: return by_type<reals>(d, [&]<class T>() { return sqrt_kernel<T>(l); });
#if defined(__x86_64__)
    case Instr::rint:
      return by_type<reals>(d, [&]<class T>() -> Kernel {
        if (l == Level::baseline) return &plain<op::RintSoft, T, T, void, void>;
        return &wide<op::Rint, T, T, void, void>;
      });
    case Instr::floor:
      return by_type<reals>(d, [&]<class T>() -> Kernel {
        if (l == Level::baseline) return &plain<op::Floor<op::RintSoft>, T, T, void, void>;
        return &wide<op::Floor<op::Rint>, T, T, void, void>;
      });
#else
    case Instr::rint: return by_type<reals>(d, [&]<class T>() { return unary<op::Rint, T>(l); });
    case Instr::floor: return by_type<reals>(d, [&]<class T>() { return unary<op::Floor<op::Rint>, T>(l); });
#endif
    case Instr::idiv: return by_type<words>(d, [&]<class T>() { return single<op::IDiv, T, T, T>; });
    case Instr::irem:
      if (real) return by_type<reals>(d, [&]<class T>() { return single<op::FRem, T, T, T>; });
      return by_type<words>(d, [&]<class T>() { return single<op::IRem, T, T, T>; });
    default: return nullptr;
  }
}

FX_INLINE Kernel bits_kernel(const Instr& i, Level l) {
  const DType d = i.type;
  switch (i.op) {
    case Instr::bit_and: return bitwise<op::And>(d, l);
    case Instr::bit_or: return bitwise<op::Or>(d, l);
    case Instr::bit_xor: return bitwise<op::Xor>(d, l);
    case Instr::bit_not:
      if (d == boolean) return unary<op::NotBool, Byte>(l);
      return by_width(d, [&]<class U>() { return unary<op::Not, U>(l); });
    case Instr::shl:
      if (d == boolean) return nullptr;
      return by_type<only(u32) | only(u64)>(size_of(d) == 4 ? u32 : u64,
                                            [&]<class U>() { return binary<op::Shl, U>(l); });
    case Instr::shr:
      return by_type<words>(d, [&]<class T>() {
        if constexpr (std::is_signed_v<T>)
          return binary<op::ShrSigned, T>(l);
        else
          return binary<op::Shr, T>(l);
      });
    default: return nullptr;
  }
}

FX_INLINE Kernel kernel_of(const Instr& i, Level l) {
  switch (i.op) {
    case Instr::lt: return compare<op::Lt>(i.type, l);
    case Instr::le: return compare<op::Le>(i.type, l);
    case Instr::eq: return compare<op::Eq>(i.type, l);
    case Instr::ne: return compare<op::Ne>(i.type, l);
    case Instr::select: return by_width(i.type, [&]<class U>() { return versions<op::Select, U, Byte, U, U>(l); });
    case Instr::bitcast: return by_width(i.type, [&]<class U>() { return unary<op::Copy, U>(l); });
    case Instr::convert: return by_type<computed>(i.type, [&]<class T>() { return convert_from<T>(i.to, l); });
    case Instr::lookup:
      return by_type<words>(i.type, [&]<class I>() -> Kernel {
        return size_of(i.to) == 4 ? &lookup_groups<std::uint32_t, I> : &lookup_groups<std::uint64_t, I>;
      });
    default:
      if (Kernel k = arithmetic_kernel(i, l)) return k;
      return bits_kernel(i, l);
  }
}

}  // namespace fx::inline v0::tiled::kernels
#endif
