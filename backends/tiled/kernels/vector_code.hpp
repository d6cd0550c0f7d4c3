// kernels/vector_code.hpp -- VectorProgram with machine code: ports placed, other strides gathered first.
#pragma once
#include "copy.hpp"
#include "vector_positions.hpp"
#include "vector_program.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {

// The scratch: the block size it was prepared for, the arguments, the frame of the code, and staging memory for each
// input, output and list of positions.
struct VectorProgram::CodeScratch {
  char* base;
  std::int64_t frame_at, staging_at,
      padded;  // the first two in bytes from the base, which is null where they are counted

  CodeScratch(const VectorProgram& p, char* scratch, int block) : base(scratch) {
    const std::int64_t ports = p.in_.size() + p.out_.size() + p.machine_.positions.size();
    frame_at = 64 + (code::args_bytes(int(ports)) + 63) / 64 * 64;
    staging_at = frame_at + p.machine_.frame_bytes;
    padded = (std::int64_t(block) + 63) / 64 * 64;
  }
  code::BodyArgs* args() const { return reinterpret_cast<code::BodyArgs*>(base + 64); }
  char* frame() const { return base + frame_at; }
  // Where the staging memory of a port is, or (unit: that of all ports together) that of the positions.
  std::int64_t staged_at(std::int64_t unit) const { return staging_at + unit * padded; }
  char* staged(std::int64_t unit) const { return base + staged_at(unit); }
};

FX_INLINE std::int64_t VectorProgram::code_bytes(int block) const {
  const CodeScratch s(*this, nullptr, block);
  return s.staged_at(units_ + 8 * machine_.positions.size());
}

FX_INLINE code::BodyArgs* VectorProgram::code_args(void* scratch, std::int64_t rows, std::int64_t cols) const {
  const CodeScratch s(*this, static_cast<char*>(scratch), 0);
  code::BodyArgs* args = s.args();
  args->rows = rows;
  args->cols = cols;
  args->frame = s.frame();
  return args;
}

// Columns of one element each may be taken as one row: one of at most `block` elements, if any of it is staged.
FX_INLINE bool VectorProgram::may_turn(const VectorInput* in, const VectorOutput* out, int rows, int cols,
                                       int block) const {
  if (cols != 1 || rows == 1) return false;
  bool stages = false;
  for (int k = 0; k < in_.size(); ++k) {
    if (columns_[k] == code::Column::one && in[k].row != 0) return false;
    stages = stages || (columns_[k] == code::Column::each && in[k].row != 1);
  }
  for (int j = 0; j < out_.size(); ++j) stages = stages || out[j].row != 1;
  return !stages || rows <= block;
}

FX_INLINE code::Port VectorProgram::place_input(const CodeScratch& s, const VectorInput& v, int k, int rows,
                                                int cols) const {
  const std::int64_t width = size_of(in_[k].dtype);
  char* data = static_cast<char*>(const_cast<void*>(v.data));
  if (columns_[k] == code::Column::one || v.col == 1 || cols == 1) return {data, v.row * width};
  char* staged = s.staged(in_[k].units);
  const std::int64_t sizes[] = {rows, cols}, from[] = {v.row, v.col}, to[] = {cols, 1};
  copy_box(staged, to, data, from, sizes, 2, int(width));
  return {staged, cols * width};
}

FX_INLINE void VectorProgram::place_positions(const CodeScratch& s, int rows, int cols, const BlockPlace& place) const {
  code::Port* port = s.args()->port + in_.size();
  for (int k = 0; k < machine_.positions.size(); ++k) {
    const auto& p = machine_.positions[k];
    char* to = s.staged(units_ + 8 * k);
    kernels::write_positions(to, p.dtype, place.sizes, place.rank, p.dim, place.start, place.pitch, cols, 0,
                             rows * cols);
    port[k] = {to, cols * size_of(p.dtype)};
  }
}

FX_INLINE void VectorProgram::run_code(char* scratch, const VectorInput* in, const VectorOutput* out, int rows,
                                       int cols, const BlockPlace& place) const {
  const CodeScratch s(*this, scratch, block_of(scratch));
  const bool turned = may_turn(in, out, rows, cols, block_of(scratch));
  const int r = turned ? 1 : rows, c = turned ? rows : cols;
  code::BodyArgs* args = s.args();
  args->rows = r;
  args->cols = c;
  args->frame = s.frame();
  for (int k = 0; k < in_.size(); ++k)
    args->port[k] = place_input(s, turned ? VectorInput{in[k].data, 0, in[k].row} : in[k], k, r, c);
  if (uses_index_) place_positions(s, rows, cols, place);
  code::Port* to = args->port + in_.size() + machine_.positions.size();
  auto staged = [&](int j) { return turned && out[j].row != 1; };
  for (int j = 0; j < out_.size(); ++j) {
    char* data = staged(j) ? s.staged(out_[j].units) : static_cast<char*>(out[j].data);
    to[j] = {data, out[j].row * size_of(out_[j].dtype)};
  }
  machine_.run(args);
  for (int j = 0; j < out_.size(); ++j) {
    if (!staged(j)) continue;
    const std::int64_t sizes[] = {rows}, from_stride[] = {1}, to_stride[] = {out[j].row};
    copy_box(out[j].data, to_stride, s.staged(out_[j].units), from_stride, sizes, 1, size_of(out_[j].dtype));
  }
}

FX_INLINE void VectorProgram::run_code(char* scratch, const void* const* in, void* const* out, int n,
                                       const BlockPlace& place) const {
  const CodeScratch s(*this, scratch, block_of(scratch));
  code::BodyArgs* args = s.args();
  args->rows = 1;
  args->cols = n;
  args->frame = s.frame();
  for (int k = 0; k < in_.size(); ++k) args->port[k] = {static_cast<char*>(const_cast<void*>(in[k])), 0};
  if (uses_index_) place_positions(s, 1, n, place);
  code::Port* to = args->port + in_.size() + machine_.positions.size();
  for (int j = 0; j < out_.size(); ++j) to[j] = {static_cast<char*>(out[j]), 0};
  machine_.run(args);
}

}  // namespace fx::inline v0::tiled
#endif
