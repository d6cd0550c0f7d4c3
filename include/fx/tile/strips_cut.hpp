// tile/strips_cut.hpp -- the body of tile/strips.hpp: runs of kernels, their buffers, and the loops they become.
#pragma once
#include "../builder.hpp"
#include "../ops/layout.hpp"
#include "record_body.hpp"
#include "strips.hpp"

namespace fx::inline v0::tile {
namespace detail {

// Elements from row to row of the access `a` of k: 0 if it is the same for all rows, as the array that a gather reads.
inline std::int64_t step_of(const Kernel& k, const Access& a) {
  return k.kind == KernelKind::index && &a == &k.in[0] ? 0 : a.stride[0];
}
// The same if position i of the first dimension (of `space`, which `a` is over) stays within row i; -1 if it does not.
FX_INLINE std::int64_t row_step(const Program& p, const Kernel& k, const Access& a, const Dims& space) {
  const std::int64_t step = step_of(k, a);
  if (step == 0) return 0;
  std::int64_t low = a.offset, high = a.offset;
  for (int d = 1; d < space.n; ++d) (a.stride[d] < 0 ? low : high) += a.stride[d] * (space[d] - 1);
  const bool within = low >= 0 && high < step && numel(p.buffers[a.buffer].type) == capped_mul(step, space[0]);
  return within ? step : -1;
}

// A gather whose first dimension is the indices' first.
FX_INLINE bool gathers_by_rows(const Program& p, const Kernel& k) {
  const IndexSpec s = k.op->eqns[0].prim->index(*k.op, k.op->eqns[0]);
  if (s.write || s.scalar_indices || s.operand != 0 || s.indices != 1 || s.window_dims.contains(0) ||
      s.index_batch.contains(0))
    return false;
  return row_step(p, k, k.in[1], k.op->type(k.op->ins[1]).dims) > 0;
}

FX_INLINE bool works_by_rows(const Program& p, const Kernel& k) {
  const bool gather = k.kind == KernelKind::index;
  if ((k.kind != KernelKind::map && k.kind != KernelKind::reduce && !gather) || k.space.n == 0 || numel(k.space) == 0 ||
      (gather && !gathers_by_rows(p, k)))
    return false;
  for (const Access& a : k.in)
    if (!gather && row_step(p, k, a, k.space) < 0) return false;
  for (const Access& a : k.out)
    if (row_step(p, k, a, k.space) <= 0) return false;
  return gather || !uses_positions(*k.body);  // which count from the first row
}

// g with `rows` in place of all rows.
FX_INLINE GraphRef with_rows(const GraphRef& g, std::int64_t rows) {
  if (!g) return g;
  Graph* r = new Graph(*g);
  GraphRef owner(r);
  for (Type& t : r->types)
    if (t.dims.n > 0) t.dims[0] = rows;
  return owner;
}

// The gather g of as many rows.
FX_INLINE GraphRef gather_of(const Graph& g, std::int64_t rows) {
  Builder b;
  const Val operand = b.input(g.type(g.ins[0]));
  Type indices = g.type(g.ins[1]);
  indices.dims[0] = rows;
  const Val outs[] = {b.bind(*g.eqns[0].prim, {operand, b.input(indices)}, params_of(g, g.eqns[0]))};
  return GraphRef(new Graph(b.finish(outs)));
}

// The bits that a fold starts from.
FX_INLINE std::uint64_t start_of(const Graph& op) {
  const DType d = op.type(op.ins[0]).dtype;
  const RecordedBody b = record_fold(*op.eqns[0].prim, d, 0, d, attrs(op, op.eqns[0]));
  for (const Instr& i : b.r.code)
    if (i.dst == b.outs[0] && i.op == Instr::constant) return i.imm;
  fail(ErrorCode::internal, "a fold's start is no constant");
}
// A reduction over the rows of a matrix that is one chain of each column.
FX_INLINE bool folds_columns(const Kernel& k) {
  const Dims rows{0};
  return k.kind == KernelKind::reduce && k.space.n == 2 && k.space[0] <= reduce_block && k.space[1] > 1 &&
         attrs(*k.op, k.op->eqns[0]).dims(0) == rows && k.op->eqns[0].prim->pair;
}
// What machine code is made for as one function for sure (code/rows.hpp): else each row would cost a call of each
// kernel.
FX_INLINE bool plain_rows(const Kernel& k) {
  for (const GraphRef* g : {&k.body, &k.op})
    for (int v = 0; *g && v < (*g)->vars.size(); ++v)
      if (const DType d = (*g)->type(v).dtype; !is_float(d) && d != boolean) return false;
  if (k.kind == KernelKind::index || k.space.n > 2) return false;
  if (k.kind == KernelKind::reduce && (!k.op->eqns[0].prim->pair || k.op->type(k.op->ins[0]).dtype == boolean))
    return false;
  bool even = true;
  each_access(k, [&](const Access& a) {
    even = even && (k.space.n < 2 || k.space[1] == 1 || a.stride[1] == 0 || a.stride[1] == 1);
  });
  return even;
}
// The reduction's body and its fold with a running value, for one row: the running value is the first operand.
FX_INLINE GraphRef running(const Graph& body, const Graph& op) {
  Builder b{true};
  const DType d = op.type(op.ins[0]).dtype;
  Vec<Val> of(body.vars.size());
  const std::int64_t columns = op.type(op.ins[0]).dims[1];
  const Val before = b.input({d, {columns}});
  for (int v : body.ins) of[v] = b.input({body.type(v).dtype, {columns}});
  auto value = [&](int v) {
    if (body.is_literal(v)) return b.literal(body.type(v).dtype, body.literal(v));
    return of[v];
  };
  for (const Eqn& e : body.eqns) {
    Vec<Val> ins;
    for (int o : body.in(e)) ins.push_back(value(o));
    b.loc = body.locs[e.loc];
    const Val first = b.bind(*e.prim, ins, params_of(body, e));
    for (int j = 0; j < e.n_out; ++j) of[e.out + j] = Val(first.b, first.id + j);
  }
  const Val outs[] = {b.bind(*op.eqns[0].prim->pair, {before, value(body.outs[0])})};
  return GraphRef(new Graph(b.finish(outs)));
}

class Strips {
 public:
  Strips(Program& p, const Target& t, bool inside)
      : p_(p), t_(t), inside_(inside), room_(t.on_chip / 2), uses_(p.buffers.size(), 0) {
    marks_.resize(p.buffers.size());
    for (const Kernel& k : p.kernels) each_access(k, [&](const Access& a) { ++uses_[a.buffer]; });
  }
  void cut();

 private:
  // A buffer as the run uses it: all of it (step 0), or row by row.
  struct Port {
    int buffer = -1;
    std::int64_t step = 0;
    int at = -1;  // the buffer of the loop
  };
  // Of a buffer, valid for the run of that number.
  struct Mark {
    int run = 0, uses = 0, rows = -1, all = -1;  // uses in the run; its ports
    bool made = false, read_late = false, made_late = false;
  };
  Program& p_;
  const Target& t_;
  const bool inside_;
  const std::int64_t room_;
  Vec<int> uses_;  // of each buffer, in the whole program
  Vec<Mark> marks_;
  int run_ = 0;
  std::int64_t rows_ = 0, saved_ = 0;  // of the run: its rows; bytes of a row that it reads again
  Vec<int> kernels_;
  Vec<int> carries_;  // those of them that fold columns
  bool may_carry_ = false;
  Vec<Port> ports_;

  Mark& mark(int b) {
    if (marks_[b].run != run_) {
      marks_[b] = {};
      marks_[b].run = run_;
    }
    return marks_[b];
  }
  std::int64_t row_bytes(const Port& port) const { return port.step * size_of(p_.buffers[port.buffer].type.dtype); }
  bool takes(const Kernel& k);
  bool carries(const Kernel& k);
  void add(int kernel);
  void collect(int first, Span<const char> taken);
  bool kept(int b) { return p_.buffers[b].place != BufferDecl::workspace || uses_[b] > mark(b).uses; }
  bool plain() const;
  void loop(std::int64_t first, std::int64_t rows, std::int64_t steps, Vec<Kernel>& result);
  void place(const Kernel& k, Access& a);
  Kernel of_one_row(const Kernel& k, int before, int after) const;
  Kernel start(const Kernel& k, int& buffer);
};

FX_INLINE bool Strips::takes(const Kernel& k) {
  if (!works_by_rows(p_, k) || k.space[0] != rows_) return false;
  for (const Access& a : k.in)
    if (mark(a.buffer).made_late || (step_of(k, a) == 0 && mark(a.buffer).made)) return false;
  for (const Access& a : k.out)
    if (mark(a.buffer).made_late || mark(a.buffer).read_late) return false;
  return true;
}

// A fold of columns of what the run makes.
FX_INLINE bool Strips::carries(const Kernel& k) {
  if (!may_carry_ || !folds_columns(k) || k.space[0] != rows_ || !plain_rows(k)) return false;
  bool made = false;
  for (const Access& a : k.in) {
    if (mark(a.buffer).made_late || row_step(p_, k, a, k.space) < 0) return false;
    if (step_of(k, a) == 0 && mark(a.buffer).made) return false;
    made = made || mark(a.buffer).made;
  }
  const Mark& out = mark(k.out[0].buffer);
  return made && !out.made_late && !out.read_late && out.uses == 0;
}

FX_INLINE void Strips::add(int kernel) {
  kernels_.push_back(kernel);
  const Kernel& k = p_.kernels[kernel];
  auto use = [&](const Access& a) {
    Mark& m = mark(a.buffer);
    ++m.uses;
    const std::int64_t step = step_of(k, a);
    int& port = step == 0 ? m.all : m.rows;
    if (port < 0) {
      port = ports_.size();
      ports_.push_back({a.buffer, step});
    } else if (step > 1) {
      saved_ += row_bytes(ports_[port]);
    }
  };
  for (const Access& a : k.in) use(a);
  if (folds_columns(k)) {
    carries_.push_back(kernel);
    mark(k.out[0].buffer).made_late = true;  // it is there after the last row
    return;
  }
  for (const Access& a : k.out) use(a);
  for (const Access& a : k.out) mark(a.buffer).made = true;
}

// The run that starts at a kernel: later ones join that need nothing of those left out between.
FX_INLINE void Strips::collect(int first, Span<const char> taken) {
  constexpr int reach = 64;  // keeps it linear
  ++run_;
  rows_ = p_.kernels[first].space[0];
  saved_ = 0;
  kernels_.clear();
  carries_.clear();
  ports_.clear();
  add(first);
  for (int j = first + 1; j < p_.kernels.size() && j < first + reach; ++j) {
    if (taken[j]) continue;
    const Kernel& k = p_.kernels[j];
    if (takes(k) || carries(k)) {
      add(j);
      continue;
    }
    for (const Access& a : k.in) mark(a.buffer).read_late = true;
    for (const Access& a : k.out) mark(a.buffer).made_late = true;
  }
}

FX_INLINE bool Strips::plain() const {
  for (int i : kernels_)
    if (!plain_rows(p_.kernels[i])) return false;
  return true;
}

// What a carry starts from.
FX_INLINE Kernel Strips::start(const Kernel& k, int& buffer) {
  const Type type = p_.buffers[k.out[0].buffer].type;
  buffer = p_.buffers.size();
  p_.buffers.push_back({BufferDecl::workspace, 0, type});
  Builder b;
  const Val outs[] = {b.literal(type.dtype, start_of(*k.op))};
  Kernel r;
  r.kind = KernelKind::map;
  r.space = type.dims;
  r.out.push_back({buffer, 0, strides_of(type.dims)});
  r.body = GraphRef(new Graph(b.finish(outs)));
  return r;
}

// The scan over `steps` strips of `rows` rows, from row `start` on; before it come what its carries start from.
FX_INLINE void Strips::loop(std::int64_t first, std::int64_t rows, std::int64_t steps, Vec<Kernel>& result) {
  Program* loop = new Program;
  Kernel scan;
  scan.loop = Ref<const Program>(loop);
  scan.kind = KernelKind::scan;
  scan.space = Dims{steps};
  scan.carries = carries_.size();
  loop->target = p_.target;
  auto declare = [&](BufferDecl::Place place, const Type& type) {
    BufferDecl b{place, 0, type};
    if (place != BufferDecl::workspace) {
      Vec<int>& list = place == BufferDecl::input ? loop->ins : loop->outs;
      b.at = list.size();
      list.push_back(loop->buffers.size());
    }
    loop->buffers.push_back(b);
    return loop->buffers.size() - 1;
  };
  auto add = [&](Port& port, BufferDecl::Place place) {
    const Type type = p_.buffers[port.buffer].type;
    port.at = declare(place, port.step == 0 ? type : Type{type.dtype, {rows, port.step}});
    if (place != BufferDecl::workspace)
      (place == BufferDecl::input ? scan.in : scan.out)
          .push_back({port.buffer, first * port.step, Dims{rows * port.step}});
  };
  auto add_inputs = [&](bool by_rows) {
    for (Port& port : ports_)
      if (!mark(port.buffer).made && (port.step != 0) == by_rows) add(port, BufferDecl::input);
  };
  add_inputs(false);  // a scan's constants come first
  scan.consts = scan.in.size();
  Vec<int> before, after;  // of each carry, in the loop
  for (int i : carries_) {
    const Kernel& k = p_.kernels[i];
    const Type type = p_.buffers[k.out[0].buffer].type;
    int buffer = -1;
    result.push_back(start(k, buffer));
    before.push_back(declare(BufferDecl::input, type));
    after.push_back(declare(BufferDecl::output, type));
    scan.in.push_back({buffer, 0, Dims{0}});
    scan.out.push_back({p_.kernels[i].out[0].buffer, 0, Dims{0}});
  }
  add_inputs(true);
  for (Port& port : ports_)
    if (mark(port.buffer).made) add(port, kept(port.buffer) ? BufferDecl::output : BufferDecl::workspace);
  int carry = 0;
  for (int i : kernels_) {
    Kernel k = p_.kernels[i];
    for (Access& a : k.in) place(k, a);
    if (carry < carries_.size() && carries_[carry] == i) {
      k = of_one_row(k, before[carry], after[carry]);
      ++carry;
    } else {
      for (Access& a : k.out) place(k, a);
      k.space[0] = rows;
      k.body = with_rows(k.body, rows);
      k.op = k.kind == KernelKind::index ? gather_of(*k.op, rows) : with_rows(k.op, rows);
    }
    choose_blocks(k, *loop, t_);
    loop->kernels.push_back(std::move(k));
  }
  plan_memory(*loop, scan.carries);
  scan.in_place = carries_in_place(*loop, scan.consts, scan.carries);
  result.push_back(std::move(scan));
}

// The buffer of the loop that stands for an access of k.
FX_INLINE void Strips::place(const Kernel& k, Access& a) {
  const Mark& m = mark(a.buffer);
  a.buffer = ports_[step_of(k, a) == 0 ? m.all : m.rows].at;
}

// A fold of columns, for one row: an update of its running values.
FX_INLINE Kernel Strips::of_one_row(const Kernel& k, int before, int after) const {
  Kernel r;
  r.kind = KernelKind::map;
  r.space = Dims{k.space[1]};
  r.in.push_back({before, 0, Dims{1}});
  for (Access a : k.in) {
    a.stride = Dims{a.stride[1]};
    r.in.push_back(a);
  }
  r.out.push_back({after, 0, Dims{1}});
  r.body = running(*k.body, *k.op);
  return r;
}

FX_INLINE void Strips::cut() {
  Vec<Kernel> result;
  Vec<char> taken(p_.kernels.size(), char(0));
  bool any = false;
  for (int i = 0; i < p_.kernels.size(); ++i) {
    if (taken[i]) continue;
    const Kernel& k = p_.kernels[i];
    if (works_by_rows(p_, k) && k.space[0] > 1) {
      may_carry_ = t_.cores == 1 && !inside_;
      collect(i, taken);
      if (may_carry_ && !carries_.empty() && !plain()) {
        may_carry_ = false;
        collect(i, taken);
      }
      std::int64_t row = 0, rows = 1;
      for (const Port& port : ports_) row += row_bytes(port);
      while (carries_.empty() && 2 * rows * row <= room_ && rows < rows_) rows *= 2;
      if (rows > rows_) rows = rows_;
      if (kernels_.size() > 1 && saved_ > 0 && row <= room_ && (rows < rows_ || !inside_)) {
        loop(0, rows, rows_ / rows, result);
        if (const std::int64_t rest = rows_ % rows) loop(rows_ - rest, rest, 1, result);
        for (int j : kernels_) taken[j] = 1;
        any = true;
        continue;
      }
    }
    result.push_back(k);
  }
  if (!any) return;
  p_.kernels = std::move(result);
  drop_unused(p_);  // what lives in a loop now
}

}  // namespace detail

FX_INLINE void cut_strips(Program& p, const Target& t, bool inside) { detail::Strips(p, t, inside).cut(); }

}  // namespace fx::inline v0::tile
