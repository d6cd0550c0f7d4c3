// ops/arithmetic.hpp -- rows of the arithmetic primitives.
#pragma once
#include "ops/tables.hpp"

namespace tables {

inline Table arithmetic() {
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
  for (std::int64_t n : {0, 1, 2, 3, 7, -1, -2, -3})
    t.push_back(with(elementwise_row(prim<fx::IntegerPow>, numbers, {{-2, 2, 0.5}}), "n=" + std::to_string(n),
                     Params().integer(n)));
  return t;
}

}  // namespace tables
