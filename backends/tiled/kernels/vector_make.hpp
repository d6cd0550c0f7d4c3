// kernels/vector_make.hpp -- VectorProgram::make: dead code, register allocation, choice of the loops.
#pragma once
#include "recorded.hpp"
#include "vector_program.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

// Register numbers of the Recorder become places: inputs, outputs, constants, tables, slots of scratch memory.
struct VectorProgram::Maker {
  Recorded code;
  VectorProgram& p;
  Vec<int> place;  // register -> its place, or -1
  Vec<int> free_slots[3];
  Vec<int> slot_width;  // slot -> 0, 1, 2 for 1, 4, 8 bytes

  Maker(const Recorder& recorder, VectorProgram& program, Span<const int> inputs, Span<const int> outputs)
      : code(recorder, inputs, outputs), p(program) {}
  static int width_class(DType d) { return size_of(d) == 1 ? 0 : size_of(d) == 4 ? 1 : 2; }
  int new_place() { return p.places_++; }

  int take_slot(DType d) {
    Vec<int>& list = free_slots[width_class(d)];
    if (list.empty()) {
      list.push_back(p.slots_.size());
      p.slots_.push_back({new_place(), p.units_});
      slot_width.push_back(width_class(d));
      p.units_ += size_of(d);
    }
    const int slot = list.back();
    list.pop_back();
    return p.slots_[slot].place;
  }
  // The slot of a register is free again, if it has one.
  void release(int reg) {
    for (int s = 0; s < p.slots_.size(); ++s)
      if (p.slots_[s].place == place[reg]) free_slots[slot_width[s]].push_back(s);
  }

  void add_copy(int reg, int to) {
    Instr i{Instr::bitcast, code.dtype(reg)};
    p.code_.push_back({kernels::kernel_of(i), to, place[reg], 0, 0, 0, code.dtype(reg)});
  }

  // Places of ports; the instruction that computes a result writes it in place if no input is read after it, because a
  // result may lie on an input.
  void place_ports(Span<const int> inputs, Span<const int> outputs) {
    place = Vec<int>(code.r.regs.size(), -1);
    int last_read = -1;
    for (int reg : inputs) {
      place[reg] = new_place();
      p.in_.push_back({code.dtype(reg), place[reg], p.units_});
      p.units_ += size_of(code.dtype(reg));
      if (code.last_use[reg] > last_read) last_read = code.last_use[reg];
    }
    for (int reg : outputs) {
      p.out_.push_back({code.dtype(reg), new_place(), p.units_});
      p.units_ += size_of(code.dtype(reg));
      const int v = code.same[reg];
      if (place[v] >= 0 || code.r.code[code.def[v]].op == Instr::constant || code.def[v] < last_read) continue;
      place[v] = p.out_.back().place;
    }
  }

  // Results that are inputs leave the caller's memory before anything is written there.
  void save_inputs(Span<const int> outputs) {
    for (int reg : outputs) {
      const int v = code.same[reg];
      if (!code.is_input(v)) continue;
      const int slot = take_slot(code.dtype(v));
      add_copy(v, slot);
      if (code.last_use[v] < 0)
        place[v] = slot;
      else
        saved.push_back({v, slot});
    }
  }
  struct Saved {
    int reg, place;
  };
  Vec<Saved> saved;

  void add_constant(const Instr& i) {
    place[i.dst] = new_place();
    p.constants_.push_back({place[i.dst], size_of(i.type), i.imm});
  }

  void add_step(const Instr& i, int at, Span<const int> outputs) {
    VectorProgram::Step s;
    s.dtype = i.to;
    if (i.op == Instr::index) {
      s.imm = std::uint64_t(i.a);
    } else {
      s.run = kernels::kernel_of(i);
      if (!s.run) no_loop(i);
      s.a = place[code.same[i.a]];
      if (i.has_table()) {
        s.c = new_place();
        p.tables_.push_back({s.c, i.b, reinterpret_cast<const void*>(i.imm)});
      } else {
        s.b = i.b >= 0 ? place[code.same[i.b]] : 0;
        s.c = i.c >= 0 ? place[code.same[i.c]] : 0;
      }
    }
    int released = -1;
    code.for_operands(i, [&](int reg) {
      if (code.last_use[reg] != at || reg == released || is_result(reg, outputs)) return;
      release(reg);
      code.last_use[reg] = -1;  // once, also where it is two operands
      released = reg;
    });
    if (place[i.dst] < 0) place[i.dst] = take_slot(i.to);
    s.dst = place[i.dst];
    p.code_.push_back(s);
  }
  bool is_result(int reg, Span<const int> outputs) const {
    for (int o : outputs)
      if (code.same[o] == reg) return true;
    return false;
  }
  static void no_loop(const Instr& i) {
    Str s("the tiled backend has no loop for instruction ");
    s.num(i.op) += " on ";
    s += name(i.type);
    fail(ErrorCode::internal, s.view());
  }

  // The ports alone.
  void add_ports(Span<const int> inputs, Span<const int> outputs) {
    for (int reg : inputs) {
      p.in_.push_back({code.dtype(reg), 0, p.units_});
      p.units_ += size_of(code.dtype(reg));
    }
    for (int reg : outputs) {
      p.out_.push_back({code.dtype(reg), 0, p.units_});
      p.units_ += size_of(code.dtype(reg));
    }
  }

  void make(Span<const int> inputs, Span<const int> outputs) {
    place_ports(inputs, outputs);
    save_inputs(outputs);
    for (int at = 0; at < code.r.code.size(); ++at)
      if (code.needed[at] && code.r.code[at].op == Instr::constant) add_constant(code.r.code[at]);
    for (int at = 0; at < code.r.code.size(); ++at)
      if (code.needed[at] && code.r.code[at].op != Instr::constant) add_step(code.r.code[at], at, outputs);
    for (const Saved& s : saved) place[s.reg] = s.place;
    for (int j = 0; j < outputs.size(); ++j) {
      const int v = code.same[outputs[j]];
      if (place[v] != p.out_[j].place) add_copy(v, p.out_[j].place);
    }
  }
};

FX_INLINE VectorProgram VectorProgram::make(const Recorder& r, Span<const int> input_regs, Span<const int> output_regs,
                                            Span<const code::Column> columns, Level most) {
  VectorProgram p;
  Maker m(r, p, input_regs, output_regs);
  for (int at = 0; at < r.code.size(); ++at) {
    p.steps_ += m.code.needed[at] && r.code[at].op != Instr::constant;
    p.uses_index_ = p.uses_index_ || (m.code.needed[at] && r.code[at].op == Instr::index);
  }
  if (columns.empty())
    p.columns_.resize(input_regs.size(), code::Column::each);
  else
    p.columns_.append(columns);
  p.machine_ = code::make_body(m.code, input_regs, output_regs, p.columns_, most);
  if (p.machine_)
    m.add_ports(input_regs, output_regs);
  else
    m.make(input_regs, output_regs);
  return p;
}

}  // namespace fx::inline v0::tiled
#endif
