// cuda/ptx_machine_ops.hpp -- what PTX instructions compute, as NVIDIA's manual (PTX ISA 8.5) says, on bits: an oracle
// that shares nothing with fx.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

namespace ptx_machine {
using Bits = std::uint64_t;
// Operands beyond those of an instruction are 0.
using Compute = Bits (*)(Bits a, Bits b, Bits c);

template <class T>
T as(Bits v) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(std::uint32_t(v));
  else
    return std::bit_cast<T>(v);
}
template <class T>
Bits bits(T v) {
  if constexpr (std::is_same_v<T, bool>)
    return v;
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(v);
  else
    return std::bit_cast<std::uint64_t>(v);
}

// Float to integer: truncated and clamped. NaN: 0 if neither side has 64 bits, else only the highest bit is set.
template <class To, class From>
To truncated(From v) {
  using L = std::numeric_limits<To>;
  if (v != v)
    return sizeof(From) == 4 && sizeof(To) == 4 ? To(0) : To(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1));
  const From past = std::ldexp(From(1), L::digits);
  if (v >= past) return L::max();
  if (v < (L::is_signed ? -past : From(0))) return L::min();
  return To(v);
}

struct Operations {
  std::map<std::string, Compute> all;

  template <class T>
  void numbers(const std::string& t) {
    all["setp.lt" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) < as<T>(b)); };
    all["setp.le" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) <= as<T>(b)); };
    all["setp.gt" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) > as<T>(b)); };
    all["setp.ge" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) >= as<T>(b)); };
    all["setp.eq" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) == as<T>(b)); };
  }
  template <class T>
  void integers(const std::string& t) {
    numbers<T>(t);
    using U = std::make_unsigned_t<T>;
    constexpr Bits width = 8 * sizeof(T);
    all["setp.ne" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) != as<T>(b)); };
    all["add" + t] = [](Bits a, Bits b, Bits) { return bits(U(U(a) + U(b))); };
    all["sub" + t] = [](Bits a, Bits b, Bits) { return bits(U(U(a) - U(b))); };
    all["mul.lo" + t] = [](Bits a, Bits b, Bits) { return bits(U(U(a) * U(b))); };
    all["mad.lo" + t] = [](Bits a, Bits b, Bits c) { return bits(U(U(a) * U(b) + U(c))); };
    all["min" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) < as<T>(b) ? as<T>(a) : as<T>(b)); };
    all["max" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) > as<T>(b) ? as<T>(a) : as<T>(b)); };
    // The count has 32 bits and is clamped to the width.
    all["shr" + t] = [](Bits a, Bits b, Bits) {
      const Bits n = std::uint32_t(b) < width ? std::uint32_t(b) : width;
      if (n < width) return bits(T(as<T>(a) >> n));
      return bits(T(as<T>(a) < T(0) ? -1 : 0));
    };
    if constexpr (std::is_unsigned_v<T>) {  // by 0: any value
      all["div" + t] = [](Bits a, Bits b, Bits) { return U(b) == 0 ? Bits(0xBAD) : bits(U(U(a) / U(b))); };
      all["rem" + t] = [](Bits a, Bits b, Bits) { return U(b) == 0 ? Bits(0xBAD) : bits(U(U(a) % U(b))); };
    }
  }
  template <class U>
  void patterns(const std::string& t) {
    all["mov" + t] = [](Bits a, Bits, Bits) { return a; };
    all["and" + t] = [](Bits a, Bits b, Bits) { return a & b; };
    all["or" + t] = [](Bits a, Bits b, Bits) { return a | b; };
    all["xor" + t] = [](Bits a, Bits b, Bits) { return a ^ b; };
    all["not" + t] = [](Bits a, Bits, Bits) { return ~a; };
    all["selp" + t] = [](Bits a, Bits b, Bits c) { return c & 1 ? a : b; };
    all["clz" + t] = [](Bits a, Bits, Bits) { return Bits(std::countl_zero(U(a))); };
    all["shl" + t] = [](Bits a, Bits b, Bits) {
      return std::uint32_t(b) < 8 * sizeof(U) ? bits(U(U(a) << std::uint32_t(b))) : Bits(0);
    };
  }
  template <class T>
  void floats(const std::string& t) {
    numbers<T>(t);
    all["setp.neu" + t] = [](Bits a, Bits b, Bits) { return bits(!(as<T>(a) == as<T>(b))); };
    all["setp.nan" + t] = [](Bits a, Bits b, Bits) { return bits(std::isnan(as<T>(a)) || std::isnan(as<T>(b))); };
    all["add.rn" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) + as<T>(b)); };
    all["sub.rn" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) - as<T>(b)); };
    all["mul.rn" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) * as<T>(b)); };
    all["div.rn" + t] = [](Bits a, Bits b, Bits) { return bits(as<T>(a) / as<T>(b)); };
    all["fma.rn" + t] = [](Bits a, Bits b, Bits c) { return bits(std::fma(as<T>(a), as<T>(b), as<T>(c))); };
    all["sqrt.rn" + t] = [](Bits a, Bits, Bits) { return bits(std::sqrt(as<T>(a))); };
    all["cvt.rni" + t + t] = [](Bits a, Bits, Bits) { return bits(std::nearbyint(as<T>(a))); };
    all["cvt.rmi" + t + t] = [](Bits a, Bits, Bits) { return bits(std::floor(as<T>(a))); };
    convert<T, std::int32_t>(t, ".s32");
    convert<T, std::int64_t>(t, ".s64");
    convert<T, std::uint32_t>(t, ".u32");
    convert<T, std::uint64_t>(t, ".u64");
  }
  template <class F, class I>
  void convert(const std::string& f, const std::string& i) {
    all["cvt.rzi" + i + f] = [](Bits a, Bits, Bits) { return bits(truncated<I>(as<F>(a))); };
    all["cvt.rn" + f + i] = [](Bits a, Bits, Bits) { return bits(F(as<I>(a))); };
  }
  Operations() {
    integers<std::int32_t>(".s32");
    integers<std::int64_t>(".s64");
    integers<std::uint32_t>(".u32");
    integers<std::uint64_t>(".u64");
    patterns<std::uint32_t>(".b32");
    patterns<std::uint64_t>(".b64");
    patterns<std::uint32_t>(".pred");
    floats<float>(".f32");
    floats<double>(".f64");
    all["mov.u32"] = all["mov.u64"] = all["cvta.to.global.u64"] = all["mov.b64"];
    all["cvt.u32.u64"] = all["cvt.u64.u32"] = [](Bits a, Bits, Bits) { return Bits(std::uint32_t(a)); };
    all["cvt.s64.s32"] = [](Bits a, Bits, Bits) { return Bits(std::int64_t(as<std::int32_t>(a))); };
    all["cvt.f64.f32"] = [](Bits a, Bits, Bits) { return bits(double(as<float>(a))); };
    all["cvt.rn.f32.f64"] = [](Bits a, Bits, Bits) { return bits(float(as<double>(a))); };
  }
};

}  // namespace ptx_machine
