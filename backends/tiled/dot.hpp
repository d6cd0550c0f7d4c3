// tiled/dot.hpp -- DotStep: matrix products of blocks, one for each position of the batch loops; and what makes their
// operands and takes their results.
#pragma once
#include <optional>

#include "dot_operand.hpp"

namespace fx::inline v0::tiled {

class DotStep : public Step {
 public:
  explicit DotStep(const tile::Kernel& kernel, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override { return scratch_bytes_; }
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;
  bool has_parts() const override { return numel(k.space) > 0; }
  void share(const Memory& m, char* scratch, Parts& parts) const override;
  std::string code_text() const override;

 private:
  DType dtype_;
  DotLoops loops_;
  Vec<Loop> batch_;
  Vec<Loop> m_, n_, k_;  // at most one loop each
  static std::int64_t extent(const Vec<Loop>& l, const Block& b) { return l.empty() ? 1 : l[0].extent(b); }
  static std::int64_t stride(const Vec<Loop>& l, const tile::Access& a) { return l.empty() ? 0 : l[0].stride(a); }
  std::int64_t largest(const Vec<Loop>& l) const { return l.empty() ? 1 : k.space[l[0].outer] * l[0].inner; }
  DotShape shape(const Block& b) const;
  void product(const Memory& m, char* scratch, const Odometer& o, const Dims& start, DotShape s, std::int64_t i0,
               std::int64_t j0) const;
  void block(const Memory& m, char* scratch, const Block& b, const DotShape& s) const;
  Block all_;       // the whole space
  DotShape whole_;  // and its shape

  // lhs and rhs, where they are made.
  MadeOperand made_[2];
  std::int64_t made_at_[2] = {0, 0};  // in the scratch
  bool at_once() const { return k.body || made_[0] || made_[1]; }
  static const Loop* only(const Vec<Loop>& l) { return l.empty() ? nullptr : &l[0]; }

  // With a body: the program that results go through, as many of them at a time as it takes.
  VectorProgram body_;
  int at_a_time_ = 0;
  std::int64_t body_at_ = 0;
  std::int64_t scratch_bytes_ = 0;
  struct Epilogue;
  void plan_made(Prepared* prepared);
  void plan_body(Prepared* prepared);
  // Elements that a call of the body may stage.
  int staged() const { return body_.any_length() ? 1 : VectorProgram::max_block; }
  std::int64_t ports_bytes() const {
    return align64(body_.inputs() * std::int64_t(sizeof(VectorInput))) +
           align64(body_.outputs() * std::int64_t(sizeof(VectorOutput)));
  }
};

#if FX_BODIES
// The last dimension is the contracted one. The roles of the others follow from the strides: columns do not move lhs
// and are contiguous in the result, rows do not move rhs.
FX_INLINE DotStep::DotStep(const tile::Kernel& kernel, Prepared* prepared)
    : Step(kernel), dtype_(k.op->type(k.op->ins[0]).dtype), loops_(dot_loops(dtype_, level())) {
  Dims free, inner;
  for (int d = 0; d < k.space.n; ++d) (d == k.space.n - 1 ? inner : free).push_back(d);
  batch_ = merge_loops(k, free);
  k_ = merge_loops(k, inner);
  if (!batch_.empty() && !k.moves(0, batch_.back().last) && batch_.back().stride(k.out[0]) == 1) {
    n_.push_back(batch_.back());
    batch_.pop_back();
  }
  int rows = -1;
  for (int i = 0; i < batch_.size(); ++i)
    if (!k.moves(1, batch_[i].last) && (rows < 0 || largest({batch_[i]}) >= largest({batch_[rows]}))) rows = i;
  if (rows >= 0) {
    m_.push_back(batch_[rows]);
    for (int i = rows; i + 1 < batch_.size(); ++i) batch_[i] = batch_[i + 1];
    batch_.pop_back();
  }
  all_ = {Dims(k.space.n, 0), k.space};
  whole_ = shape(all_);
  scratch_bytes_ = align64(dot_workspace(loops_, largest(m_), largest(n_), largest(k_), bool(k.body)));
  plan_made(prepared);
  if (k.body) plan_body(prepared);
}

FX_INLINE void DotStep::plan_made(Prepared* prepared) {
  for (int side = 0; side < 2; ++side) {
    if (!k.made[side]) continue;
    made_[side] = MadeOperand(k, side, only(side == 0 ? m_ : n_), only(k_), prepared);
    made_at_[side] = scratch_bytes_;
    scratch_bytes_ += align64(made_[side].scratch_bytes());
  }
}
FX_INLINE void DotStep::plan_body(Prepared* prepared) {
  Vec<code::Column> columns{code::Column::each};
  for (int i = k.first(2); i < k.in.size(); ++i)
    columns.push_back(stride(n_, k.in[i]) == 0 ? code::Column::one : code::Column::each);
  body_ = compile_body(*k.body, {}, columns, prepared);
  at_a_time_ = body_.any_length() ? 1 << 30 : VectorProgram::max_block;
  body_at_ = scratch_bytes_;
  scratch_bytes_ += ports_bytes() + body_.scratch_bytes(staged());
}

// What a part of the results goes through, at one position of the batch loops.
struct DotStep::Epilogue final : DotFinish {
  const DotStep& s;
  const Memory& m;
  const Odometer& o;
  std::int64_t i0, j0;  // where the part of the product starts
  VectorInput* in;
  VectorOutput* out;
  char* scratch;

  Epilogue(const DotStep& step, const Memory& memory, const Odometer& position, std::int64_t i, std::int64_t j,
           char* at)
      : s(step),
        m(memory),
        o(position),
        i0(i),
        j0(j),
        in(reinterpret_cast<VectorInput*>(at)),
        out(reinterpret_cast<VectorOutput*>(at + align64(s.body_.inputs() * std::int64_t(sizeof(VectorInput))))),
        scratch(at + s.ports_bytes()) {
    s.body_.prepare(scratch, s.staged());
  }
  char* at(const tile::Access& a, std::int64_t i, std::int64_t j) const {
    std::int64_t n = (i0 + i) * stride(s.m_, a) + (j0 + j) * stride(s.n_, a);
    for (int b = 0; b < o.n; ++b) n += o.position[b] * s.batch_[b].stride(a);
    return m.at(a) + n * m.element_size(a);
  }
  void take(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t cols, const void* part,
            std::int64_t pitch) const override {
    const std::int64_t most = s.at_a_time_ / cols < rows ? s.at_a_time_ / cols : rows;
    const int own = s.k.first(2);
    for (std::int64_t r = 0; r < rows; r += most) {
      in[0] = {static_cast<const char*>(part) + r * pitch * size_of(s.dtype_), pitch, 1};
      for (int n = own; n < s.k.in.size(); ++n)
        in[n - own + 1] = {at(s.k.in[n], i + r, j), stride(s.m_, s.k.in[n]), stride(s.n_, s.k.in[n])};
      for (int n = 0; n < s.k.out.size(); ++n) out[n] = {at(s.k.out[n], i + r, j), stride(s.m_, s.k.out[n])};
      s.body_.run(scratch, in, out, int(rows - r < most ? rows - r : most), int(cols));
    }
  }
};

FX_INLINE std::string DotStep::code_text() const {
  const Level l = level();
  if (is_integer(dtype_) || !code::tile(dtype_, l, 1, 1)) return Step::code_text();
  std::string s = "shared tiles of " + std::to_string(code::tile_rows(l)) + " rows and " +
                  std::to_string(code::tile_vectors) + " vectors\n" + code::dump(code::tile_bytes(dtype_, l));
  for (int side = 0; side < 2; ++side)
    if (made_[side]) s += (side == 0 ? "lhs\n" : "rhs\n") + code::dump(made_[side].machine_code());
  return k.body ? s + "epilogue\n" + code::dump(body_.machine_code()) : s;
}

FX_INLINE DotShape DotStep::shape(const Block& b) const {
  const tile::Access &lhs = k.in[0], &rhs = k.in[k.first(1)], &out = k.out[0];
  DotShape s;
  s.m = extent(m_, b), s.n = extent(n_, b), s.k = extent(k_, b);
  s.a_row = stride(m_, lhs), s.a_col = stride(k_, lhs);
  s.b_row = stride(k_, rhs), s.b_col = stride(n_, rhs);
  s.c_row = stride(m_, out);
  s.resume = b.start[k.space.n - 1] > 0;
  return s;
}

// Rows i0 ... and columns j0 ... of the product at one position of the batch loops, from the start of a block.
FX_INLINE void DotStep::product(const Memory& m, char* scratch, const Odometer& o, const Dims& start, DotShape s,
                                std::int64_t i0, std::int64_t j0) const {
  auto at = [&](const tile::Access& a) {
    std::int64_t n = offset(a, start) + i0 * stride(m_, a) + j0 * stride(n_, a);
    for (int i = 0; i < o.n; ++i) n += o.position[i] * batch_[i].stride(a);
    return m.at(a) + n * m.element_size(a);
  };
  const tile::Access &lhs = k.in[0], &rhs = k.in[k.first(1)];
  if (!at_once()) return dot(loops_, s, at(lhs), at(rhs), at(k.out[0]), scratch);
  DotEnds ends;
  std::optional<MadeOperand::Source> made[2];
  for (int side = 0; side < 2; ++side)
    if (made_[side])
      (side == 0 ? ends.a : ends.b) =
          &made[side].emplace(made_[side], k, m, only(side == 0 ? m_ : n_), only(k_), scratch + made_at_[side], at);
  std::optional<Epilogue> epilogue;
  if (k.body) ends.c = &epilogue.emplace(*this, m, o, i0, j0, scratch + body_at_);
  dot(loops_, s, at(lhs), at(rhs), at(k.out[0]), scratch, ends);
}

// One product for each position of the batch loops in the block.
FX_INLINE void DotStep::block(const Memory& m, char* scratch, const Block& b, const DotShape& s) const {
  Odometer o;
  for (const Loop& l : batch_) o.add(l.extent(b));
  do product(m, scratch, o, b.start, s, 0, 0);
  while (o.next());
}

// Parts of the longer one of rows and columns: each packs the other operand for itself, so they are few, and fewer
// where that is made each time.
FX_INLINE void DotStep::share(const Memory& m, char* scratch, Parts& parts) const {
  std::int64_t products = 1, n = 0, mine = parts.take();
  for (const Loop& l : batch_) products *= l.extent(all_);
  const bool by_rows = whole_.m >= whole_.n;
  const std::int64_t wanted = ((made_[by_rows] ? 1 : 2) * parts.callers() + products - 1) / products;
  const std::int64_t size = by_rows ? whole_.m : whole_.n,
                     one = part_of(size, wanted, by_rows ? loops_.rows : loops_.cols);
  Odometer o;
  for (const Loop& l : batch_) o.add(l.extent(all_));
  do
    for (std::int64_t at = 0; at < size; at += one) {
      if (n++ != mine) continue;
      DotShape s = whole_;
      (by_rows ? s.m : s.n) = size - at < one ? size - at : one;
      product(m, scratch, o, all_.start, s, by_rows ? at : 0, by_rows ? 0 : at);
      mine = parts.take();
    }
  while (o.next());
}

// All at once, since a product takes its own blocks; by the grid's only to count them, and never with ends.
FX_INLINE void DotStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  const tile::Access& out = k.out[0];
  const std::int64_t results = numel(m.program->buffers[out.buffer].type);
  if (k.space[k.space.n - 1] == 0 && results > 0) {
    DotShape none;  // nothing to add up: zeros
    none.m = 1;
    none.n = results;
    return dot(loops_, none, nullptr, nullptr, m.at(out), scratch);
  }
  if (results == 0) return;
  if (!counts) return block(m, scratch, all_, whole_);
  if (!at_once()) return each_block(k, m, counts, [&](const Block& b) { block(m, scratch, b, shape(b)); });
  each_block(k, m, counts, [](const Block&) {});  // parts of k have no place to wait between blocks
  block(m, scratch, all_, whole_);
}
#endif

}  // namespace fx::inline v0::tiled
