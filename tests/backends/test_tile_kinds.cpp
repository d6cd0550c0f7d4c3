// Every kind of kernel against constant evaluation, bit for bit, with large and small blocks.
#include "backends/tile_util.hpp"
using namespace tile_test;

TEST_CASE("tile: elementwise equations of one shape are one kernel with several results") {
  Builder b;
  Val x = b.input({f32, {40, 50}}), y = b.input({f32, {40, 50}});
  Val z = x * y + 1.0, w = tanh(z) - x;
  const Graph g = b.finish(Vec<Val>{z, w});
  check(g);
  CHECK(compile(g)->program().kernels.size() == 1);
}

TEST_CASE("tile: views fold into loads") {
  Builder b;
  Val x = b.input({f32, {30, 20}}), y = b.input({f32, {20}}), z = b.input({f32, {20, 30}}), s = b.input({f32, {}});
  Val r = x * broadcast_to(y, {30, 20}) + transpose(z, {1, 0}) + rev(x, {0}) + broadcast_to(s, {30, 20});
  Val q = r - slice(broadcast_in_dim(z, {20, 30, 20}, {0, 1}), {3, 0, 0}, {4, 30, 20})
                  .b->bind(prim<Reshape>, {slice(broadcast_in_dim(z, {20, 30, 20}, {0, 1}), {3, 0, 0}, {4, 30, 20})},
                           Params().dims({30, 20}));
  const Graph g = b.finish(Vec<Val>{q});
  check(g);
  CHECK(compile(g)->program().kernels.size() == 1);
}

TEST_CASE("tile: reductions along any dimensions, with a prologue") {
  for (Dims axes : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{1, 2}, Dims{0, 2}, Dims{0, 1, 2}}) {
    Builder b;
    Val x = b.input({f32, {7, 33, 40}}), y = b.input({f32, {40}});
    const Graph g = b.finish(
        Vec<Val>{reduce_sum(x * broadcast_to(y, {7, 33, 40}), axes), reduce_max(x, axes), reduce_sum(x, axes)});
    check(g);
    auto e = compile(g);
    const tile::Program& p = e->program();
    CHECK((p.kernels[0].loop ? p.kernels[0].loop->kernels : p.kernels).size() == 3);
  }
}

TEST_CASE("tile: long reductions go through states") {
  Builder b;
  Val x = b.input({f32, {3, 9001}}), y = b.input({f32, {9001, 3}});
  Val i = iota(b, f32, {3, 9001}, 1);
  const Graph g =
      b.finish(Vec<Val>{reduce_sum(x, {1}), reduce_sum(x * i, {1}), reduce_sum(y, {0}), reduce_sum(exp(y), {0}),
                        reduce_sum(transpose(y, {1, 0}), {1}), argmax(x, 1), argmin(y, 0)});
  check(g);
}

TEST_CASE("tile: products") {
  struct Case {
    Dims a, b;
    DotDims d;
  };
  const Case cases[] = {
      {{5, 7}, {7, 3}, {{1}, {0}, {}, {}}},
      {{7, 5}, {3, 7}, {{0}, {1}, {}, {}}},
      {{4, 5, 7}, {4, 7, 3}, {{2}, {1}, {0}, {0}}},
      {{5, 4, 7}, {7, 3, 4}, {{2}, {0}, {1}, {2}}},
      {{7}, {7}, {{0}, {0}, {}, {}}},
      {{7}, {7, 4}, {{0}, {0}, {}, {}}},
      {{5, 7}, {7}, {{1}, {0}, {}, {}}},
      {{3}, {4}, {{}, {}, {}, {}}},
      {{2, 3, 4, 5}, {5, 3, 6}, {{1, 3}, {1, 0}, {}, {}}},
      {{2, 3, 4, 5}, {2, 5, 3, 6}, {{1, 3}, {2, 1}, {0}, {0}}},
      {{70, 80}, {80, 90}, {{1}, {0}, {}, {}}},
      {{4, 0}, {0, 3}, {{1}, {0}, {}, {}}},
      {{0, 4}, {4, 3}, {{1}, {0}, {}, {}}},
  };
  for (const Case& c : cases)
    for (DType d : {f32, f64, i32}) {
      Builder b;
      Val x = b.input({d, c.a}), y = b.input({d, c.b});
      check(b.finish(Vec<Val>{dot_general(x, y, c.d)}));
    }
}

TEST_CASE("tile: layouts that are no views") {
  Builder b;
  Val x = b.input({f32, {6, 5}}), y = b.input({f32, {4, 5}}), s = b.input({f32, {}});
  Val parts[] = {x, y, slice(x, {1, 0}, {5, 5}, {2, 1}), full(b, {f32, {2, 5}}, 3)};
  const Graph g = b.finish(Vec<Val>{concatenate(Span<const Val>(parts), 0), pad(x, s, {1, -1}, {2, 3}, {0, 2}),
                                    pad(y, 0.5, {0, 0}, {3, 3}, {1, 1}), reshape(transpose(x, {1, 0}), {3, 10}), x,
                                    b.literal(f32, detail::to_bits(2.5f)), reshape(x, {30}), x});
  check(g);
}

TEST_CASE("tile: running folds and sort") {
  for (int axis : {0, 1, 2}) {
    Builder b;
    Val x = b.input({f32, {4, 5, 6}}), y = b.input({i32, {4, 5, 6}});
    Val sorted = b.bind(prim<Sort>, {y, x}, Params().integer(axis).integer(1));
    const Graph g = b.finish(Vec<Val>{cumsum(x, axis), cumsum(y, axis, true), sorted, Val(&b, sorted.id + 1),
                                      cumsum(transpose(x, {2, 0, 1}), axis)});
    check(g);
  }
}

TEST_CASE("tile: reads and writes at computed positions") {
  Builder b;
  Val x = b.input({f32, {6, 5}}), u = b.input({f32, {2, 3}}), i = b.input({i32, {}}), order = b.input({i32, {6, 5}});
  Val starts[] = {i, b.literal(i32, 1)};
  Val c = dynamic_slice(x, Span<const Val>(starts), {2, 3});
  Val w = dynamic_update_slice(x, u * 2.0, Span<const Val>(starts));
  IndexDims rows;
  rows.window_dims = {1};
  rows.collapsed = rows.index_map = {0};
  rows.window = {1, 5};
  Val ids = b.input({i32, {4, 1}});
  Val gathered = gather(x, ids, rows);
  const Graph g = b.finish(Vec<Val>{c, w, gathered, scatter_add(x, ids, gathered, rows),
                                    scatter(x, ids, gathered, rows), take_along(x, order, 0)});
  check(g);
}

TEST_CASE("tile: scan") {
  for (bool reverse : {false, true})
    for (std::int64_t length : {0, 1, 2, 5}) {
      Builder body;
      Val w = body.input({f32, {3, 3}}), h = body.input({f32, {3}}), n = body.input({i32, {}}),
          x = body.input({f32, {3}});
      DotDims d;
      d.lhs_contract = {0}, d.rhs_contract = {0};
      Val h2 = tanh(dot_general(h, w, d) + x);
      GraphRef f(new Graph(body.finish(Vec<Val>{h2, n + 1, h2 * x, n})));
      Builder b;
      Vec<Val> in{b.input({f32, {3, 3}}), b.input({f32, {3}}), b.literal(i32, 0), b.input({f32, {length, 3}})};
      Val first = b.bind(prim<Scan>, in, Scan::params({length, reverse, 1, 2, f}));
      Vec<Val> outs;
      for (int j = 0; j < 4; ++j) outs.push_back(Val(&b, first.id + j));
      check(b.finish(outs));
    }
}

TEST_CASE("tile: zero-size arrays") {
  Builder b;
  Val x = b.input({f32, {0, 4}}), y = b.input({f32, {4, 0}});
  const Graph g = b.finish(Vec<Val>{x + 1.0, reduce_sum(x, {0}), reduce_sum(x, {1}), reduce_max(x, {0}),
                                    transpose(y, {1, 0}) + x, reduce_sum(x, {0, 1}), cumsum(x, 0), cumsum(x, 1)});
  check(g);
}

TEST_CASE("tile: random bits, two results of one equation") {
  Builder b;
  Val k0 = b.input({u32, {}}), k1 = b.input({u32, {}});
  Val c = iota(b, u32, {1000}, 0);
  Bits2x32 r = threefry2x32(broadcast_to(k0, {1000}), broadcast_to(k1, {1000}), like(c, 0), c);
  check(b.finish(Vec<Val>{bit_xor(r.hi, r.lo)}));
}
