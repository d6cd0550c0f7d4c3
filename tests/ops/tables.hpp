// ops/tables.hpp -- names and helpers for the rows in ops/<family>.hpp.
#pragma once
#include <fx/ops/all.hpp>

#include "reference/table.hpp"

namespace tables {

using fx::boolean, fx::i32, fx::i64, fx::u32, fx::u64, fx::f32, fx::f64;
using fx::Dims, fx::DType, fx::Params, fx::prim;
using reference::Domain, reference::Operand, reference::Result, reference::Row, reference::Table, reference::own;
using reference::elementwise_row;

inline constexpr fx::DTypes floats = fx::floats & fx::computed, integers = fx::integers & fx::computed,
                            numbers = fx::numbers & fx::computed, bit_types = fx::bit_types & fx::computed,
                            any_dtype = fx::any_dtype & fx::computed,
                            signed_numbers = (fx::floats | fx::signed_ints) & fx::computed;

// A row that is not elementwise.
inline Row shaped_row(const fx::Prim& p, std::string note, fx::DTypes dtypes, std::vector<Operand> operands,
                      std::vector<Result> results, Params params) {
  Row row;
  row.prim = &p;
  row.note = std::move(note);
  row.dtypes = dtypes;
  row.operands = std::move(operands);
  row.results = std::move(results);
  row.params = [params = std::move(params)](DType) { return params; };
  return row;
}
inline Row with(Row row, std::string note, Params params) {
  row.note = std::move(note);
  row.params = [params = std::move(params)](DType) { return params; };
  return row;
}
// Not to be compared with differences: its derivative is 0 by decree.
inline Row no_differences(Row row) {
  row.order = -1;
  return row;
}
inline Dims dims(const char* digits) {  // "203": {2, 0, 3}
  Dims d;
  for (; *digits; ++digits) d.push_back(*digits - '0');
  return d;
}

}  // namespace tables
