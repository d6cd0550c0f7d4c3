// code/generator_memory.hpp -- Generator: elements of ports to registers and back.
#pragma once
#include "generator_registers.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE Rm Generator::pool(std::uint64_t bits, int size) {
  std::uint8_t vector[64];
  const int length = size == 8 && avx512_ ? 64 : lanes_ * size < 32 ? 32 : lanes_ * size;
  for (int i = 0; i < length; ++i) vector[i] = std::uint8_t(bits >> (8 * (i % size)));
  Mem m;
  m.label = e_.constant(vector, length, length);
  return m;
}

FX_INLINE Mem Generator::element_at(int port, int u, int size) {
  Mem m{base(port), element, size};
  m.disp = (first_ + u) * lanes_ * size;
  return m;
}

// The lanes that exist, as a vector of lanes of `size` bytes (AVX2).
FX_INLINE void Generator::tail_lanes(int reg, int size) {
  e_.vector(form::vmovups, lanes_ * size, reg, 0, in_frame(size == 4 ? tail_four_ : tail_eight_));
}

FX_INLINE void Generator::load_port(int reg, int v, int u) {
  const Value& x = values_[v];
  if (x.dtype == boolean) return load_bool(reg, x.at, u);
  const int size = size_of(x.dtype), length = bytes(x.dtype);
  const Mem m = element_at(x.at, u, size);
  if (!masked_) return e_.vector(form::vmovups, length, reg, 0, m);
  if (avx512_)
    return e_.vector(by_size(x.dtype, form::vmovups, form::vmovupd), length, reg, 0, m, -1, {tail_mask, true});
  const int lanes = temp(simd_);
  tail_lanes(lanes, size);
  e_.vector(by_size(x.dtype, form::vmaskmovps, form::vmaskmovpd), length, reg, lanes, m);
}

FX_INLINE void Generator::store_value(int v, int port, int u) {
  const int from = reg(v, u);
  if (values_[v].dtype == boolean) {
    store_bool(v, port, u);
  } else {
    const DType d = values_[v].dtype;
    const Mem m = element_at(port, u, size_of(d));
    if (!masked_) {
      e_.vector(form::vmovups_to, bytes(d), from, 0, m);
    } else if (avx512_) {
      e_.vector(by_size(d, form::vmovups_to, form::vmovupd_to), bytes(d), from, 0, m, -1, {tail_mask, false});
    } else {
      const int lanes = temp(simd_);
      tail_lanes(lanes, size_of(d));
      e_.vector(by_size(d, form::vmaskmovps_to, form::vmaskmovpd_to), bytes(d), from, lanes, m);
    }
  }
  if (dies(v, u)) drop(v, u);
}

// The bytes that exist, one by one, from a port's row into the frame or back.
FX_INLINE void Generator::copy_bytes(bool in, int port) {
  const Label done = e_.label();
  e_.lea(r11, element_at(port, 0, 1));
  for (int i = 0; i < lanes_; ++i) {
    Mem outside{r11}, inside = in_frame(bytes_slot_ + i);
    outside.disp = i;
    e_.mov(rax, in_frame(tail_count_));
    e_.cmp(rax, i);
    e_.jump_if(Encoder::not_greater, done);
    e_.load_byte(rax, in ? outside : inside);
    e_.store_byte(in ? inside : outside, rax);
  }
  e_.bind(done);
}

FX_INLINE void Generator::load_bool(int to, int port, int u) {
  Mem m = element_at(port, u, 1);
  if (avx512_ && masked_) {
    const int t = temp(simd_);
    e_.vector(form::vmovdqu8, 16, t, 0, m, -1, {tail_mask, true});
    return e_.vector(form::vptestmb, 16, to, t, t);
  }
  if (masked_) {
    copy_bytes(true, port);
    m = in_frame(bytes_slot_);
  }
  flags_from(to, m);
}

// All lanes of bools, from their bytes.
FX_INLINE void Generator::flags_from(int to, const Mem& bytes) {
  const int t = temp(simd_), length = lanes_ * word_;
  if (avx512_) {
    e_.vector(lanes_ == 16 ? form::vmovups : form::vmovq, 16, t, 0, bytes);
    return e_.vector(form::vptestmb, 16, to, t, t);
  }
  e_.vector(word_ == 4 ? form::vpmovzxbd : form::vpmovzxbq, length, to, 0, bytes);
  e_.vector(form::vpxord, length, t, t, t);
  e_.vector(word_ == 4 ? form::vpcmpgtd : form::vpcmpgtq, length, to, to, t);
}

// A register with the bytes of bools.
FX_INLINE int Generator::flag_bytes(int v, int u) {
  const Rm ones = pool(0x01, 1);
  const int t = temp(simd_), mask = reg(v, u);
  if (avx512_) {
    e_.vector(form::vmovdqu8, 16, t, 0, ones, -1, {mask, true});
    return t;
  }
  if (word_ == 8) {
    const int four = narrowed(mask);
    e_.vector(form::vpackssdw, 16, t, four, four);
  } else {
    e_.vector(form::vextractf128, 32, mask, 0, t, 1);
    e_.vector(form::vpackssdw, 16, t, mask, t);
  }
  e_.vector(form::vpacksswb, 16, t, t, t);
  e_.vector(form::vpandd, 16, t, t, ones);
  return t;
}

FX_INLINE void Generator::store_bool(int v, int port, int u) {
  Mem m = element_at(port, u, 1);
  const int t = flag_bytes(v, u);
  if (avx512_ && masked_) return e_.vector(form::vmovdqu8_to, 16, t, 0, m, -1, {tail_mask, false});
  if (masked_) m = in_frame(bytes_slot_);
  e_.vector(lanes_ == 16 ? form::vmovups_to : lanes_ == 8 ? form::vmovq_to : form::vmovd_to, 16, t, 0, m);
  if (masked_) copy_bytes(false, port);
}

}  // namespace fx::inline v0::tiled::code
#endif
