// code/rows_body.hpp -- RowsBody: kernels that work row by row, as operations on one vector of a row and on what a row
// has once.
//
// A kernel's space is rows and, in each, columns; all reductions are along the columns. Every register of the Recorder
// stands for one element: of the column at hand, or of the row.
#pragma once
#include <fx/tile/record_body.hpp>
#include <map>

#include "../kernels/fold.hpp"

namespace fx::inline v0::tiled::code {

// Where a row begins: `offset` bytes after the start of the scan's input or output `at`, `row_bytes` to the next row.
struct RowsPort {
  bool input = true;
  int at = 0;
  std::int64_t offset = 0, row_bytes = 0;
  friend constexpr bool operator==(const RowsPort&, const RowsPort&) = default;
};
// An element of each column, or (not `vector`) one of the row.
struct RowsValue {
  int reg = -1, port = -1;
  bool vector = false;
};
// A register of columns folded into one of the row; after so many instructions.
struct RowsFold {
  FoldOp op = FoldOp::sum;
  DType dtype = DType::f32;
  std::uint64_t identity = 0;
  int operand = -1, result = -1, after = 0;
};

// Port `table` begins at row i of an array of `count` rows, i the integer at port `index`. Out of range: the nearest
// row (clamp), or zeros.
struct RowsGather {
  int table = -1, index = -1;
  DType dtype = DType::i32;
  std::int64_t count = 0, row_bytes = 0;
  bool clamp = true;
};

class RowsBody {
 public:
  // For a scan whose carries stay in one memory.
  explicit RowsBody(const tile::Kernel& scan);

  const char* missing = nullptr;  // why there is no code
  Recorder r;
  std::int64_t rows = 0, cols = 0;  // of all steps together; of a row
  Vec<RowsPort> ports;              // inputs, then outputs
  Vec<RowsValue> inputs, outputs;
  Vec<RowsFold> folds;
  Vec<RowsGather> gathers;

 private:
  // A row takes that long then that calls of kernels cost nothing beside it.
  static constexpr int most_instructions = 4000;
  struct Known {
    int reg = -1;
    bool vector = false;
  };
  struct Seen {  // an access: elements to the next row and the next column
    std::int64_t row = 0, col = 0;
    bool dense = false;
  };
  const tile::Kernel& scan_;
  const tile::Program& p_;
  std::int64_t step_rows_ = 0;  // rows of one step
  Vec<Known> known_;            // of each buffer
  std::map<std::uint64_t, int> constants_[dtype_count];

  void find_rows();
  void add_kernel(const tile::Kernel& k);
  bool see(const tile::Access& a, const Dims& space, Seen& s) const;
  int operand(const tile::Access& a, const Dims& space);
  int port(int at, const tile::Access& a, const Seen& s);
  int input(int at, const tile::Access& a, const Seen& s);
  int input_of(const tile::Access& a) const;
  void add_gather(const tile::Kernel& k);
  void add_fold(const tile::Kernel& k, int operand);
  void define(const tile::Access& a, const Dims& space, int reg);
  void instance(const tile::RecordedBody& body, Vec<int>& regs);
  int constant(DType d, std::uint64_t bits);
  int none(const char* why) {
    missing = why;
    return -1;
  }
  void add_outputs();
  void check_carries();
};

#if FX_BODIES
FX_INLINE RowsBody::RowsBody(const tile::Kernel& scan) : scan_(scan), p_(*scan.loop) {
  known_.resize(p_.buffers.size());
  find_rows();
  for (const tile::Kernel& k : p_.kernels)
    if (!missing) add_kernel(k);
  if (!missing) add_outputs();
  if (!missing) check_carries();
  if (!missing && cols < 2) missing = "its rows have one element";
}

// A reduction keeps one element of each row.
FX_INLINE void RowsBody::find_rows() {
  for (const tile::Kernel& k : p_.kernels) {
    if (k.kind != tile::KernelKind::map && k.kind != tile::KernelKind::reduce && k.kind != tile::KernelKind::index)
      missing = "it has other kernels than maps, reductions and gathers";
    if (k.kind == tile::KernelKind::reduce && step_rows_ == 0) step_rows_ = numel(p_.buffers[k.out[0].buffer].type);
  }
  if (step_rows_ == 0 && !p_.kernels.empty() && p_.kernels[0].space.n > 0) step_rows_ = p_.kernels[0].space[0];
  if (step_rows_ == 0) missing = "it has no rows";
  rows = step_rows_ * scan_.space[0];
}

// False if the leading dimensions are not the rows, or elements of rows and columns are not evenly apart.
FX_INLINE bool RowsBody::see(const tile::Access& a, const Dims& space, Seen& s) const {
  std::int64_t count = 1, inner[2] = {1, 1};
  int split = 0;
  while (split < space.n && count < step_rows_) count *= space[split++];
  if (count != step_rows_) return false;
  std::int64_t* stride[] = {&s.row, &s.col};
  for (int part : {0, 1})
    for (int d = (part ? space.n : split) - 1; d >= (part ? split : 0); --d) {
      if (space[d] == 1) continue;
      if (inner[part] == 1) *stride[part] = a.stride[d];
      if (a.stride[d] != *stride[part] * inner[part]) return false;
      inner[part] *= space[d];
    }
  s.dense = a.offset == 0 && (inner[1] == 1 || s.col == 1) && (inner[0] == 1 || s.row == inner[1]);
  return s.col == 0 || s.col == 1;
}

FX_INLINE int RowsBody::constant(DType d, std::uint64_t bits) {
  auto [it, fresh] = constants_[int(d)].try_emplace(bits, -1);
  if (fresh) it->second = r.constant(d, bits);
  return it->second;
}

FX_INLINE int RowsBody::port(int at, const tile::Access& a, const Seen& s) {
  const std::int64_t steps = scan_.space[0], step = (scan_.reverse ? -1 : 1) * scan_.in[at].stride[0];
  if (step_rows_ > 1 && steps > 1 && step != s.row * step_rows_)
    return none("rows of its operands are not evenly apart");
  const int size = size_of(p_.buffers[a.buffer].type.dtype);
  const RowsPort p{true, at, a.offset * size, (step_rows_ == 1 ? step : s.row) * size};
  auto is_table = [&](int k) {
    for (const RowsGather& g : gathers)
      if (g.table == k) return true;
    return false;
  };
  for (int k = 0; k < ports.size(); ++k)
    if (ports[k] == p && !is_table(k)) return k;
  ports.push_back(p);
  return ports.size() - 1;
}
FX_INLINE int RowsBody::input(int at, const tile::Access& a, const Seen& s) {
  const int from = port(at, a, s);
  if (missing) return -1;
  const bool vector = s.col == 1;
  for (const RowsValue& v : inputs)
    if (v.port == from && v.vector == vector) return v.reg;
  const DType d = p_.buffers[a.buffer].type.dtype;
  inputs.push_back({r.push(Instr{Instr::input, d}, d), from, vector});
  return inputs.back().reg;
}
FX_INLINE int RowsBody::input_of(const tile::Access& a) const {
  for (int i = 0; i < p_.ins.size(); ++i)
    if (p_.ins[i] == a.buffer) return i;
  return -1;
}

FX_INLINE int RowsBody::operand(const tile::Access& a, const Dims& space) {
  Seen s;
  if (!see(a, space, s)) return none("rows of its operands are not evenly apart");
  const Known& k = known_[a.buffer];
  if (k.reg >= 0) {
    const bool one_of_row = s.col == 0 && (s.row == 1 || step_rows_ == 1) && a.offset == 0;
    if (k.vector ? !s.dense : !one_of_row) missing = "it reads a part of what it makes";
    return k.reg;
  }
  const int at = input_of(a);
  return at >= 0 ? input(at, a, s) : none("it reads what nothing writes");
}

FX_INLINE void RowsBody::define(const tile::Access& a, const Dims& space, int reg) {
  Seen s;
  Known& k = known_[a.buffer];
  if (k.reg >= 0 || !see(a, space, s) || !s.dense || numel(space) != numel(p_.buffers[a.buffer].type)) {
    missing = "it writes a part of an array";
    return;
  }
  k = {reg, numel(space) > step_rows_};
}

FX_INLINE void RowsBody::instance(const tile::RecordedBody& body, Vec<int>& regs) {
  for (const Instr& i : body.r.code) {
    if (i.op == Instr::input) continue;
    if (i.op == Instr::index) missing = "it counts positions";
    if (i.op == Instr::constant) {
      regs[i.dst] = constant(i.type, i.imm);
      continue;
    }
    if (missing) return;
    Instr own = i;
    own.a = regs[i.a];
    if (!i.has_table()) {
      own.b = i.b >= 0 ? regs[i.b] : -1;
      own.c = i.c >= 0 ? regs[i.c] : -1;
    }
    regs[i.dst] = r.push(own, i.to);
    if (r.code.size() > most_instructions) missing = "it is too large";
  }
}

FX_INLINE void RowsBody::add_kernel(const tile::Kernel& k) {
  const std::int64_t width = numel(k.space) / step_rows_;
  if (width * step_rows_ != numel(k.space) || (width != 1 && cols > 1 && width != cols)) {
    missing = "its rows have different lengths";
    return;
  }
  if (width > cols) cols = width;
  if (k.kind == tile::KernelKind::index) return add_gather(k);
  const tile::RecordedBody body = tile::record_body(*k.body, Dims(k.space.n, 0));
  Vec<int> regs(body.r.regs.size(), -1);
  for (int i = 0; i < k.in.size() && !missing; ++i) regs[body.ins[i]] = operand(k.in[i], k.space);
  if (!missing) instance(body, regs);
  if (missing) return;
  if (k.kind == tile::KernelKind::reduce) return add_fold(k, regs[body.outs[0]]);
  for (int j = 0; j < k.out.size() && !missing; ++j) define(k.out[j], k.space, regs[body.outs[j]]);
}

FX_INLINE void RowsBody::add_fold(const tile::Kernel& k, int operand) {
  const Eqn& e = k.op->eqns[0];
  const Dims axes = attrs(*k.op, e).dims(0);
  RowsFold f;
  f.dtype = k.op->type(k.op->ins[0]).dtype;
  const Fold fold = Fold::make(*e.prim, f.dtype, attrs(*k.op, e), k.op->type(e.out).dtype);
  Dims kept;
  tile::Access out = k.out[0];
  out.stride = Dims();
  bool columns = numel(k.space) > step_rows_;  // the reduced dimensions are they, and the last ones: else no lanes
  for (int d = 0; d < k.space.n; ++d) {
    if (axes.contains(d)) {
      columns = columns && (k.space[d] == 1 || numel(kept) == step_rows_);
    } else {
      columns = columns && d == kept.n;
      kept.push_back(k.space[d]);
      out.stride.push_back(k.out[0].stride[d]);
    }
  }
  if (!columns || numel(kept) != step_rows_) {
    missing = "it has a reduction of other dimensions";
    return;
  }
  f.op = fold.op;
  f.identity = fold.identity;
  f.operand = operand;
  f.result = r.push(Instr{Instr::input, f.dtype}, f.dtype);
  f.after = r.code.size();
  folds.push_back(f);
  define(out, kept, f.result);
}

// Whole rows of an array that is the same in all steps, by an index for each row.
FX_INLINE void RowsBody::add_gather(const tile::Kernel& k) {
  const IndexSpec spec = k.op->eqns[0].prim->index(*k.op, k.op->eqns[0]);
  const Type &array = k.op->type(k.op->ins[0]), &index = k.op->type(k.op->ins[1]);
  const Dims first{0};
  const int table = input_of(k.in[0]), indices = input_of(k.in[1]), batch = k.space.n - spec.window_dims.n;
  bool whole = !spec.write && !spec.scalar_indices && spec.index_map == first && spec.collapsed == first &&
               spec.operand_batch.empty() && table >= 0 && indices >= 0 && numel(index) == step_rows_ &&
               (table < scan_.consts || scan_.space[0] == 1);
  for (int d = 0; whole && d < spec.window.n; ++d) whole = spec.window[d] == (d == 0 ? 1 : array.dims[d]);
  for (int j = 0; whole && j < spec.window_dims.n; ++j) whole = spec.window_dims[j] == batch + j;
  if (!whole) {
    missing = "it has a gather of other things than rows";
    return;
  }
  const int size = size_of(array.dtype);
  RowsGather g;
  g.index = port(indices, {k.in[1].buffer, k.in[1].offset, {}}, {1, 0, true});
  if (missing) return;
  g.table = ports.size();
  ports.push_back({true, table, k.in[0].offset * size, 0});
  g.dtype = index.dtype;
  g.count = array.dims[0];
  g.row_bytes = numel(array) / g.count * size;
  g.clamp = spec.clamp;
  gathers.push_back(g);
  inputs.push_back({r.push(Instr{Instr::input, array.dtype}, array.dtype), g.table, true});
  define(k.out[0], k.space, inputs.back().reg);
}

FX_INLINE void RowsBody::add_outputs() {
  for (int j = 0; j < p_.outs.size(); ++j) {
    const Known& k = known_[p_.outs[j]];
    const Type& t = p_.buffers[p_.outs[j]].type;
    const std::int64_t row = numel(t) / step_rows_, step = (scan_.reverse ? -1 : 1) * scan_.out[j].stride[0];
    if (k.reg < 0 || (scan_.space[0] > 1 && step != (step_rows_ == 1 ? step : numel(t)))) {
      missing = "it has a result that is not made of rows";
      return;
    }
    outputs.push_back({k.reg, ports.size(), k.vector});
    ports.push_back({false, j, 0, (step_rows_ == 1 ? step : row) * size_of(t.dtype)});
  }
}

// A carry is read by nothing but what makes its new value: each element is written right after it is read.
FX_INLINE void RowsBody::check_carries() {
  for (int c = 0; c < scan_.carries; ++c) {
    const RowsValue& out = outputs[c];
    int before = -1, uses = 0;
    for (const RowsValue& v : inputs)
      if (ports[v.port].at == scan_.consts + c) {
        if (!v.vector || before >= 0) missing = "it reads a carry in two ways";
        before = v.reg;
      }
    bool updated = false;
    for (const Instr& i : r.code) {
      if (i.op == Instr::constant || i.op == Instr::input) continue;
      for (int o : {i.a, i.has_table() ? -1 : i.b, i.has_table() ? -1 : i.c})
        if (o == before) ++uses, updated = updated || i.dst == out.reg;
    }
    for (const RowsFold& f : folds) uses += 2 * (f.operand == before);
    for (const RowsValue& v : outputs) uses += 2 * (v.reg == before);
    if (before < 0 || uses != 1 || !updated || !out.vector) missing = "it has a carry that is no running value";
  }
}
#endif

}  // namespace fx::inline v0::tiled::code
