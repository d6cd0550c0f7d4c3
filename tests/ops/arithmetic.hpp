// ops/arithmetic.hpp -- rows of the arithmetic primitives.
#pragma once
#include "ops/tables.hpp"

namespace tables {

inline Row with(Row row, const char* note, std::function<Params(DType)> params) {
  row.note = note;
  row.params = std::move(params);
  return row;
}
inline Row flat(Row row) {  // differences see jumps: no second order, and no kink in the domain
  row.order = 1;
  return row;
}

inline Table arithmetic() {
  using reference::elementwise_row;
  Table t{
      elementwise_row(prim<fx::Neg>, numbers, {{}}),
      elementwise_row(prim<fx::Add>, numbers, {{}, {}}),
      elementwise_row(prim<fx::Sub>, numbers, {{}, {}}),
      elementwise_row(prim<fx::Mul>, numbers, {{}, {}}),
      elementwise_row(prim<fx::Div>, numbers, {{}, {-3, 3, 0.5}}),
      elementwise_row(prim<fx::Rem>, numbers, {{-7, 7, 0.1}, {-3, 3, 0.7}}),
      elementwise_row(prim<fx::Abs>, signed_numbers, {{-2, 2, 0.1}}),
      elementwise_row(prim<fx::Sign>, numbers, {{-2, 2, 0.1}}),
      elementwise_row(prim<fx::Floor>, floats, {{}}),
      elementwise_row(prim<fx::Max>, any_dtype, {{}, {}}),
      elementwise_row(prim<fx::Min>, any_dtype, {{}, {}}),
  };
  for (std::int64_t n : {0, 1, 2, 3, 7, -1, -2, -3}) {
    const std::string note = "n=" + std::to_string(n);
    t.push_back(with(elementwise_row(prim<fx::IntegerPow>, numbers, {{-2, 2, 0.5}}), note.c_str(),
                     [n](DType) { return Params().integer(n); }));
  }
  return t;
}

}  // namespace tables
