// kernels/fold_body.hpp -- Fold::make: a known operation by the primitive's id, or the primitive's recorded program.
#pragma once
#include <fx/tile/record_body.hpp>

#include "fold.hpp"
#include "fold_loops.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

struct KnownFold {
  std::uint64_t id;
  FoldOp op;
};
// Folds that have native loops.
inline constexpr KnownFold known_folds[] = {
    {name_id("reduce_sum"), FoldOp::sum},   {name_id("cumsum"), FoldOp::sum},     {name_id("add"), FoldOp::sum},
    {name_id("reduce_prod"), FoldOp::prod}, {name_id("mul"), FoldOp::prod},       {name_id("reduce_max"), FoldOp::max},
    {name_id("max"), FoldOp::max},          {name_id("reduce_min"), FoldOp::min}, {name_id("min"), FoldOp::min},
    {name_id("argmax"), FoldOp::argmax},    {name_id("argmin"), FoldOp::argmin}};

FX_INLINE std::uint64_t known_identity(FoldOp op, DType d) {
  std::uint64_t r = 0;
  fx::detail::with_type<computed>(d, [&]<class T>() {
    if (op == FoldOp::sum) r = fx::detail::to_bits(is_float(d) ? T(-0.0) : T(0));
    if (op == FoldOp::prod) r = fx::detail::to_bits(T(1));
    if (op == FoldOp::max) r = fx::detail::to_bits(fx::detail::lowest<T>());
    if (op == FoldOp::min) r = fx::detail::to_bits(fx::detail::highest<T>());
  });
  return r;
}

// The body of p on `arity` operands of dtype d.
FX_INLINE VectorProgram recorded(const Prim& p, DType d, int arity, DType result, const Attrs& attrs,
                                 Prepared* prepared) {
  auto make = [&](bool machine) {
    const tile::RecordedBody b = tile::record_fold(p, d, arity, result, attrs);
    return VectorProgram::make(b.r, b.ins, b.outs, {}, machine ? level() : Level::baseline);
  };
  auto fits = [&](const VectorProgram& v) {
    bool same = v.inputs() == arity && v.outputs() == 1 && v.output_dtype(0) == result;
    for (int k = 0; same && k < arity; ++k) same = v.input_dtype(k) == d;
    return same;
  };
  return prepared ? prepared->next(fits, make) : make(true);
}

// The constant that a program without operands gives.
FX_INLINE std::uint64_t value_of(const VectorProgram& p) {
  Vec<char> memory(int(p.scratch_bytes(group)) + 64, char(0));
  void* scratch = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  std::uint64_t bits = 0;
  void* out[] = {&bits};
  p.prepare(scratch, group);
  p.run(scratch, static_cast<const void* const*>(nullptr), out, 1);
  return bits;
}
}  // namespace kernels

FX_INLINE Fold Fold::make(const Prim& p, DType dtype, const Attrs& attrs, DType to, Prepared* prepared) {
  Fold f;
  const bool arg = p.kind == Kind::reduce && p.form == arg_form;
  f.dtype = dtype;
  f.to = arg ? to : dtype;
  f.op = arg ? FoldOp::arg : FoldOp::fold;
  for (const kernels::KnownFold& k : kernels::known_folds)
    if (k.id == p.id) f.op = k.op;
  if (f.is_native() && !f.is_arg()) f.loops = kernels::fold_loops_of(f.op, dtype, level());
  if (f.is_native()) {
    f.identity = kernels::known_identity(f.op, dtype);
    f.empty = f.op == FoldOp::sum ? 0 : f.identity;  // +0
    return f;
  }
  if (!p.record)
    fail(ErrorCode::rule, "primitive '" + std::string(p.name) + "' has no record rule, and folds need one");
  f.program = kernels::recorded(p, dtype, 2, arg ? boolean : dtype, attrs, prepared);
  if (!arg && p.kind != Kind::elementwise)
    f.identity = f.empty = kernels::value_of(kernels::recorded(p, dtype, 0, dtype, attrs, prepared));
  return f;
}

FX_INLINE void fold_into(const Fold& f, void* acc, const void* x, std::int64_t n, void* scratch) {
  if (f.is_native()) return kernels::fold_columns(f.loops, size_of(f.dtype), acc, x, 1, n, n);
  const int size = size_of(f.dtype);
  for (std::int64_t i = 0; i < n; i += VectorProgram::max_block) {
    const std::int64_t here = n - i < VectorProgram::max_block ? n - i : VectorProgram::max_block;
    const void* from[] = {static_cast<char*>(acc) + i * size, static_cast<const char*>(x) + i * size};
    void* to[] = {static_cast<char*>(acc) + i * size};
    f.program.run(scratch, from, to, int(here));
  }
}

}  // namespace fx::inline v0::tiled
#endif
