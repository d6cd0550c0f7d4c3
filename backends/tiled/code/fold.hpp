// code/fold.hpp -- machine code that folds rows into a row of accumulators: the inner loop of the known reductions.
#pragma once
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

#if FX_BODIES
namespace detail {
class FoldWriter {
 public:
  FoldWriter(FoldOp op, DType d, Level l)
      : op_(op), d_(d), avx512_(l == Level::avx512), length_(l == Level::avx512 ? 64 : 32) {}
  Vec<std::uint8_t> make() {
    e_.shift_left(stride, size_of(d_) == 4 ? 2 : 3);
    for (int vectors : {4, 2, 1}) group(vectors);
    e_.vzeroupper();
    e_.ret();
    e_.finish();
    return e_.bytes();
  }

 private:
  static constexpr Gpr acc = rdi, x = rsi, rows = rdx, cols = rcx, stride = r8, row = r9;
  static constexpr int element = 4, result = 5, other = 6;  // registers beside the accumulators
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
    for (int j = 0; j < vectors; ++j) fold(j, at(row, j * length_));
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
  void fold(int a, const Mem& from) {
    using namespace form;
    const bool real = is_float(d_), max = op_ == FoldOp::max;
    if (op_ == FoldOp::sum)
      return e_.vector(real ? by_size(vaddps, vaddpd) : by_size(vpaddd, vpaddq), length_, a, a, from);
    if (!real) {
      const bool is_signed = in(d_, signed_ints);
      return e_.vector(max ? (is_signed ? vpmaxsd : vpmaxud) : is_signed ? vpminsd : vpminud, length_, a, a, from);
    }
    extremum(a, from, max);
  }

  // IEEE 754-2019 maximum and minimum (ops/scalar.hpp's extremum): the instructions give the second operand where the
  // two are equal or one is NaN. Equal operands are zeros or have the same bits: those that both have are the larger
  // one's, all of them the smaller one's.
  void extremum(int a, const Mem& from, bool max) {
    using namespace form;
    constexpr int equal = 0, unordered = 3;
    const Form& compare = avx512_ ? by_size(vcmpps_mask, vcmppd_mask) : by_size(vcmpps, vcmppd);
    const Form& both = max ? by_size(vpandd, vpandq) : by_size(vpord, vporq);
    e_.vector(vmovups, length_, element, 0, from);
    e_.vector(max ? by_size(vmaxps, vmaxpd) : by_size(vminps, vminpd), length_, result, a, element);
    if (avx512_) {
      e_.vector(compare, length_, 1, a, element, equal);
      e_.vector(compare, length_, 2, a, a, unordered);
      e_.vector(both, length_, result, a, element, -1, {1, false});
      e_.vector(by_size(vblendmps, vblendmpd), length_, a, result, a, -1, {2, false});
      return;
    }
    constexpr int mask = 7;
    const Form& blend = by_size(vblendvps, vblendvpd);
    e_.vector(compare, length_, mask, a, element, equal);
    e_.vector(both, length_, other, a, element);
    e_.vector(blend, length_, result, result, other, mask << 4);
    e_.vector(compare, length_, mask, a, a, unordered);
    e_.vector(blend, length_, a, result, a, mask << 4);
  }
};

inline bool has_fold_code(FoldOp op, DType d) {
  if (d == boolean || !computes(d)) return false;
  if (op == FoldOp::sum) return true;
  return (op == FoldOp::max || op == FoldOp::min) && (is_float(d) || size_of(d) == 4);
}

// All of one level.
struct FoldCode {
  CodeBlock block[3][dtype_count];
  explicit FoldCode(Level l) {
    for (FoldOp op : {FoldOp::sum, FoldOp::max, FoldOp::min})
      for (int d = 0; d < dtype_count; ++d)
        if (has_fold_code(op, DType(d))) block[slot(op)][d] = CodeBlock(FoldWriter(op, DType(d), l).make());
  }
  static int slot(FoldOp op) { return op == FoldOp::sum ? 0 : op == FoldOp::max ? 1 : 2; }
};
template <Level l>
const FoldCode& fold_code() {
  static const FoldCode* code = new FoldCode(l);  // leaked on purpose, as tiles are
  return *code;
}
}  // namespace detail

FX_INLINE FoldColumns fold_columns(FoldOp op, DType d, Level l) {
  if (l == Level::baseline || !detail::has_fold_code(op, d) || !executable_memory()) return nullptr;
  const detail::FoldCode& c =
      l == Level::avx512 ? detail::fold_code<Level::avx512>() : detail::fold_code<Level::avx2>();
  return reinterpret_cast<FoldColumns>(const_cast<void*>(c.block[detail::FoldCode::slot(op)][int(d)].entry()));
}
#endif

}  // namespace fx::inline v0::tiled::code
