// kernels/vector_run.hpp -- VectorProgram at run time: the layout of the scratch, blocks and their tails.
#pragma once
#include <cstring>

#include "copy.hpp"
#include "vector_code.hpp"
#include "vector_kernels.hpp"
#include "vector_make.hpp"
#include "vector_positions.hpp"
#include "vector_program.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

// Offsets in the scratch: the block size it was prepared for, the table of places, where the outputs go, one group for
// each constant, input and output, then slots and staging memory.
struct VectorProgram::Layout {
  static constexpr std::int64_t group_bytes = kernels::group * 8;
  std::int64_t places = 64, targets = 0, constants = 0, inputs = 0, outputs = 0, memory = 0, padded = 0;
  kernels::Place* table(char* scratch) const { return reinterpret_cast<kernels::Place*>(scratch + places); }
  char** target(char* scratch) const { return reinterpret_cast<char**>(scratch + targets); }
  char* constant(char* scratch, int k) const { return scratch + constants + k * group_bytes; }
  char* input(char* scratch, int k) const { return scratch + inputs + k * group_bytes; }
  char* output(char* scratch, int j) const { return scratch + outputs + j * group_bytes; }
  char* units(char* scratch, std::int64_t u) const { return scratch + memory + u * padded; }
};

FX_INLINE VectorProgram::Layout VectorProgram::layout(int block) const {
  Layout at;
  at.targets = at.places + std::int64_t(sizeof(kernels::Place)) * places_;
  at.constants = (at.targets + std::int64_t(sizeof(char*)) * out_.size() + 63) / 64 * 64;
  at.inputs = at.constants + constants_.size() * Layout::group_bytes;
  at.outputs = at.inputs + in_.size() * Layout::group_bytes;
  at.memory = at.outputs + out_.size() * Layout::group_bytes;
  at.padded = (block + kernels::group - 1) / kernels::group * kernels::group;
  return at;
}

FX_INLINE std::int64_t VectorProgram::scratch_bytes(int block) const {
  if (machine_) return code_bytes(block);
  const Layout at = layout(block);
  return at.memory + units_ * at.padded;
}

FX_INLINE void VectorProgram::prepare(void* scratch, int block) const {
  char* base = static_cast<char*>(scratch);
  std::memcpy(base, &block, sizeof block);
  if (machine_) return;
  const Layout at = layout(block);
  std::memset(base, 0, std::size_t(at.memory));
  std::memcpy(base, &block, sizeof block);
  kernels::Place* places = at.table(base);
  for (int k = 0; k < constants_.size(); ++k) {
    const Constant& c = constants_[k];
    places[c.place] = {at.constant(base, k), 0};
    fill(places[c.place].p, c.bits, kernels::group, c.width);
  }
  for (const Slot& s : slots_) places[s.place] = {at.units(base, s.units), kernels::group};
  // A loop that looks up reads the table's address and size from its place.
  for (const Table& t : tables_) places[t.place] = {static_cast<char*>(const_cast<void*>(t.data)), t.size};
}

FX_INLINE kernels::Place VectorProgram::place_input(const VectorInput& v, int k, int rows, int cols, char* scratch,
                                                    const Layout& at) const {
  const int width = size_of(in_[k].dtype);
  char* data = static_cast<char*>(const_cast<void*>(v.data));
  if ((cols == 1 || v.col == 1) && (rows == 1 || v.row == cols)) return {data, kernels::group};
  if ((cols == 1 || v.col == 0) && (rows == 1 || v.row == 0)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, data, std::size_t(width));
    fill(at.input(scratch, k), bits, kernels::group, width);
    return {at.input(scratch, k), 0};
  }
  char* staged = at.units(scratch, in_[k].units);
  const std::int64_t sizes[] = {rows, cols}, from[] = {v.row, v.col}, to[] = {cols, 1};
  copy_box(staged, to, data, from, sizes, 2, width);
  return {staged, kernels::group};
}

FX_INLINE int VectorProgram::block_of(const char* scratch) {
  int block = 0;
  std::memcpy(&block, scratch, sizeof block);
  return block;
}

// All steps on whole groups: elements first .. first + count - 1 of the block.
FX_INLINE void VectorProgram::execute(const kernels::Place* places, std::int64_t groups, int first, int count, int cols,
                                      const BlockPlace& place) const {
  for (const Step& s : code_) {
    char* dst = places[s.dst].p;
    if (s.run)
      s.run(dst, places + s.a, places + s.b, places + s.c, groups);
    else
      kernels::write_positions(dst, s.dtype, place.sizes, place.rank, int(s.imm), place.start, place.pitch, cols, first,
                               count);
  }
}

// The whole block, inputs placed and outputs targeted. What is left after the last whole group runs on groups in the
// scratch, because nothing may be touched beyond the caller's elements.
FX_INLINE void VectorProgram::execute_block(char* scratch, const Layout& at, int n, int cols,
                                            const BlockPlace& place) const {
  kernels::Place* places = at.table(scratch);
  char* const* target = at.target(scratch);
  const int tail = n % kernels::group, whole = n - tail;
  for (int j = 0; j < out_.size(); ++j) places[out_[j].place] = {target[j], kernels::group};
  if (whole) execute(places, whole / kernels::group, 0, whole, cols, place);
  if (!tail) return;
  for (int k = 0; k < in_.size(); ++k) {
    kernels::Place& from = places[in_[k].place];
    if (from.step == 0) continue;
    const std::int64_t width = size_of(in_[k].dtype);
    std::memcpy(at.input(scratch, k), from.p + whole * width, std::size_t(tail * width));
    from.p = at.input(scratch, k);
  }
  for (int j = 0; j < out_.size(); ++j) places[out_[j].place].p = at.output(scratch, j);
  execute(places, 1, whole, tail, cols, place);
  for (int j = 0; j < out_.size(); ++j) {
    const std::int64_t width = size_of(out_[j].dtype);
    std::memcpy(target[j] + whole * width, at.output(scratch, j), std::size_t(tail * width));
  }
}

FX_INLINE void VectorProgram::run(void* scratch, const VectorInput* in, const VectorOutput* out, int rows, int cols,
                                  const BlockPlace& place) const {
  if (rows <= 0 || cols <= 0) return;
  char* base = static_cast<char*>(scratch);
  if (machine_) return run_code(base, in, out, rows, cols, place);
  const Layout at = layout(block_of(base));
  kernels::Place* places = at.table(base);
  for (int k = 0; k < in_.size(); ++k) places[in_[k].place] = place_input(in[k], k, rows, cols, base, at);
  for (int j = 0; j < out_.size(); ++j) {
    const bool in_one_piece = rows == 1 || out[j].row == cols;
    at.target(base)[j] = in_one_piece ? static_cast<char*>(out[j].data) : at.units(base, out_[j].units);
  }
  execute_block(base, at, rows * cols, cols, place);
  for (int j = 0; j < out_.size(); ++j) {
    if (at.target(base)[j] == out[j].data) continue;
    const std::int64_t sizes[] = {rows, cols}, from[] = {cols, 1}, to[] = {out[j].row, 1};
    copy_box(out[j].data, to, at.target(base)[j], from, sizes, 2, size_of(out_[j].dtype));
  }
}

FX_INLINE void VectorProgram::run(void* scratch, const void* const* in, void* const* out, int n,
                                  const BlockPlace& place) const {
  if (n <= 0) return;
  char* base = static_cast<char*>(scratch);
  if (machine_) return run_code(base, in, out, n, place);
  const Layout at = layout(block_of(base));
  kernels::Place* places = at.table(base);
  for (int k = 0; k < in_.size(); ++k)
    places[in_[k].place] = {static_cast<char*>(const_cast<void*>(in[k])), kernels::group};
  for (int j = 0; j < out_.size(); ++j) at.target(base)[j] = static_cast<char*>(out[j]);
  execute_block(base, at, n, n, place);
}

}  // namespace fx::inline v0::tiled
#endif
