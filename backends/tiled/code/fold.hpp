// code/fold.hpp -- machine code that folds rows into a row of accumulators: the inner loop of the known reductions.
#pragma once
#include <fx/ops/layout.hpp>
#include <mutex>

#include "../kernels/fold_types.hpp"
#include "forms.hpp"
#include "memory.hpp"

namespace fx::inline v0::tiled::code {

// acc[c] = fold(acc[c], x[i * stride + c]) for i < rows in order, c < cols; rows > 0, cols a multiple of the lanes that
// a vector has. acc and x are elements of one dtype.
using FoldColumns = void (*)(void* acc, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t stride);

// For sums, maxima and minima of f32, f64, i32, u32, and sums of i64 and u64; made at the first call and kept. Null for
// others, on the baseline, or where memory may not be executed.
FoldColumns fold_columns(FoldOp op, DType d, Level l);

// out[r] = the fold of the row x + r * row_bytes, for r < rows: `rounds` times as many elements as a block has lanes
// (reduce_lanes), in one block. `identity` points to the fold's.
using FoldRows = void (*)(void* out, const void* x, std::int64_t rounds, std::int64_t rows, std::int64_t row_bytes,
                          const void* identity);
FoldRows fold_rows(FoldOp op, DType d, Level l);

#if FX_BODIES
namespace detail {
class FoldWriter {
 public:
  FoldWriter(FoldOp op, DType d, Level l)
      : op_(op), d_(d), avx512_(l == Level::avx512), length_(l == Level::avx512 ? 64 : 32) {}
  Vec<std::uint8_t> columns() {
    e_.shift_left(stride, size_of(d_) == 4 ? 2 : 3);
    for (int vectors : {4, 2, 1}) group(vectors);
    e_.vzeroupper();
    e_.ret();
    e_.finish();
    return e_.bytes();
  }
  Vec<std::uint8_t> whole_rows();

 private:
  static constexpr Gpr acc = rdi, x = rsi, rows = rdx, cols = rcx, stride = r8, row = r9;
  static constexpr int element = 4, result = 5, other = 6, half = 8, identity = 9;  // beside the accumulators
  FoldOp op_;
  DType d_;
  bool avx512_;
  int length_;
  Encoder e_;

  const Form& by_size(const Form& four, const Form& eight) const { return size_of(d_) == 4 ? four : eight; }
  static Mem at(Gpr base, int offset) {
    Mem m{base};
    m.disp = offset;
    return m;
  }
  // As many columns at a time as `vectors` hold, while there are so many.
  void group(int vectors) {
    const int width = vectors * length_ / size_of(d_);
    const Label next = e_.label(), loop = e_.label(), done = e_.label();
    e_.bind(next);
    e_.cmp(cols, width);
    e_.jump_if(Encoder::less, done);
    e_.mov(row, x);
    e_.mov(rax, rows);
    for (int j = 0; j < vectors; ++j) e_.vector(form::vmovups, length_, j, 0, at(acc, j * length_));
    e_.bind(loop);
    for (int j = 0; j < vectors; ++j) fold(j, at(row, j * length_), length_);
    e_.add(row, stride);
    e_.decrement(rax);
    e_.jump_if(Encoder::not_equal, loop);
    for (int j = 0; j < vectors; ++j) e_.vector(form::vmovups_to, length_, j, 0, at(acc, j * length_));
    e_.add(acc, vectors * length_);
    e_.add(x, vectors * length_);
    e_.sub(cols, width);
    e_.jump(next);
    e_.bind(done);
  }

  // Accumulator a takes one more vector.
  void fold(int a, const Rm& from, int length) {
    using namespace form;
    const bool real = is_float(d_), max = op_ == FoldOp::max;
    if (op_ == FoldOp::sum)
      return e_.vector(real ? by_size(vaddps, vaddpd) : by_size(vpaddd, vpaddq), length, a, a, from);
    if (!real) {
      const bool is_signed = in(d_, signed_ints);
      return e_.vector(max ? (is_signed ? vpmaxsd : vpmaxud) : is_signed ? vpminsd : vpminud, length, a, a, from);
    }
    extremum(a, from, max, length);
  }

  // IEEE 754-2019 maximum and minimum (ops/scalar.hpp's extremum): the instructions give the second operand where the
  // two are equal or one is NaN. Equal operands are zeros or have the same bits: those that both have are the larger
  // one's, all of them the smaller one's.
  void extremum(int a, const Rm& from, bool max, int length) {
    using namespace form;
    constexpr int equal = 0, unordered = 3;
    const Form& compare = avx512_ ? by_size(vcmpps_mask, vcmppd_mask) : by_size(vcmpps, vcmppd);
    const Form& both = max ? by_size(vpandd, vpandq) : by_size(vpord, vporq);
    e_.vector(vmovups, length, element, 0, from);
    e_.vector(max ? by_size(vmaxps, vmaxpd) : by_size(vminps, vminpd), length, result, a, element);
    if (avx512_) {
      e_.vector(compare, length, 1, a, element, equal);
      e_.vector(compare, length, 2, a, a, unordered);
      e_.vector(both, length, result, a, element, -1, {1, false});
      e_.vector(by_size(vblendmps, vblendmpd), length, a, result, a, -1, {2, false});
      return;
    }
    constexpr int mask = 7;
    const Form& blend = by_size(vblendvps, vblendvpd);
    e_.vector(compare, length, mask, a, element, equal);
    e_.vector(both, length, other, a, element);
    e_.vector(blend, length, result, result, other, mask << 4);
    e_.vector(compare, length, mask, a, a, unordered);
    e_.vector(blend, length, a, result, a, mask << 4);
  }
};

// Lanes start from the identity, fold in halves at the end, and the last one onto the identity:
// kernels/reduce_lanes.hpp.
FX_INLINE Vec<std::uint8_t> FoldWriter::whole_rows() {
  using namespace form;
  constexpr Gpr out = rdi, rounds = rdx, count = rcx, row_bytes = r8, from = r10;
  const int vectors = reduce_lanes(d_) * size_of(d_) / length_;
  const bool four = size_of(d_) == 4;
  const Label next = e_.label(), loop = e_.label();
  e_.vector(four ? vbroadcastss : vbroadcastsd, length_, identity, 0, Mem{r9});
  e_.bind(next);
  e_.mov(from, x);
  e_.mov(rax, rounds);
  for (int j = 0; j < vectors; ++j) e_.vector(vmovups, length_, j, 0, identity);
  e_.bind(loop);
  for (int j = 0; j < vectors; ++j) fold(j, at(from, j * length_), length_);
  e_.add(from, vectors * length_);
  e_.decrement(rax);
  e_.jump_if(Encoder::not_equal, loop);
  for (int n = vectors / 2; n > 0; n /= 2)
    for (int j = 0; j < n; ++j) fold(j, j + n, length_);
  if (length_ == 64) {
    e_.vector(vextractf64x4, 64, 0, 0, half, 1);
    fold(0, half, 32);
  }
  e_.vector(vextractf128, 32, 0, 0, half, 1);
  fold(0, half, 16);
  for (int order : {0x0e, 0x01}) {  // the upper half of 16 bytes, of 8
    if (order == 1 && !four) continue;
    e_.vector(vshufps, 16, half, 0, 0, order);
    fold(0, half, 16);
  }
  e_.vector(vmovups, 16, 1, 0, identity);
  fold(1, 0, 16);
  e_.vector(four ? vmovss_to : vmovsd_to, 16, 1, 0, Mem{out});
  e_.add(out, size_of(d_));
  e_.add(x, row_bytes);
  e_.decrement(count);
  e_.jump_if(Encoder::not_equal, next);
  e_.vzeroupper();
  e_.ret();
  e_.finish();
  return e_.bytes();
}

inline bool has_fold_code(FoldOp op, DType d) {
  if (d == boolean || !computes(d)) return false;
  if (op == FoldOp::sum) return true;
  return (op == FoldOp::max || op == FoldOp::min) && (is_float(d) || size_of(d) == 4);
}

struct FoldCode {
  CodeBlock columns, rows;
  FoldCode(FoldOp op, DType d, Level l)
      : columns(FoldWriter(op, d, l).columns()), rows(FoldWriter(op, d, l).whole_rows()) {}
};
// All that were asked for, of each level; they stay, as tiles do.
struct FoldCodes {
  std::mutex mutex;
  const FoldCode* made[2][3][dtype_count] = {};
};
FX_SHARED FX_INLINE FoldCodes& fold_codes() {
  static FoldCodes* all = new FoldCodes;
  return *all;
}
}  // namespace detail

FX_INLINE const detail::FoldCode* fold_code(FoldOp op, DType d, Level l) {
  if (l == Level::baseline || !detail::has_fold_code(op, d) || !executable_memory()) return nullptr;
  detail::FoldCodes& all = detail::fold_codes();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const detail::FoldCode*& code = all.made[l == Level::avx512][op == FoldOp::sum   ? 0
                                                               : op == FoldOp::max ? 1
                                                                                   : 2][int(d)];
  if (!code) code = new detail::FoldCode(op, d, l);
  return code;
}
FX_INLINE FoldColumns fold_columns(FoldOp op, DType d, Level l) {
  const detail::FoldCode* c = fold_code(op, d, l);
  return c ? reinterpret_cast<FoldColumns>(const_cast<void*>(c->columns.entry())) : nullptr;
}
FX_INLINE FoldRows fold_rows(FoldOp op, DType d, Level l) {
  const detail::FoldCode* c = fold_code(op, d, l);
  return c ? reinterpret_cast<FoldRows>(const_cast<void*>(c->rows.entry())) : nullptr;
}
#endif

}  // namespace fx::inline v0::tiled::code
