// code/body_types.hpp -- BodyCode: what machine code of a recorded body is called with.
#pragma once
#include <fx/type.hpp>

#include "memory.hpp"

namespace fx::inline v0::tiled::code {

// How an operand moves along a row: one element for the whole row, or the next for each column.
enum class Column : std::uint8_t { one, each };

// What the code is called with; it changes `data` and `rows`. Ports are the inputs, then the outputs.
struct Port {
  char* data = nullptr;
  std::int64_t row_bytes = 0;
};
struct BodyArgs {
  std::int64_t rows = 0, cols = 0;
  char* frame = nullptr;  // frame_bytes, aligned to 64
  Port port[1];           // really one for each port
};
constexpr std::int64_t args_bytes(int ports) { return 24 + 16 * std::int64_t(ports); }

// Recorded instructions as a function. Operands that give positions (Instr::index) are further inputs: element k of
// `positions` is the output dimension of input `inputs + k`.
struct BodyCode {
  struct Position {
    int dim = 0;
    DType dtype = DType::i32;
  };
  // Where the address of the plain loop for an instruction lies among the constants: all else is position independent.
  struct Called {
    int at = 0;
    int op = 0;  // Instr::Op
    DType type = DType::i32, to = DType::i32;
  };
  CodeBlock block;
  Vec<Position> positions;
  Vec<Called> calls;
  int frame_bytes = 0;
  Span<const std::uint8_t> bytes;  // of the code, where it is executed

  void run(BodyArgs* args) const { reinterpret_cast<void (*)(BodyArgs*)>(const_cast<void*>(block.entry()))(args); }
  explicit operator bool() const { return bool(block); }
};

}  // namespace fx::inline v0::tiled::code
