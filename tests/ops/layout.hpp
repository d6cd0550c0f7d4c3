// ops/layout.hpp -- rows of the primitives that move elements.
#pragma once
#include "ops/tables.hpp"

namespace tables {

inline Row pad_row(std::string note, const char* operand, Dims result, Dims low, Dims high, Dims interior) {
  return shaped_row(prim<fx::Pad>, std::move(note), any_dtype, {{dims(operand)}, {}}, {{result}},
                    Params().dims(low).dims(high).dims(interior));
}
inline Row slice_row(std::string note, const char* operand, Dims result, Dims start, Dims limit, Dims stride) {
  return shaped_row(prim<fx::Slice>, std::move(note), any_dtype, {{dims(operand)}}, {{result}},
                    Params().dims(start).dims(limit).dims(stride));
}

inline Table layout() {
  Table t;
  struct Broadcast {
    const char *from, *to, *dims;
  };
  for (const Broadcast& b : {Broadcast{"23", "423", "12"},
                             {"13", "23", "01"},
                             {"", "22", ""},
                             {"3", "32", "0"},
                             {"0", "20", "1"},
                             {"1", "0", "0"},
                             {"2", "2", "0"},
                             {"11", "213", "12"}})
    t.push_back(shaped_row(prim<fx::BroadcastInDim>, std::string(b.from) + " to " + b.to, any_dtype, {{dims(b.from)}},
                           {{dims(b.to)}}, Params().dims(dims(b.to)).dims(dims(b.dims))));
  for (auto [from, to] : {std::pair{"23", "32"}, {"23", "6"}, {"", "11"}, {"02", "40"}, {"1", ""}, {"23", "23"}})
    t.push_back(shaped_row(prim<fx::Reshape>, std::string(from) + " to " + to, any_dtype, {{dims(from)}}, {{dims(to)}},
                           Params().dims(dims(to))));
  for (auto [perm, result] : {std::pair{"012", "234"}, {"120", "342"}, {"201", "423"}, {"021", "243"}})
    t.push_back(
        shaped_row(prim<fx::Transpose>, perm, any_dtype, {{dims("234")}}, {{dims(result)}}, Params().dims(dims(perm))));
  t.push_back(
      shaped_row(prim<fx::Transpose>, "empty", any_dtype, {{dims("03")}}, {{dims("30")}}, Params().dims(dims("10"))));
  t.push_back(
      shaped_row(prim<fx::Transpose>, "square", any_dtype, {{dims("33")}}, {{dims("33")}}, Params().dims(dims("10"))));
  t.push_back(shaped_row(prim<fx::Transpose>, "rank 0", any_dtype, {{}}, {{}}, Params().dims({})));
  for (const char* axes : {"", "0", "1", "02", "210"})
    t.push_back(shaped_row(prim<fx::Rev>, std::string("dims ") + axes, any_dtype, {{dims("324")}}, {{dims("324")}},
                           Params().dims(dims(axes))));
  t.push_back(shaped_row(prim<fx::Rev>, "empty", any_dtype, {{dims("02")}}, {{dims("02")}}, Params().dims(dims("01"))));

  t.push_back(slice_row("inside", "45", {2, 3}, {1, 1}, {3, 4}, {1, 1}));
  t.push_back(slice_row("strided", "78", {3, 2}, {0, 1}, {7, 8}, {3, 5}));
  t.push_back(slice_row("strided to the end", "9", {3}, {1}, {9}, {3}));
  t.push_back(slice_row("nothing", "45", {0, 5}, {2, 0}, {2, 5}, {1, 1}));
  t.push_back(slice_row("of nothing", "05", {0, 2}, {0, 0}, {0, 5}, {2, 3}));
  t.push_back(slice_row("rank 0", "", {}, {}, {}, {}));

  t.push_back(pad_row("around", "23", {5, 4}, {1, 0}, {2, 1}, {0, 0}));
  t.push_back(pad_row("between", "23", {4, 6}, {1, 0}, {0, 1}, {1, 1}));
  t.push_back(pad_row("negative", "45", {2, 3}, {-1, 0}, {-1, -2}, {0, 0}));
  t.push_back(pad_row("negative between", "53", {7, 5}, {-2, 1}, {0, -1}, {1, 1}));
  t.push_back(pad_row("cut across a gap", "4", {5}, {-2}, {-3}, {2}));
  t.push_back(pad_row("all cut", "3", {1}, {-5}, {3}, {0}));
  t.push_back(pad_row("of nothing", "02", {3, 3}, {1, 0}, {2, 1}, {2, 0}));
  t.push_back(pad_row("rank 0", "", {}, {}, {}, {}));
  t.push_back(pad_row("none", "2", {2}, {0}, {0}, {0}));
  t.push_back(pad_row("other elements of the same type", "23", {2, 3}, {0, -1}, {-1, 1}, {1, 0}));
  t.push_back(pad_row("gaps that are cut off", "1", {1}, {0}, {0}, {3}));

  auto joined = [&](std::string note, std::vector<Operand> parts, Dims result, int dim) {
    t.push_back(shaped_row(prim<fx::Concatenate>, std::move(note), any_dtype, std::move(parts), {{result}},
                           Params().integer(dim)));
  };
  joined("rows", {{{2, 3}}, {{1, 3}}}, {3, 3}, 0);
  joined("columns", {{{2, 3}}, {{2, 0}}, {{2, 1}}}, {2, 4}, 1);
  joined("one", {{{2}}}, {2}, 0);
  joined("middle", {{{2, 1, 2}}, {{2, 2, 2}}}, {2, 3, 2}, 1);
  joined("nothing", {{{0}}, {{0}}}, {0}, 0);

  for (auto [shape, dim] : {std::pair{"5", 0}, {"23", 0}, {"23", 1}, {"20", 0}, {"213", 2}}) {
    Row row = shaped_row(prim<fx::Iota>, std::string(shape) + " along " + std::to_string(dim), numbers, {},
                         {{dims(shape)}}, {});
    row.params = [s = dims(shape), d = dim](DType dtype) { return Params().dtype(dtype).dims(s).integer(d); };
    t.push_back(row);
  }
  return t;
}

}  // namespace tables
