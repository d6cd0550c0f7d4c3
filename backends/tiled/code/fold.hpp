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

// out[i] = fold(out[i - 1], x[i]) for i < rows in order, of `cols` columns, or of four
// lines `between` bytes apart (cols is not looked at); `step` bytes from row to row, out[-1] is there already. Null
// also for maxima and minima of floating point.
using RunningFold = void (*)(void* out, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t step,
                             std::int64_t between);
RunningFold running_columns(FoldOp op, DType d, Level l);
RunningFold running_lines(FoldOp op, DType d, Level l);

#if FX_BODIES
namespace detail {
class FoldWriter {
 public:
  FoldWriter(FoldOp op, DType d, Level l)
      : op_(op), d_(d), avx512_(l == Level::avx512), length_(l == Level::avx512 ? 64 : 32) {}
  Vec<std::uint8_t> columns() {
    e_.shift_left(stride, size_of(d_) == 4 ? 2 : 3);
    for (int vectors : {4, 2, 1}) group(vectors);
    return done();
  }
  Vec<std::uint8_t> whole_rows();
  Vec<std::uint8_t> running_columns() {
    for (int vectors : {4, 2, 1}) running_group(vectors, length_);
    running_group(1, 16);
    running_group(1, size_of(d_));
    return done();
  }
  Vec<std::uint8_t> running_lines();

 private:
  static constexpr Gpr acc = rdi, x = rsi, rows = rdx, cols = rcx, stride = r8, row = r9;
  // Beside the accumulators 0 to 3; `seen` and the mask registers from 1 on watch for NaN, one for each accumulator.
  static constexpr int element = 4, next_element = 5, result = 6, other = 7, half = 8, identity = 9, seen = 10,
                       nan = 14;
  FoldOp op_;
  DType d_;
  bool avx512_;
  int length_;
  Encoder e_;

  bool watches() const { return is_float(d_) && op_ != FoldOp::sum; }
  const Form& by_size(const Form& four, const Form& eight) const { return size_of(d_) == 4 ? four : eight; }
  static Mem at(Gpr base, int offset) {
    Mem m{base};
    m.disp = offset;
    return m;
  }
  Vec<std::uint8_t> done() {
    e_.vzeroupper();
    e_.ret();
    e_.finish();
    return e_.bytes();
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
    if (watches())
      for (int j = 0; j < vectors; ++j) watch(j, j, j, true);
    e_.bind(loop);
    for (int j = 0; j < vectors; ++j) take(j, at(row, j * length_), j);
    e_.add(row, stride);
    e_.decrement(rax);
    e_.jump_if(Encoder::not_equal, loop);
    for (int j = 0; j < vectors; ++j) {
      if (watches()) spread_nan(j);
      e_.vector(form::vmovups_to, length_, j, 0, at(acc, j * length_));
    }
    e_.add(acc, vectors * length_);
    e_.add(x, vectors * length_);
    e_.sub(cols, width);
    e_.jump(next);
    e_.bind(done);
  }

  // The same of vectors of `length` bytes (an element's: one), where each row's accumulators are stored.
  void running_group(int vectors, int length) {
    using namespace form;
    constexpr Gpr to = r10;
    const bool single = length == size_of(d_);
    const int width = vectors * length / size_of(d_), vector = single ? 16 : length;
    const Form &load = single ? by_size(vmovss, vmovsd) : vmovups,
               &store = single ? by_size(vmovss_to, vmovsd_to) : vmovups_to;
    const Label next = e_.label(), loop = e_.label(), done = e_.label();
    e_.bind(next);
    e_.cmp(cols, width);
    e_.jump_if(Encoder::less, done);
    e_.mov(row, x);
    e_.mov(rax, rows);
    e_.mov(to, acc);
    e_.sub(to, stride);
    for (int j = 0; j < vectors; ++j) e_.vector(load, vector, j, 0, at(to, j * length));
    e_.bind(loop);
    if (single) e_.vector(load, vector, half, 0, at(row, 0));
    for (int j = 0; j < vectors; ++j) fold(j, single ? Rm(half) : Rm(at(row, j * length)), vector);
    e_.add(to, stride);
    for (int j = 0; j < vectors; ++j) e_.vector(store, vector, j, 0, at(to, j * length));
    e_.add(row, stride);
    e_.decrement(rax);
    e_.jump_if(Encoder::not_equal, loop);
    e_.add(acc, vectors * length);
    e_.add(x, vectors * length);
    e_.sub(cols, width);
    e_.jump(next);
    e_.bind(done);
  }

  // Accumulator a takes one more vector of elements, which watcher w sees.
  void take(int a, const Mem& from, int w) {
    if (!watches()) return fold(a, from, length_);
    e_.vector(form::vmovups, length_, element, 0, from);
    watch(w, element, element);
    fold(a, element, length_);
  }
  // Accumulator a and a vector.
  void fold(int a, const Rm& from, int length) {
    using namespace form;
    const bool real = is_float(d_), max = op_ == FoldOp::max;
    if (op_ == FoldOp::sum)
      return e_.vector(real ? by_size(vaddps, vaddpd) : by_size(vpaddd, vpaddq), length, a, a, from);
    if (real) return extremum(a, from.reg, max, length);
    const bool is_signed = in(d_, signed_ints);
    e_.vector(max ? (is_signed ? vpmaxsd : vpmaxud) : is_signed ? vpminsd : vpminud, length, a, a, from);
  }

  // IEEE 754-2019 maximum and minimum (ops/scalar.hpp's extremum) of numbers: -0 is below 0. The instructions of AVX2
  // give the second of two zeros: both orders have all the bits. What a NaN gives is mended at the end.
  void extremum(int a, int from, bool max, int length) {
    using namespace form;
    if (avx512_) return e_.vector(by_size(vrangeps, vrangepd), length, a, a, from, max ? 5 : 4);
    const Form& f = max ? by_size(vmaxps, vmaxpd) : by_size(vminps, vminpd);
    e_.vector(f, length, result, a, from);
    e_.vector(f, length, other, from, a);
    e_.vector(max ? vpandd : vpord, length, a, result, other);
  }
  // Watcher w sees two vectors: a mask of the lanes without NaN, or vectors with ones where one was.
  void watch(int w, int a, int b, bool first = false) {
    using namespace form;
    constexpr int unordered = 3, ordered = 7;
    if (avx512_)
      return e_.vector(by_size(vcmpps_mask, vcmppd_mask), length_, 1 + w, a, b, ordered, {first ? 0 : 1 + w, false});
    const int to = first ? seen + w : result;
    e_.vector(by_size(vcmpps, vcmppd), length_, to, a, b, unordered);
    if (!first) e_.vector(vpord, length_, seen + w, seen + w, result);
  }
  Mem quiet_nan() {
    const std::uint64_t bits = size_of(d_) == 4 ? 0x7fc000007fc00000 : 0x7ff8000000000000,
                        all[8] = {bits, bits, bits, bits, bits, bits, bits, bits};
    Mem m;
    m.label = e_.constant(all, length_, length_);
    return m;
  }
  // Columns that have seen a NaN are one.
  void spread_nan(int j) {
    using namespace form;
    e_.vector(vmovups, length_, nan, 0, quiet_nan());
    if (avx512_) return e_.vector(by_size(vblendmps, vblendmpd), length_, j, nan, j, -1, {1 + j, false});
    e_.vector(by_size(vblendvps, vblendvpd), length_, j, j, nan, (seen + j) << 4);
  }
  // The result of a row is NaN if watcher 0 has seen one.
  void mend_row(int to) {
    using namespace form;
    const Label fine = e_.label();
    if (avx512_)
      e_.vector(by_size(kortestw, kortestb), 16, 1, 0, 1);
    else
      e_.vector(vptest, length_, seen, 0, seen);
    e_.jump_if(avx512_ ? Encoder::below : Encoder::equal, fine);
    e_.vector(vmovups, 16, to, 0, quiet_nan());
    e_.bind(fine);
  }
  // The next vectors of a row: accumulators take one each, and one watcher sees two at a time.
  void take_all(Gpr from, int vectors) {
    if (!watches())
      for (int j = 0; j < vectors; ++j) take(j, at(from, j * length_), 0);
    for (int j = 0; j < vectors && watches(); j += 2) {
      e_.vector(form::vmovups, length_, element, 0, at(from, j * length_));
      e_.vector(form::vmovups, length_, next_element, 0, at(from, (j + 1) * length_));
      watch(0, element, next_element);
      fold(j, element, length_);
      fold(j + 1, next_element, length_);
    }
    e_.add(from, vectors * length_);
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
  if (watches()) watch(0, identity, identity, true);
  e_.bind(loop);
  take_all(from, vectors);
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
  if (watches()) mend_row(1);
  e_.vector(four ? vmovss_to : vmovsd_to, 16, 1, 0, Mem{out});
  e_.add(out, size_of(d_));
  e_.add(x, row_bytes);
  e_.decrement(count);
  e_.jump_if(Encoder::not_equal, next);
  return done();
}

// One element of each of four lines at a time, so that no addition waits for the one before it.
FX_INLINE Vec<std::uint8_t> FoldWriter::running_lines() {
  using namespace form;
  constexpr Gpr out = rdi, between = r9, triple = rcx;
  const bool four = size_of(d_) == 4;
  const Label loop = e_.label();
  auto line = [&](Gpr base, int k) {
    Mem m{base};
    if (k == 3)
      m.index = triple;
    else if (k > 0)
      m.index = between, m.scale = k;
    return m;
  };
  auto each = [&](const Form& f) {
    for (int k = 0; k < 4; ++k) e_.vector(f, 16, k, 0, line(out, k));
  };
  e_.lea(triple, {between, between, 2});
  e_.sub(out, stride);
  each(four ? vmovss : vmovsd);
  e_.bind(loop);
  e_.add(out, stride);
  for (int k = 0; k < 4; ++k) {
    e_.vector(four ? vmovss : vmovsd, 16, half, 0, line(x, k));
    fold(k, half, 16);
  }
  each(four ? vmovss_to : vmovsd_to);
  e_.add(x, stride);
  e_.decrement(rows);
  e_.jump_if(Encoder::not_equal, loop);
  return done();
}

inline bool has_fold_code(FoldOp op, DType d) {
  if (d == boolean || !computes(d)) return false;
  if (op == FoldOp::sum) return true;
  return (op == FoldOp::max || op == FoldOp::min) && (is_float(d) || size_of(d) == 4);
}

struct FoldCode {
  CodeBlock columns, rows, running_columns, running_lines;
  FoldCode(FoldOp op, DType d, Level l)
      : columns(FoldWriter(op, d, l).columns()), rows(FoldWriter(op, d, l).whole_rows()) {
    if (is_float(d) && op != FoldOp::sum) return;
    running_columns = CodeBlock(FoldWriter(op, d, l).running_columns());
    running_lines = CodeBlock(FoldWriter(op, d, l).running_lines());
  }
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
namespace detail {
// The function of that code which `block` names; null if there is none.
template <class F>
F fold_entry(FoldOp op, DType d, Level l, CodeBlock FoldCode::*block) {
  const FoldCode* c = fold_code(op, d, l);
  return c ? reinterpret_cast<F>(const_cast<void*>((c->*block).entry())) : nullptr;
}
}  // namespace detail

FX_INLINE FoldColumns fold_columns(FoldOp op, DType d, Level l) {
  return detail::fold_entry<FoldColumns>(op, d, l, &detail::FoldCode::columns);
}
FX_INLINE FoldRows fold_rows(FoldOp op, DType d, Level l) {
  return detail::fold_entry<FoldRows>(op, d, l, &detail::FoldCode::rows);
}
FX_INLINE RunningFold running_columns(FoldOp op, DType d, Level l) {
  return detail::fold_entry<RunningFold>(op, d, l, &detail::FoldCode::running_columns);
}
FX_INLINE RunningFold running_lines(FoldOp op, DType d, Level l) {
  return detail::fold_entry<RunningFold>(op, d, l, &detail::FoldCode::running_lines);
}
#endif

}  // namespace fx::inline v0::tiled::code
