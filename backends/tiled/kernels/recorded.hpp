// kernels/recorded.hpp -- Recorded: what is known of a Recorder's instructions before they become a program.
#pragma once
#include <fx/ops/record.hpp>

namespace fx::inline v0::tiled {

struct Recorded {
  const Recorder& r;
  Vec<int> def;       // register -> its instruction, or -1 for an input
  Vec<int> same;      // register -> the register whose bits it shares
  Vec<char> needed;   // instruction -> whether it must run
  Vec<int> last_use;  // register -> the last needed instruction that reads it, or -1

  Recorded(const Recorder& recorder, Span<const int> inputs, Span<const int> outputs) : r(recorder) {
    find_definitions(inputs);
    find_uses(outputs);
  }
  DType dtype(int reg) const { return r.regs[reg]; }
  bool is_input(int reg) const { return def[reg] < 0; }

  // Calls f(register) for each operand.
  template <class F>
  void for_operands(const Instr& i, F&& f) const {
    if (i.op == Instr::constant || i.op == Instr::input || i.op == Instr::index) return;
    f(same[i.a]);
    if (i.has_table()) return;
    if (i.b >= 0) f(same[i.b]);
    if (i.c >= 0) f(same[i.c]);
  }

 private:
  // Instructions that change no bit: their result is their operand.
  static bool is_alias(const Instr& i) {
    if (i.op == Instr::bitcast) return true;
    return i.op == Instr::convert && size_of(i.type) == size_of(i.to) && is_integer(i.type) && is_integer(i.to);
  }
  void find_definitions(Span<const int> inputs);
  void find_uses(Span<const int> outputs);
};

#if FX_BODIES
FX_INLINE void Recorded::find_definitions(Span<const int> inputs) {
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
FX_INLINE void Recorded::find_uses(Span<const int> outputs) {
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
#endif

}  // namespace fx::inline v0::tiled
