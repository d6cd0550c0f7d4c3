// ops/control.hpp -- rows of jit and scan: small bodies with constants, carries, rows, and every mixture of them.
#pragma once
#include <fx/passes/batch.hpp>

#include "ops/tables.hpp"

namespace tables {

using fx::Builder, fx::Val, fx::Vec, fx::Type;

// The Graph of f(inputs): f gets Vals and returns them.
template <class F>
fx::GraphRef body(std::vector<Type> in, F&& f) {
  Builder b;
  std::vector<Val> x;
  for (const Type& t : in) x.push_back(b.input(t));
  const std::vector<Val> y = f(x);
  return fx::GraphRef(new fx::Graph(b.finish(fx::Span<const Val>(y.data(), int(y.size())))));
}

struct ScanCase {
  std::string note;
  std::int64_t length;
  int consts, carry;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::function<fx::GraphRef(DType)> body;
};

inline std::vector<ScanCase> scan_cases() {
  using fx::tanh, fx::sin, fx::select, fx::lt, fx::convert;
  using Vals = std::vector<Val>;
  return {
      {"running state",
       4,
       0,
       1,
       {{{2}}, {{4, 2}}},
       {{{2}}, {{4, 2}}},
       [](DType d) {
         return body({{d, {2}}, {d, {2}}}, [](Vals v) { return Vals{tanh(v[0] * 0.5 + v[1]), v[0] * v[1]}; });
       }},
      {"constants",
       3,
       2,
       1,
       {{{2}}, {}, {{2}}, {{3, 2}}},
       {{{2}}, {{3}}},
       [](DType d) {
         return body({{d, {2}}, {d, {}}, {d, {2}}, {d, {2}}}, [](Vals v) {
           const Val next = v[0] * v[2] + sin(v[3]);
           return Vals{next, fx::sum_all(next) * v[1]};
         });
       }},
      {"two carries, one a counter",
       5,
       0,
       2,
       {{{}, {0, 3}, int(i32)}, {{2}}},
       {{{}, int(i32)}, {{2}}, {{5}, int(i32)}},
       [](DType d) {
         return body({{i32, {}}, {d, {2}}}, [d](Vals v) {
           return Vals{v[0] + 1, tanh(v[1]) + fx::broadcast_to(convert(v[0], d), {2}) * 0.25, v[0] * 2};
         });
       }},
      {"nothing but constants",
       2,
       1,
       0,
       {{{3}}},
       {{{2, 3}}},
       [](DType d) {
         return body({{d, {3}}}, [](Vals v) { return Vals{v[0] * v[0]}; });
       }},
      {"nothing but rows",
       3,
       0,
       0,
       {{{3, 2}}, {{3}}},
       {{{3, 2}}},
       [](DType d) {
         return body({{d, {2}}, {d, {}}}, [](Vals v) { return Vals{v[0] * fx::broadcast_to(v[1], {2})}; });
       }},
      {"carry gets its tangent inside",
       4,
       1,
       2,
       {{{}}, {{2}}, {{2}}},
       {{{2}}, {{2}}},
       [](DType d) {
         return body({{d, {}}, {d, {2}}, {d, {2}}}, [](Vals v) {
           return Vals{v[1] + v[2] * 0.5, v[2] * fx::broadcast_to(v[0], {2})};
         });
       }},
      {"carries exchanged",
       3,
       0,
       2,
       {{{2}}, {{2}}},
       {{{2}}, {{2}}},
       [](DType d) {
         return body({{d, {2}}, {d, {2}}}, [](Vals v) { return Vals{v[1], sin(v[0])}; });
       }},
      {"no step",
       0,
       1,
       1,
       {{{2}}, {{2}}, {{0, 2}}},
       {{{2}}, {{0, 2}}},
       [](DType d) {
         return body({{d, {2}}, {d, {2}}, {d, {2}}}, [](Vals v) { return Vals{v[0] * v[1], v[1] + v[2]}; });
       }},
      {"one step",
       1,
       0,
       1,
       {{{}}, {{1}}},
       {{{}}, {{1}}},
       [](DType d) {
         return body({{d, {}}, {d, {}}}, [](Vals v) { return Vals{v[0] * v[1], sin(v[0])}; });
       }},
      {"results that ignore the loop",
       3,
       1,
       1,
       {{{2}}, {}, {{3, 2}}},
       {{{}}, {{3, 2}}, {{3}}},
       [](DType d) {
         return body({{d, {2}}, {d, {}}, {d, {2}}}, [](Vals v) {
           return Vals{v[1], v[0] * 2.0, v[1].b->literal(v[1].b->type(v[1]).dtype, 0)};
         });
       }},
      {"integers decide",
       4,
       1,
       1,
       {{{2}}, {{2}}, {{4}, {-2, 2}, int(i32)}},
       {{{2}}},
       [](DType d) {
         return body({{d, {2}}, {d, {2}}, {i32, {}}},
                     [](Vals v) { return Vals{select(fx::broadcast_to(lt(v[2], 0), {2}), v[0] * v[1], v[1] * 0.5)}; });
       }},
      {"empty rows",
       2,
       0,
       1,
       {{{0}}, {{2, 0}}},
       {{{0}}, {{2, 0}}},
       [](DType d) {
         return body({{d, {0}}, {d, {0}}}, [](Vals v) { return Vals{v[0] + v[1], v[0] * v[1]}; });
       }},
      {"loop in a loop",
       2,
       1,
       1,
       {{{}}, {{3}}, {{2, 3}}},
       {{{3}}, {{2}}},
       [](DType d) {
         const fx::GraphRef inner = body({{d, {}}, {d, {}}, {d, {}}}, [](Vals v) {
           return Vals{tanh(v[1] * v[0]) + v[2], v[1] * v[2]};
         });
         return body({{d, {}}, {d, {3}}, {d, {3}}}, [inner](Vals v) {
           const Val sum = fx::sum_all(v[1]);
           const Val first =
               fx::bind(prim<fx::Scan>, {v[0], sum, v[2]}, fx::Scan::params({fx::Dim(3), true, 1, 1, inner}));
           return Vals{v[1] * 0.5 + Val(first.b, first.id + 1), first};
         });
       }},
  };
}

inline Table control() {
  Table t;
  for (const ScanCase& c : scan_cases())
    for (bool reverse : {false, true}) {
      Row row = shaped_row(prim<fx::Scan>, c.note + (reverse ? ", reverse" : ""), floats, c.operands, c.results, {});
      row.params = [c, reverse](DType d) {
        return fx::Scan::params({fx::Dim(c.length), reverse, c.consts, c.carry, c.body(d)});
      };
      row.specials = false;
      t.push_back(row);
    }
  Row integers_only =
      shaped_row(prim<fx::Scan>, "integers", integers | fx::only(f64), {{{}, {0, 2}}, {{3}}}, {{{}}, {{3}}}, {});
  integers_only.params = [](DType d) {
    const fx::GraphRef b = body({{d, {}}, {d, {}}}, [](std::vector<Val> v) {
      return std::vector<Val>{v[0] * v[1] + 1, v[0]};
    });
    return fx::Scan::params({fx::Dim(3), false, 0, 1, b});
  };
  t.push_back(integers_only);

  auto call = [&](std::string note, fx::DTypes dtypes, std::vector<Operand> in, std::vector<Result> out,
                  std::function<fx::GraphRef(DType)> f) {
    Row row = shaped_row(prim<fx::Jit>, std::move(note), dtypes, std::move(in), std::move(out), {});
    row.params = [f](DType d) { return Params().label("f").graph(f(d)); };
    t.push_back(row);
  };
  call("two results", floats, {{{2}}, {{2}}}, {{{2}}, {}}, [](DType d) {
    return body({{d, {2}}, {d, {2}}}, [](std::vector<Val> v) {
      return std::vector<Val>{fx::sin(v[0]) * v[1], fx::sum_all(v[1])};
    });
  });
  call("passes through", any_dtype, {{{2}}, {}}, {{{}}, {{2}}, {{2}}}, [](DType d) {
    return body({{d, {2}}, {d, {}}}, [](std::vector<Val> v) { return std::vector<Val>{v[1], v[0], v[0]}; });
  });
  call("call in a call", floats, {{{2}}}, {{{2}}}, [](DType d) {
    const fx::GraphRef inner = body({{d, {2}}}, [](std::vector<Val> v) { return std::vector<Val>{fx::exp(v[0])}; });
    return body({{d, {2}}}, [inner](std::vector<Val> v) {
      return std::vector<Val>{fx::bind(prim<fx::Jit>, {v[0] * v[0]}, Params().label("inner").graph(inner)) + v[0]};
    });
  });
  return t;
}

}  // namespace tables
