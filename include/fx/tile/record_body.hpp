// tile/record_body.hpp -- the bodies of kernels as recorded instructions: what every backend that makes code starts
// from.
#pragma once
#include "../ops/record.hpp"
#include "program.hpp"

namespace fx::inline v0::tile {

// Instructions, and which registers are the operands and the results (a register may be several results).
struct RecordedBody {
  Recorder r;
  Vec<int> ins, outs;
};

// The elementwise equations of `body`: operands are its inputs, results its outputs. Position along dimension d of the
// body's shape becomes position along dimension index_dim[d].
RecordedBody record_body(const Graph& body, const Dims& index_dim);
// The body of a primitive of kind reduce, cumulative or elementwise on `arity` operands of dtype d. Folds without
// operands give their identity.
RecordedBody record_fold(const Prim& p, DType d, int arity, DType result, const Attrs& attrs);

// Whether the body hands on its one input.
inline bool is_identity(const Graph& body) {
  return body.eqns.empty() && body.ins.size() == 1 && body.outs.size() == 1 && body.outs[0] == body.ins[0];
}

#if FX_BODIES
namespace detail {
FX_INLINE int record_input(RecordedBody& b, DType d) {
  Instr i{Instr::input, d};
  i.a = b.ins.size();
  b.ins.push_back(b.r.push(i, d));
  return b.ins.back();
}
}  // namespace detail

FX_INLINE RecordedBody record_body(const Graph& body, const Dims& index_dim) {
  RecordedBody result;
  Recorder& r = result.r;
  Vec<int> reg(body.vars.size(), -1);
  for (int v : body.ins) reg[v] = detail::record_input(result, body.type(v).dtype);
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
  for (int v : body.outs) result.outs.push_back(reg_of(v));
  return result;
}

FX_INLINE RecordedBody record_fold(const Prim& p, DType d, int arity, DType result, const Attrs& attrs) {
  RecordedBody b;
  Vec<DType> dtypes(arity, d);
  for (int k = 0; k < arity; ++k) detail::record_input(b, d);
  RecordCtx c{b.r, dtypes, b.ins, Span<const DType>(&result, 1), attrs};
  p.record(c);
  b.outs.push_back(c.out[0]);
  return b;
}
#endif

}  // namespace fx::inline v0::tile
