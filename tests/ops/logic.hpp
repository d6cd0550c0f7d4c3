// ops/logic.hpp -- rows of comparisons, logic, shifts, select and conversions.
#pragma once
#include "ops/tables.hpp"

namespace tables {

inline Table logic() {
  Table t;
  for (const fx::Prim* p : {&prim<fx::Eq>, &prim<fx::Ne>, &prim<fx::Lt>, &prim<fx::Le>, &prim<fx::Gt>, &prim<fx::Ge>})
    t.push_back(elementwise_row(*p, any_dtype, {{}, {}}, int(boolean)));
  for (const fx::Prim* p : {&prim<fx::And>, &prim<fx::Or>, &prim<fx::Xor>})
    t.push_back(elementwise_row(*p, bit_types, {{-99, 99}, {-99, 99}}));
  t.push_back(elementwise_row(prim<fx::Not>, bit_types, {{-99, 99}}));
  for (const fx::Prim* p : {&prim<fx::ShiftLeft>, &prim<fx::ShiftRightArithmetic>, &prim<fx::ShiftRightLogical>})
    t.push_back(elementwise_row(*p, integers, {{-9999, 9999}, {0, 70}}));
  Row select = elementwise_row(prim<fx::Select>, any_dtype, {{}, {}, {}});
  select.operands[0].dtype = int(boolean);
  t.push_back(select);
  t.push_back(no_differences(elementwise_row(prim<fx::StopGradient>, any_dtype, {{}})));

  for (DType to : {boolean, i32, i64, u32, u64, f32, f64}) {
    const std::string note = "to " + std::string(fx::name(to));
    t.push_back(with(elementwise_row(prim<fx::Convert>, any_dtype, {{-5, 5}}, int(to)), note, Params().dtype(to)));
    fx::DTypes alike = 0;  // as wide, and no float from a float: the identity, whose derivative bitcast has not
    for (DType from : {boolean, i32, i64, u32, u64, f32, f64})
      if (fx::size_of(from) == fx::size_of(to) && !(fx::is_float(from) && from == to)) alike |= fx::only(from);
    t.push_back(with(elementwise_row(prim<fx::Bitcast>, alike, {{-5, 5}}, int(to)), note, Params().dtype(to)));
  }
  return t;
}

}  // namespace tables
