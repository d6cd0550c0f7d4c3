// code/loop_generator.hpp -- LoopGenerator: the machine code of a LoopBody.
#pragma once
#include <cstring>

#include "generator_loop.hpp"
#include "loop.hpp"
#include "loop_reduce.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

class LoopGenerator : Generator {
 public:
  LoopGenerator(const tile::Kernel& scan, const LoopBody& body, const Recorded& recorded, Span<const int> outputs,
                bool avx512);
  LoopCode make();

 private:
  static constexpr Gpr registers[] = {rbp, r14, rcx, rdx, rsi, rdi, r8, r9, r10, r12, r13};
  const tile::Kernel& scan_;
  const LoopBody& b_;
  LoopCode code_of_;
  Vec<Gpr> base_;       // of each port, or no_gpr: it is loaded for each use
  Vec<int> seq_item_;   // the item of each entry of seq_
  Vec<char> unsafe_;    // loads whose place is overwritten before their last use
  int tail_lanes_ = 0;  // what tail_mask says now

  void add_inputs();
  void order();
  void find_unsafe();
  void choose_bases();
  void hold_carries();

  bool reloadable(int v) const override {
    const Value& x = values_[v];
    return x.shared() || (x.where == Value::port && !unsafe_[x.at]);
  }
  void load_port(int reg, int v, int u) override;
  Mem address(const LoopPlace& p);
  void load_vector(int reg, DType d, const LoopPlace& from);
  void load_flags(int reg, const LoopLoad& l);
  void store(const LoopStore& s);
  void store_flags(const LoopStore& s);
  void move(const LoopMove& m);
  void upper(const Instr& i);
  void lane(const Instr& i);
  const Form* whole(int bytes, bool store) const;
  void set_tail(int lanes);
  int mask_of(int lanes, int size);
  void step();
  void advance();
  void load_base(int port, Gpr to) { e_.mov(to, port_data(port)); }
};

FX_INLINE LoopGenerator::LoopGenerator(const tile::Kernel& scan, const LoopBody& body, const Recorded& recorded,
                                       Span<const int> outputs, bool avx512)
    : Generator(recorded, outputs, body.lanes, avx512), scan_(scan), b_(body) {
  code_of_.missing = nullptr;
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at] && called(code_[at])) code_of_.missing = "it has an operation that is a call";
  if (code_of_.missing) return;
  add_inputs();
  order();
  collect_uses();
  find_unsafe();
  hold_carries();
  choose_bases();
  fix_shared(simd_.size - fullest().simd - temporaries - b_.carries.size());
}

FX_INLINE void LoopGenerator::add_inputs() {
  auto set = [&](int reg, Value::Where where, int at) {
    values_[reg].dtype = r_.dtype(reg);
    values_[reg].where = where;
    values_[reg].at = at;
  };
  for (int k = 0; k < b_.loads.size(); ++k) set(b_.loads[k].reg, Value::port, k);
  for (const LoopCarry& c : b_.carries) set(c.reg, Value::computed, -1);
  for (const LoopPrepared& p : b_.prepared) {
    set(p.reg, Value::uniform, slot());
    code_of_.constants.push_back({p, values_[p.reg].at});
  }
  bytes_slot_ = slot();
  for (int at = 0; at < code_.size(); ++at) {
    const Instr& i = code_[at];
    if (!needed_[at] || values_[i.dst].where != Value::none) continue;
    values_[i.dst].dtype = i.to;
    if (i.op == Instr::constant)
      add_constant(i.dst, i);
    else
      values_[i.dst].where = Value::computed;
  }
}

// The entries of seq_ are those items that do something, and at the end the carries' new values.
FX_INLINE void LoopGenerator::order() {
  Vec<int> output(b_.stores.size(), -1);
  for (int k = 0, j = 0; k < b_.items.size(); ++k)
    if (const LoopItem& i = b_.items[k]; i.what == LoopItem::store && !i.dead) output[i.index] = j++;
  auto add = [&](Item::What what, int index, int item) {
    seq_.push_back({what, index});
    seq_item_.push_back(item);
  };
  for (int k = 0; k < b_.items.size(); ++k) {
    const LoopItem& i = b_.items[k];
    if (i.dead) continue;
    switch (i.what) {
      case LoopItem::op:
        if (needed_[i.index]) add(Item::op, i.index, k);
        break;
      case LoopItem::store: add(Item::store, output[i.index], k); break;
      case LoopItem::load:
      case LoopItem::move: add(Item::other, i.index, k); break;
    }
  }
  for (const LoopCarry& c : b_.carries) add(Item::hold, r_.same[c.next], b_.items.size());
}

// Loads that must happen where they stand become entries that hold.
FX_INLINE void LoopGenerator::find_unsafe() {
  unsafe_ = Vec<char>(b_.loads.size(), 0);
  for (int k = 0; k < b_.loads.size(); ++k) {
    const Value& v = values_[b_.loads[k].reg];
    unsafe_[k] = v.count > 0 && seq_item_[uses_[v.first + v.count - 1]] > b_.loads[k].until;
  }
  for (int at = 0; at < seq_.size(); ++at)
    if (const LoopItem* i = seq_item_[at] < b_.items.size() ? &b_.items[seq_item_[at]] : nullptr;
        i && i->what == LoopItem::load && unsafe_[i->index])
      seq_[at] = {Item::hold, b_.loads[i->index].reg};
  for (Value& v : values_) v.count = 0;
  collect_uses();
}

FX_INLINE void LoopGenerator::hold_carries() {
  for (int k = 0; k < b_.carries.size(); ++k) {
    const int reg = simd_.size - 1 - k;
    values_[b_.carries[k].reg].fixed = reg;
    simd_.fixed |= 1u << reg;
  }
}

// The ports that are used most have a register.
FX_INLINE void LoopGenerator::choose_bases() {
  Vec<int> uses(b_.ports, 0);
  for (const LoopLoad& l : b_.loads) ++uses[l.from.port];
  for (const LoopStore& s : b_.stores) ++uses[s.to.port];
  for (const LoopMove& m : b_.moves) ++uses[m.from.port], ++uses[m.to.port];
  base_ = Vec<Gpr>(b_.ports, no_gpr);
  for (Gpr g : registers) {
    int best = -1;
    for (int p = 0; p < b_.ports; ++p)
      if (base_[p] == no_gpr && uses[p] > 0 && (best < 0 || uses[p] > uses[best])) best = p;
    if (best < 0) return;
    base_[best] = g;
  }
}

FX_INLINE Mem LoopGenerator::address(const LoopPlace& p) {
  Mem m{base_[p.port]};
  if (m.base == no_gpr) load_base(p.port, m.base = r11);
  m.disp = int(p.at);
  return m;
}

// The move of so many bytes at the start of a register, if there is one; the rest of it becomes 0.
FX_INLINE const Form* LoopGenerator::whole(int bytes, bool store) const {
  switch (bytes) {
    case 4: return store ? &form::vmovss_to : &form::vmovss;
    case 8: return store ? &form::vmovq_to : &form::vmovq;
    case 16:
    case 32:
    case 64: return store ? &form::vmovups_to : &form::vmovups;
    default: return nullptr;
  }
}
FX_INLINE void LoopGenerator::set_tail(int lanes) {
  if (tail_lanes_ == lanes) return;
  tail_lanes_ = lanes;
  e_.mov(rax, (std::uint64_t(1) << lanes) - 1);
  e_.vector(form::kmovw_from_gpr, 16, tail_mask, 0, int(rax));
}
FX_INLINE int LoopGenerator::mask_of(int lanes, int size) {
  std::uint8_t ones[32] = {};
  for (int k = 0; k < lanes * size; ++k) ones[k] = 255;
  Mem m;
  m.label = e_.constant(ones, 32, 32);
  const int t = temp(simd_);
  e_.vector(form::vmovups, lanes_ * size, t, 0, m);
  return t;
}

FX_INLINE void LoopGenerator::load_vector(int reg, DType d, const LoopPlace& from) {
  const int size = size_of(d), n = from.lanes * size;
  const Mem m = address(from);
  if (const Form* f = whole(n, false)) return e_.vector(*f, n < 16 ? 16 : n, reg, 0, m);
  if (avx512_) {
    set_tail(from.lanes);
    return e_.vector(by_size(d, form::vmovups, form::vmovupd), bytes(d), reg, 0, m, -1, {tail_mask, true});
  }
  e_.vector(by_size(d, form::vmaskmovps, form::vmaskmovpd), bytes(d), reg, mask_of(from.lanes, size), m);
}

FX_INLINE void LoopGenerator::load_port(int reg, int v, int) {
  const LoopLoad& l = b_.loads[values_[v].at];
  const DType d = values_[v].dtype;
  if (d == boolean) return load_flags(reg, l);
  if (!l.spread) return load_vector(reg, d, l.from);
  e_.vector(by_size(d, form::vbroadcastss, form::vbroadcastsd), bytes(d), reg, 0, address(l.from));
}

FX_INLINE void LoopGenerator::load_flags(int to, const LoopLoad& l) {
  Mem m = address(l.from);
  if (l.spread) {
    e_.load_byte(rax, m);
    e_.negate(rax);
    if (avx512_) return e_.vector(form::kmovw_from_gpr, 16, to, 0, int(rax));
    e_.mov(in_frame(bytes_slot_), rax);
    return e_.vector(form::vbroadcastsd, lanes_ * word_, to, 0, in_frame(bytes_slot_));
  }
  if (l.from.lanes == lanes_) return flags_from(to, m);
  if (avx512_) {
    const int t = temp(simd_);
    set_tail(l.from.lanes);
    e_.vector(form::vmovdqu8, 16, t, 0, m, -1, {tail_mask, true});
    return e_.vector(form::vptestmb, 16, to, t, t);
  }
  for (int k = 0; k < l.from.lanes; ++k, ++m.disp) {
    e_.load_byte(rax, m);
    e_.store_byte(in_frame(bytes_slot_ + k), rax);
  }
  flags_from(to, in_frame(bytes_slot_));
}

FX_INLINE void LoopGenerator::store(const LoopStore& s) {
  const int v = r_.same[s.reg];
  const DType d = values_[v].dtype;
  if (d == boolean) return store_flags(s);
  const int size = size_of(d), n = s.to.lanes * size, from = reg(v, 0);
  const Mem m = address(s.to);
  if (const Form* f = whole(n, true)) return e_.vector(*f, n < 16 ? 16 : n, from, 0, m);
  if (avx512_) {
    set_tail(s.to.lanes);
    return e_.vector(by_size(d, form::vmovups_to, form::vmovupd_to), bytes(d), from, 0, m, -1, {tail_mask, false});
  }
  e_.vector(by_size(d, form::vmaskmovps_to, form::vmaskmovpd_to), bytes(d), from, mask_of(s.to.lanes, size), m);
}

FX_INLINE void LoopGenerator::store_flags(const LoopStore& s) {
  const int t = flag_bytes(r_.same[s.reg], 0);
  Mem m = address(s.to);
  const bool all = s.to.lanes == lanes_;
  if (avx512_ && !all) {
    set_tail(s.to.lanes);
    return e_.vector(form::vmovdqu8_to, 16, t, 0, m, -1, {tail_mask, false});
  }
  e_.vector(lanes_ == 16  ? form::vmovups_to
            : lanes_ == 8 ? form::vmovq_to
                          : form::vmovd_to,
            16, t, 0, all ? m : in_frame(bytes_slot_));
  for (int k = 0; !all && k < s.to.lanes; ++k, ++m.disp) {
    e_.load_byte(rax, in_frame(bytes_slot_ + k));
    e_.store_byte(m, rax);
  }
}

FX_INLINE void LoopGenerator::move(const LoopMove& m) {
  if (m.size == 1) {
    e_.load_byte(rax, address(m.from));
    return e_.store_byte(address(m.to), rax);
  }
  const int t = temp(simd_);
  e_.vector(*whole(m.size, false), 16, t, 0, address(m.from));
  e_.vector(*whole(m.size, true), 16, t, 0, address(m.to));
}

// The lanes from i.b on, which are as many, in the place of the first.
FX_INLINE void LoopGenerator::upper(const Instr& i) {
  using namespace form;
  const int a = reg(r_.same[i.a], 0), half = i.b * size_of(i.to);
  retire(i, 0);
  const int to = result(i.dst, 0);
  if (half == 32) return e_.vector(vextractf64x4, 64, a, 0, to, 1);
  if (half == 16) return e_.vector(avx512_ ? vextractf32x4 : vextractf128, 32, a, 0, to, 1);
  e_.vector(vshufps, 16, to, a, a, half == 8 ? 0x0e : 0x01);
}

// Faster than through memory, where a store must be seen by a load.
FX_INLINE void LoopGenerator::lane(const Instr& i) {
  using namespace form;
  const int a = reg(r_.same[i.a], 0), length = bytes(i.to), size = size_of(i.to), four_times = int(i.imm & 3) * 0x55;
  if (length == 16 || (size == 8 && length == 32)) {
    retire(i, 0);
    if (size == 8) return e_.vector(vpermpd_fixed, 32, result(i.dst, 0), 0, a, four_times);
    return e_.vector(vshufps, 16, result(i.dst, 0), a, a, four_times);
  }
  const int at = temp(simd_);
  e_.vector(vmovups, length, at, 0, pool(i.imm, size));
  retire(i, 0);
  e_.vector(by_size(i.to, vpermps, vpermpd), length, result(i.dst, 0), at, a);
}

FX_INLINE void LoopGenerator::step() {
  forget_all();
  tail_lanes_ = 0;
  const int frame_before = frame_;
  for (pos_ = 0; pos_ < seq_.size(); ++pos_) {
    const Item& s = seq_[pos_];
    const LoopItem* item = seq_item_[pos_] < b_.items.size() ? &b_.items[seq_item_[pos_]] : nullptr;
    if (s.what == Item::op) {
      if (code_[s.index].op == LoopBody::upper)
        upper(code_[s.index]);
      else if (code_[s.index].op == LoopBody::lane)
        lane(code_[s.index]);
      else
        emit(code_[s.index], 0);
    } else if (s.what == Item::hold) {
      reg(s.index, 0);
    } else if (s.what == Item::store) {
      const LoopStore& to = b_.stores[item->index];
      store(to);
      if (const int v = r_.same[to.reg]; dies(v, 0)) drop(v, 0);
    } else if (item->what == LoopItem::move) {
      move(b_.moves[item->index]);
    }
    end_part();
  }
  // No new value is another's old one, but it may be several new ones.
  pos_ = seq_.size() - 1;
  for (const LoopCarry& c : b_.carries) {
    const int to = values_[c.reg].fixed, v = r_.same[c.next];
    if (v == c.reg) continue;
    e_.vector(form::vmovups, bytes(values_[v].dtype), to, 0, reg(v, 0));
    end_part();
  }
  frame_ = frame_before;
}

FX_INLINE void LoopGenerator::advance() {
  auto to_register = [&](int port) {
    if (base_[port] != no_gpr) load_base(port, base_[port]);
  };
  auto kept = [&](int port) {  // in memory, as in its register
    if (base_[port] != no_gpr) e_.mov(port_data(port), base_[port]);
  };
  const int ins = scan_.in.size();
  for (int p = 0; p < ins + scan_.out.size(); ++p) {
    const bool input = p < ins, rows = input ? p >= scan_.consts + scan_.carries : p - ins >= scan_.carries;
    const bool used = base_[p] != no_gpr;
    if (!rows) continue;
    e_.mov(rax, port_row(p));
    if (used)
      e_.add(base_[p], rax);
    else
      e_.add(port_data(p), rax);
  }
  int spare = b_.ports;
  for (int c = 0; c < scan_.carries; ++c) {
    if (scan_.in_place[c]) continue;
    const int in = scan_.consts + c, out = ins + c;
    kept(out);
    e_.mov(rax, port_data(out));
    e_.mov(r11, port_data(spare));
    e_.mov(port_data(in), rax);
    e_.mov(port_data(out), r11);
    e_.mov(port_data(spare), rax);
    to_register(in);
    to_register(out);
    ++spare;
  }
}

FX_INLINE LoopCode LoopGenerator::make() {
  if (code_of_.missing) return std::move(code_of_);
  const Label loop = e_.label();
  prologue();
  for (int p = 0; p < b_.ports; ++p)
    if (base_[p] != no_gpr) load_base(p, base_[p]);
  load_fixed(Value::constant);
  load_fixed(Value::uniform);
  for (const LoopCarry& c : b_.carries) {
    load_vector(values_[c.reg].fixed, values_[c.reg].dtype, c.at);
    end_part();
  }
  e_.bind(loop);
  step();
  advance();
  e_.decrement(arg(0));
  e_.jump_if(Encoder::not_equal, loop);
  epilogue();
  e_.finish();
  LoopCode& c = code_of_;
  c.frame_bytes = frame_bytes_;
  c.ports = b_.ports;
  c.lanes = lanes_;
  c.word = avx512_ ? 0 : word_;
  c.workspace = b_.workspace;
  c.bytes = e_.bytes();
  c.block = CodeBlock(c.bytes);
  if (!c.block) c.missing = "there is no executable memory left";
  return std::move(c);
}

FX_INLINE void LoopCode::prepare(char* frame, const Port* from) const {
  for (const Constant& c : constants) {
    const LoopPrepared& p = c.what;
    char* to = frame + c.slot;
    std::memset(to, 0, 64);
    const int size = size_of(p.dtype);
    for (int l = 0; l < lanes; ++l) {
      const bool exists = p.stride == 0 || l < p.from.lanes;
      const char* x = p.bits.empty() ? from[p.from.port].data + p.from.at + (exists ? l : 0) * p.stride
                                     : reinterpret_cast<const char*>(&p.bits[l]);
      if (!exists && p.bits.empty()) continue;
      if (p.dtype != boolean)
        std::memcpy(to + l * size, x, std::size_t(size));
      else if (word == 0)
        to[l / 8] = char(to[l / 8] | (*x != 0) << (l % 8));
      else
        std::memset(to + l * word, *x ? 255 : 0, std::size_t(word));
    }
  }
}

FX_INLINE LoopCode make_loop(const tile::Kernel& scan, Level level) {
  LoopCode none;
  if (level == Level::baseline || !executable_memory()) return none;
  const LoopBody body(scan, level == Level::avx512 ? 64 : 32);
  none.missing = body.missing;
  if (body.missing) return none;
  Vec<int> inputs, outputs;
  for (const LoopLoad& l : body.loads) inputs.push_back(l.reg);
  for (const LoopPrepared& p : body.prepared) inputs.push_back(p.reg);
  for (const LoopCarry& c : body.carries) inputs.push_back(c.reg);
  for (const LoopItem& i : body.items)
    if (i.what == LoopItem::store && !i.dead) outputs.push_back(body.stores[i.index].reg);
  for (const LoopCarry& c : body.carries) outputs.push_back(c.next);
  return LoopGenerator(scan, body, Recorded(body.r, inputs, outputs), outputs, level == Level::avx512).make();
}

}  // namespace fx::inline v0::tiled::code
#endif
