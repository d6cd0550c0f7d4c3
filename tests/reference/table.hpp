// reference/table.hpp -- tables of primitives: a row says how to apply one, the harness derives all its tests.
#pragma once
#include "reference/laws.hpp"

namespace reference {

inline constexpr int own = -1;  // the dtype of the row that is being tested

struct Operand {
  fx::Dims dims{};
  Domain domain{};
  int dtype = own;
};
struct Result {
  fx::Dims dims{};
  int dtype = own;
};

struct Row {
  const fx::Prim* prim = nullptr;
  std::string note{};  // tells rows of one primitive apart
  fx::DTypes dtypes = 0;
  std::vector<Operand> operands{};
  std::vector<Result> results{};  // what the type rule must give
  std::function<fx::Params(fx::DType)> params{};
  bool elementwise = false;  // any shape will do, and literals for operands
  int order = 2;         // how often it can be differentiated in its domain; -1: not to be compared with differences
  bool specials = true;  // whether nan, inf, the largest... are operands like others
};
using Table = std::vector<Row>;

// Rows for elementwise primitives, of shape [2,3].
Row elementwise_row(const fx::Prim& p, fx::DTypes dtypes, std::vector<Domain> domains, int result = own);

// Everything that follows from a row, for one dtype: "" or the first thing that is wrong.
std::string check(const Row& row, fx::DType d);
// Only that the results have the types that the row says.
std::string check_types(const Row& row, fx::DType d);
// The Graph of a row.
fx::Graph graph_of(const Row& row, fx::DType d);
// For each row and each dtype it takes; `report(what, why)`.
int check_all(const Table& table, const std::function<void(const std::string&, const std::string&)>& report);

// Numbers where things go wrong: nan, infinities, zeros, subnormals, the largest; 0, -1, the least, shift counts.
const std::vector<Element>& special_values(fx::DType d);

}  // namespace reference
