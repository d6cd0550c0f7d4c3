// ops/all.hpp -- every primitive of fx, and the way from a name to its primitive.
#pragma once
#include "arithmetic.hpp"
#include "control.hpp"
#include "dot.hpp"
#include "elementwise.hpp"
#include "index.hpp"
#include "iota.hpp"
#include "layout.hpp"
#include "logic.hpp"
#include "random.hpp"
#include "reduce.hpp"
#include "sort.hpp"
#include "transcendental.hpp"

namespace fx::inline v0 {

// Each primitive once, by family.
// clang-format off
#define FX_BUILTIN_PRIMS(X) \
  X(Neg) X(Add) X(Sub) X(Mul) X(Div) X(Rem) X(Abs) X(Sign) X(Floor) X(Max) X(Min) X(IntegerPow) \
  X(Exp) X(Log) X(Log1p) X(Tanh) X(Sin) X(Cos) X(Sqrt) X(Rsqrt) X(Logistic) X(ErfInv) X(Pow) \
  X(Eq) X(Ne) X(Lt) X(Le) X(Gt) X(Ge) X(And) X(Or) X(Xor) X(Not) \
  X(ShiftLeft) X(ShiftRightArithmetic) X(ShiftRightLogical) \
  X(Select) X(Convert) X(Bitcast) X(StopGradient) \
  X(ReduceSum) X(ReduceProd) X(ReduceMax) X(ReduceMin) X(ArgMax) X(ArgMin) X(CumSum) \
  X(BroadcastInDim) X(Reshape) X(Transpose) X(Rev) X(Slice) X(Pad) X(Concatenate) X(Iota) \
  X(DotGeneral) X(Sort) \
  X(Gather) X(Scatter) X(ScatterAdd) X(DynamicSlice) X(DynamicUpdateSlice) \
  X(Threefry2x32) \
  X(Jit) X(Scan)
// clang-format on

#define FX_BUILTIN(P) &prim<P>,
inline constexpr const Prim* builtin_prims[] = {FX_BUILTIN_PRIMS(FX_BUILTIN)};
#undef FX_BUILTIN

// With fx::compiled the tables, and so every rule and body they name, are compiled once, in src/fx.cpp.
#ifdef FX_COMPILED
#ifdef FX_SOURCE
#define FX_INSTANTIATE(P) template const Prim prim<P>;
#else
#define FX_INSTANTIATE(P) extern template const Prim prim<P>;
#endif
FX_BUILTIN_PRIMS(FX_INSTANTIATE)
#undef FX_INSTANTIATE
#endif

// The primitive of this name, or null.
constexpr const Prim* find_prim(std::string_view name) {
  for (const Prim* p : builtin_prims)
    if (p->name == name) return p;
  return nullptr;
}

}  // namespace fx::inline v0
