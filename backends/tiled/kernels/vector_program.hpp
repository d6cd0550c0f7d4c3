// kernels/vector_program.hpp -- VectorProgram: a Recorder's instructions, run over blocks of up to 1024 elements.
//
// Instructions run one after another, each over the whole block, on registers that lie in the caller's scratch memory:
// few enough to stay in the first-level cache. Every instruction works on groups of 64 elements, so that its loop has a
// constant length and is vectorised by every compiler at -O2; constants and scalar inputs are one group that is read
// again and again. bool registers hold one byte per element.
//
// That is the portable tier. Where machine code can be made (code/body.hpp), that runs instead, with the same bits.
#pragma once
#include <fx/base/bytes.hpp>

#include "../code/body.hpp"
#include "vector_types.hpp"

namespace fx::inline v0::tiled {

// Element (r, c) of a block lies at data + r * row + c * col, counted in elements.
struct VectorInput {
  const void* data = nullptr;
  std::int64_t row = 0, col = 0;
};
// Element (r, c) of a block is written to data + r * row + c.
struct VectorOutput {
  void* data = nullptr;
  std::int64_t row = 0;
};
// Where a block lies in the program's output: element (r, c) is number start + r * pitch + c of it, in row-major order.
// Only programs that use_index() look at it.
struct BlockPlace {
  const std::int64_t* sizes = nullptr;  // of the output's dimensions
  int rank = 0;
  std::int64_t start = 0, pitch = 0;
};

class VectorProgram {
 public:
  static constexpr int max_block = 1024;

  // Register input_regs[k] of r is operand k, register output_regs[j] is result j (a register may be both, or several
  // results). Instructions that no result needs are dropped. Every other register is defined by its instruction.
  // columns[k] == one promises that column stride 0 is the only one input k is given; none given: nothing is promised.
  // Machine code is for the level `most`, if there can be any.
  static VectorProgram make(const Recorder& r, Span<const int> input_regs, Span<const int> output_regs,
                            Span<const code::Column> columns = {}, Level most = level());

  int inputs() const { return in_.size(); }
  int outputs() const { return out_.size(); }
  DType input_dtype(int k) const { return in_[k].dtype; }
  DType output_dtype(int j) const { return out_[j].dtype; }
  bool uses_index() const { return uses_index_; }
  int steps() const { return steps_; }
  // Blocks may have any number of elements, if no input has another column stride than 0 or 1, nor a promise is broken.
  bool any_length() const { return machine_ && !uses_index_; }
  // The dtype of an input, or of an output after them.
  DType port_dtype(int k) const { return k < in_.size() ? in_[k].dtype : out_[k - in_.size()].dtype; }
  // Machine code called without staging, for programs of any_length(): the caller fills in the ports.
  code::BodyArgs* code_args(void* scratch, std::int64_t rows, std::int64_t cols) const;
  void run_code(code::BodyArgs* args) const { machine_.run(args); }
  // The machine code, empty on the portable tier.
  Span<const std::uint8_t> machine_code() const { return machine_.bytes; }

  // A program with machine code as bytes (vector_bytes.hpp). False: they are none, or cannot run here.
  void write(ByteWriter& to) const;
  static bool read(ByteReader& from, VectorProgram& p);
  bool has_code() const { return bool(machine_); }

  // Bytes of scratch for blocks of up to `block` elements; scratch is 64-byte aligned.
  std::int64_t scratch_bytes(int block = max_block) const;
  // Writes the constants; once for a scratch, before the runs that use it. Several threads need a scratch each.
  void prepare(void* scratch, int block = max_block) const;

  // Runs on one block of rows x cols elements, rows * cols <= block. Inputs may have any strides (0: one element for
  // all); those with rows of `cols` contiguous elements one after the other are read in place, others are gathered
  // first. An output may be the very memory of an input, element on element; no other overlap. Allocates nothing.
  void run(void* scratch, const VectorInput* in, const VectorOutput* out, int rows, int cols,
           const BlockPlace& place = {}) const;
  // The same for n contiguous elements of every input and output.
  void run(void* scratch, const void* const* in, void* const* out, int n, const BlockPlace& place = {}) const;

 private:
  struct Step {
    kernels::Kernel run = nullptr;     // null: the position along output dimension imm
    int dst = 0, a = 0, b = 0, c = 0;  // places
    std::uint64_t imm = 0;
    DType dtype = DType::f32;
  };
  struct Port {
    DType dtype = DType::f32;
    int place = 0;
    std::int64_t units = 0;  // its staging memory, for blocks that do not lie in one piece
  };
  struct Slot {  // the memory of registers that are not needed at the same time
    int place = 0;
    std::int64_t units = 0;  // bytes of one element of all slots before it
  };
  struct Constant {
    int place = 0, width = 0;
    std::uint64_t bits = 0;
  };
  struct Table {
    int place = 0, size = 0;
    const void* data = nullptr;
  };
  struct Layout;  // of the scratch
  struct Maker;
  Layout layout(int block) const;
  static int block_of(const char* scratch);
  kernels::Place place_input(const VectorInput& v, int k, int rows, int cols, char* scratch, const Layout& at) const;
  void execute(const kernels::Place* places, std::int64_t groups, int first, int count, int cols,
               const BlockPlace& place) const;
  void execute_block(char* scratch, const Layout& at, int n, int cols, const BlockPlace& place) const;

  // The same with machine code (vector_code.hpp).
  struct CodeScratch;
  std::int64_t code_bytes(int block) const;
  bool may_turn(const VectorInput* in, const VectorOutput* out, int rows, int cols, int block) const;
  code::Port place_input(const CodeScratch& s, const VectorInput& v, int k, int rows, int cols) const;
  void place_positions(const CodeScratch& s, int rows, int cols, const BlockPlace& place) const;
  void run_code(char* scratch, const VectorInput* in, const VectorOutput* out, int rows, int cols,
                const BlockPlace& place) const;
  void run_code(char* scratch, const void* const* in, void* const* out, int n, const BlockPlace& place) const;

  Vec<Step> code_;
  Vec<Port> in_, out_;
  Vec<Slot> slots_;
  Vec<Constant> constants_;
  Vec<Table> tables_;
  int places_ = 0;
  std::int64_t units_ = 0;  // bytes of one element of all slots and staging memory
  int steps_ = 0;
  bool uses_index_ = false;
  code::BodyCode machine_;
  Vec<code::Column> columns_;  // of the inputs, with machine code
};

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "vector_bytes.hpp"
#include "vector_run.hpp"
#endif
