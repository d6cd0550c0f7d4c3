// tile/lowering_kernels.hpp -- Lowering: buffers, copies, and the kernels of single equations.
#pragma once
#include "../passes/inline_calls.hpp"
#include "lowering.hpp"

namespace fx::inline v0::tile {

FX_INLINE void Lowering::run() {
  const int n = g_.vars.size();
  buffer_ = copy_ = claim_ = Vec<int>(n, -1);
  known_ = Vec<Known>(n);
  for (int k = 0; k < g_.ins.size(); ++k) {
    buffer_[g_.ins[k]] = p_.buffers.size();
    p_.ins.push_back(p_.buffers.size());
    p_.buffers.push_back({BufferDecl::input, k, g_.type(g_.ins[k])});
  }
  for (int k = 0; k < g_.outs.size(); ++k) {
    p_.outs.push_back(p_.buffers.size());
    p_.buffers.push_back({BufferDecl::output, k, g_.type(g_.outs[k])});
  }
  claim_outputs();
  collect_members();
  for (int group : order()) lower_group(group);
  lower_outputs();
}

// A result that is an output as a whole is written there at once.
FX_INLINE void Lowering::claim_outputs() {
  for (int k = 0; k < g_.outs.size(); ++k) {
    if (a_.literal(g_.outs[k]) >= 0) continue;
    const View v = a_.view(g_.outs[k]);
    if (a_.defined_by(v.base) < 0 || claim_[v.base] >= 0 || !v.is_dense() || v.offset != 0) continue;
    if (numel(v.dims) == numel(g_.type(v.base))) claim_[v.base] = k;
  }
}

FX_INLINE void Lowering::lower_outputs() {
  for (int k = 0; k < g_.outs.size(); ++k) {
    const int v = g_.outs[k];
    const Dims& dims = g_.type(v).dims;
    const Access to = dense_access(p_.outs[k], dims);
    if (a_.literal(v) >= 0)
      fill(dims, a_.literal(v), to);
    else if (const View from = a_.view(v); claim_[from.base] != k)
      copy(dims, access(from), to);
  }
}

FX_INLINE void Lowering::lower_group(int group) {
  for (int i = member_[group]; i < member_[group + 1]; ++i) {
    const Eqn& e = g_.eqns[members_[i]];
    if (a_.role(members_[i]) == Analysis::Role::fused) continue;
    switch (e.prim->kind) {
      case Kind::elementwise: break;
      case Kind::layout: return lower_layout(e);
      case Kind::reduce: return lower_reduce(group, members_[i]);
      case Kind::dot: return lower_dot(e);
      case Kind::cumulative: return lower_whole(e, KernelKind::cumulative);
      case Kind::sort: return lower_whole(e, KernelKind::sort);
      case Kind::index: return lower_whole(e, KernelKind::index);
      case Kind::control:
        if (e.prim->form == scan_form) return lower_scan(e);
        [[fallthrough]];
      default:
        fail(ErrorCode::unsupported, "primitive '" + std::string(e.prim->name) + "' is not supported by tile programs");
    }
  }
  lower_map(group);
}

FX_INLINE Kernel& Lowering::add(KernelKind kind, const Dims& space) {
  p_.kernels.push_back({});
  p_.kernels.back().kind = kind;
  p_.kernels.back().space = space;
  return p_.kernels.back();
}

FX_INLINE int Lowering::new_buffer(const Type& t) {
  p_.buffers.push_back({BufferDecl::workspace, 0, t});
  return p_.buffers.size() - 1;
}
FX_INLINE int Lowering::define(int v) {
  return buffer_[v] = claim_[v] >= 0 ? p_.outs[claim_[v]] : new_buffer(g_.type(v));
}

FX_INLINE void Lowering::copy(const Dims& space, const Access& from, const Access& to) {
  Kernel& k = add(KernelKind::copy, space);
  k.in.push_back(from);
  k.out.push_back(to);
}
FX_INLINE void Lowering::fill(const Dims& space, int literal, const Access& to) {
  Builder b;
  const Val outs[] = {b.literal(g_.type(literal).dtype, g_.literal(literal))};
  Kernel& k = add(KernelKind::map, space);
  k.out.push_back(to);
  k.body = GraphRef(new Graph(b.finish(outs)));
}

FX_INLINE Access Lowering::dense(int o) {
  o = a_.canon(o);
  const Dims& dims = g_.type(o).dims;
  const int literal = a_.literal(o);
  if (literal < 0) {
    const View v = a_.view(o);
    if (v.is_dense()) return {buffer_[v.base], v.offset, strides_of(dims)};
  }
  if (copy_[o] < 0) {
    copy_[o] = new_buffer(g_.type(o));
    if (literal >= 0)
      fill(dims, literal, dense_access(copy_[o], dims));
    else
      copy(dims, access(a_.view(o)), dense_access(copy_[o], dims));
  }
  return dense_access(copy_[o], dims);
}

// The equation as a Graph of its own.
FX_INLINE GraphRef Lowering::single(const Eqn& e) const {
  Builder b;
  Vec<Val> ins, outs;
  for (int o : g_.in(e)) ins.push_back(b.input(g_.type(o)));
  b.loc = g_.locs[e.loc];
  const Val first = b.bind(*e.prim, ins, params_of(g_, e));
  for (int j = 0; j < e.n_out; ++j) outs.push_back(Val(first.b, first.id + j));
  return GraphRef(new Graph(b.finish(outs)));
}

// One copy for each box; what no box covers is filled before.
FX_INLINE void Lowering::lower_layout(const Eqn& e) {
  if (!e.prim->pieces)
    fail(ErrorCode::rule, "layout primitive '" + std::string(e.prim->name) + "' does not tell its pieces");
  LayoutCtx c{g_, e};
  e.prim->pieces(c);
  const int out = define(e.out);
  const Dims& dims = c.out_type().dims;
  if (c.fill >= 0) {
    const int v = g_.in(e)[c.fill];
    if (a_.literal(v) >= 0) {
      fill(dims, a_.literal(v), dense_access(out, dims));
    } else {
      Access one = dense(v);
      one.stride = Dims(dims.n, 0);
      copy(dims, one, dense_access(out, dims));
    }
  }
  for (const Piece& p : c.pieces) {
    if (numel(p.size) == 0) continue;
    const int v = g_.in(e)[p.operand];
    const Access to{out, p.out_offset, p.out_stride};
    View from;
    if (a_.literal(v) >= 0) {
      fill(p.size, a_.literal(v), to);
    } else if (compose(a_.view(v), p.size, p.in_stride, p.in_offset, from)) {
      copy(p.size, access(from), to);
    } else if (const Dims one{1}; p.size.n == 1 && p.in_stride == one && p.out_stride == one && p.in_offset == 0 &&
                                  p.size[0] == numel(g_.type(v))) {
      Access rows = dense_access(out, g_.type(v).dims);  // all elements in order: walk the operand's own dimensions
      rows.offset = p.out_offset;
      copy(g_.type(v).dims, access(a_.view(v)), rows);
    } else {
      const Access whole_operand = dense(v);
      copy(p.size, {whole_operand.buffer, whole_operand.offset + p.in_offset, p.in_stride}, to);
    }
  }
}

FX_INLINE void Lowering::lower_whole(const Eqn& e, KernelKind kind) {
  Vec<Access> in, out;
  for (int o : g_.in(e)) in.push_back(dense(o));
  for (int j = 0; j < e.n_out; ++j) out.push_back(dense_access(define(e.out + j), g_.type(e.out + j).dims));
  Dims space = g_.type(e.out).dims;
  if (kind == KernelKind::index)
    if (const IndexSpec spec = e.prim->index(g_, e); spec.write) space = g_.type(g_.in(e)[spec.updates]).dims;
  Kernel& k = add(kind, space);
  k.in = std::move(in);
  k.out = std::move(out);
  k.op = single(e);
}

}  // namespace fx::inline v0::tile
