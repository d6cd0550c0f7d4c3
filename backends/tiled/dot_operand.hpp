// tiled/dot_operand.hpp -- MadeOperand: an operand of a product that an elementwise body makes where it is packed.
#pragma once
#include "body.hpp"
#include "code/dump.hpp"
#include "kernels/dot.hpp"

namespace fx::inline v0::tiled {

class MadeOperand {
 public:
  MadeOperand() = default;
  // lhs (0) or rhs (1) of k; `lines`: the loop over its rows or columns, `terms`: over the contracted dimension; null:
  // there is one.
  MadeOperand(const tile::Kernel& k, int side, const Loop* lines, const Loop* terms, Prepared* prepared);
  explicit operator bool() const { return n_ > 0; }
  std::int64_t scratch_bytes() const { return ports_bytes() + staged_bytes() + body_.scratch_bytes(staged()); }
  Span<const std::uint8_t> machine_code() const { return body_.machine_code(); }

  class Source;

 private:
  VectorProgram body_;
  int first_ = 0, n_ = 0;  // its operands among those of the kernel
  bool lines_beside_ = false;
  std::int64_t size_ = 0;  // bytes of an element
  std::int64_t ports_bytes() const { return align64(n_ * std::int64_t(sizeof(VectorInput) + sizeof(const char*))); }
  std::int64_t staged_bytes() const { return align64(DotSource::staged * size_); }
  // Elements that a call of the body stages at most, and that it takes.
  int staged() const { return at_a_time_ > VectorProgram::max_block ? 1 : VectorProgram::max_block; }
  int at_a_time_ = 0;
};

// At one position of the loops outside: `at`(access) is where line 0 and term 0 lie.
class MadeOperand::Source final : public DotSource {
 public:
  template <class At>
  Source(const MadeOperand& operand, const tile::Kernel& k, const Memory& m, const Loop* lines, const Loop* terms,
         char* scratch, At&& at);
  void make(std::int64_t line, std::int64_t lines, std::int64_t term, std::int64_t terms, void* to,
            std::int64_t pitch) const override;

 private:
  const MadeOperand& o_;
  const tile::Kernel& k_;
  const Memory& m_;
  const Loop *lines_, *terms_;
  VectorInput* in_;
  const char** base_;
  char* scratch_;
};

#if FX_BODIES
namespace detail {
inline std::int64_t stride(const Loop* l, const tile::Access& a) { return l ? l->stride(a) : 0; }
}  // namespace detail

// Neighbours in memory are made beside each other, if that holds for all that is read: terms, or lines.
FX_INLINE MadeOperand::MadeOperand(const tile::Kernel& k, int side, const Loop* lines, const Loop* terms,
                                   Prepared* prepared)
    : first_(k.first(side)), n_(k.first(side + 1) - first_), size_(size_of(k.op->type(k.op->ins[side]).dtype)) {
  int far_terms = 0, far_lines = 0;
  auto far = [](std::int64_t stride) { return stride != 0 && stride != 1; };
  for (int i = first_; i < first_ + n_; ++i) {
    far_terms += far(detail::stride(terms, k.in[i]));
    far_lines += far(detail::stride(lines, k.in[i]));
  }
  lines_beside_ = far_lines < far_terms;
  Vec<code::Column> columns;
  for (int i = first_; i < first_ + n_; ++i)
    columns.push_back(detail::stride(lines_beside_ ? lines : terms, k.in[i]) == 0 ? code::Column::one
                                                                                  : code::Column::each);
  body_ = compile_body(*k.made[side], {}, columns, prepared);
  const bool staging = !body_.any_length() || (lines_beside_ ? far_lines : far_terms) > 0;
  at_a_time_ = staging ? VectorProgram::max_block : 1 << 30;
}

template <class At>
MadeOperand::Source::Source(const MadeOperand& operand, const tile::Kernel& k, const Memory& m, const Loop* lines,
                            const Loop* terms, char* scratch, At&& at)
    : o_(operand),
      k_(k),
      m_(m),
      lines_(lines),
      terms_(terms),
      in_(reinterpret_cast<VectorInput*>(scratch)),
      base_(reinterpret_cast<const char**>(scratch + operand.n_ * std::int64_t(sizeof(VectorInput)))),
      scratch_(scratch + operand.ports_bytes() + operand.staged_bytes()) {
  lines_beside = operand.lines_beside_;
  stage = scratch + operand.ports_bytes();
  for (int i = 0; i < operand.n_; ++i) base_[i] = at(k.in[operand.first_ + i]);
  operand.body_.prepare(scratch_, operand.staged());
}

FX_INLINE void MadeOperand::Source::make(std::int64_t line, std::int64_t lines, std::int64_t term, std::int64_t terms,
                                         void* to, std::int64_t pitch) const {
  std::int64_t rows = lines_beside ? terms : lines, cols = lines_beside ? lines : terms;
  bool one_piece = pitch == cols && rows * cols <= o_.at_a_time_;
  for (int i = 0; i < o_.n_; ++i) {
    const tile::Access& a = k_.in[o_.first_ + i];
    const std::int64_t by_line = detail::stride(lines_, a), by_term = detail::stride(terms_, a);
    const void* from = base_[i] + (line * by_line + term * by_term) * m_.element_size(a);
    in_[i] = lines_beside ? VectorInput{from, by_term, by_line} : VectorInput{from, by_line, by_term};
    one_piece = one_piece && in_[i].row == cols * in_[i].col;
  }
  if (one_piece) cols *= rows, rows = 1;
  const std::int64_t most = o_.at_a_time_ / cols < rows ? o_.at_a_time_ / cols : rows;
  for (std::int64_t r = 0; r < rows; r += most) {
    const VectorOutput out{static_cast<char*>(to) + r * pitch * o_.size_, pitch};
    o_.body_.run(scratch_, in_, &out, int(rows - r < most ? rows - r : most), int(cols));
    for (int i = 0; i < o_.n_; ++i) {
      const std::int64_t bytes = most * in_[i].row * m_.element_size(k_.in[o_.first_ + i]);
      in_[i].data = static_cast<const char*>(in_[i].data) + bytes;
    }
  }
}
#endif

}  // namespace fx::inline v0::tiled
