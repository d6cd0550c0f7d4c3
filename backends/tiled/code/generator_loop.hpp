// code/generator_loop.hpp -- Generator: the loops around a body.
#pragma once
#include "body.hpp"
#include "emit.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE Mem Generator::arg(int offset) {
  Mem m{args};
  m.disp = offset;
  return m;
}

// The register that points to the row of a port; it may be loaded for this use.
FX_INLINE Gpr Generator::base(int port) {
  if (port < n_bases) return bases[port];
  e_.mov(r11, port_data(port));
  return r11;
}
FX_INLINE void Generator::load_bases() {
  for (int k = 0; k < port_count() && k < n_bases; ++k) e_.mov(bases[k], port_data(k));
}

FX_INLINE void Generator::prologue() {
  for (Gpr g : {rbx, rbp, r12, r13, r14, r15}) e_.push(g);
  e_.sub(rsp, 8);  // aligned to 16 for calls
  e_.mov(args, rdi);
  e_.mov(frame, arg(16));
  e_.mov(columns, arg(8));
}
FX_INLINE void Generator::epilogue() {
  e_.add(rsp, 8);
  for (Gpr g : {r15, r14, r13, r12, rbp, rbx}) e_.pop(g);
  e_.vzeroupper();
  e_.ret();
}

FX_INLINE void Generator::load_fixed(Value::Where where) {
  for (const Value& x : values_) {
    if (x.fixed < 0 || x.where != where) continue;
    Mem m = in_frame(x.at);
    if (where == Value::constant) {
      m = Mem{};
      m.label = x.pool;
    }
    e_.vector(form::vmovups, bytes(x.dtype), x.fixed, 0, m);
  }
}

// One element in all lanes of a place in the frame.
FX_INLINE void Generator::broadcast(DType d, const Mem& from, int to) {
  if (d == boolean) {
    e_.load_byte(rax, from);
    e_.negate(rax);
    e_.mov(in_frame(to), rax);
    if (avx512_) return;
    e_.vector(form::vbroadcastsd, 32, 0, 0, in_frame(to));
    return e_.vector(form::vmovups_to, 32, 0, 0, in_frame(to));
  }
  e_.vector(by_size(d, form::vbroadcastss, form::vbroadcastsd), bytes(d), 0, 0, from);
  e_.vector(form::vmovups_to, bytes(d), 0, 0, in_frame(to));
}
// What a row reads one element of becomes a vector in the frame.
FX_INLINE void Generator::broadcast_uniforms() {
  for (const Value& x : values_)
    if (x.where == Value::uniform && x.count > 0) broadcast(x.dtype, Mem{base(x.input)}, x.at);
}

// The items for `parts` vectors from `element` on.
FX_INLINE void Generator::body(int parts, bool masked) {
  forget_all();
  const int frame_before = frame_;
  active_ = parts;
  masked_ = masked;
  stored_ = false;
  for (pos_ = 0; pos_ < seq_.size(); ++pos_) {
    const Item& s = seq_[pos_];
    if (s.what != Item::op) stored_ = true;
    if (s.what == Item::op && called(code_[s.index])) {
      call(code_[s.index]);
      continue;
    }
    for (int u = 0; u < parts; ++u) {
      if (s.what == Item::op)
        emit(code_[s.index], u);
      else if (s.what == Item::hold)
        reg(s.index, u);
      else
        store_port(s.index, u);
      end_part();
    }
  }
  frame_ = frame_before;
}

// Which of the next lanes exist: `tail_mask`, or for AVX2 vectors of their lanes in the frame.
FX_INLINE void Generator::make_tail_mask() {
  e_.mov(rax, columns);
  e_.sub(rax, element);
  if (avx512_) {
    e_.mov(r11, std::uint64_t(0xffffffff));
    e_.low_bits(r11, r11, rax);
    e_.vector(lanes_ == 8 ? form::kmovb_from_gpr : form::kmovw_from_gpr, 16, tail_mask, 0, int(r11));
    return;
  }
  const Label all = e_.label();
  e_.cmp(rax, lanes_);
  e_.jump_if(Encoder::less, all);
  e_.mov(rax, std::uint64_t(lanes_));
  e_.bind(all);
  e_.mov(in_frame(tail_count_), rax);
  // lanes - count elements before the end of the ones of a table, that many zeros follow
  e_.mov(r11, std::uint64_t(lanes_));
  e_.sub(r11, rax);
  std::uint8_t table[64] = {};
  for (int i = 0; i < 32; ++i) table[i] = 255;
  for (int size : {4, 8}) {
    const int length = lanes_ * size;
    if (length > 32) continue;
    const Label l = e_.constant(table + 32 - length, 2 * length, 32);
    Mem at;
    at.label = l;
    e_.lea(rax, at);
    Mem m{rax, r11, size};
    e_.vector(form::vmovups, length, 0, 0, m);
    e_.vector(form::vmovups_to, length, 0, 0, in_frame(size == 4 ? tail_four_ : tail_eight_));
  }
}

FX_INLINE void Generator::rows() {
  const Label row = e_.label(), loop = e_.label(), tail = e_.label(), done = e_.label();
  const int step = parts_ * lanes_;
  Mem ahead{element};
  ahead.disp = step;
  e_.bind(row);
  load_bases();
  broadcast_uniforms();
  load_fixed(Value::uniform);
  e_.zero(element);
  e_.lea(rax, ahead);
  e_.cmp(rax, columns);
  e_.jump_if(Encoder::greater, tail);
  e_.bind(loop);
  body(parts_, false);
  e_.add(element, step);
  e_.lea(rax, ahead);
  e_.cmp(rax, columns);
  e_.jump_if(Encoder::not_greater, loop);
  e_.bind(tail);
  e_.cmp(element, columns);
  e_.jump_if(Encoder::not_less, done);
  make_tail_mask();
  body(1, true);
  e_.add(element, lanes_);
  e_.jump(tail);
  e_.bind(done);
  for (int k = 0; k < port_count(); ++k) {
    e_.mov(rax, port_row(k));
    e_.add(port_data(k), rax);
  }
  e_.decrement(arg(0));
  e_.jump_if(Encoder::not_equal, row);
}

FX_INLINE BodyCode Generator::make() {
  for (Value& x : values_)
    if (x.where == Value::uniform) {
      x.input = x.at;
      x.at = slot();
    }
  tail_count_ = slot();
  tail_four_ = slot();
  tail_eight_ = slot();
  bytes_slot_ = slot();
  if (calls_) {
    call_area_ = slot();
    for (int k = 0; k < 3; ++k) slot();
  }
  prologue();
  load_fixed(Value::constant);
  rows();
  epilogue();
  e_.finish();
  result_.frame_bytes = frame_bytes_;
  for (BodyCode::Called& c : result_.calls) c.at = e_.position({c.at});
  result_.block = CodeBlock(e_.bytes());
  if (result_.block) result_.bytes = {static_cast<const std::uint8_t*>(result_.block.entry()), e_.bytes().size()};
  return std::move(result_);
}

FX_INLINE BodyCode make_body(const Recorded& r, Span<const int> inputs, Span<const int> outputs,
                             Span<const Column> columns, Level level) {
  if (level == Level::baseline || !executable_memory()) return {};
  return Generator(r, inputs, outputs, columns, level == Level::avx512).make();
}

FX_INLINE bool load_body(BodyCode& code, Span<const std::uint8_t> bytes) {
  if (!executable_memory()) return false;
  if (code.calls.empty()) {
    code.block = CodeBlock(bytes);
  } else {
    Vec<std::uint8_t> linked(bytes);
    for (const BodyCode::Called& c : code.calls) {
      Instr i{Instr::Op(c.op), c.type};
      i.to = c.to;
      const bool known = i.op == Instr::idiv || i.op == Instr::irem || i.op == Instr::shr || i.op == Instr::convert;
      const auto target = known ? reinterpret_cast<std::uint64_t>(lanes_of(i)) : 0;
      if (!target || c.at < 0 || c.at > bytes.size() - 8) return false;
      std::memcpy(linked.data() + c.at, &target, 8);
    }
    code.block = CodeBlock(linked);
  }
  if (!code.block) return false;
  code.bytes = {static_cast<const std::uint8_t*>(code.block.entry()), bytes.size()};
  return true;
}

}  // namespace fx::inline v0::tiled::code
#endif
