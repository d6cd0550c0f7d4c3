// tiled/body.hpp -- from the body of a kernel to the VectorProgram that computes it.
#pragma once
#include <fx/tile/program.hpp>

#include "kernels/vector_program.hpp"
#include "loops.hpp"

namespace fx::inline v0::tiled {

// The elementwise equations of `body` as one program: operands are its inputs, results its outputs. Position along
// dimension d of the body's shape is position along dimension index_dim[d] of the shape that blocks are placed in.
// columns: as VectorProgram::make takes them.
VectorProgram compile_body(const Graph& body, const Dims& index_dim, Span<const code::Column> columns);
// For a loop that becomes the columns of blocks: which inputs stand still along it.
Vec<code::Column> columns_along(const tile::Kernel& k, const Loop* loop);

// Whether the body hands on its one input.
inline bool is_identity(const Graph& body) {
  return body.eqns.empty() && body.ins.size() == 1 && body.outs.size() == 1 && body.outs[0] == body.ins[0];
}

#if FX_BODIES
FX_INLINE Vec<code::Column> columns_along(const tile::Kernel& k, const Loop* loop) {
  Vec<code::Column> r;
  for (const tile::Access& a : k.in) r.push_back(loop && loop->stride(a) == 0 ? code::Column::one : code::Column::each);
  return r;
}

FX_INLINE VectorProgram compile_body(const Graph& body, const Dims& index_dim, Span<const code::Column> columns) {
  Recorder r;
  Vec<int> reg(body.vars.size(), -1), ins, outs;
  for (int v : body.ins) {
    const DType d = body.type(v).dtype;
    reg[v] = r.push({Instr::input, d}, d);
    ins.push_back(reg[v]);
  }
  auto reg_of = [&](int v) {
    if (reg[v] < 0 && body.is_literal(v)) reg[v] = r.constant(body.type(v).dtype, body.literal(v));
    return reg[v];
  };
  Vec<DType> dtypes, out_dtypes;
  Vec<int> regs;
  for (const Eqn& e : body.eqns) {
    if (!e.prim->record)
      fail(ErrorCode::rule, "elementwise primitive '" + std::string(e.prim->name) + "' has no record rule");
    dtypes.clear(), regs.clear(), out_dtypes.clear();
    for (int v : body.in(e)) {
      dtypes.push_back(body.type(v).dtype);
      regs.push_back(reg_of(v));
    }
    for (int j = 0; j < e.n_out; ++j) out_dtypes.push_back(body.type(e.out + j).dtype);
    const int before = r.code.size();
    RecordCtx c{r, dtypes, regs, out_dtypes, attrs(body, e)};
    e.prim->record(c);
    for (int i = before; i < r.code.size(); ++i)
      if (r.code[i].op == Instr::index) r.code[i].a = int(index_dim[r.code[i].a]);
    for (int j = 0; j < e.n_out; ++j) reg[e.out + j] = c.out[j];
  }
  for (int v : body.outs) outs.push_back(reg_of(v));
  return VectorProgram::make(r, ins, outs, columns);
}
#endif

}  // namespace fx::inline v0::tiled
