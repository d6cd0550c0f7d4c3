// code/emit_convert.hpp -- Generator: from one dtype to another.
#pragma once
#include "emit_called.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE void Generator::convert(const Instr& i, int u) {
  if (i.type == i.to) return unary_copy(i, u);
  if (i.type == boolean) return from_bool(i, u);
  if (i.to == boolean) return to_bool(i, u);
  const bool from_real = is_float(i.type), to_real = is_float(i.to);
  if (from_real && to_real) {
    const bool widens = size_of(i.to) == 8;
    const Rm a = rm(r_.same[i.a], u);
    retire(i, u);
    return e_.vector(widens ? form::vcvtps2pd : form::vcvtpd2ps, lanes_ * 8, result(i.dst, u), 0, a);
  }
  if (from_real) return float_to_int(i, u);
  if (to_real) return int_to_float(i, u);
  int_to_int(i, u);
}

FX_INLINE void Generator::unary_copy(const Instr& i, int u) {
  const int a = reg(r_.same[i.a], u), dst = result(i.dst, u);
  if (in_mask(i.dst))
    e_.vector(form::kmovw, 16, dst, 0, a);
  else
    e_.vector(form::vmovups, bytes(i.to), dst, 0, a);
  retire(i, u);
}

// 1 where it is true.
FX_INLINE void Generator::from_bool(const Instr& i, int u) {
  using namespace form;
  const DType d = i.to;
  std::uint64_t one = 1;
  if (d == f32) one = 0x3f800000;
  if (d == f64) one = 0x3ff0000000000000;
  const Rm ones = pool(one, size_of(d));
  const int m = r_.same[i.a];
  if (avx512_) {
    const int mask = reg(m, u);
    retire(i, u);
    return e_.vector(by_size(d, vmovups, vmovupd), bytes(d), result(i.dst, u), 0, ones, -1, {mask, true});
  }
  const int mask = mask_lanes(m, u, size_of(d));
  retire(i, u);
  e_.vector(vpandd, bytes(d), result(i.dst, u), mask, ones);
}

FX_INLINE void Generator::to_bool(const Instr& i, int u) {
  using namespace form;
  const DType d = i.type;
  const int a = reg(r_.same[i.a], u), dst = result(i.dst, u), not_equal = 4, size = size_of(d);
  const Rm zero = pool(0, size);
  if (avx512_) {
    e_.vector(is_float(d) ? by_size(d, vcmpps_mask, vcmppd_mask) : by_size(d, vpcmpd, vpcmpq), bytes(d), dst, a, zero,
              not_equal);
  } else if (is_float(d)) {
    e_.vector(by_size(d, vcmpps, vcmppd), bytes(d), dst, a, zero, not_equal);
    widened(dst, dst, size);
  } else {
    e_.vector(by_size(d, vpcmpeqd, vpcmpeqq), bytes(d), dst, a, zero);
    e_.vector(vpxord, bytes(d), dst, dst, pool(~std::uint64_t(0), size));
    widened(dst, dst, size);
  }
  retire(i, u);
}

// Truncated; the instructions give the lowest integer where a value does not fit. To signed: what is too large has all
// bits changed, NaN none left. To unsigned: negative values and NaN are 0 before, what is too large becomes all ones.
FX_INLINE void Generator::float_to_int(const Instr& i, int u) {
  using namespace form;
  const DType from = i.type, to = i.to;
  const bool narrow = size_of(from) == 4, to_narrow = size_of(to) == 4;
  const int a = reg(r_.same[i.a], u), dst = result(i.dst, u);
  const int length = bytes(from) > bytes(to) ? bytes(from) : bytes(to);
  if (in(to, unsigned_ints)) {
    const int t = temp(simd_);
    e_.vector(by_size(from, vmaxps, vmaxpd), bytes(from), t, a, pool(0, size_of(from)));
    const Form& f = narrow ? (to_narrow ? vcvttps2udq : vcvttps2uqq) : to_narrow ? vcvttpd2udq : vcvttpd2uqq;
    e_.vector(f, length, dst, 0, t);
    return retire(i, u);
  }
  const Form& f = narrow ? (to_narrow ? vcvttps2dq : vcvttps2qq) : to_narrow ? vcvttpd2dq : vcvttpd2qq;
  const int exponent = to_narrow ? 31 : 63;
  const std::uint64_t past =
      narrow ? std::uint64_t(127 + exponent) << 23 : std::uint64_t(1023 + exponent) << 52;  // 2^exponent
  e_.vector(f, length, dst, 0, a);
  const Rm ones = pool(~std::uint64_t(0), size_of(to));
  const int too_large = compare_with(a, past, 13, from), number = compare_with(a, 0, 7, from);  // >=, is ordered
  if (avx512_) {
    e_.vector(by_size(to, vpxord, vpxorq), bytes(to), dst, dst, ones, -1, {too_large, false});
    e_.vector(by_size(to, vmovups, vmovupd), bytes(to), dst, 0, dst, -1, {number, true});
  } else {
    const bool narrows = size_of(from) > size_of(to);
    e_.vector(vpxord, bytes(to), dst, dst, narrows ? narrowed(too_large) : too_large);
    e_.vector(vpandd, bytes(to), dst, dst, narrows ? narrowed(number) : number);
  }
  retire(i, u);
}

FX_INLINE void Generator::int_to_float(const Instr& i, int u) {
  using namespace form;
  const bool narrow = size_of(i.type) == 4, to_narrow = size_of(i.to) == 4, unsign = in(i.type, unsigned_ints);
  const Form& f = narrow      ? (to_narrow ? (unsign ? vcvtudq2ps : vcvtdq2ps)
                                 : unsign  ? vcvtudq2pd
                                           : vcvtdq2pd)
                  : to_narrow ? (unsign ? vcvtuqq2ps : vcvtqq2ps)
                  : unsign    ? vcvtuqq2pd
                              : vcvtqq2pd;
  const Rm a = rm(r_.same[i.a], u);
  retire(i, u);
  e_.vector(f, bytes(i.type) > bytes(i.to) ? bytes(i.type) : bytes(i.to), result(i.dst, u), 0, a);
}

// Of different sizes; those of one size are one value.
FX_INLINE void Generator::int_to_int(const Instr& i, int u) {
  using namespace form;
  if (size_of(i.to) == 8) {
    const Rm a = rm(r_.same[i.a], u);
    retire(i, u);
    return e_.vector(in(i.type, unsigned_ints) ? vpmovzxdq : vpmovsxdq, lanes_ * 8, result(i.dst, u), 0, a);
  }
  const int a = reg(r_.same[i.a], u), dst = result(i.dst, u);
  if (avx512_) {
    e_.vector(vpmovqd, 64, a, 0, dst);
  } else {
    e_.vector(vmovups, 16, dst, 0, narrowed(a));
  }
  retire(i, u);
}

}  // namespace fx::inline v0::tiled::code
#endif
