// code/generator.hpp -- Generator: from recorded instructions to the machine code of a loop over rows and columns.
//
// A step of the loop handles `parts` vectors of `lanes` elements, instruction by instruction: long chains of one vector
// are interleaved with those of the others. bool values are mask registers (AVX-512) or vectors of all-ones and zero
// lanes (AVX2) of `word` bytes each. Registers are given by furthest next use (L. A. Belady, IBM Systems Journal 5,
// 1966), which is exact enough for straight code; constants and what a row holds once lie in memory and are read there
// or kept in a spare register.
#pragma once
#include "../kernels/recorded.hpp"
#include "body_types.hpp"
#include "forms.hpp"

namespace fx::inline v0::tiled::code {

class Generator {
 public:
  Generator(const Recorded& recorded, Span<const int> inputs, Span<const int> outputs, Span<const Column> columns,
            bool avx512);
  virtual ~Generator() = default;
  BodyCode make();

 protected:
  // For other loops than those over rows and columns (loop_generator.hpp): what they hold is theirs to say.
  Generator(const Recorded& recorded, Span<const int> outputs, int lanes, bool avx512);
  static constexpr int max_parts = 3;
  static constexpr int temporaries = 3;  // registers that an instruction may need beside its operands
  static constexpr int tail_mask = 7;    // the mask register of the lanes that exist in a last step

  struct Value {
    enum Where : std::uint8_t { none, computed, port, uniform, constant } where = none;
    DType dtype = DType::f32;
    int at = -1, input = -1;             // port: its number; uniform: its place in the frame, and its number
    Label pool;                          // constant
    int fixed = -1;                      // the register that holds it during the whole loop
    int first = 0, count = 0, next = 0;  // its uses: positions uses_[first] ... in seq_; next is the cursor
    bool shared() const { return where == uniform || where == constant; }
  };
  struct Part {
    int reg = -1, spill = -1;
  };
  struct Item {
    enum What : std::uint8_t { op, hold, store, other } what;
    int index;
  };
  struct Owner {
    int value = -1, part = 0;
  };
  struct File {
    int size = 0;
    Owner owner[32];
    std::uint32_t pinned = 0, fixed = 0, temps = 0;
  };

  const Recorded& r_;
  Vec<Instr> code_;   // the recorded instructions, with the pairs below as one, and counts of shifts in their imm
  Vec<char> needed_;  // of each
  Span<const int> outputs_;
  const bool avx512_;
  Encoder e_;
  int inputs_, lanes_, word_, parts_ = 1;
  Vec<Value> values_;
  Vec<Part> part_;  // max_parts of each value
  Vec<Item> seq_;
  Vec<int> uses_;
  File simd_, mask_;
  BodyCode result_;
  int frame_ = 0, frame_bytes_ = 0;                                       // used now, and at most
  int tail_count_ = 0, tail_four_ = 0, tail_eight_ = 0, bytes_slot_ = 0;  // places in it (AVX2's last steps)
  bool calls_ = false;
  int call_area_ = -1;  // in the frame: result and operands of calls, and where those lie

  // The state of the body that is being emitted.
  int pos_ = 0, active_ = 1, first_ = 0;  // first_: the number of part 0 after `element`
  bool masked_ = false, stored_ = false;

  // lt and a select of the same two values by it: what vmin and vmax do, also with NaN and zeros.
  static constexpr Instr::Op lesser = Instr::Op(254), greater = Instr::Op(255);

  // generator_plan.hpp
  Vec<int> readers() const;
  void find_extrema();
  void find_fixed_shifts();
  int port_count() const { return inputs_ + result_.positions.size() + outputs_.size(); }
  int output_port(int j) const { return inputs_ + result_.positions.size() + j; }
  void add_values(Span<const int> inputs, Span<const Column> columns);
  void add_constant(int reg, const Instr& i);
  void choose_lanes();
  void order_items();
  void collect_uses();
  struct Fullest {
    int simd = 1, mask = 1;
  };
  Fullest fullest() const;
  void choose_parts();
  void fix_shared(int room);

  // generator_loop.hpp
  static constexpr Gpr args = rbx, frame = r15, element = r12, columns = r13;
  static constexpr Gpr bases[] = {rbp, r14, rcx, rdx, rsi, rdi, r8, r9, r10};  // the first two survive calls
  static constexpr int n_bases = 9;
  static Mem arg(int offset);
  Mem port_data(int port) const { return arg(24 + 16 * port); }
  Mem port_row(int port) const { return arg(32 + 16 * port); }
  virtual Gpr base(int port);
  void load_bases();
  void prologue();
  void epilogue();
  void load_fixed(Value::Where where);
  void broadcast(DType d, const Mem& from, int slot);
  void broadcast_uniforms();
  void rows();
  void body(int parts, bool masked);
  void make_tail_mask();

  // generator_registers.hpp
  bool in_mask(int v) const { return avx512_ && values_[v].dtype == boolean; }
  File& file(int v) { return in_mask(v) ? mask_ : simd_; }
  Part& part(int v, int u) { return part_[v * max_parts + (values_[v].shared() ? 0 : u)]; }
  int bytes(DType d) const { return lanes_ * (d == boolean ? word_ : size_of(d)); }
  int slot() {
    frame_ += 64;
    frame_bytes_ = frame_ > frame_bytes_ ? frame_ : frame_bytes_;
    return frame_ - 64;
  }
  static Mem in_frame(int at) {
    Mem m{frame};
    m.disp = at;
    return m;
  }
  int next_use(int v);
  virtual bool reloadable(int v) const { return values_[v].shared() || (values_[v].where == Value::port && !stored_); }
  void spill(int v, int u);
  int free_register(File& f);
  int take(File& f, int v, int u);
  int temp(File& f);
  void drop(int v, int u);
  void load(int v, int u);
  int reg(int v, int u);
  Rm rm(int v, int u);
  int result(int v, int u);
  void retire(const Instr& i, int u);
  void end_part();
  bool dies(int v, int u);
  void forget_all();

  // generator_memory.hpp: one part of a port
  Mem element_at(int port, int u, int size);
  virtual void load_port(int reg, int v, int u);
  void store_port(int j, int u) { store_value(r_.same[outputs_[j]], output_port(j), u); }
  void store_value(int v, int port, int u);
  void load_bool(int reg, int port, int u);
  void store_bool(int v, int port, int u);
  void flags_from(int reg, const Mem& bytes);
  int flag_bytes(int v, int u);
  void copy_bytes(bool in, int port);
  Rm pool(std::uint64_t bits, int size);
  void tail_lanes(int reg, int size);

  // emit.hpp, emit_convert.hpp, emit_mask.hpp: one instruction
  const Form& by_size(DType d, const Form& four, const Form& eight) const { return size_of(d) == 4 ? four : eight; }
  void emit(const Instr& i, int u);
  void unary(const Form& f, const Instr& i, int u, int imm = -1);
  void binary(const Form& f, const Instr& i, int u, bool commutes = false);
  void with_constant(const Form& f, const Instr& i, int u, std::uint64_t bits);
  void fma(const Instr& i, int u);
  void retire_others(const Instr& i, int u, int dst);
  void scale_avx2(const Instr& i, int u);
  void negate(const Instr& i, int u);
  void absolute(const Instr& i, int u);
  void multiply_long(const Instr& i, int u);
  void select(const Instr& i, int u);
  void pick(const Instr& i, int u);
  void lookup(const Instr& i, int u);
  void bits(const Instr& i, int u);
  void shift(const Instr& i, int u);
  void bool_bits(const Instr& i, int u);
  void compare(const Instr& i, int u);
  void compare_avx2(int dst, const Instr& i, int u);
  void bool_compare(const Instr& i, int u);
  int mask_lanes(int v, int u, int size);
  int narrowed(int mask);
  void widened(int dst, int from, int size);
  void choose(int dst, int mask, const Rm& if_set, int if_clear, DType d);
  int compare_with(int a, std::uint64_t bits, int predicate, DType d);
  void convert(const Instr& i, int u);
  void unary_copy(const Instr& i, int u);
  void from_bool(const Instr& i, int u);
  void to_bool(const Instr& i, int u);
  void float_to_int(const Instr& i, int u);
  void int_to_float(const Instr& i, int u);
  void int_to_int(const Instr& i, int u);
  bool called(const Instr& i) const;
  void call(const Instr& i);
};

}  // namespace fx::inline v0::tiled::code
