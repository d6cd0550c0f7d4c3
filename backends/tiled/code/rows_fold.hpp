// code/rows_fold.hpp -- RowsGenerator: folds along a row, in the order that ops/reduce.hpp prescribes.
#pragma once
#include "rows_generator.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE bool RowsGenerator::folds(const RowsFold& f) const {
  const bool four = size_of(f.dtype) == 4;
  if (f.dtype == boolean || reduce_lanes(f.dtype) / lanes_ > most_accumulators) return false;
  switch (f.op) {
    case FoldOp::sum: return true;
    case FoldOp::prod:
    case FoldOp::max:
    case FoldOp::min: return is_float(f.dtype) || four;
    default: return false;
  }
}

// to = the fold of a and x; `spare` and the register after it are free.
FX_INLINE void RowsGenerator::fold_into(const RowsFold& f, int to, int a, const Rm& x, int length, int spare,
                                        Masking m) {
  using namespace form;
  const DType d = f.dtype;
  const bool real = is_float(d), max = f.op == FoldOp::max, is_signed = in(d, signed_ints);
  auto one = [&](const Form& form, int imm = -1) { e_.vector(form, length, to, a, x, imm, m); };
  if (f.op == FoldOp::sum) return one(real ? by_size(d, vaddps, vaddpd) : by_size(d, vpaddd, vpaddq));
  if (f.op == FoldOp::prod) return one(real ? by_size(d, vmulps, vmulpd) : vpmulld);
  if (!real) return one(max ? (is_signed ? vpmaxsd : vpmaxud) : is_signed ? vpminsd : vpminud);
  if (avx512_) return one(by_size(d, vrangeps, vrangepd), max ? 5 : 4);
  // The instructions give the second of two zeros: both orders have all the bits. NaN is mended at the end.
  int y = x.reg;
  if (y < 0) e_.vector(vmovups, length, y = spare + 1, 0, x);
  const Form& extremum = max ? by_size(d, vmaxps, vmaxpd) : by_size(d, vminps, vminpd);
  e_.vector(extremum, length, spare, a, y);
  e_.vector(extremum, length, to, y, a);
  e_.vector(max ? vpandd : vpord, length, to, to, spare);
}

// All accumulators start from the identity.
FX_INLINE void RowsGenerator::reset(const Folding& f) {
  const int length = bytes(f.f->dtype);
  const Rm identity = pool(f.f->identity, size_of(f.f->dtype));
  if (f.reg < 0) e_.vector(form::vmovups, length, 0, 0, identity);
  for (int k = 0; k < f.count; ++k) {
    if (f.reg < 0)
      e_.vector(form::vmovups_to, length, 0, 0, in_frame(f.slot + 64 * k));
    else
      e_.vector(form::vmovups, length, f.reg + k, 0, identity);
  }
}

FX_INLINE void RowsGenerator::start_folds() {
  using namespace form;
  for (Folding& f : folding_) {
    const DType d = f.f->dtype;
    const int length = bytes(d);
    reset(f);
    e_.vector(vmovups, length, 0, 0, pool(f.f->identity, size_of(d)));
    e_.vector(vmovups_to, length, 0, 0, in_frame(slot_[f.f->result]));
    if (!watches(*f.f)) continue;
    if (avx512_) {
      e_.vector(by_size(d, vcmpps_mask, vcmppd_mask), length, f.seen, 0, 0, ordered);
      continue;
    }
    const int seen = f.seen >= 0 ? f.seen : 0;
    e_.vector(vpxord, 32, seen, seen, seen);
    if (f.seen < 0) e_.vector(vmovups_to, 32, seen, 0, in_frame(f.seen_slot));
  }
}

// One more vector: element e of a block goes to lane e mod L, which is lane e mod `lanes` of one of the accumulators.
FX_INLINE void RowsGenerator::take(Folding& f, int v, int u) {
  using namespace form;
  const RowsFold& fold = *f.f;
  const int x = reg(v, u), k = (first_ + u) % f.count, length = bytes(fold.dtype), size = size_of(fold.dtype);
  const bool blends = masked_ && !avx512_, extremum = watches(fold) && !avx512_;
  int acc = f.reg + k, spare = 0, lanes = -1;
  if (f.reg < 0) e_.vector(vmovups, length, acc = temp(simd_), 0, in_frame(f.slot + 64 * k));
  if (extremum) spare = temp(simd_);
  if (blends) tail_lanes(lanes = temp(simd_), size);
  const int to = blends ? temp(simd_) : acc;
  fold_into(fold, to, acc, x, length, spare, masked_ && avx512_ ? Masking{tail_mask, false} : Masking{});
  if (blends) e_.vector(by_size(fold.dtype, vblendvps, vblendvpd), length, acc, acc, to, lanes << 4);
  if (f.reg < 0) e_.vector(vmovups_to, length, acc, 0, in_frame(f.slot + 64 * k));
  if (watches(fold)) see_nan(f, x, spare, lanes);
}

FX_INLINE void RowsGenerator::see_nan(const Folding& f, int x, int spare, int lanes) {
  using namespace form;
  const DType d = f.f->dtype;
  const int length = bytes(d);
  if (avx512_) {
    const Form& compare = by_size(d, vcmpps_mask, vcmppd_mask);
    if (!masked_) return e_.vector(compare, length, f.seen, x, x, ordered, {f.seen, false});
    const int nan = temp(mask_);
    e_.vector(compare, length, nan, x, x, unordered, {tail_mask, false});
    return e_.vector(kandnw, 32, f.seen, nan, f.seen);
  }
  e_.vector(by_size(d, vcmpps, vcmppd), length, spare, x, x, unordered);
  if (lanes >= 0) e_.vector(vpandd, length, spare, spare, lanes);
  if (f.seen >= 0) return e_.vector(vpord, length, f.seen, f.seen, spare);
  e_.vector(vpord, length, spare, spare, in_frame(f.seen_slot));
  e_.vector(vmovups_to, length, spare, 0, in_frame(f.seen_slot));
}

// The lanes fold in halves, and the last one onto the total of the blocks before. Registers 0 to 4 are free here
// (choose_registers).
FX_INLINE void RowsGenerator::close_block(const Folding& f) {
  using namespace form;
  constexpr int spare = 1, upper = 3, total = 4;
  const RowsFold& fold = *f.f;
  const int length = bytes(fold.dtype), acc = f.reg < 0 ? 0 : f.reg;
  if (f.reg < 0) e_.vector(vmovups, length, acc, 0, in_frame(f.slot));
  for (int n = f.count / 2; n > 0; n /= 2)
    for (int k = n - 1; k >= 0; --k) {
      if (f.reg >= 0) {
        fold_into(fold, f.reg + k, f.reg + k, f.reg + k + n, length, spare);
        continue;
      }
      e_.vector(vmovups, length, acc, 0, in_frame(f.slot + 64 * k));
      fold_into(fold, acc, acc, in_frame(f.slot + 64 * (k + n)), length, spare);
      e_.vector(vmovups_to, length, acc, 0, in_frame(f.slot + 64 * k));
    }
  for (int half = length / 2; half >= 16; half /= 2) {
    e_.vector(half == 32 ? vextractf64x4 : avx512_ ? vextractf32x4 : vextractf128, 2 * half, acc, 0, upper, 1);
    fold_into(fold, acc, acc, upper, half, spare);
  }
  for (int order : {0x0e, 0x01}) {  // the upper half of 16 bytes, of 8
    if (order == 1 && size_of(fold.dtype) == 8) continue;
    e_.vector(vshufps, 16, upper, acc, acc, order);
    fold_into(fold, acc, acc, upper, 16, spare);
  }
  e_.vector(vmovups, 16, total, 0, in_frame(slot_[fold.result]));
  fold_into(fold, total, total, acc, 16, spare);
  e_.vector(vmovups_to, 16, total, 0, in_frame(slot_[fold.result]));
}

// The total in all lanes; NaN if one was seen.
FX_INLINE void RowsGenerator::finish(const Folding& f) {
  using namespace form;
  const DType d = f.f->dtype;
  const int size = size_of(d), to = slot_[f.f->result];
  e_.vector(vmovups, 16, 0, 0, in_frame(to));
  if (watches(*f.f)) {
    const Label fine = e_.label();
    if (avx512_) {
      e_.vector(lanes_ == 16 ? kortestw : kortestb, 16, f.seen, 0, f.seen);
    } else {
      const int seen = f.seen >= 0 ? f.seen : 1;
      if (f.seen < 0) e_.vector(vmovups, 32, seen, 0, in_frame(f.seen_slot));
      e_.vector(vptest, 32, seen, 0, seen);
    }
    e_.jump_if(avx512_ ? Encoder::below : Encoder::equal, fine);
    e_.vector(vmovups, 16, 0, 0, pool(size == 4 ? 0x7fc00000 : 0x7ff8000000000000, size));
    e_.bind(fine);
  }
  e_.vector(by_size(d, vbroadcastss, vbroadcastsd), bytes(d), 0, 0, 0);
  e_.vector(vmovups_to, bytes(d), 0, 0, in_frame(to));
}

}  // namespace fx::inline v0::tiled::code
#endif
