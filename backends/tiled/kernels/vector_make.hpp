// kernels/vector_make.hpp -- VectorProgram::make: dead code, register allocation, choice of the loops.
#pragma once
#include "vector_program.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

// Register numbers of the Recorder become places: inputs, outputs, constants, tables, slots of scratch memory.
struct VectorProgram::Maker {
  const Recorder& r;
  VectorProgram& p;
  Vec<int> def;       // register -> its instruction, or -1 for an input
  Vec<int> same;      // register -> the register whose bits it shares
  Vec<char> needed;   // instruction -> whether it must run
  Vec<int> last_use;  // register -> the last needed instruction that reads it
  Vec<int> place;     // register -> its place, or -1
  Vec<int> free_slots[3];
  Vec<int> slot_width;  // slot -> 0, 1, 2 for 1, 4, 8 bytes

  static int width_class(DType d) { return size_of(d) == 1 ? 0 : size_of(d) == 4 ? 1 : 2; }
  DType dtype(int reg) const { return r.regs[reg]; }
  bool is_input(int reg) const { return def[reg] < 0; }
  int new_place() { return p.places_++; }

  // Instructions that change no bit: their result is their operand.
  static bool is_alias(const Instr& i) {
    if (i.op == Instr::bitcast) return true;
    return i.op == Instr::convert && size_of(i.type) == size_of(i.to) && is_integer(i.type) && is_integer(i.to);
  }

  void find_definitions(Span<const int> inputs) {
    def = Vec<int>(r.regs.size(), -1);
    same = Vec<int>(r.regs.size(), 0);
    Vec<char> input(r.regs.size(), char(0));
    for (int reg : inputs) input[reg] = 1;
    for (int reg = 0; reg < same.size(); ++reg) same[reg] = reg;
    for (int at = 0; at < r.code.size(); ++at) {
      const Instr& i = r.code[at];
      if (input[i.dst]) continue;
      if (i.op == Instr::input) fail(ErrorCode::internal, "a recorded program has an input that was not named");
      def[i.dst] = at;
      if (is_alias(i)) same[i.dst] = same[i.a];
    }
  }

  // Marks what the results need, and each register's last reader.
  void find_uses(Span<const int> outputs) {
    needed = Vec<char>(r.code.size(), char(0));
    last_use = Vec<int>(r.regs.size(), -1);
    Vec<char> wanted(r.regs.size(), char(0));
    for (int reg : outputs) wanted[same[reg]] = 1;
    for (int at = r.code.size() - 1; at >= 0; --at) {
      const Instr& i = r.code[at];
      if (def[i.dst] != at || !wanted[i.dst] || same[i.dst] != i.dst) continue;
      needed[at] = 1;
      for_operands(i, [&](int reg) {
        wanted[reg] = 1;
        if (last_use[reg] < 0) last_use[reg] = at;
      });
    }
  }
  template <class F>
  void for_operands(const Instr& i, F&& f) const {
    if (i.op == Instr::constant || i.op == Instr::input || i.op == Instr::index) return;
    f(same[i.a]);
    if (i.op == Instr::lookup) return;  // b is the table's size
    if (i.b >= 0) f(same[i.b]);
    if (i.c >= 0) f(same[i.c]);
  }

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
    Instr i{Instr::bitcast, dtype(reg)};
    p.code_.push_back({kernels::kernel_of(i, level()), to, place[reg], 0, 0, 0, dtype(reg)});
  }

  // Places of ports; the instruction that computes a result writes it in place if no input is read after it, because a
  // result may lie on an input.
  void place_ports(Span<const int> inputs, Span<const int> outputs) {
    place = Vec<int>(r.regs.size(), -1);
    int last_read = -1;
    for (int reg : inputs) {
      place[reg] = new_place();
      p.in_.push_back({dtype(reg), place[reg], p.units_});
      p.units_ += size_of(dtype(reg));
      if (last_use[reg] > last_read) last_read = last_use[reg];
    }
    for (int reg : outputs) {
      p.out_.push_back({dtype(reg), new_place(), p.units_});
      p.units_ += size_of(dtype(reg));
      const int v = same[reg];
      if (place[v] >= 0 || r.code[def[v]].op == Instr::constant || def[v] < last_read) continue;
      place[v] = p.out_.back().place;
    }
  }

  // Results that are inputs leave the caller's memory before anything is written there.
  void save_inputs(Span<const int> outputs) {
    for (int reg : outputs) {
      const int v = same[reg];
      if (!is_input(v)) continue;
      const int slot = take_slot(dtype(v));
      add_copy(v, slot);
      if (last_use[v] < 0)
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
      p.uses_index_ = true;
    } else {
      s.run = kernels::kernel_of(i, level());
      if (!s.run) no_loop(i);
      s.a = place[same[i.a]];
      if (i.op == Instr::lookup) {
        s.c = new_place();
        p.tables_.push_back({s.c, i.b, reinterpret_cast<const void*>(i.imm)});
      } else {
        s.b = i.b >= 0 ? place[same[i.b]] : 0;
        s.c = i.c >= 0 ? place[same[i.c]] : 0;
      }
    }
    int released = -1;
    for_operands(i, [&](int reg) {
      if (last_use[reg] != at || reg == released || is_result(reg, outputs)) return;
      release(reg);
      last_use[reg] = -1;  // once, also where it is two operands
      released = reg;
    });
    if (place[i.dst] < 0) place[i.dst] = take_slot(i.to);
    s.dst = place[i.dst];
    p.code_.push_back(s);
  }
  bool is_result(int reg, Span<const int> outputs) const {
    for (int o : outputs)
      if (same[o] == reg) return true;
    return false;
  }
  static void no_loop(const Instr& i) {
    Str s("the tiled backend has no loop for instruction ");
    s.num(i.op) += " on ";
    s += name(i.type);
    fail(ErrorCode::internal, s.view());
  }

  void make(Span<const int> inputs, Span<const int> outputs) {
    find_definitions(inputs);
    find_uses(outputs);
    place_ports(inputs, outputs);
    save_inputs(outputs);
    for (int at = 0; at < r.code.size(); ++at)
      if (needed[at] && r.code[at].op == Instr::constant) add_constant(r.code[at]);
    for (int at = 0; at < r.code.size(); ++at)
      if (needed[at] && r.code[at].op != Instr::constant) add_step(r.code[at], at, outputs);
    for (const Saved& s : saved) place[s.reg] = s.place;
    for (int j = 0; j < outputs.size(); ++j) {
      const int v = same[outputs[j]];
      if (place[v] != p.out_[j].place) add_copy(v, p.out_[j].place);
    }
  }
};

FX_INLINE VectorProgram VectorProgram::make(const Recorder& r, Span<const int> input_regs,
                                            Span<const int> output_regs) {
  VectorProgram p;
  Maker{r, p, {}, {}, {}, {}, {}, {}, {}, {}}.make(input_regs, output_regs);
  return p;
}

}  // namespace fx::inline v0::tiled
#endif
