// code/loop_body.hpp -- LoopBody: all kernels of a loop's body as one list of operations on vectors.
//
// Every extent is unrolled, so that a register of the Recorder is one vector of one kernel. What a kernel writes and
// another reads as the same vector is that register; all else goes through memory.
#pragma once
#include <fx/tile/record_body.hpp>
#include <map>

namespace fx::inline v0::tiled::code {

// The first `lanes` elements of a vector, from byte `at` of a port on. Ports are the inputs of the body, then its
// outputs, then the workspace; a carry in place is one port.
struct LoopPlace {
  int port = -1;
  std::int64_t at = 0;
  int lanes = 0;
};
struct LoopLoad {
  int reg = -1;
  LoopPlace from;
  bool spread = false;  // one element in all lanes
  int until = 0;        // the item that overwrites the place first
};
struct LoopStore {
  int reg = -1;
  LoopPlace to;
};
// One element from place to place, to bring elements together that lie apart.
struct LoopMove {
  int size = 0;
  LoopPlace from, to;
};
// A vector that is the same in all steps: elements of a const `stride` bytes apart, or these bits.
struct LoopPrepared {
  int reg = -1;
  DType dtype = DType::f32;
  LoopPlace from;
  std::int64_t stride = 0;
  Vec<std::uint64_t> bits;
};
// A part of a carry that stays in a register: its value at the start of a step, and at the end.
struct LoopCarry {
  int reg = -1, next = -1;
  LoopPlace at;
};
struct LoopItem {
  enum What : std::uint8_t { op, load, store, move } what;
  int index;
  bool dead = false;  // a store or move that nothing reads
};

class LoopBody {
 public:
  // `vector`: bytes of a register.
  LoopBody(const tile::Kernel& scan, int vector_bytes);

  // Operations that only loops have: lanes b .. 2 b - 1 of a, from lane 0 on; lane imm of a in all lanes.
  static constexpr Instr::Op upper = Instr::Op(253), lane = Instr::Op(252);

  const char* missing = nullptr;  // why there is no code: what the body has that it cannot have
  Recorder r;
  int lanes = 0;
  Vec<LoopItem> items;
  Vec<LoopLoad> loads;
  Vec<LoopStore> stores;
  Vec<LoopMove> moves;
  Vec<LoopPrepared> prepared;
  Vec<LoopCarry> carries;
  int ports = 0;
  std::int64_t workspace = 0;  // bytes

  bool is_output(int port) const { return port >= p_.ins.size() && port < ports - 1; }

 private:
  // Code that is larger gains nothing: its steps are long beside what a call of each kernel costs.
  static constexpr int most_items = 3000;
  static constexpr int most_prepared = 256;
  static constexpr int most_held = 8;  // vectors of carries in registers
  struct Box;
  struct Folding;
  struct Known {
    int reg, lanes;
    bool spread;
  };
  using At = std::pair<int, std::int64_t>;

  const tile::Kernel& scan_;
  const tile::Program& p_;
  Vec<tile::BufferDecl> own_;  // buffers beside the program's
  std::map<At, Known> vectors_, spreads_;
  std::map<std::pair<At, std::int64_t>, int> consts_;
  std::map<std::uint64_t, int> constants_[dtype_count];

  void add_kernel(const tile::Kernel& k);
  void add_map(const tile::Kernel& k);
  void add_copy(const tile::Kernel& k);
  void add_dot(const tile::Kernel& k);
  void add_reduce(const tile::Kernel& k);
  tile::Access reduced(const tile::Kernel& k, bool in_rows);
  int fold_row(const Folding& fold, const tile::Kernel& k, const tile::Access& from, std::int64_t element,
               const Dims& axes, std::int64_t count);
  int fold_column(const Folding& fold, const tile::Kernel& k, const tile::Access& from, std::int64_t element,
                  std::int64_t stride, int n, const Dims& axes);
  int first_lanes(int n);
  bool too_large() const;
  void choose_lanes(int vector_bytes);
  void begin_carries();
  void end_carries();
  void find_dead();

  int port_of(int buffer, std::int64_t& at) const;
  LoopPlace place(const tile::Access& a, std::int64_t element, int n) const;
  DType dtype(const tile::Access& a) const {
    const int own = a.buffer - p_.buffers.size();
    return own < 0 ? p_.buffers[a.buffer].type.dtype : own_[own].type.dtype;
  }
  bool is_const(int port) const { return port < scan_.consts; }
  int push(const Instr& i, DType result);
  int constant(DType d, std::uint64_t bits);
  int positions(DType d, std::int64_t first, bool rising);
  int input(DType d);
  int operand(const tile::Access& a, std::int64_t element, std::int64_t stride, int n, bool soon = true);
  int load(const LoopPlace& from, DType d, bool spread);
  int lane_of(const LoopPlace& p, DType d);
  int prepare(const LoopPlace& from, DType d, std::int64_t stride);
  LoopPlace gathered(const tile::Access& a, std::int64_t element, std::int64_t stride, int n);
  void store(int reg, const LoopPlace& to);
  void forget(const LoopPlace& p, int bytes);
  int instance(const Instr& i, Span<const int> regs);
};

}  // namespace fx::inline v0::tiled::code
