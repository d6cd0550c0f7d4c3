// code/encoder.hpp -- Encoder: x86-64 instructions to bytes, with labels and a pool of constants after the code.
//
// Vector instructions are described by a Form (code/forms.hpp). A Form is written as VEX where that can say it (16 and
// 32 byte vectors in registers 0 to 15, no mask, no broadcast), else as EVEX. Source of the encodings: Intel 64 and
// IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.
#pragma once
#include <cstdint>
#include <fx/base/vec.hpp>

namespace fx::inline v0::tiled::code {

// General registers by number; rsp is the stack.
enum Gpr : int { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, no_gpr = -1 };

struct Label {
  int n = -1;
};

// A place in memory: base + index * scale + disp, or a label's bytes. `broadcast`: one element for all lanes.
// With a Form that gathers, `index` is the number of a vector register.
struct Mem {
  Gpr base = no_gpr;
  int index = -1, scale = 1, disp = 0;
  Label label = {};
  bool broadcast = false;
};

// The last operand of an instruction: a register's number, or memory.
struct Rm {
  int reg = -1;
  Mem mem = {};
  constexpr Rm(int r) : reg(r) {}
  constexpr Rm(const Mem& m) : mem(m) {}
};

// How EVEX scales a one-byte displacement: the bytes that the memory operand has, by the vector's length.
enum class Tuple : std::uint8_t { full, half, quarter, eighth, four = 4, eight = 8, one };

// A vector instruction's prefix, opcode map, opcode, and the bit W in each encoding (none: it has none). `extension`:
// more bits of the opcode, in the place of the first operand, which then stands where the second one does.
struct Form {
  enum Prefix : std::uint8_t { np, p66, pf3, pf2 };
  enum Map : std::uint8_t { m0f = 1, m38, m3a };
  static constexpr std::int8_t none = -1;
  Prefix prefix;
  Map map;
  std::uint8_t opcode;
  std::int8_t vex_w = 0, evex_w = 0;
  Tuple tuple = Tuple::full;
  bool gathers = false;
  std::int8_t extension = none;
};

// What an EVEX instruction does to lanes whose mask bit is 0: mask 0 is no mask; else they stay, or with `zero` are 0.
struct Masking {
  int mask = 0;
  bool zero = false;
};

class Encoder {
 public:
  const Vec<std::uint8_t>& bytes() const { return bytes_; }

  // form reg, vvvv, rm, imm on vectors of `length` bytes (16, 32, 64). Operands that the instruction lacks are 0.
  void vector(const Form& form, int length, int reg, int vvvv, const Rm& rm, int imm = -1, Masking m = {});

  void mov(Gpr to, Gpr from) { op_rr(0x89, from, to); }
  void mov(Gpr to, const Mem& from) { op_rm(0x8b, to, from); }
  void mov(const Mem& to, Gpr from) { op_rm(0x89, from, to); }
  void mov(Gpr to, std::uint64_t imm);
  void load_byte(Gpr to, const Mem& from) { op_rm(0xb6, to, from, true, false); }  // zero-extended
  void load_signed(Gpr to, const Mem& from) { op_rm(0x63, to, from); }  // 4 bytes, sign-extended
  void load_dword(Gpr to, const Mem& from) { op_rm(0x8b, to, from, false, false); }  // zero-extended
  void store_byte(const Mem& to, Gpr from) { op_rm(0x88, from, to, false, false, true); }
  void lea(Gpr to, const Mem& from) { op_rm(0x8d, to, from); }
  void add(Gpr to, Gpr from) { op_rr(0x01, from, to); }
  void add(Gpr to, const Mem& from) { op_rm(0x03, to, from); }
  void add(const Mem& to, Gpr from) { op_rm(0x01, from, to); }
  void sub(Gpr to, Gpr from) { op_rr(0x29, from, to); }
  void cmp(Gpr a, Gpr b) { op_rr(0x39, b, a); }
  void cmp(Gpr a, const Mem& b) { op_rm(0x3b, a, b); }
  void add(Gpr to, int imm) { op_imm(0, to, imm); }
  void sub(Gpr to, int imm) { op_imm(5, to, imm); }
  void logical_and(Gpr to, int imm) { op_imm(4, to, imm); }
  void cmp(Gpr a, int imm) { op_imm(7, a, imm); }
  void decrement(const Mem& m);
  void decrement(Gpr r);
  void shift_left(Gpr r, int bits);
  void prefetch(const Mem& m);  // into all levels of the cache
  void negate(Gpr r);
  void multiply(Gpr to, Gpr a, int imm);
  void zero(Gpr r);                     // 32-bit xor
  void low_bits(Gpr to, Gpr a, Gpr n);  // bzhi: the n lowest bits of a, 32 bits
  void push(Gpr r);
  void pop(Gpr r);
  void call(const Mem& target);
  void ret() { byte(0xc3); }
  void vzeroupper();

  // Conditions of a jump, as opcodes of their short forms less 0x70.
  enum Condition : int {
    below = 2,
    not_below = 3,
    equal = 4,
    not_equal = 5,
    less = 12,
    not_less = 13,
    not_greater = 14,
    greater = 15
  };
  Label label();
  void bind(Label l);
  void jump(Label to);
  void jump_if(Condition c, Label to);

  // `count` bytes after the code, aligned to `align`; equal bytes are kept once.
  Label constant(const void* data, int count, int align);
  // After `finish`: where a label's bytes are.
  int position(Label l) const { return labels_[l.n]; }
  // Writes the pool and resolves labels; then bytes() is complete, for memory aligned to 64.
  void finish();

 private:
  struct Fixup {
    int at, label, end;  // where 4 bytes are, and what they count from
  };
  struct Constant {
    int label, at, count, align;
  };
  Vec<std::uint8_t> bytes_;
  Vec<int> labels_;  // positions, -1: not bound
  Vec<Fixup> fixups_;
  Vec<Constant> constants_;
  Vec<std::uint8_t> pool_;

  void byte(int b) { bytes_.push_back(std::uint8_t(b)); }
  void dword(std::int64_t v) {
    for (int i = 0; i < 4; ++i) byte(int(v >> (8 * i)) & 255);
  }
  void vex(const Form& f, int length, int reg, int vvvv, int x, int b);
  void evex(const Form& f, int length, int reg, int vvvv, const Rm& rm, int x, int b, Masking m);
  // ModRM, SIB and displacement; `unit` scales one-byte displacements, `after` bytes of immediate follow.
  void operand(int reg, const Rm& rm, int unit, int after);
  void op_rr(int opcode, int reg, int rm);
  void op_rm(int opcode, int reg, const Mem& m, bool two_bytes = false, bool wide = true, bool byte_reg = false);
  void op_imm(int extension, Gpr r, int imm);
};

#if FX_BODIES
FX_INLINE void Encoder::vector(const Form& f, int length, int reg, int vvvv, const Rm& rm, int imm, Masking m) {
  if (f.extension != Form::none) vvvv = reg, reg = f.extension;
  const bool memory = rm.reg < 0;
  const int x = memory ? (rm.mem.index < 0 ? 0 : rm.mem.index >> 3 & 1) : rm.reg >> 4 & 1;
  const int b = memory ? (rm.mem.base == no_gpr ? 0 : rm.mem.base >> 3 & 1) : rm.reg >> 3 & 1;
  const bool high = reg > 15 || vvvv > 15 || rm.reg > 15 || (f.gathers && rm.mem.index > 15);
  const bool as_vex = f.vex_w != Form::none && length <= 32 && !high && m.mask == 0 && !(memory && rm.mem.broadcast);
  int unit = 1;
  if (as_vex) {
    vex(f, length, reg, vvvv, x, b);
  } else {
    evex(f, length, reg, vvvv, rm, x, b, m);
    switch (f.tuple) {
      case Tuple::full: unit = length; break;
      case Tuple::half: unit = length / 2; break;
      case Tuple::quarter: unit = length / 4; break;
      case Tuple::eighth: unit = length / 8; break;
      case Tuple::four: unit = 4; break;
      case Tuple::eight: unit = 8; break;
      case Tuple::one: unit = 1; break;
    }
    if (memory && rm.mem.broadcast) unit = f.evex_w ? 8 : 4;
  }
  byte(f.opcode);
  operand(reg, rm, unit, imm >= 0 ? 1 : 0);
  if (imm >= 0) byte(imm);
}

FX_INLINE void Encoder::vex(const Form& f, int length, int reg, int vvvv, int x, int b) {
  const int last = (~vvvv & 15) << 3 | (length == 32 ? 4 : 0) | f.prefix;
  if (!x && !b && !f.vex_w && f.map == Form::m0f) {
    byte(0xc5);
    byte((reg & 8 ? 0 : 128) | last);
    return;
  }
  byte(0xc4);
  byte((reg & 8 ? 0 : 128) | (x ? 0 : 64) | (b ? 0 : 32) | f.map);
  byte((f.vex_w ? 128 : 0) | last);
}

FX_INLINE void Encoder::evex(const Form& f, int length, int reg, int vvvv, const Rm& rm, int x, int b, Masking m) {
  const int fifth = f.gathers ? rm.mem.index : vvvv;
  byte(0x62);
  byte((reg & 8 ? 0 : 128) | (x ? 0 : 64) | (b ? 0 : 32) | (reg & 16 ? 0 : 16) | f.map);
  byte((f.evex_w ? 128 : 0) | (~vvvv & 15) << 3 | 4 | f.prefix);
  byte((m.zero ? 128 : 0) |
       (length == 64   ? 64
        : length == 32 ? 32
                       : 0) |
       (rm.reg < 0 && rm.mem.broadcast ? 16 : 0) | (fifth & 16 ? 0 : 8) | m.mask);
}

FX_INLINE void Encoder::operand(int reg, const Rm& rm, int unit, int after) {
  const int r = (reg & 7) << 3;
  if (rm.reg >= 0) return byte(0xc0 | r | (rm.reg & 7));
  const Mem& m = rm.mem;
  if (m.label.n >= 0) {
    byte(r | 5);
    fixups_.push_back({bytes_.size(), m.label.n, bytes_.size() + 4 + after});
    return dword(m.disp);
  }
  const bool sib = m.index >= 0 || (m.base & 7) == rsp;
  const bool none = m.disp == 0 && (m.base & 7) != rbp;
  const bool small = m.disp % unit == 0 && m.disp / unit >= -128 && m.disp / unit <= 127;
  byte((none ? 0 : small ? 0x40 : 0x80) | r | (sib ? 4 : m.base & 7));
  if (sib) {
    const int scale = m.scale == 8 ? 3 : m.scale == 4 ? 2 : m.scale == 2 ? 1 : 0;
    byte(scale << 6 | ((m.index < 0 ? 4 : m.index) & 7) << 3 | (m.base & 7));
  }
  if (none) return;
  if (small)
    byte(m.disp / unit & 255);
  else
    dword(m.disp);
}

FX_INLINE void Encoder::op_rr(int opcode, int reg, int rm) {
  byte(0x48 | (reg & 8 ? 4 : 0) | (rm & 8 ? 1 : 0));
  byte(opcode);
  operand(reg, rm, 1, 0);
}
FX_INLINE void Encoder::op_rm(int opcode, int reg, const Mem& m, bool two_bytes, bool wide, bool byte_reg) {
  const int rex = (wide ? 8 : 0) | (reg & 8 ? 4 : 0) | (m.index >= 0 && m.index & 8 ? 2 : 0) |
                  (m.base != no_gpr && m.base & 8 ? 1 : 0);
  if (rex || (byte_reg && reg >= 4)) byte(0x40 | rex);
  if (two_bytes) byte(0x0f);
  byte(opcode);
  operand(reg, m, 1, 0);
}
FX_INLINE void Encoder::op_imm(int extension, Gpr r, int imm) {
  byte(0x48 | (r & 8 ? 1 : 0));
  const bool small = imm >= -128 && imm <= 127;
  if (!small && r == rax) {
    byte(extension << 3 | 5);
  } else {
    byte(small ? 0x83 : 0x81);
    operand(extension, r, 1, 0);
  }
  if (small)
    byte(imm & 255);
  else
    dword(imm);
}
FX_INLINE void Encoder::mov(Gpr to, std::uint64_t imm) {
  byte(0x48 | (to & 8 ? 1 : 0));
  byte(0xb8 | (to & 7));
  dword(std::int64_t(imm & 0xffffffff));
  dword(std::int64_t(imm >> 32));
}
FX_INLINE void Encoder::decrement(const Mem& m) { op_rm(0xff, 1, m); }
FX_INLINE void Encoder::decrement(Gpr r) { op_rr(0xff, 1, r); }
FX_INLINE void Encoder::shift_left(Gpr r, int bits) {
  op_rr(0xc1, 4, r);
  byte(bits);
}
FX_INLINE void Encoder::prefetch(const Mem& m) { op_rm(0x18, 1, m, true, false); }
FX_INLINE void Encoder::negate(Gpr r) {
  byte(0x48 | (r & 8 ? 1 : 0));
  byte(0xf7);
  operand(3, int(r), 1, 0);
}
FX_INLINE void Encoder::multiply(Gpr to, Gpr a, int imm) {
  const bool small = imm >= -128 && imm <= 127;
  op_rr(small ? 0x6b : 0x69, to, a);
  if (small)
    byte(imm & 255);
  else
    dword(imm);
}
FX_INLINE void Encoder::zero(Gpr r) {
  if (r & 8) byte(0x45);
  byte(0x31);
  operand(r, int(r), 1, 0);
}
FX_INLINE void Encoder::low_bits(Gpr to, Gpr a, Gpr n) {
  vector({Form::np, Form::m38, 0xf5}, 16, to, n, int(a));  // VEX.LZ
}
FX_INLINE void Encoder::push(Gpr r) {
  if (r & 8) byte(0x41);
  byte(0x50 | (r & 7));
}
FX_INLINE void Encoder::pop(Gpr r) {
  if (r & 8) byte(0x41);
  byte(0x58 | (r & 7));
}
FX_INLINE void Encoder::call(const Mem& target) { op_rm(0xff, 2, target, false, false); }
FX_INLINE void Encoder::vzeroupper() {
  byte(0xc5);
  byte(0xf8);
  byte(0x77);
}

FX_INLINE Label Encoder::label() {
  labels_.push_back(-1);
  return {labels_.size() - 1};
}
FX_INLINE void Encoder::bind(Label l) { labels_[l.n] = bytes_.size(); }
FX_INLINE void Encoder::jump(Label to) {
  byte(0xe9);
  fixups_.push_back({bytes_.size(), to.n, bytes_.size() + 4});
  dword(0);
}
FX_INLINE void Encoder::jump_if(Condition c, Label to) {
  byte(0x0f);
  byte(0x80 | c);
  fixups_.push_back({bytes_.size(), to.n, bytes_.size() + 4});
  dword(0);
}

FX_INLINE Label Encoder::constant(const void* data, int count, int align) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  for (const Constant& c : constants_) {
    bool same = c.count == count && c.align == align;
    for (int i = 0; same && i < count; ++i) same = pool_[c.at + i] == from[i];
    if (same) return {c.label};
  }
  const Label l = label();
  while (pool_.size() % align) pool_.push_back(0);
  constants_.push_back({l.n, pool_.size(), count, align});
  for (int i = 0; i < count; ++i) pool_.push_back(from[i]);
  return l;
}

FX_INLINE void Encoder::finish() {
  while (bytes_.size() % 64) byte(0xcc);
  const int start = bytes_.size();
  for (const Constant& c : constants_) labels_[c.label] = start + c.at;
  for (std::uint8_t b : pool_) bytes_.push_back(b);
  for (const Fixup& f : fixups_) {
    std::int64_t value = labels_[f.label] - f.end;
    for (int i = 0; i < 4; ++i) value += std::int64_t(bytes_[f.at + i]) << (8 * i);
    for (int i = 0; i < 4; ++i) bytes_[f.at + i] = std::uint8_t(value >> (8 * i));
  }
}
#endif

}  // namespace fx::inline v0::tiled::code
