// tiled/body.hpp -- from the body of a kernel to the VectorProgram that computes it.
#pragma once
#include <fx/tile/record_body.hpp>

#include "kernels/prepared.hpp"
#include "loops.hpp"

namespace fx::inline v0::tiled {

// The elementwise equations of `body` as one program: operands are its inputs, results its outputs. Position along
// dimension d of the body's shape is position along dimension index_dim[d] of the shape that blocks are placed in.
// columns: as VectorProgram::make takes them. prepared: what has the program or makes it; or null.
VectorProgram compile_body(const Graph& body, const Dims& index_dim, Span<const code::Column> columns,
                           Prepared* prepared);
// For a loop that becomes the columns of blocks: which inputs stand still along it.
Vec<code::Column> columns_along(const tile::Kernel& k, const Loop* loop);

#if FX_BODIES
FX_INLINE Vec<code::Column> columns_along(const tile::Kernel& k, const Loop* loop) {
  Vec<code::Column> r;
  for (const tile::Access& a : k.in) r.push_back(loop && loop->stride(a) == 0 ? code::Column::one : code::Column::each);
  return r;
}

FX_INLINE VectorProgram compile_body(const Graph& body, const Dims& index_dim, Span<const code::Column> columns,
                                     Prepared* prepared) {
  auto make = [&](bool machine) {
    const tile::RecordedBody b = tile::record_body(body, index_dim);
    return VectorProgram::make(b.r, b.ins, b.outs, columns, machine ? level() : Level::baseline);
  };
  auto fits = [&](const VectorProgram& v) {
    bool same = v.inputs() == body.ins.size() && v.outputs() == body.outs.size();
    for (int k = 0; same && k < v.inputs() + v.outputs(); ++k)
      same = v.port_dtype(k) == body.type(k < v.inputs() ? body.ins[k] : body.outs[k - v.inputs()]).dtype;
    return same;
  };
  return prepared ? prepared->next(fits, make) : make(true);
}
#endif

}  // namespace fx::inline v0::tiled
