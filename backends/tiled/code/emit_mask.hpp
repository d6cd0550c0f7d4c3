// code/emit_mask.hpp -- Generator: comparisons, bool values, and choosing by them.
#pragma once
#include "generator_memory.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

// Operations on mask registers.
FX_INLINE void Generator::bool_bits(const Instr& i, int u) {
  using namespace form;
  const int a = reg(r_.same[i.a], u), b = i.op == Instr::bit_not ? 0 : reg(r_.same[i.b], u);
  retire(i, u);
  const int dst = result(i.dst, u);
  switch (i.op) {
    case Instr::bit_and: return e_.vector(kandw, 32, dst, a, b);
    case Instr::bit_or: return e_.vector(korw, 32, dst, a, b);
    case Instr::bit_xor: return e_.vector(kxorw, 32, dst, a, b);
    default: return e_.vector(knotw, 16, dst, 0, a);
  }
}

// false is below true: a < b is !a & b, a <= b is its opposite with the sides exchanged.
FX_INLINE void Generator::bool_compare(const Instr& i, int u) {
  using namespace form;
  const int a = reg(r_.same[i.a], u), b = reg(r_.same[i.b], u), dst = result(i.dst, u);
  const bool opposite = i.op == Instr::le || i.op == Instr::eq;
  const int x = i.op == Instr::le ? b : a, y = i.op == Instr::le ? a : b;
  const bool order = i.op == Instr::lt || i.op == Instr::le;
  if (avx512_) {
    e_.vector(order ? kandnw : kxorw, 32, dst, x, y);
    if (opposite) e_.vector(knotw, 16, dst, 0, dst);
  } else {
    e_.vector(order ? vpandnd : vpxord, 32, dst, x, y);
    if (opposite) e_.vector(vpxord, 32, dst, dst, pool(~std::uint64_t(0), 4));
  }
  retire(i, u);
}

FX_INLINE void Generator::compare(const Instr& i, int u) {
  using namespace form;
  if (!avx512_) {
    compare_avx2(result(i.dst, u), i, u);
    return retire(i, u);
  }
  const DType d = i.type;
  const int a = reg(r_.same[i.a], u);
  const Rm b = rm(r_.same[i.b], u);
  const int predicate = i.op == Instr::lt ? 1 : i.op == Instr::le ? 2 : i.op == Instr::eq ? 0 : 4;
  retire(i, u);
  const Form& f = is_float(d)            ? by_size(d, vcmpps_mask, vcmppd_mask)
                  : in(d, unsigned_ints) ? by_size(d, vpcmpud, vpcmpuq)
                                         : by_size(d, vpcmpd, vpcmpq);
  e_.vector(f, bytes(d), result(i.dst, u), a, b, predicate);
}

FX_INLINE void Generator::compare_avx2(int dst, const Instr& i, int u) {
  using namespace form;
  const DType d = i.type;
  const int size = size_of(d), length = bytes(d);
  const int predicate = i.op == Instr::lt ? 1 : i.op == Instr::le ? 2 : i.op == Instr::eq ? 0 : 4;
  if (is_float(d)) {
    const int a = reg(r_.same[i.a], u);
    e_.vector(by_size(d, vcmpps, vcmppd), length, dst, a, rm(r_.same[i.b], u), predicate);
    return widened(dst, dst, size);
  }
  int a = reg(r_.same[i.a], u), b = reg(r_.same[i.b], u);
  if (i.op == Instr::eq || i.op == Instr::ne) {
    e_.vector(by_size(d, vpcmpeqd, vpcmpeqq), length, dst, a, b);
  } else {
    if (in(d, unsigned_ints)) {  // signed order after the highest bit is changed
      const int x = temp(simd_), y = temp(simd_);
      const Rm high = pool(std::uint64_t(1) << (8 * size - 1), size);
      e_.vector(vpxord, length, x, a, high);
      e_.vector(vpxord, length, y, b, high);
      a = x, b = y;
    }
    const bool swaps = i.op == Instr::lt;  // a < b is b > a; a <= b is not a > b
    e_.vector(by_size(d, vpcmpgtd, vpcmpgtq), length, dst, swaps ? b : a, swaps ? a : b);
  }
  if (i.op == Instr::ne || i.op == Instr::le) e_.vector(vpxord, length, dst, dst, pool(~std::uint64_t(0), size));
  widened(dst, dst, size);
}

// A comparison's lanes of `size` bytes as those of bool values (AVX2).
FX_INLINE void Generator::widened(int dst, int from, int size) {
  if (size < word_)
    e_.vector(form::vpmovsxdq, 32, dst, 0, from);
  else if (dst != from)
    e_.vector(form::vmovups, 32, dst, 0, from);
}
// Lanes of 8 bytes as lanes of 4, in a temporary.
FX_INLINE int Generator::narrowed(int mask) {
  const int t = temp(simd_);
  e_.vector(form::vextractf128, 32, mask, 0, t, 1);
  e_.vector(form::vshufps, 16, t, mask, t, 0x88);
  return t;
}
// The register with the bool v as lanes of `size` bytes (AVX2).
FX_INLINE int Generator::mask_lanes(int v, int u, int size) {
  const int m = reg(v, u);
  return size < word_ ? narrowed(m) : m;
}

// dst = mask ? if_set : if_clear, lane by lane; `mask` has lanes of d's size on AVX2.
FX_INLINE void Generator::choose(int dst, int mask, const Rm& if_set, int if_clear, DType d) {
  using namespace form;
  if (avx512_) return e_.vector(by_size(d, vblendmps, vblendmpd), bytes(d), dst, if_clear, if_set, -1, {mask, false});
  e_.vector(by_size(d, vblendvps, vblendvpd), bytes(d), dst, if_clear, if_set, mask << 4);
}

FX_INLINE void Generator::select(const Instr& i, int u) {
  using namespace form;
  const int m = r_.same[i.a], a = r_.same[i.b], b = r_.same[i.c];
  const DType d = i.type;
  if (d != boolean) {
    const int mask = avx512_ ? reg(m, u) : mask_lanes(m, u, size_of(d));
    const int y = reg(b, u);
    const Rm x = rm(a, u);
    retire(i, u);
    return choose(result(i.dst, u), mask, x, y, d);
  }
  const int mask = reg(m, u), x = reg(a, u), y = reg(b, u), dst = result(i.dst, u);
  if (avx512_) {
    const int t = temp(mask_);
    e_.vector(kandw, 32, t, mask, x);
    e_.vector(kandnw, 32, dst, mask, y);
    e_.vector(korw, 32, dst, dst, t);
  } else {
    e_.vector(vblendvps, 32, dst, y, x, mask << 4);
  }
  retire(i, u);
}

// Lanes of `a` that compare so with a constant: a mask register, or lanes of d's size; a temporary.
FX_INLINE int Generator::compare_with(int a, std::uint64_t bits, int predicate, DType d) {
  const int t = temp(avx512_ ? mask_ : simd_);
  const Form& f = avx512_ ? by_size(d, form::vcmpps_mask, form::vcmppd_mask) : by_size(d, form::vcmpps, form::vcmppd);
  e_.vector(f, bytes(d), t, a, pool(bits, size_of(d)), predicate);
  return t;
}

}  // namespace fx::inline v0::tiled::code
#endif
