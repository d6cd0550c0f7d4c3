// tile/strips_cut.hpp -- the body of tile/strips.hpp: runs of kernels, their buffers, and the loops they become.
#pragma once
#include "../builder.hpp"
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

class Strips {
 public:
  Strips(Program& p, const Target& t) : p_(p), t_(t), room_(t.on_chip / 2), uses_(p.buffers.size(), 0) {
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
  const std::int64_t room_;
  Vec<int> uses_;  // of each buffer, in the whole program
  Vec<Mark> marks_;
  int run_ = 0;
  std::int64_t rows_ = 0, saved_ = 0;  // of the run: its rows; bytes of a row that it reads again
  Vec<int> kernels_;
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
  void add(int kernel);
  void collect(int first, Span<const char> taken);
  bool kept(int b) { return p_.buffers[b].place != BufferDecl::workspace || uses_[b] > mark(b).uses; }
  Kernel loop(std::int64_t start, std::int64_t rows, std::int64_t steps);
};

FX_INLINE bool Strips::takes(const Kernel& k) {
  if (!works_by_rows(p_, k) || k.space[0] != rows_) return false;
  for (const Access& a : k.in)
    if (mark(a.buffer).made_late || (step_of(k, a) == 0 && mark(a.buffer).made)) return false;
  for (const Access& a : k.out)
    if (mark(a.buffer).made_late || mark(a.buffer).read_late) return false;
  return true;
}

FX_INLINE void Strips::add(int kernel) {
  kernels_.push_back(kernel);
  const Kernel& k = p_.kernels[kernel];
  each_access(k, [&](const Access& a) {
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
  });
  for (const Access& a : k.out) mark(a.buffer).made = true;
}

// The run that starts at a kernel: later ones join that need nothing of those left out between.
FX_INLINE void Strips::collect(int first, Span<const char> taken) {
  constexpr int reach = 64;  // keeps it linear
  ++run_;
  rows_ = p_.kernels[first].space[0];
  saved_ = 0;
  kernels_.clear();
  ports_.clear();
  add(first);
  for (int j = first + 1; j < p_.kernels.size() && j < first + reach; ++j) {
    if (taken[j]) continue;
    const Kernel& k = p_.kernels[j];
    if (takes(k)) {
      add(j);
      continue;
    }
    for (const Access& a : k.in) mark(a.buffer).read_late = true;
    for (const Access& a : k.out) mark(a.buffer).made_late = true;
  }
}

// The scan over `steps` strips of `rows` rows, from row `start` on.
FX_INLINE Kernel Strips::loop(std::int64_t start, std::int64_t rows, std::int64_t steps) {
  Program* loop = new Program;
  Kernel scan;
  scan.loop = Ref<const Program>(loop);
  scan.kind = KernelKind::scan;
  scan.space = Dims{steps};
  loop->target = p_.target;
  auto add = [&](Port& port, BufferDecl::Place place) {
    const Type& type = p_.buffers[port.buffer].type;
    port.at = loop->buffers.size();
    BufferDecl b{place, 0, port.step == 0 ? type : Type{type.dtype, {rows, port.step}}};
    if (place != BufferDecl::workspace) {
      Vec<int>& list = place == BufferDecl::input ? loop->ins : loop->outs;
      b.at = list.size();
      list.push_back(port.at);
      (place == BufferDecl::input ? scan.in : scan.out)
          .push_back({port.buffer, start * port.step, Dims{rows * port.step}});
    }
    loop->buffers.push_back(b);
  };
  for (bool by_rows : {false, true})  // a scan's constants come first
    for (Port& port : ports_)
      if (!mark(port.buffer).made && (port.step != 0) == by_rows) {
        add(port, BufferDecl::input);
        scan.consts += !by_rows;
      }
  for (Port& port : ports_)
    if (mark(port.buffer).made) add(port, kept(port.buffer) ? BufferDecl::output : BufferDecl::workspace);
  for (int i : kernels_) {
    Kernel k = p_.kernels[i];
    k.space[0] = rows;
    k.body = with_rows(k.body, rows);
    k.op = k.kind == KernelKind::index ? gather_of(*k.op, rows) : with_rows(k.op, rows);
    for (Vec<Access>* list : {&k.in, &k.out})
      for (Access& a : *list) {
        const Mark& m = mark(a.buffer);
        a.buffer = ports_[step_of(k, a) == 0 ? m.all : m.rows].at;
      }
    choose_blocks(k, *loop, t_);
    loop->kernels.push_back(std::move(k));
  }
  plan_memory(*loop);
  return scan;
}

FX_INLINE void Strips::cut() {
  Vec<Kernel> result;
  Vec<char> taken(p_.kernels.size(), char(0));
  bool any = false;
  for (int i = 0; i < p_.kernels.size(); ++i) {
    if (taken[i]) continue;
    const Kernel& k = p_.kernels[i];
    if (works_by_rows(p_, k) && k.space[0] > 1) {
      collect(i, taken);
      std::int64_t row = 0, rows = 1;
      for (const Port& port : ports_) row += row_bytes(port);
      while (2 * rows * row <= room_ && rows < rows_) rows *= 2;
      if (rows > rows_) rows = rows_;
      if (kernels_.size() > 1 && saved_ > 0 && row <= room_) {
        result.push_back(loop(0, rows, rows_ / rows));
        if (const std::int64_t rest = rows_ % rows) result.push_back(loop(rows_ - rest, rest, 1));
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

FX_INLINE void cut_strips(Program& p, const Target& t) { detail::Strips(p, t).cut(); }

}  // namespace fx::inline v0::tile
