// code/emit.hpp -- Generator: one recorded instruction, on one vector, as machine instructions.
#pragma once
#include "emit_convert.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE void Generator::emit(const Instr& i, int u) {
  using namespace form;
  const DType d = i.type;
  const bool real = is_float(d);
  auto fp = [&](const Form& ps, const Form& pd) -> const Form& { return by_size(d, ps, pd); };
  if (i.op == lesser) return binary(fp(vminps, vminpd), i, u);
  if (i.op == greater) return binary(fp(vmaxps, vmaxpd), i, u);
  switch (i.op) {
    case Instr::add: return binary(real ? fp(vaddps, vaddpd) : fp(vpaddd, vpaddq), i, u, true);
    case Instr::sub: return binary(real ? fp(vsubps, vsubpd) : fp(vpsubd, vpsubq), i, u);
    case Instr::mul:
      if (real) return binary(fp(vmulps, vmulpd), i, u, true);
      if (size_of(d) == 8 && !avx512_) return multiply_long(i, u);
      return binary(fp(vpmulld, vpmullq), i, u, true);
    case Instr::div: return binary(fp(vdivps, vdivpd), i, u);
    case Instr::sqrt: return unary(fp(vsqrtps, vsqrtpd), i, u);
    case Instr::rint: return unary(fp(vroundps, vroundpd), i, u, 8);
    case Instr::floor: return unary(fp(vroundps, vroundpd), i, u, 9);
    case Instr::fma: return fma(i, u);
    case Instr::scale: return avx512_ ? binary(fp(vscalefps, vscalefpd), i, u) : scale_avx2(i, u);
    case Instr::neg: return negate(i, u);
    case Instr::abs: return absolute(i, u);
    case Instr::bit_and:
    case Instr::bit_or:
    case Instr::bit_xor:
    case Instr::bit_not: return d == boolean && avx512_ ? bool_bits(i, u) : bits(i, u);
    case Instr::shl:
    case Instr::shr: return shift(i, u);
    case Instr::lt:
    case Instr::le:
    case Instr::eq:
    case Instr::ne: return d == boolean ? bool_compare(i, u) : compare(i, u);
    case Instr::select: return select(i, u);
    case Instr::convert: return convert(i, u);
    case Instr::pick: return pick(i, u);
    case Instr::lookup: return lookup(i, u);
    default: fail(ErrorCode::internal, "the code generator met an instruction that it does not know");
  }
}

FX_INLINE void Generator::unary(const Form& f, const Instr& i, int u, int imm) {
  const Rm a = rm(r_.same[i.a], u);
  retire(i, u);
  e_.vector(f, bytes(i.to), result(i.dst, u), 0, a, imm);
}

// Memory is the second operand: what lies there may change places if that makes no difference.
FX_INLINE void Generator::binary(const Form& f, const Instr& i, int u, bool commutes) {
  int a = r_.same[i.a], b = r_.same[i.b];
  if (commutes && values_[a].shared() && !values_[b].shared()) std::swap(a, b);
  const int x = reg(a, u);
  const Rm y = rm(b, u);
  retire(i, u);
  e_.vector(f, bytes(i.to), result(i.dst, u), x, y);
}
FX_INLINE void Generator::with_constant(const Form& f, const Instr& i, int u, std::uint64_t bits) {
  const int x = reg(r_.same[i.a], u);
  const Rm y = pool(bits, i.type == boolean ? word_ : size_of(i.type));
  retire(i, u);
  e_.vector(f, bytes(i.type), result(i.dst, u), x, y);
}

// The instruction overwrites one operand: one that nothing reads any more, or a copy.
FX_INLINE void Generator::fma(const Instr& i, int u) {
  using namespace form;
  const int a = r_.same[i.a], b = r_.same[i.b], c = r_.same[i.c], length = bytes(i.type);
  auto free_after = [&](int v) { return !values_[v].shared() && dies(v, u); };
  auto overwrite = [&](int v) {  // v's register, now the result's
    const int k = reg(v, u);
    simd_.owner[k] = {i.dst, u};
    part(v, u).reg = -1;
    part(i.dst, u).reg = k;
    return k;
  };
  if (free_after(c)) {
    const int x = reg(a, u);
    const int z = reg(c, u);
    const Rm y = rm(b, u);
    overwrite(c);
    retire_others(i, u, z);
    return e_.vector(by_size(i.type, vfmadd231ps, vfmadd231pd), length, z, x, y);
  }
  const bool over_a = free_after(a) || !free_after(b);
  const int first = over_a ? a : b, second = over_a ? b : a;
  const int x = reg(first, u), y = reg(second, u);
  const Rm z = rm(c, u);
  int dst = x;
  if (free_after(first)) {
    overwrite(first);
  } else {
    dst = result(i.dst, u);
    e_.vector(vmovups, length, dst, 0, x);
  }
  retire_others(i, u, dst);
  e_.vector(by_size(i.type, vfmadd213ps, vfmadd213pd), length, dst, y, z);
}
// As retire; but an operand may be another name of the value whose register the result has.
FX_INLINE void Generator::retire_others(const Instr& i, int u, int dst) {
  r_.for_operands(i, [&](int v) {
    if (part(v, u).reg != dst && dies(v, u)) drop(v, u);
  });
}

// As fp::scale.
FX_INLINE void Generator::scale_avx2(const Instr& i, int u) {
  using namespace form;
  using fx::detail::fp::Format;
  const DType d = i.type;
  const int length = bytes(d), size = size_of(d), mant = size == 4 ? Format<float>::mant : Format<double>::mant;
  const auto magic =
      size == 4 ? fx::detail::to_bits(Format<float>::scale_magic) : fx::detail::to_bits(Format<double>::scale_magic);
  const std::uint64_t exponent = size == 4 ? Format<float>::inf_bits : Format<double>::inf_bits;
  const Form& shift = by_size(d, vpslld_fixed, vpsllq_fixed);
  const int a = reg(r_.same[i.a], u), n = reg(r_.same[i.b], u), t = temp(simd_), half = temp(simd_);
  e_.vector(by_size(d, vaddps, vaddpd), length, t, n, pool(magic, size));
  e_.vector(shift, length, half, 0, t, mant - 1);
  e_.vector(vpandd, length, half, half, pool(exponent, size));
  e_.vector(shift, length, t, 0, t, mant);
  e_.vector(by_size(d, vpsubd, vpsubq), length, t, t, half);
  e_.vector(by_size(d, vmulps, vmulpd), length, half, a, half);
  retire(i, u);
  e_.vector(by_size(d, vmulps, vmulpd), length, result(i.dst, u), half, t);
}

FX_INLINE void Generator::negate(const Instr& i, int u) {
  const int size = size_of(i.type);
  if (is_float(i.type))
    return with_constant(by_size(i.type, form::vpxord, form::vpxorq), i, u, std::uint64_t(1) << (8 * size - 1));
  const int zero = temp(simd_), length = bytes(i.type);
  const Rm a = rm(r_.same[i.a], u);
  e_.vector(form::vpxord, length, zero, zero, zero);
  retire(i, u);
  e_.vector(by_size(i.type, form::vpsubd, form::vpsubq), length, result(i.dst, u), zero, a);
}

FX_INLINE void Generator::absolute(const Instr& i, int u) {
  const DType d = i.type;
  const int length = bytes(d);
  if (is_float(d))
    return with_constant(by_size(d, form::vpandd, form::vpandq), i, u, (std::uint64_t(1) << (8 * size_of(d) - 1)) - 1);
  if (in(d, unsigned_ints)) return unary(form::vmovups, i, u);
  if (size_of(d) == 4 || avx512_) return unary(by_size(d, form::vpabsd, form::vpabsq), i, u);
  const int a = reg(r_.same[i.a], u), sign = temp(simd_), dst = result(i.dst, u);
  e_.vector(form::vpxord, length, sign, sign, sign);
  e_.vector(form::vpcmpgtq, length, sign, sign, a);
  e_.vector(form::vpxord, length, dst, a, sign);
  e_.vector(form::vpsubq, length, dst, dst, sign);
  retire(i, u);
}

// 64-bit products of AVX2: low halves in full, and the two mixed products above them.
FX_INLINE void Generator::multiply_long(const Instr& i, int u) {
  using namespace form;
  const int a = reg(r_.same[i.a], u), b = reg(r_.same[i.b], u), t = temp(simd_), mixed = temp(simd_);
  const int dst = result(i.dst, u);
  e_.vector(vpsrlq_fixed, 32, t, 0, a, 32);
  e_.vector(vpmuludq, 32, mixed, t, b);
  e_.vector(vpsrlq_fixed, 32, t, 0, b, 32);
  e_.vector(vpmuludq, 32, t, t, a);
  e_.vector(vpaddq, 32, mixed, mixed, t);
  e_.vector(vpsllq_fixed, 32, mixed, 0, mixed, 32);
  e_.vector(vpmuludq, 32, dst, a, b);
  e_.vector(vpaddq, 32, dst, dst, mixed);
  retire(i, u);
}

FX_INLINE void Generator::bits(const Instr& i, int u) {
  using namespace form;
  const DType d = i.type;
  const bool four = d == boolean || size_of(d) == 4;
  switch (i.op) {
    case Instr::bit_and: return binary(four ? vpandd : vpandq, i, u, true);
    case Instr::bit_or: return binary(four ? vpord : vporq, i, u, true);
    case Instr::bit_xor: return binary(four ? vpxord : vpxorq, i, u, true);
    default: return with_constant(four ? vpxord : vpxorq, i, u, ~std::uint64_t(0));
  }
}

FX_INLINE void Generator::shift(const Instr& i, int u) {
  using namespace form;
  const DType d = i.type;
  if (i.b < 0) {
    const int a = reg(r_.same[i.a], u);
    retire(i, u);
    const Form& f = i.op == Instr::shl     ? by_size(d, vpslld_fixed, vpsllq_fixed)
                    : in(d, unsigned_ints) ? by_size(d, vpsrld_fixed, vpsrlq_fixed)
                                           : by_size(d, vpsrad_fixed, vpsraq_fixed);
    return e_.vector(f, bytes(d), result(i.dst, u), 0, a, int(i.imm));
  }
  if (i.op == Instr::shl) return binary(by_size(d, vpsllvd, vpsllvq), i, u);
  if (in(d, unsigned_ints)) return binary(by_size(d, vpsrlvd, vpsrlvq), i, u);
  binary(by_size(d, vpsravd, vpsravq), i, u);
}

// The table lies in the pool; AVX2 picks from both halves.
FX_INLINE void Generator::pick(const Instr& i, int u) {
  using namespace form;
  const char* table = reinterpret_cast<const char*>(i.imm);
  const int a = reg(r_.same[i.a], u);
  if (avx512_) {
    Mem all;
    all.label = e_.constant(table, 64, 64);
    retire(i, u);
    return e_.vector(vpermps, 64, result(i.dst, u), a, all);
  }
  Mem low, high;
  low.label = e_.constant(table, 32, 32);
  high.label = e_.constant(table + 32, 32, 32);
  const int upper = temp(simd_), which = temp(simd_), dst = result(i.dst, u);
  e_.vector(vpslld_fixed, bytes(u32), which, 0, a, 28);
  e_.vector(vpermps, 32, upper, a, high);
  e_.vector(vpermps, 32, dst, a, low);
  e_.vector(vblendvps, 32, dst, dst, upper, which << 4);
  retire(i, u);
}

// table[index], the index clamped: lanes of an index and of an element may differ in size.
FX_INLINE void Generator::lookup(const Instr& i, int u) {
  using namespace form;
  const DType from = i.type;
  const bool wide = size_of(from) == 8, wide_element = size_of(i.to) == 8;
  const int length = bytes(from), a = reg(r_.same[i.a], u), at = temp(simd_);
  const std::uint64_t last = std::uint64_t(i.b - 1);
  if (!wide || avx512_) {
    const bool is_signed = in(from, signed_ints);
    const Rm most = pool(last, size_of(from));
    e_.vector(is_signed ? by_size(from, vpminsd, vpminsq) : by_size(from, vpminud, vpminuq), length, at, a, most);
    if (is_signed) e_.vector(by_size(from, vpmaxsd, vpmaxsq), length, at, at, pool(0, size_of(from)));
  } else {
    // Within the table the sign of (last - index) is clear, and that of the index; unsigned indices are below 2^63
    // or look negative, and then stand for large ones.
    const int t = temp(simd_), most = temp(simd_);
    e_.vector(vmovups, length, most, 0, pool(last, 8));
    e_.vector(vpcmpgtq, length, t, a, most);
    e_.vector(vblendvpd, length, at, a, most, t << 4);
    e_.vector(vpxord, length, t, t, t);
    e_.vector(vpcmpgtq, length, t, t, a);
    if (in(from, signed_ints)) e_.vector(vpxord, length, most, most, most);
    e_.vector(vblendvpd, length, at, at, most, t << 4);
  }
  const int dst = result(i.dst, u), result_length = bytes(i.to);
  const int wider = result_length > length ? result_length : length;
  Mem table;
  table.label = e_.constant(reinterpret_cast<const void*>(i.imm), i.b * size_of(i.to), size_of(i.to));
  e_.lea(rax, table);
  Mem m{rax, at, size_of(i.to)};
  const Form& f = wide ? (wide_element ? vpgatherqq : vpgatherqd) : wide_element ? vpgatherdq : vpgatherdd;
  if (avx512_) {
    const int all = temp(mask_);
    e_.vector(kxnorw, 32, all, all, all);
    e_.vector(f, wider, dst, 0, m, -1, {all, false});
  } else {
    const int all = temp(simd_);
    e_.vector(vpcmpeqd, result_length, all, all, all);
    e_.vector(f, wider, dst, all, m);
  }
  retire(i, u);
}

}  // namespace fx::inline v0::tiled::code
#endif
