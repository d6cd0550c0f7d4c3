// ops/large.cpp -- values at sizes where the backend cuts work into blocks, lanes and panels, with their odd
// remainders.
#include <doctest/doctest.h>

#include "ops/tables.hpp"
#include "reference/laws.hpp"

namespace {

using namespace tables;
using fx::Val, fx::Type;
using Vals = std::vector<Val>;

// f applied to inputs of the given types, on fx and on the reference evaluator.
template <class F>
void check(const char* what, const std::vector<Type>& types, F&& f, const Domain& domain = {}) {
  fx::Builder b;
  reference::Random random(fx::name_id(what));
  Vals x;
  reference::Values values;
  for (const Type& t : types) {
    x.push_back(b.input(t));
    values.push_back(reference::sample(random, t, domain));
  }
  const Val outs[] = {f(x)};
  const fx::Graph g = b.finish(fx::Span<const Val>(outs, 1));
  const std::string why = reference::check_value(g, values), name(what);
  INFO(name);
  CHECK(why == "");
}
fx::DotDims contract(Dims lhs, Dims rhs, Dims lhs_batch = {}, Dims rhs_batch = {}) {
  return {lhs, rhs, lhs_batch, rhs_batch};
}

}  // namespace

TEST_CASE("reductions over blocks and lanes") {
  for (DType d : {f32, f64, i32, i64}) {
    for (Dims shape : {Dims{4096}, Dims{4097}, Dims{9000}, Dims{3, 4100}, Dims{2, 33}, Dims{5, 1000}})
      for (auto* reduce : {fx::reduce_max, fx::reduce_min})
        check("row extremum", {{d, shape}}, [&](const Vals& v) { return reduce(v[0], {shape.n - 1}); }, {-1e6, 1e6});
    for (Dims shape : {Dims{4096}, Dims{4097}, Dims{9000}, Dims{3, 4100}, Dims{2, 33}})
      check("row sum", {{d, shape}}, [&](const Vals& v) { return fx::reduce_sum(v[0], {shape.n - 1}); });
    for (Dims shape : {Dims{4100, 3}, Dims{33, 70}, Dims{300, 17}})
      check("column sum", {{d, shape}}, [&](const Vals& v) { return fx::reduce_sum(v[0], {0}); });
    check("outer and inner", {{d, {7, 11, 13}}}, [&](const Vals& v) { return fx::reduce_sum(v[0], {0, 2}); });
    check("all", {{d, {70, 80}}}, [&](const Vals& v) { return fx::sum_all(v[0]); });
    check("row position", {{d, {5, 1000}}}, [&](const Vals& v) { return fx::argmax(v[0], 1); }, {-40, 40});
    check("column position", {{d, {1000, 5}}}, [&](const Vals& v) { return fx::argmin(v[0], 0); }, {-40, 40});
    check("running sum", {{d, {9, 300}}}, [&](const Vals& v) { return fx::cumsum(v[0], 1); });
    check("running sum of columns", {{d, {300, 9}}}, [&](const Vals& v) { return fx::cumsum(v[0], 0, true); });
    check("squares of differences", {{d, {40, 130}}, {d, {40, 130}}}, [&](const Vals& v) {
      const Val e = v[0] - v[1];
      return fx::reduce_sum(e * e, {1});
    });
  }
}

TEST_CASE("matrix products") {
  for (DType d : {f32, f64, i32, u64}) {
    for (auto [m, k, n] : {std::tuple{1, 300, 1}, {65, 129, 33}, {7, 513, 9}, {128, 64, 10}, {1, 1, 200}, {50, 2, 50}})
      check("matrices", {{d, {m, k}}, {d, {k, n}}},
            [&](const Vals& v) { return fx::dot_general(v[0], v[1], contract({1}, {0})); });
    check("both transposed", {{d, {70, 40}}, {d, {30, 70}}},
          [&](const Vals& v) { return fx::dot_general(v[0], v[1], contract({0}, {1})); });
    check("batch", {{d, {5, 20, 30}}, {d, {5, 30, 17}}},
          [&](const Vals& v) { return fx::dot_general(v[0], v[1], contract({2}, {1}, {0}, {0})); });
    check("product of sums", {{d, {20, 30}}, {d, {20, 30}}, {d, {30, 12}}},
          [&](const Vals& v) { return fx::dot_general(v[0] + v[1], v[2], contract({1}, {0})) * 2.0; });
  }
}

TEST_CASE("movement and order") {
  for (DType d : {f32, i64, boolean}) {
    check("transpose", {{d, {130, 70}}}, [&](const Vals& v) { return fx::transpose(v[0], {1, 0}); });
    check("transpose of three", {{d, {17, 9, 33}}}, [&](const Vals& v) { return fx::transpose(v[0], {2, 0, 1}); });
    check("slice of a reversal", {{d, {99, 64}}}, [&](const Vals& v) {
      return fx::slice(fx::rev(v[0], {0, 1}), {3, 1}, {97, 64}, {5, 3});
    });
    check("pad between", {{d, {40, 30}}, {d, {}}}, [&](const Vals& v) {
      return fx::pad(v[0], v[1], {3, -2}, {-1, 7}, {1, 2});
    });
    check("concatenate", {{d, {40, 30}}, {d, {40, 5}}}, [&](const Vals& v) {
      const Val parts[] = {v[0], v[1], v[0]};
      return fx::concatenate(parts, 1);
    });
    check("broadcast", {{d, {70}}}, [&](const Vals& v) { return fx::broadcast_in_dim(v[0], {40, 70, 3}, {1}); });
    for (int dim : {0, 1})
      for (Dims shape : {Dims{6, 300}, Dims{300, 6}})
        check("sort", {{d, shape}},
              [&](const Vals& v) { return fx::bind(prim<fx::Sort>, {v[0]}, Params().integer(dim).integer(1)); },
              {-50, 50});
  }
}

TEST_CASE("indices") {
  for (DType d : {f32, i64, boolean})
    for (bool clamp : {false, true}) {
      const fx::IndexDims rows{{1}, {0}, {0}, {1, 40}, {}, {}, clamp};
      const std::vector<Type> types{{d, {50, 40}}, {i32, {200, 1}}, {d, {200, 40}}};
      check("gather", {types[0], types[1]}, [&](const Vals& v) { return fx::gather(v[0], v[1], rows); }, {-10, 60});
      check("scatter", types, [&](const Vals& v) { return fx::scatter(v[0], v[1], v[2], rows); }, {-10, 60});
      if (d != boolean)
        check("scatter_add", types, [&](const Vals& v) { return fx::scatter_add(v[0], v[1], v[2], rows); }, {-10, 60});
    }
}

TEST_CASE("elementwise chains, longer than a block") {
  for (DType d : {f32, f64})
    check("chain", {{d, {123, 217}}, {d, {123, 217}}}, [&](const Vals& v) {
      const Val spread = fx::broadcast_to(fx::reduce_max(v[1], {0}), {123, 217});
      return fx::select(fx::lt(v[0], v[1]), fx::tanh(v[0] * 0.5 + spread), fx::exp(-fx::abs(v[1])));
    });
  check("mixed dtypes", {{f32, {9, 1111}}, {i32, {9, 1111}}, {u64, {9, 1111}}},
        [&](const Vals& v) {
          return fx::convert(v[0] * 3.0, i32) + (v[1] * 7 - fx::convert(v[2], i32)) +
                 fx::iota(*v[0].b, i32, {9, 1111}, 1);
        },
        {-1000, 1000});
  check("softmax", {{f32, {33, 1500}}}, [&](const Vals& v) {
    const Dims shape{33, 1500};
    const Val e = fx::exp(v[0] - fx::broadcast_in_dim(fx::reduce_max(v[0], {1}), shape, {0}));
    return e / fx::broadcast_in_dim(fx::reduce_sum(e, {1}), shape, {0});
  });
}
