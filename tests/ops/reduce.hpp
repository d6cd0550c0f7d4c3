// ops/reduce.hpp -- rows of reductions, running sums, sort and dot_general.
#pragma once
#include "ops/tables.hpp"

namespace tables {

inline Table reduce() {
  Table t;
  struct Case {
    Dims shape, axes, result;
  };
  const Case cases[] = {{{2, 3}, {1}, {2}}, {{2, 3}, {0}, {3}},  {{2, 3}, {0, 1}, {}},     {{2, 3}, {}, {2, 3}},
                        {{0, 3}, {0}, {3}}, {{0, 3}, {1}, {0}},  {{4, 2, 3}, {0, 2}, {2}}, {{4, 2, 3}, {2, 1}, {4}},
                        {{}, {}, {}},       {{2, 70}, {1}, {2}}, {{37, 2}, {0}, {2}}};
  for (const Case& c : cases) {
    const fx::Str shape = fx::text(c.shape), axes = fx::text(c.axes);
    const std::string note = std::string(shape.view()) + " along " + std::string(axes.view());
    for (const fx::Prim* p :
         {&prim<fx::ReduceSum>, &prim<fx::ReduceProd>, &prim<fx::ReduceMax>, &prim<fx::ReduceMin>}) {
      const bool product = p == &prim<fx::ReduceProd>, sum = p == &prim<fx::ReduceSum>;
      const bool many = fx::numel(c.shape) > 30;
      const Domain domain = product ? (many ? Domain{-1.2, 1.2, 0.9} : Domain{-1.5, 1.5, 0.5}) : Domain{-1000, 1000};
      t.push_back(shaped_row(*p, note, product || sum ? numbers : any_dtype, {{c.shape, sum ? Domain{} : domain}},
                             {{c.result}}, Params().dims(c.axes)));
      if (c.shape == Dims{0, 3} && !sum && !product) t.back().order = 0;  // infinite where it is not empty
    }
  }
  for (auto [shape, axis, result] :
       {std::tuple{"5", 0, ""}, {"34", 0, "4"}, {"34", 1, "3"}, {"103", 2, "10"}, {"21", 1, "2"}})
    for (DType to : {i32, i64, u32, u64})
      for (const fx::Prim* p : {&prim<fx::ArgMax>, &prim<fx::ArgMin>})
        t.push_back(shaped_row(
            *p, std::string(shape) + " along " + std::to_string(axis) + " to " + std::string(fx::name(to)), any_dtype,
            {{dims(shape), {-3, 3}}}, {{dims(result), int(to)}}, Params().ints({axis}).dtype(to)));
  for (bool reverse : {false, true})
    for (auto [shape, axis] : {std::pair{"5", 0}, {"34", 0}, {"34", 1}, {"203", 2}, {"203", 1}, {"1", 0}})
      t.push_back(shaped_row(prim<fx::CumSum>,
                             std::string(shape) + " along " + std::to_string(axis) + (reverse ? " reverse" : ""),
                             numbers, {{dims(shape)}}, {{dims(shape)}}, Params().integer(axis).flag(reverse)));
  return t;
}

inline Table sort() {
  Table t;
  auto row = [&](std::string note, std::vector<Operand> operands, int dim, int keys) {
    std::vector<Result> results;
    for (const Operand& o : operands) results.push_back({o.dims, o.dtype});
    t.push_back(shaped_row(prim<fx::Sort>, std::move(note), any_dtype, std::move(operands), std::move(results),
                           Params().integer(dim).integer(keys)));
  };
  row("one", {{{6}, {-9, 9}}}, 0, 1);
  row("columns", {{{4, 3}}}, 0, 1);
  row("rows", {{{3, 5}}}, 1, 1);
  row("payload", {{{2, 7}, {-2, 2}}, {{2, 7}, {-99, 99}, int(i32)}}, 1, 1);
  row("floats follow", {{{7}, {-2, 2}, int(i32)}, {{7}}}, 0, 1);
  row("two keys", {{{8}, {0, 2}, int(i32)}, {{8}, {-2, 2}}, {{8}, {0, 99}, int(u64)}}, 0, 2);
  row("nothing", {{{0, 2}}}, 0, 1);
  row("single", {{{2, 1}}, {{2, 1}}}, 1, 2);
  row("middle", {{{2, 4, 2}}}, 1, 1);
  row("many", {{{40}, {-99, 99}}}, 0, 1);
  return t;
}

inline Table dot() {
  Table t;
  auto row = [&](std::string note, Dims a, Dims b, Dims result, fx::DotDims d) {
    t.push_back(
        shaped_row(prim<fx::DotGeneral>, std::move(note), numbers, {{a}, {b}}, {{result}}, fx::DotGeneral::params(d)));
  };
  row("matrices", {2, 3}, {3, 4}, {2, 4}, {{1}, {0}, {}, {}});
  row("transposed", {3, 2}, {4, 3}, {2, 4}, {{0}, {1}, {}, {}});
  row("vectors", {5}, {5}, {}, {{0}, {0}, {}, {}});
  row("outer", {2}, {3}, {2, 3}, {});
  row("scalars", {}, {}, {}, {});
  row("scalar and matrix", {}, {2, 2}, {2, 2}, {});
  row("batch", {2, 3, 4}, {2, 4, 2}, {2, 3, 2}, {{2}, {1}, {0}, {0}});
  row("batch at other places", {4, 2, 3}, {4, 2, 2}, {2, 3, 2}, {{0}, {0}, {1}, {2}});
  row("two contracted", {2, 3, 4}, {4, 3, 2}, {2, 2}, {{1, 2}, {1, 0}, {}, {}});
  row("two batches", {2, 3, 2}, {3, 2, 2}, {2, 3}, {{2}, {2}, {0, 1}, {1, 0}});
  row("three contracted", {2, 2, 3}, {3, 2, 2}, {}, {{0, 1, 2}, {2, 1, 0}, {}, {}});
  row("nothing contracted along", {2, 0}, {0, 3}, {2, 3}, {{1}, {0}, {}, {}});
  row("nothing", {0, 2}, {2, 3}, {0, 3}, {{1}, {0}, {}, {}});
  row("elementwise", {4}, {4}, {4}, {{}, {}, {0}, {0}});
  return t;
}

}  // namespace tables
