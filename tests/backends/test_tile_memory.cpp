// Results in the memory of what dies: within a program, across its border, and in loops.
#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
// Runs with output k in the memory of input may_alias(k), and compares with a run apart.
void check_aliased(const Graph& g) {
  auto e = compile(g);
  const Vec<Elements> in = samples(g), expected = evaluate(g, in);
  Vec<Ref<Storage>> owners;
  Vec<Buffer> ins, outs;
  for (int k = 0; k < g.ins.size(); ++k) {
    owners.push_back(pack(g.type(g.ins[k]), in[k]));
    ins.push_back({owners.back()->data, owners.back()->bytes});
  }
  for (int k = 0; k < g.outs.size(); ++k) {
    const Type& t = g.type(g.outs[k]);
    if (e->may_alias(k) >= 0) {
      CHECK(g.type(g.ins[e->may_alias(k)]) == t);
      outs.push_back(ins[e->may_alias(k)]);
      owners.push_back(owners[e->may_alias(k)]);
    } else {
      owners.push_back(allocate(numel(t) * size_of(t.dtype)));
      outs.push_back({owners.back()->data, owners.back()->bytes});
    }
  }
  Ref<Storage> workspace = allocate(e->workspace());
  e->run(ins, outs, workspace->data);
  Vec<Elements> got;
  for (int k = 0; k < g.outs.size(); ++k) got.push_back(unpack(g.type(g.outs[k]), *owners[g.ins.size() + k]));
  check_same(g, expected, got);
}
}  // namespace

TEST_CASE("memory: outputs may lie on inputs they are computed from element by element") {
  Builder b;
  Val p = b.input({f32, {500}}), m = b.input({f32, {500}}), grad = b.input({f32, {500}});
  Val m2 = m * 0.9 + grad * 0.1, p2 = p - m2 * 0.01;
  const Graph g = b.finish(Vec<Val>{p2, m2});
  auto e = compile(g);
  CHECK(e->may_alias(0) == 0);
  CHECK(e->may_alias(1) == 1);
  CHECK(e->may_alias(1, 2));
  CHECK(e->may_alias(0, 1));
  check_aliased(g);
}

TEST_CASE("memory: no alias where an input is read elsewhere, or later") {
  Builder b;
  Val x = b.input({f32, {30}});
  const Graph reversed = b.finish(Vec<Val>{x + rev(x, {0})});
  CHECK(compile(reversed)->may_alias(0) == -1);
  CHECK(!compile(reversed)->may_alias(0, 0));
  Builder c;
  Val y = c.input({f32, {30}});
  const Graph later = c.finish(Vec<Val>{y * 2.0, cumsum(rev(y, {0}), 0)});
  check_aliased(later);
  Builder d;
  Val z = d.input({f32, {30}}), w = d.input({f32, {30}});
  const Graph swapped = d.finish(Vec<Val>{w, z});
  check_aliased(swapped);
  Builder f;
  Val u = f.input({f32, {30}}), v = f.input({f32, {30}});
  check_aliased(f.finish(Vec<Val>{u + v, u - v, u * v}));
}

TEST_CASE("memory: an input that is dead before the output is written may hold it") {
  Builder b;
  Val h = b.input({f32, {16}});
  const Graph g = b.finish(Vec<Val>{exp(broadcast_to(reduce_sum(h, {0}), {16}))});
  CHECK(compile(g)->may_alias(0) == 0);
  check_aliased(g);
}

TEST_CASE("memory: the workspace is reused") {
  Builder b;
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  Val x = b.input({f32, {32, 32}}), y = x;
  for (int i = 0; i < 50; ++i) y = dot_general(y, x, d) + 1.0;
  const Graph g = b.finish(Vec<Val>{y});
  check(g);
  CHECK(compile(g)->program().workspace <= 3 * 32 * 32 * 4);
}

TEST_CASE("memory: a chain of updates copies its operand once") {
  Builder b;
  Val x = b.input({f32, {100, 100}}), u = b.input({f32, {1, 100}}), i = b.input({i32, {}});
  for (int k = 0; k < 10; ++k) {
    Val starts[] = {i + double(k), like(i, 0)};
    x = dynamic_update_slice(x, u + double(k), Span<const Val>(starts));
  }
  const Graph g = b.finish(Vec<Val>{x});
  check(g);
  check_aliased(g);
  auto e = compile(g);
  CHECK(e->may_alias(0) == 0);
  std::int64_t bytes = 0;
  for (const tile::Counts& c : e->program().predicted()) bytes += c.bytes_out;
  CHECK(bytes < 2 * 100 * 100 * 4);
}

namespace {
// carry[t] = a row computed from carry[t - 1].
Graph row_loop(std::int64_t n) {
  Builder body;
  Val c = body.input({f32, {n, 64}}), t = body.input({i32, {}}), x = body.input({f32, {64}});
  Val at[] = {t, like(t, 0)};
  Val row = reshape(dynamic_slice(c, Span<const Val>(at), {1, 64}), {64});
  Val next[] = {t + 1, like(t, 0)};
  Val c2 = dynamic_update_slice(c, reshape(row * 0.5 + x, {1, 64}), Span<const Val>(next));
  GraphRef f(new Graph(body.finish(Vec<Val>{c2, t + 1})));
  Builder b;
  Vec<Val> in{b.input({f32, {n, 64}}), b.literal(i32, 0), b.input({f32, {n, 64}})};
  return b.finish(Vec<Val>{b.bind(prim<Scan>, in, Scan::params({n, false, 0, 2, f}))});
}
}  // namespace

TEST_CASE("memory: a loop that writes one row of its carry copies bytes linear in its steps") {
  check(row_loop(20));
  check_aliased(row_loop(20));
  auto bytes = [](std::int64_t n) {
    auto e = compile(row_loop(n));
    std::int64_t sum = 0;
    for (const tile::Counts& c : e->program().predicted()) sum += c.bytes_in + c.bytes_out;
    return double(sum);
  };
  CHECK(bytes(2000) / bytes(1000) < 2.1);
  CHECK(compile(row_loop(20))->may_alias(0) == 0);
}

TEST_CASE("memory: other readers of a value come before what updates it") {
  Builder b;
  Val x = b.input({f32, {50, 8}}), i = b.input({i32, {}});
  Val y = exp(x);
  Val at[] = {i, like(i, 0)}, before[] = {i - 1, like(i, 0)};
  Val z = dynamic_update_slice(y, full(b, {f32, {1, 8}}, 2), Span<const Val>(at));
  Val row = dynamic_slice(y, Span<const Val>(before), {1, 8});  // of the old y
  Val sum = reduce_sum(y, {0});
  const Graph g = b.finish(Vec<Val>{z, row, sum});
  check(g);
  auto e = compile(g);
  for (int k = 0; k < e->program().kernels.size(); ++k)
    if (e->program().kernels[k].kind == tile::KernelKind::index) CHECK(e->program().predicted()[k].bytes_out <= 32);
  // Two values, each updated by an equation that reads the other: no order is right for both, and none is wrong.
  Builder c;
  Val u = exp(c.input({f32, {8}})), v = exp(c.input({f32, {8}})), j = c.input({i32, {}});
  const Graph crossed = c.finish(Vec<Val>{dynamic_update_slice(u, slice(v, {0}, {3}), {&j, 1}),
                                          dynamic_update_slice(v, slice(u, {2}, {6}), {&j, 1})});
  check(crossed);
}

TEST_CASE("memory: carries that change places, stay, or are given twice") {
  Builder body;
  Val k = body.input({f32, {7}}), a = body.input({f32, {7}}), b2 = body.input({f32, {7}}), c = body.input({f32, {7}}),
      d = body.input({f32, {7}});
  GraphRef f(new Graph(body.finish(Vec<Val>{b2, a, c, d * 0.5 + k, d})));
  for (std::int64_t length : {0, 1, 2, 3, 4}) {
    Builder b;
    Val x = b.input({f32, {7}}), y = b.input({f32, {7}});
    Val first = b.bind(prim<Scan>, {x, x, y, x, x}, Scan::params({length, false, 1, 4, f}));
    Vec<Val> outs;
    for (int j = 0; j < 5; ++j) outs.push_back(Val(&b, first.id + j));
    const Graph g = b.finish(outs);
    check(g);
    check_aliased(g);
  }
}

TEST_CASE("memory: nested loops") {
  Builder inner;
  Val w = inner.input({f32, {4}}), s = inner.input({f32, {4}}), x = inner.input({f32, {4}});
  GraphRef g1(new Graph(inner.finish(Vec<Val>{s * w + x, s})));
  Builder outer;
  Val w2 = outer.input({f32, {4}}), c = outer.input({f32, {4}}), xs = outer.input({f32, {3, 4}});
  Val r = outer.bind(prim<Scan>, {w2, c, xs}, Scan::params({3, false, 1, 1, g1}));
  GraphRef g2(new Graph(outer.finish(Vec<Val>{r, Val(&outer, r.id + 1)})));
  Builder b;
  Val first = b.bind(prim<Scan>, {b.input({f32, {4}}), b.input({f32, {4}}), b.input({f32, {5, 3, 4}})},
                     Scan::params({5, true, 1, 1, g2}));
  const Graph g = b.finish(Vec<Val>{first, Val(&b, first.id + 1)});
  check(g);
  check_aliased(g);
}
