// kernels/prepared.hpp -- Prepared: the programs of an executable's kernels in the order in which they are prepared,
// written down as they are made, or read instead of made, or made for the portable tier.
#pragma once
#include <fx/base/bytes.hpp>

#include "vector_program.hpp"

namespace fx::inline v0::tiled {

class Prepared {
 public:
  // All programs are portable.
  Prepared() : machine_(false) {}
  // Writes what is made.
  explicit Prepared(ByteWriter& to) : to_(&to) {}
  // Reads what was written: `finish` tells whether it was all that was asked for.
  explicit Prepared(ByteReader& from);

  // The next program: one that was read, if it `fits`, or what `make(whether it may be machine code)` gives.
  template <class Fits, class Make>
  VectorProgram next(Fits&& fits, Make&& make) {
    if (at_ < read_.size() && fits(read_[at_])) return std::move(read_[at_++]);
    VectorProgram p = make(machine_);
    missing_ = missing_ || !to_ || !p.has_code();
    if (to_) write(p);
    return p;
  }
  // After all kernels: whether each program has machine code and was written, or each was read and no other.
  bool finish();

 private:
  ByteWriter* to_ = nullptr;
  bool machine_ = true;
  Vec<VectorProgram> read_;
  int at_ = 0;
  bool missing_ = false;  // a program that was made although there was one to read, or that has no machine code
  void write(const VectorProgram& p);
};

#if FX_BODIES
FX_INLINE void Prepared::write(const VectorProgram& p) {
  to_->word(1);
  p.write(*to_);
}
FX_INLINE Prepared::Prepared(ByteReader& from) {
  while (from.below(1)) {
    VectorProgram p;
    if (!VectorProgram::read(from, p)) return;
    read_.push_back(std::move(p));
  }
}
FX_INLINE bool Prepared::finish() {
  if (to_) to_->word(0);
  return !missing_ && at_ == read_.size();
}
#endif

}  // namespace fx::inline v0::tiled
