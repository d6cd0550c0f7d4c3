// ops/index.hpp -- rows of gather, scatter, dynamic_slice and dynamic_update_slice.
#pragma once
#include <array>

#include "ops/tables.hpp"

namespace tables {

// One set of dimension numbers with the shapes they fit.
struct IndexCase {
  const char* note;
  Dims operand, indices, updates;
  fx::IndexDims d;
  Domain where;
};
inline const std::vector<IndexCase>& index_cases() {
  static const std::vector<IndexCase> cases{
      {"rows", {5, 3}, {4, 1}, {4, 3}, {{1}, {0}, {0}, {1, 3}, {}, {}}, {-2, 6}},
      {"elements", {4, 3}, {5, 2}, {5}, {{}, {0, 1}, {0, 1}, {1, 1}, {}, {}}, {-1, 4}},
      {"elements, other order", {4, 3}, {5, 2}, {5}, {{}, {0, 1}, {1, 0}, {1, 1}, {}, {}}, {-1, 4}},
      {"windows", {5, 4}, {2, 2}, {2, 3, 2}, {{1, 2}, {}, {0, 1}, {3, 2}, {}, {}}, {-1, 3}},
      {"window dimensions first", {5, 3}, {4, 1}, {3, 4}, {{0}, {0}, {0}, {1, 3}, {}, {}}, {0, 4}},
      {"grid of indices", {6}, {2, 3, 1}, {2, 3}, {{}, {0}, {0}, {1}, {}, {}}, {-1, 6}},
      {"shared dimension", {3, 5}, {3, 2, 1}, {3, 2}, {{}, {1}, {1}, {1, 1}, {0}, {0}}, {-1, 5}},
      {"shared dimension of other order", {5, 3}, {2, 3, 1}, {2, 3}, {{}, {0}, {0}, {1, 1}, {1}, {1}}, {0, 4}},
      {"one position", {5, 3}, {1}, {3}, {{0}, {0}, {0}, {1, 3}, {}, {}}, {-1, 5}},
      {"no rows", {5}, {0, 1}, {0}, {{}, {0}, {0}, {1}, {}, {}}, {0, 4}},
      {"nothing indexed", {2, 3}, {2, 0}, {2, 2, 3}, {{1, 2}, {}, {}, {2, 3}, {}, {}}, {0, 0}},
      {"empty window", {4}, {3, 1}, {3, 0}, {{1}, {}, {0}, {0}, {}, {}}, {0, 3}},
  };
  return cases;
}

inline Table index() {
  Table t;
  int number = 0;
  for (const IndexCase& c : index_cases())
    for (bool clamp : {true, false}) {
      const DType indices = std::array{i32, i64, u32, u64}[std::size_t(number++ % 4)];
      fx::IndexDims d = c.d;
      d.clamp = clamp;
      const std::string note = std::string(c.note) + (clamp ? ", clamp" : ", drop");
      const Params params = fx::detail::index_params(d);
      const Operand x{c.operand}, i{c.indices, c.where, int(indices)}, u{c.updates};
      t.push_back(shaped_row(prim<fx::Gather>, note, any_dtype, {x, i}, {{c.updates}}, params));
      t.push_back(shaped_row(prim<fx::Scatter>, note, any_dtype, {x, i, u}, {{c.operand}}, params));
      t.push_back(shaped_row(prim<fx::ScatterAdd>, note, numbers, {x, i, u}, {{c.operand}}, params));
    }
  auto slices = [&](std::string note, Dims shape, Dims sizes, DType index, Domain where) {
    std::vector<Operand> in{{shape}}, update{{shape}, {sizes}};
    for (int k = 0; k < shape.n; ++k) {
      in.push_back({{}, where, int(index)});
      update.push_back({{}, where, int(index)});
    }
    t.push_back(shaped_row(prim<fx::DynamicSlice>, note, any_dtype, in, {{sizes}}, Params().dims(sizes)));
    t.push_back(shaped_row(prim<fx::DynamicUpdateSlice>, note, any_dtype, update, {{shape}}, {}));
  };
  slices("inside", {5, 4}, {2, 3}, i32, {0, 1});
  slices("outside", {5, 4}, {2, 3}, i64, {-9, 9});
  slices("one dimension", {6}, {4}, u32, {0, 9});
  slices("three", {3, 2, 4}, {1, 2, 2}, u64, {0, 4});
  slices("all", {2, 2}, {2, 2}, i32, {-1, 2});
  slices("nothing", {3, 2}, {0, 2}, i32, {-1, 2});
  slices("rank 0", {}, {}, i32, {});
  return t;
}

}  // namespace tables
