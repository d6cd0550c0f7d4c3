// kernels/vector_bytes.hpp -- a VectorProgram with machine code as bytes and back.
#pragma once
#include <fx/base/bytes.hpp>

#include "vector_program.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

// On the portable tier there is nothing to write: no program.
FX_INLINE void VectorProgram::write(ByteWriter& to) const {
  to.word(std::uint64_t(in_.size()));
  for (int k = 0; k < in_.size(); ++k) to.word(std::uint64_t(in_[k].dtype)), to.word(std::uint64_t(columns_[k]));
  to.word(std::uint64_t(out_.size()));
  for (const Port& p : out_) to.word(std::uint64_t(p.dtype));
  to.word(std::uint64_t(steps_)), to.word(uses_index_);
  to.word(std::uint64_t(machine_.positions.size()));
  for (const auto& p : machine_.positions) to.word(std::uint64_t(p.dim)), to.word(std::uint64_t(p.dtype));
  to.word(std::uint64_t(machine_.calls.size()));
  for (const auto& c : machine_.calls) {
    to.word(std::uint64_t(c.at)), to.word(std::uint64_t(c.op));
    to.word(std::uint64_t(c.type)), to.word(std::uint64_t(c.to));
  }
  to.word(std::uint64_t(machine_.frame_bytes));
  to.word(std::uint64_t(machine_.bytes.size()));
  to.raw(machine_.bytes);
}

FX_INLINE bool VectorProgram::read(ByteReader& from, VectorProgram& p) {
  constexpr int most = 1 << 24;
  auto dtype = [&] {
    const DType d = DType(from.below(dtype_count - 1));
    from.check(computes(d));
    return d;
  };
  auto add = [&](Vec<Port>& ports) {
    ports.push_back({dtype(), 0, p.units_});
    p.units_ += size_of(ports.back().dtype);
  };
  for (int n = from.count(); n > 0; --n) {
    add(p.in_);
    p.columns_.push_back(code::Column(from.below(1)));
  }
  for (int n = from.count(); n > 0; --n) add(p.out_);
  p.steps_ = from.below(most);
  p.uses_index_ = from.below(1) != 0;
  for (int n = from.count(); n > 0; --n) {
    const int dim = from.below(max_rank - 1);
    p.machine_.positions.push_back({dim, dtype()});
  }
  for (int n = from.count(); n > 0; --n) {
    code::BodyCode::Called c;
    c.at = from.below(most);
    c.op = from.below(255);
    c.type = dtype();
    c.to = dtype();
    p.machine_.calls.push_back(c);
  }
  p.machine_.frame_bytes = from.below(most);
  const Span<const std::uint8_t> bytes = from.raw(from.count());
  from.check(p.uses_index_ == !p.machine_.positions.empty() && p.machine_.frame_bytes % 64 == 0 && !bytes.empty());
  return from.check(from.ok() && code::load_body(p.machine_, bytes));
}

}  // namespace fx::inline v0::tiled
#endif
