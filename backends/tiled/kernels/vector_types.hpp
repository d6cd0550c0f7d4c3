// kernels/vector_types.hpp -- what a vector instruction is at run time: a loop over registers that lie in memory.
#pragma once
#include <fx/ops/record.hpp>

#include "level.hpp"

namespace fx::inline v0::tiled::kernels {

// Elements that a loop handles at a time; registers are padded to multiples of it.
inline constexpr int group = 64;

// Where a register lies during a run: each group is `step` elements after the one before it, 0 for constants.
struct Place {
  char* p;
  std::int64_t step;
};

using Kernel = void (*)(char* dst, const Place* a, const Place* b, const Place* c, std::int64_t groups);

// The loop of an instruction that reads registers; null if there is none for its dtypes.
Kernel kernel_of(const Instr& i);
// Writes the positions along dimension `dim` of the output for elements first .. first + count - 1 of a block whose
// rows have `cols` elements (BlockPlace, vector_program.hpp).
void write_positions(char* dst, DType dtype, const std::int64_t* sizes, int rank, int dim, std::int64_t start,
                     std::int64_t pitch, int cols, int first, int count);

}  // namespace fx::inline v0::tiled::kernels
