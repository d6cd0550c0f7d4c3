// tiled/map.hpp -- MapStep: an elementwise body over blocks, at most 1024 elements at a time.
#pragma once
#include "body.hpp"
#include "code/dump.hpp"
#include "loops.hpp"

namespace fx::inline v0::tiled {

class MapStep : public Step {
 public:
  explicit MapStep(const tile::Kernel& kernel, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;
  bool has_parts() const override { return true; }
  void share(const Memory& m, char* scratch, Parts& parts) const override;
  std::string code_text() const override { return code::dump(program_.machine_code()); }

 private:
  VectorProgram program_;
  Vec<Loop> outer_;  // run one by one
  Loop row_, col_;   // the two that a call of the program covers
  bool has_row_ = false, has_col_ = false;
  Dims dense_;     // strides of the space
  int block_ = 1;  // elements of a call that stages operands
  int width_ = 1;  // the most columns of a call
  int reach_ = 0;  // the most elements of a call that stages none
  bool strided() const;

  struct Run;
  Run prepared(const Memory& m, char* scratch) const;
  // All of the space as one call of machine code: its size, and the bytes between rows and columns of each port.
  bool at_once_ = false;
  std::int64_t rows_ = 1, cols_ = 1;
  Vec<std::int64_t> row_bytes_, col_bytes_;
  void plan_at_once();
  void run_at_once(const Memory& m, char* scratch, std::int64_t row, std::int64_t col, std::int64_t rows,
                   std::int64_t cols) const;
};

#if FX_BODIES
FX_INLINE MapStep::MapStep(const tile::Kernel& kernel, Prepared* prepared)
    : Step(kernel), dense_(strides_of(kernel.space)) {
  outer_ = merge_loops(k, tile::walk_order(k));
  bool contiguous = !outer_.empty();
  for (const tile::Access& a : k.out) contiguous = contiguous && outer_.back().stride(a) == 1;
  if (contiguous) {
    col_ = outer_.back();
    has_col_ = true;
    outer_.pop_back();
  }
  int longest = -1;
  for (int i = 0; i < outer_.size(); ++i)
    if (longest < 0 ||
        k.space[outer_[i].outer] * outer_[i].inner > k.space[outer_[longest].outer] * outer_[longest].inner)
      longest = i;
  if (longest >= 0) {
    row_ = outer_[longest];
    has_row_ = true;
    for (int i = longest; i + 1 < outer_.size(); ++i) outer_[i] = outer_[i + 1];
    outer_.pop_back();
  }
  program_ = compile_body(*k.body, tile::walk_order(k), columns_along(k, has_col_ ? &col_ : nullptr), prepared);
  std::int64_t n = 1;
  for (int d = 0; d < k.space.n; ++d) n = n < VectorProgram::max_block ? n * k.block[d] : n;
  block_ = int(n < VectorProgram::max_block ? n : VectorProgram::max_block);
  // What lies transposed is read by square tiles: each line of the cache that it touches serves them whole.
  bool transposed = false;
  for (const tile::Access& a : k.in)
    transposed = transposed || (has_row_ && has_col_ && col_.stride(a) != 0 && col_.stride(a) != 1);
  width_ = transposed ? 32 : block_;
  if (has_col_ && program_.any_length() && !strided()) width_ = reach_ = 1 << 30;
  if (reach_ && outer_.empty()) plan_at_once();
}
FX_INLINE void MapStep::plan_at_once() {
  cols_ = k.space[col_.outer] * col_.inner;
  if (has_row_) rows_ = k.space[row_.outer] * row_.inner;
  for (const Vec<tile::Access>* list : {&k.in, &k.out})
    for (const tile::Access& a : *list) {
      const int size = size_of(program_.port_dtype(row_bytes_.size()));
      row_bytes_.push_back(has_row_ ? row_.stride(a) * size : 0);
      col_bytes_.push_back(col_.stride(a) * size);
    }
  at_once_ = rows_ > 0 && cols_ > 0;
}
// Whether a call stages operands, which bounds its size.
FX_INLINE bool MapStep::strided() const {
  for (const tile::Access& a : k.in)
    if (col_.stride(a) != 0 && col_.stride(a) != 1) return true;
  return false;
}

FX_INLINE std::int64_t MapStep::scratch_bytes() const {
  return align64(k.in.size() * std::int64_t(sizeof(VectorInput))) +
         align64(k.out.size() * std::int64_t(sizeof(VectorOutput))) + program_.scratch_bytes(block_);
}

struct MapStep::Run {
  const MapStep& s;
  const Memory& m;
  VectorInput* in;
  VectorOutput* out;
  char* scratch;

  // Rows from r and columns from c of one position of the outer loops.
  void call(const Block& b, const Odometer& o, std::int64_t r, std::int64_t c, int rows, int cols) const {
    const tile::Kernel& k = s.k;
    auto locate = [&](const tile::Access& a) {
      std::int64_t at = offset(a, b.start);
      for (int i = 0; i < s.outer_.size(); ++i) at += o.position[i] * s.outer_[i].stride(a);
      if (s.has_row_) at += r * s.row_.stride(a);
      if (s.has_col_) at += c * s.col_.stride(a);
      return m.at(a) + at * m.element_size(a);
    };
    for (int i = 0; i < k.in.size(); ++i)
      in[i] = {locate(k.in[i]), s.has_row_ ? s.row_.stride(k.in[i]) : 0, s.has_col_ ? s.col_.stride(k.in[i]) : 0};
    for (int j = 0; j < k.out.size(); ++j) out[j] = {locate(k.out[j]), s.has_row_ ? s.row_.stride(k.out[j]) : 0};
    BlockPlace place;
    if (s.program_.uses_index()) {
      tile::Access whole{-1, 0, s.dense_};
      place = {k.space.d, k.space.n, offset(whole, b.start), s.has_row_ ? s.row_.stride(whole) : 0};
      for (int i = 0; i < s.outer_.size(); ++i) place.start += o.position[i] * s.outer_[i].stride(whole);
      place.start += r * place.pitch + c;
    }
    s.program_.run(scratch, in, out, rows, cols, place);
  }

  void block(const Block& b) const {
    const std::int64_t rows = s.has_row_ ? s.row_.extent(b) : 1, cols = s.has_col_ ? s.col_.extent(b) : 1;
    const std::int64_t most = s.reach_ ? s.reach_ : s.block_, widest = s.width_ < most ? s.width_ : most,
                       width = cols < widest ? cols : widest, height = most / width < rows ? most / width : rows;
    Odometer o;
    for (const Loop& l : s.outer_) o.add(l.extent(b));
    do
      for (std::int64_t r = 0; r < rows; r += height)
        for (std::int64_t c = 0; c < cols; c += width)
          call(b, o, r, c, int(rows - r < height ? rows - r : height), int(cols - c < width ? cols - c : width));
    while (o.next());
  }
};

FX_INLINE void MapStep::run_at_once(const Memory& m, char* scratch, std::int64_t row, std::int64_t col,
                                    std::int64_t rows, std::int64_t cols) const {
  code::BodyArgs* args = program_.code_args(scratch, rows, cols);
  int n = 0;
  auto add = [&](const tile::Access& a) {
    args->port[n] = {m.at(a) + row * row_bytes_[n] + col * col_bytes_[n], row_bytes_[n]};
    ++n;
  };
  for (const tile::Access& a : k.in) add(a);
  for (const tile::Access& a : k.out) add(a);
  program_.run_code(args);
}

FX_INLINE MapStep::Run MapStep::prepared(const Memory& m, char* scratch) const {
  Run r{*this, m, reinterpret_cast<VectorInput*>(scratch), nullptr, nullptr};
  scratch += align64(k.in.size() * std::int64_t(sizeof(VectorInput)));
  r.out = reinterpret_cast<VectorOutput*>(scratch);
  r.scratch = scratch + align64(k.out.size() * std::int64_t(sizeof(VectorOutput)));
  program_.prepare(r.scratch, block_);
  return r;
}

FX_INLINE void MapStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  if (at_once_ && !counts) return run_at_once(m, scratch, 0, 0, rows_, cols_);
  const Run r = prepared(m, scratch);
  each_block(k, m, counts, [&](const Block& b) { r.block(b); });
}

FX_INLINE void MapStep::share(const Memory& m, char* scratch, Parts& parts) const {
  if (!at_once_) {
    const Run r = prepared(m, scratch);
    return each_part(k, m, parts, [&](const Block& b) { r.block(b); });
  }
  const bool by_rows = rows_ >= cols_;
  const std::int64_t size = by_rows ? rows_ : cols_, one = part_of(size, parts_of_kernel, by_rows ? 1 : 1024);
  for (std::int64_t at = parts.take() * one; at < size; at = parts.take() * one) {
    const std::int64_t here = size - at < one ? size - at : one;
    if (by_rows)
      run_at_once(m, scratch, at, 0, here, cols_);
    else
      run_at_once(m, scratch, 0, at, rows_, here);
  }
}
#endif

}  // namespace fx::inline v0::tiled
