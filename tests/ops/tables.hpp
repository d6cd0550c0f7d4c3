// ops/tables.hpp -- the tables of all families, for whoever wants to go through every primitive.
#pragma once
#include <fx/ops/all.hpp>

#include "reference/table.hpp"

// The rows are in ops/<family>.hpp, which tables.hpp leaves to its users: including all costs compile time once.
namespace tables {

using fx::Dims, fx::DType, fx::Params, fx::prim;
using fx::boolean, fx::i32, fx::i64, fx::u32, fx::u64, fx::f32, fx::f64;
using reference::Domain, reference::Operand, reference::Result, reference::Row, reference::Table, reference::own;

inline constexpr fx::DTypes floats = fx::floats & fx::computed, integers = fx::integers & fx::computed,
                            numbers = fx::numbers & fx::computed, bit_types = fx::bit_types & fx::computed,
                            any_dtype = fx::any_dtype & fx::computed, signed_numbers = (fx::floats | fx::signed_ints) & fx::computed;

}  // namespace tables
