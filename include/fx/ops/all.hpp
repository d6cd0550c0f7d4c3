// ops/all.hpp -- every primitive of fx, and the way from a name to its primitive.
#pragma once
#include "arithmetic.hpp"
#include "control.hpp"
#include "dot.hpp"
#include "elementwise.hpp"
#include "index.hpp"
#include "layout.hpp"
#include "logic.hpp"
#include "random.hpp"
#include "reduce.hpp"
#include "sort.hpp"
#include "transcendental.hpp"

namespace fx::inline v0 {

// Each primitive once, by family.
inline constexpr const Prim* builtin_prims[] = {&prim<Neg>,
                                                &prim<Add>,
                                                &prim<Sub>,
                                                &prim<Mul>,
                                                &prim<Div>,
                                                &prim<Rem>,
                                                &prim<Abs>,
                                                &prim<Sign>,
                                                &prim<Floor>,
                                                &prim<Max>,
                                                &prim<Min>,
                                                &prim<IntegerPow>,
                                                &prim<Exp>,
                                                &prim<Log>,
                                                &prim<Log1p>,
                                                &prim<Tanh>,
                                                &prim<Sin>,
                                                &prim<Cos>,
                                                &prim<Sqrt>,
                                                &prim<Rsqrt>,
                                                &prim<Logistic>,
                                                &prim<ErfInv>,
                                                &prim<Pow>,
                                                &prim<Eq>,
                                                &prim<Ne>,
                                                &prim<Lt>,
                                                &prim<Le>,
                                                &prim<Gt>,
                                                &prim<Ge>,
                                                &prim<And>,
                                                &prim<Or>,
                                                &prim<Xor>,
                                                &prim<Not>,
                                                &prim<ShiftLeft>,
                                                &prim<ShiftRightArithmetic>,
                                                &prim<ShiftRightLogical>,
                                                &prim<Select>,
                                                &prim<Convert>,
                                                &prim<Bitcast>,
                                                &prim<StopGradient>,
                                                &prim<ReduceSum>,
                                                &prim<ReduceProd>,
                                                &prim<ReduceMax>,
                                                &prim<ReduceMin>,
                                                &prim<ArgMax>,
                                                &prim<ArgMin>,
                                                &prim<CumSum>,
                                                &prim<BroadcastInDim>,
                                                &prim<Reshape>,
                                                &prim<Transpose>,
                                                &prim<Rev>,
                                                &prim<Slice>,
                                                &prim<Pad>,
                                                &prim<Concatenate>,
                                                &prim<Iota>,
                                                &prim<DotGeneral>,
                                                &prim<Sort>,
                                                &prim<Gather>,
                                                &prim<Scatter>,
                                                &prim<ScatterAdd>,
                                                &prim<DynamicSlice>,
                                                &prim<DynamicUpdateSlice>,
                                                &prim<Threefry2x32>,
                                                &prim<Jit>,
                                                &prim<Scan>};

// The primitive of this name, or null.
constexpr const Prim* find_prim(std::string_view name) {
  for (const Prim* p : builtin_prims)
    if (p->name == name) return p;
  return nullptr;
}

}  // namespace fx::inline v0
