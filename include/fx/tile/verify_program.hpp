// tile/verify_program.hpp -- verify: what a program must satisfy so that running it stays inside its memory.
#pragma once
#include "memory.hpp"
#include "parse.hpp"

namespace fx::inline v0::tile {
namespace detail {

class Verifier {
  const Program& p_;
  std::string wrong_;
  std::string where_;

  bool check(bool ok, const char* what) {
    if (!ok && wrong_.empty()) wrong_ = where_ + what;
    return wrong_.empty();
  }
  std::int64_t bytes(const BufferDecl& d) const { return numel(d.type) * size_of(d.type.dtype); }

  void buffer(const BufferDecl& d) {
    if (!check(d.type.is_static() && computes(d.type.dtype) && numel(d.type) >= 0 &&
                   numel(d.type) < (std::int64_t(1) << 58),
               "its type has no arithmetic, no fixed size, or is too large"))
      return;
    if (d.place == BufferDecl::workspace) {
      check(d.at >= 0 && d.at % 64 == 0 && d.at <= p_.workspace && bytes(d) <= p_.workspace - d.at,
            "it leaves the workspace");
      return;
    }
    const Vec<int>& list = d.place == BufferDecl::input ? p_.ins : p_.outs;
    if (!check(d.at >= 0 && d.at < list.size() && list[int(d.at)] >= 0 && list[int(d.at)] < p_.buffers.size(),
               "there is no such input or output"))
      return;
    check(bytes(p_.buffers[list[int(d.at)]]) == bytes(d), "it differs in size from the input or output it lies in");
  }
  void ports(const Vec<int>& list, BufferDecl::Place place) {
    for (int k = 0; k < list.size(); ++k)
      check(list[k] >= 0 && list[k] < p_.buffers.size() && p_.buffers[list[k]].place == place &&
                p_.buffers[list[k]].at == k,
            "the buffers of its inputs or outputs are not those declared");
  }

  // All elements from `a` on, over a box of the given sizes, lie in the buffer.
  bool inside(const Access& a, const Dims& sizes) {
    if (!check(a.buffer >= 0 && a.buffer < p_.buffers.size(), "it names a buffer that is not there")) return false;
    if (!check(a.stride.n == sizes.n, "an access has another rank than the space")) return false;
    if (numel(sizes) == 0) return true;
    const std::int64_t n = numel(p_.buffers[a.buffer].type);
    std::int64_t low = a.offset, high = a.offset;
    for (int d = 0; d < sizes.n; ++d) {
      std::int64_t reach = 0;
      if (!check(!__builtin_mul_overflow(a.stride[d], sizes[d] - 1, &reach) && reach < (std::int64_t(1) << 60) &&
                     -reach < (std::int64_t(1) << 60),
                 "an access leaves its buffer"))
        return false;
      (reach < 0 ? low : high) += reach;
    }
    return check(low >= 0 && high < n, "an access leaves its buffer");
  }
  DType dtype(const Access& a) const { return p_.buffers[a.buffer].type.dtype; }

  bool grid(const Kernel& k) {
    if (!check(k.block.n == k.space.n, "block and space differ in rank")) return false;
    for (int d = 0; d < k.space.n; ++d)
      if (!check(k.space[d] >= 0 && k.block[d] >= 1, "a size is negative, or a block is empty")) return false;
    if (!check(numel(k.space) >= 0, "its space is too large")) return false;
    Dims seen(k.space.n, 0);
    for (std::int64_t d : k.order)
      if (!check(d >= 0 && d < k.space.n && seen[int(d)]++ == 0, "its order is no order of the dimensions"))
        return false;
    return check(k.order.empty() || k.order.n == k.space.n, "its order is no order of the dimensions");
  }
  // A body over `space`, whose inputs are of the dtypes `in`.
  void body(const GraphRef& body, const Vec<DType>& in, int outs, const Dims& space) {
    if (!check(bool(body), "it has no body")) return;
    const Graph& g = *body;
    if (!check(g.ins.size() == in.size() && g.outs.size() == outs, "the body takes or gives another number of values"))
      return;
    for (int i = 0; i < g.ins.size(); ++i)
      check(g.type(g.ins[i]) == Type{in[i], space}, "an input of the body has another type than what is read");
    for (int v : g.outs)
      check(g.is_literal(v) || g.type(v).dims == space, "an output of the body has another shape than the space");
    for (const Eqn& e : g.eqns)
      check(e.prim->kind == Kind::elementwise && e.prim->record, "the body holds an equation that is not elementwise");
  }
  // Of the operands from number `first` to before `end`.
  Vec<DType> dtypes(const Kernel& k, int first, int end) const {
    Vec<DType> r;
    for (int i = first; i < end; ++i) r.push_back(dtype(k.in[i]));
    return r;
  }
  // The one equation, of the kind that the kernel needs.
  bool op(const Kernel& k, Kind kind, int ins, int outs) {
    if (!check(k.op && k.op->eqns.size() == 1 && k.op->eqns[0].prim->kind == kind, "it lacks its equation"))
      return false;
    const Graph& g = *k.op;
    bool ok = (ins < 0 || g.ins.size() == ins) && (outs < 0 || g.outs.size() == outs) &&
              g.eqns[0].n_in == g.ins.size() && g.eqns[0].n_out == g.outs.size();
    for (int i = 0; ok && i < g.ins.size(); ++i) ok = g.in(g.eqns[0])[i] == g.ins[i];
    for (int j = 0; ok && j < g.outs.size(); ++j) ok = g.outs[j] == g.eqns[0].out + j;
    return check(ok, "its equation takes or gives other values");
  }
  // Operands and results of the equation are whole dense arrays.
  void dense(const Kernel& k) {
    const Graph& g = *k.op;
    if (!check(k.in.size() == g.ins.size() && k.out.size() == g.outs.size(),
               "it reads or writes another number of arrays"))
      return;
    auto each = [&](const Access& a, const Type& t) {
      if (!inside(a, t.dims)) return;
      check(dtype(a) == t.dtype && a.stride == strides_of(t.dims),
            "an operand or result is no dense array of its type");
    };
    for (int i = 0; i < k.in.size(); ++i) each(k.in[i], g.type(g.ins[i]));
    for (int j = 0; j < k.out.size(); ++j) each(k.out[j], g.type(g.outs[j]));
  }
  void spaces(const Kernel& k) {
    for (const Access& a : k.in) inside(a, k.space);
    for (const Access& a : k.out) inside(a, k.space);
  }

  void written(const Kernel& k) {
    for (int j = 0; wrong_.empty() && j < k.out.size(); ++j)
      check(k.body->type(k.body->outs[j]).dtype == dtype(k.out[j]),
            "an output of the body has another dtype than what is written");
  }
  void map(const Kernel& k) {
    spaces(k);
    if (!wrong_.empty()) return;
    body(k.body, dtypes(k, 0, k.in.size()), k.out.size(), k.space);
    written(k);
  }
  void reduce(const Kernel& k) {
    spaces(k);
    if (!check(k.out.size() == 1, "it writes another number of arrays") || !op(k, Kind::reduce, 1, 1)) return;
    body(k.body, dtypes(k, 0, k.in.size()), 1, k.space);
    if (!wrong_.empty()) return;
    const Dims axes = attrs(*k.op, k.op->eqns[0]).dims(0);
    check(k.op->type(k.op->ins[0]).dims == k.space && k.op->type(k.op->outs[0]).dtype == dtype(k.out[0]) &&
              k.op->type(k.op->ins[0]).dtype == k.body->type(k.body->outs[0]).dtype,
          "its equation is on another type");
    const Dims own = strides_of(k.op->type(k.op->outs[0]).dims);
    for (int d = 0, j = 0; d < k.space.n && wrong_.empty(); ++d)
      check(k.out[0].stride[d] == (axes.contains(d) ? 0 : own[j++]), "its result is no dense array");
    bool reduced = false, partial = false;
    for (int i = k.space.n - 1; i >= 0; --i) {
      const int d = k.order.empty() ? i : int(k.order[i]);
      if (axes.contains(d))
        check(!reduced, "it walks a kept dimension inside a reduced one");
      else
        reduced = true;
      if (!axes.contains(d)) continue;
      check(!partial || k.block[d] == 1, "its blocks do not follow the order of the elements");
      partial = partial || k.block[d] < k.space[d];
    }
  }
  void dot(const Kernel& k) {
    spaces(k);
    const int own = k.first(2);
    const bool count = k.body ? k.in.size() >= own && !k.out.empty() : k.in.size() == own && k.out.size() == 1;
    if (!check(count, "it reads or writes another number of arrays") || !op(k, Kind::dot, 2, 1)) return;
    const DType d = k.op->type(k.op->ins[0]).dtype;
    check(in(d, numbers), "its dtypes differ");
    for (int side = 0; side < 2; ++side) operand(k, side, d);
    const int last = k.space.n - 1;
    bool contracted = last >= 0 && k.order.empty();
    for (const Access& a : k.out) contracted = contracted && a.stride[last] == 0;
    for (int i = own; i < k.in.size(); ++i) contracted = contracted && k.in[i].stride[last] == 0;
    if (!check(contracted, "its last dimension must be the contracted one")) return;
    if (k.body)
      epilogue(k, d);
    else
      check(d == dtype(k.out[0]), "its dtypes differ");
  }
  // lhs or rhs, of dtype d.
  void operand(const Kernel& k, int side, DType d) {
    if (!wrong_.empty()) return;
    if (!k.made[side]) {
      check(dtype(k.in[k.first(side)]) == d, "its dtypes differ");
      return;
    }
    const Graph& g = *k.made[side];
    if (!check(!g.ins.empty() && g.type(g.ins[0]).is_static() && numel(k.space) > 0, "an operand is made from nothing"))
      return;
    body(k.made[side], dtypes(k, k.first(side), k.first(side + 1)), 1, g.type(g.ins[0]).dims);
    if (wrong_.empty()) check(g.type(g.outs[0]).dtype == d && !uses_positions(g), "an operand cannot be made so");
  }
  // The body of a product of dtype d takes that first.
  void epilogue(const Kernel& k, DType d) {
    Dims space = k.space;
    space.erase(space.n - 1);
    const int own = k.first(2);
    Vec<DType> in{d};
    for (DType behind : dtypes(k, own, k.in.size())) in.push_back(behind);
    body(k.body, in, k.out.size(), space);
    written(k);
    const int column = space.n - 1;
    bool by_rows = column >= 1 && !k.moves(0, column) && space[column] > 1 && numel(k.space) > 0;
    for (const Access& a : k.out) by_rows = by_rows && a.stride[column] == 1;
    for (int i = own; by_rows && i < k.in.size(); ++i)
      by_rows = k.in[i].stride[column] == 0 || k.in[i].stride[column] == 1;
    check(by_rows, "its body must work on rows of contiguous elements");
  }
  void whole(const Kernel& k, Kind kind) {
    if (!op(k, kind, -1, -1)) return;
    dense(k);
    if (kind == Kind::index || !wrong_.empty()) return;
    spaces(k);
    const int axis = int(attrs(*k.op, k.op->eqns[0]).integer(0));
    for (int d = axis; d < k.space.n; ++d) check(k.block[d] >= k.space[d], "it must be whole from its axis on");
  }
  void copy(const Kernel& k) {
    if (check(k.in.size() == 1 && k.out.size() == 1, "it copies one array to one")) spaces(k);
    if (wrong_.empty()) check(dtype(k.in[0]) == dtype(k.out[0]), "its dtypes differ");
  }
  void scan(const Kernel& k) {
    if (!check(k.loop && k.space.n == 1, "it has no loop or no length")) return;
    const Program& l = *k.loop;
    if (!check(k.in.size() == l.ins.size() && k.out.size() == l.outs.size() && k.consts >= 0 && k.carries >= 0 &&
                   k.consts + k.carries <= k.in.size() && k.carries <= k.out.size(),
               "it reads or writes another number of arrays than its loop"))
      return;
    auto each = [&](const Access& a, const Type& t, bool rows) {
      bool ok = a.buffer >= 0 && a.buffer < p_.buffers.size() && dtype(a) == t.dtype;
      const std::int64_t n = numel(t), all = rows ? fx::detail::checked_mul(k.space[0], n) : n;
      ok = ok && all >= 0 && a.stride.n == 1 && a.stride[0] == (rows ? n : 0) && a.offset >= 0 &&
           all <= numel(p_.buffers[a.buffer].type) - a.offset;
      check(ok, "its arrays and those of its loop differ");
    };
    for (int i = 0; i < k.in.size(); ++i) each(k.in[i], l.buffers[l.ins[i]].type, i >= k.consts + k.carries);
    for (int j = 0; j < k.out.size(); ++j) each(k.out[j], l.buffers[l.outs[j]].type, j >= k.carries);
    for (int c = 0; c < k.carries; ++c)
      check(l.buffers[l.ins[k.consts + c]].type == l.buffers[l.outs[c]].type, "a carry changes its type");
  }

 public:
  explicit Verifier(const Program& p) : p_(p) {}
  std::string run() {
    check(p_.workspace >= 0, "its workspace is negative");
    ports(p_.ins, BufferDecl::input);
    ports(p_.outs, BufferDecl::output);
    for (int b = 0; b < p_.buffers.size() && wrong_.empty(); ++b) {
      where_ = "buffer b" + std::to_string(b) + ": ";
      buffer(p_.buffers[b]);
    }
    for (int i = 0; i < p_.kernels.size() && wrong_.empty(); ++i) {
      const Kernel& k = p_.kernels[i];
      where_ = "kernel " + std::to_string(i) + " (" + std::string(name(k.kind)) + "): ";
      if (!grid(k) ||
          !check(k.kind == KernelKind::dot || (!k.made[0] && !k.made[1]), "it makes operands of no product"))
        break;
      switch (k.kind) {
        case KernelKind::map: map(k); break;
        case KernelKind::reduce: reduce(k); break;
        case KernelKind::dot: dot(k); break;
        case KernelKind::cumulative: whole(k, Kind::cumulative); break;
        case KernelKind::sort: whole(k, Kind::sort); break;
        case KernelKind::index: whole(k, Kind::index); break;
        case KernelKind::copy: copy(k); break;
        case KernelKind::scan: scan(k); break;
      }
    }
    return wrong_;
  }
};

}  // namespace detail

FX_INLINE std::string verify(const Program& p) { return detail::Verifier(p).run(); }

}  // namespace fx::inline v0::tile
