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
FX_LOOPS_END
template <class Op, class R, class A, class B = void, class C = void>
constexpr Kernel loop_of = &plain<Op, R, A, B, C>;
template <class Op, class T>
Kernel unary() {
  return loop_of<Op, T, T>;
}
template <class Op, class T>
Kernel binary() {
  return loop_of<Op, T, T, T>;
}
template <class Op, class T>
Kernel comparison() {
  return loop_of<Op, Byte, T, T>;
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
Kernel sqrt_kernel() {
  return &sqrt_groups<T>;
}
#else
template <class T>
Kernel sqrt_kernel() {
  return unary<op::Sqrt, T>();
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

inline void pick_groups(char* dst, const Place* a, const Place*, const Place* c, std::int64_t groups) {
  auto* o = reinterpret_cast<alias_of<float>*>(dst);
  auto* index = reinterpret_cast<const alias_of<std::uint32_t>*>(a->p);
  auto* table = reinterpret_cast<const alias_of<float>*>(c->p);
  for (; groups > 0; --groups, o += group, index += a->step)
    for (int i = 0; i < group; ++i) o[i] = table[index[i] % 16];
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
Kernel wrapping(DType d) {
  if (is_float(d)) return by_type<reals>(d, [&]<class T>() { return binary<Op, T>(); });
  return size_of(d) == 4 ? binary<Op, std::uint32_t>() : binary<Op, std::uint64_t>();
}
template <class Op>
Kernel bitwise(DType d) {
  return by_width(d, [&]<class U>() { return binary<Op, U>(); });
}
template <class Op>
Kernel compare(DType d) {
  return by_type<computed>(d, [&]<class T>() { return comparison<Op, T>(); });
}

template <class T>
Kernel convert_from(DType to) {
  if (to == boolean) return loop_of<op::ToBool, Byte, T>;
  return by_type<dwords>(to, [&]<class U>() { return loop_of<op::Convert<U>, U, T>; });
}

FX_INLINE Kernel arithmetic_kernel(const Instr& i) {
  const DType d = i.type;
  const bool real = is_float(d), narrow = size_of(d) == 4;
  if (d == boolean) return nullptr;
  switch (i.op) {
    case Instr::add: return wrapping<op::Add>(d);
    case Instr::sub: return wrapping<op::Sub>(d);
    case Instr::mul: return wrapping<op::Mul>(d);
    case Instr::div: return by_type<reals>(d, [&]<class T>() { return binary<op::Div, T>(); });
    case Instr::neg:
      if (real) return narrow ? unary<op::FlipSign, std::uint32_t>() : unary<op::FlipSign, std::uint64_t>();
      return narrow ? unary<op::Neg, std::uint32_t>() : unary<op::Neg, std::uint64_t>();
    case Instr::abs:
      if (real) return narrow ? unary<op::ClearSign, std::uint32_t>() : unary<op::ClearSign, std::uint64_t>();
      if (in(d, unsigned_ints)) return by_width(d, [&]<class U>() { return unary<op::Copy, U>(); });
      return by_type<only(i32) | only(i64)>(d, [&]<class T>() { return unary<op::AbsSigned, T>(); });
    case Instr::fma: return by_type<reals>(d, [&]<class T>() { return loop_of<op::Fma, T, T, T, T>; });
    case Instr::scale: return by_type<reals>(d, [&]<class T>() { return binary<op::Scale, T>(); });
    case Instr::sqrt: return by_type<reals>(d, [&]<class T>() { return sqrt_kernel<T>(); });
#if defined(__x86_64__)
    case Instr::rint: return by_type<reals>(d, [&]<class T>() -> Kernel { return loop_of<op::RintSoft, T, T>; });
    case Instr::floor:
      return by_type<reals>(d, [&]<class T>() -> Kernel { return loop_of<op::Floor<op::RintSoft>, T, T>; });
#else
    case Instr::rint: return by_type<reals>(d, [&]<class T>() { return unary<op::Rint, T>(); });
    case Instr::floor: return by_type<reals>(d, [&]<class T>() { return unary<op::Floor<op::Rint>, T>(); });
#endif
    case Instr::idiv: return by_type<words>(d, [&]<class T>() { return loop_of<op::IDiv, T, T, T>; });
    case Instr::irem:
      if (real) return by_type<reals>(d, [&]<class T>() { return loop_of<op::FRem, T, T, T>; });
      return by_type<words>(d, [&]<class T>() { return loop_of<op::IRem, T, T, T>; });
    default: return nullptr;
  }
}

FX_INLINE Kernel bits_kernel(const Instr& i) {
  const DType d = i.type;
  switch (i.op) {
    case Instr::bit_and: return bitwise<op::And>(d);
    case Instr::bit_or: return bitwise<op::Or>(d);
    case Instr::bit_xor: return bitwise<op::Xor>(d);
    case Instr::bit_not:
      if (d == boolean) return unary<op::NotBool, Byte>();
      return by_width(d, [&]<class U>() { return unary<op::Not, U>(); });
    case Instr::shl:
      if (d == boolean) return nullptr;
      return by_type<only(u32) | only(u64)>(size_of(d) == 4 ? u32 : u64,
                                            [&]<class U>() { return binary<op::Shl, U>(); });
    case Instr::shr:
      return by_type<words>(d, [&]<class T>() {
        if constexpr (std::is_signed_v<T>)
          return binary<op::ShrSigned, T>();
        else
          return binary<op::Shr, T>();
      });
    default: return nullptr;
  }
}

FX_INLINE Kernel kernel_of(const Instr& i) {
  switch (i.op) {
    case Instr::lt: return compare<op::Lt>(i.type);
    case Instr::le: return compare<op::Le>(i.type);
    case Instr::eq: return compare<op::Eq>(i.type);
    case Instr::ne: return compare<op::Ne>(i.type);
    case Instr::select: return by_width(i.type, [&]<class U>() { return loop_of<op::Select, U, Byte, U, U>; });
    case Instr::bitcast: return by_width(i.type, [&]<class U>() { return unary<op::Copy, U>(); });
    case Instr::convert: return by_type<computed>(i.type, [&]<class T>() { return convert_from<T>(i.to); });
    case Instr::pick: return &pick_groups;
    case Instr::lookup:
      return by_type<words>(i.type, [&]<class I>() -> Kernel {
        return size_of(i.to) == 4 ? &lookup_groups<std::uint32_t, I> : &lookup_groups<std::uint64_t, I>;
      });
    default:
      if (Kernel k = arithmetic_kernel(i)) return k;
      return bits_kernel(i);
  }
}

}  // namespace fx::inline v0::tiled::kernels
#endif
