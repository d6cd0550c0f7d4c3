// code/emit_called.hpp -- Generator: operations that no vector instruction computes, as calls of plain loops.
#pragma once
#include "../kernels/vector_kernels.hpp"
#include "emit_mask.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE bool Generator::called(const Instr& i) const {
  const bool wide = size_of(i.type) == 8;
  if (i.op == Instr::idiv || i.op == Instr::irem) return true;
  if (avx512_) return false;
  if (i.op == Instr::shr) return i.type == i64;
  if (i.op != Instr::convert || i.type == boolean || i.to == boolean) return false;
  const bool from_real = is_float(i.type), to_real = is_float(i.to);
  if (from_real && !to_real) return i.to != i32;
  if (!from_real && to_real) return wide || in(i.type, unsigned_ints);
  return false;
}

// dst[i] = Op(a[i], b[i]); what is no operand is not read.
using Lanes = void (*)(char* dst, const char* a, const char* b, int n);
template <class Op, class R, class A, bool two>
void lanes(char* dst, const char* a, const char* b, int n) {
  for (int i = 0; i < n; ++i) {
    A x, y{};
    std::memcpy(&x, a + i * int(sizeof(A)), sizeof(A));
    if constexpr (two) std::memcpy(&y, b + i * int(sizeof(A)), sizeof(A));
    R r;
    if constexpr (two)
      r = Op::run(x, y);
    else
      r = Op::run(x);
    std::memcpy(dst + i * int(sizeof(R)), &r, sizeof(R));
  }
}
template <DTypes set, class F>
Lanes lanes_by_type(DType d, F&& f) {
  Lanes l = nullptr;
  fx::detail::with_type<set>(d, [&]<class T>() { l = f.template operator()<T>(); });
  return l;
}
FX_INLINE Lanes lanes_of(const Instr& i) {
  using namespace kernels;
  if (i.op == Instr::idiv) return lanes_by_type<words>(i.type, []<class T>() { return &lanes<op::IDiv, T, T, true>; });
  if (i.op == Instr::irem && is_float(i.type))
    return lanes_by_type<reals>(i.type, []<class T>() { return &lanes<op::FRem, T, T, true>; });
  if (i.op == Instr::irem) return lanes_by_type<words>(i.type, []<class T>() { return &lanes<op::IRem, T, T, true>; });
  if (i.op == Instr::shr) return &lanes<op::ShrSigned, std::int64_t, std::int64_t, true>;
  if (is_float(i.type))
    return lanes_by_type<reals>(i.type, [&]<class T>() {
      return lanes_by_type<words>(i.to, []<class U>() { return &lanes<op::Convert<U>, U, T, false>; });
    });
  return lanes_by_type<words>(i.type, [&]<class T>() {
    return lanes_by_type<reals>(i.to, []<class U>() { return &lanes<op::Convert<U>, U, T, false>; });
  });
}

// Everything that is needed later goes to the frame; the operands go there too, and the result comes from there.
FX_INLINE void Generator::call(const Instr& i) {
  int n = 0;
  r_.for_operands(i, [&](int v) {
    n += 64;
    e_.vector(form::vmovups_to, bytes(values_[v].dtype), reg(v, 0), 0, in_frame(call_area_ + n));
  });
  retire(i, 0);
  for (File* f : {&simd_, &mask_})
    for (int k = 0; k < f->size; ++k) {
      const Owner o = f->owner[k];
      if (o.value < 0) continue;
      spill(o.value, o.part);
      f->owner[k] = {};
    }
  end_part();
  if (masked_ && avx512_) e_.vector(form::kmovw_to, 16, tail_mask, 0, in_frame(tail_count_));
  e_.vzeroupper();
  e_.lea(rdi, in_frame(call_area_));
  e_.lea(rsi, in_frame(call_area_ + 64));
  e_.lea(rdx, in_frame(call_area_ + 128));
  e_.mov(rcx, std::uint64_t(lanes_));
  const auto target = reinterpret_cast<std::uint64_t>(lanes_of(i));
  Mem m;
  m.label = e_.constant(&target, 8, 8);
  result_.calls.push_back({m.label.n, i.op, i.type, i.to});  // the place is known at the end
  e_.call(m);
  load_bases();
  if (masked_ && avx512_) e_.vector(form::kmovw, 16, tail_mask, 0, in_frame(tail_count_));
  const int dst = result(i.dst, 0);
  e_.vector(form::vmovups, bytes(i.to), dst, 0, in_frame(call_area_));
  end_part();
}

}  // namespace fx::inline v0::tiled::code
#endif
