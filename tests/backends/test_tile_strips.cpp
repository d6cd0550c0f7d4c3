// Runs of kernels over the same rows as loops over strips: which are cut, which must not be, and that no bit changes.
#include <fx/tile/parse.hpp>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
constexpr std::int64_t on_chip = 1 << 14;

Val rows_of(Val v, Val like) { return broadcast_in_dim(v, type_of(like).dims, {0}); }
Val softmax(Val x) {
  Val e = exp(x - rows_of(reduce_max(x, {1}), x));
  return e / rows_of(reduce_sum(e, {1}), x);
}

// "scan(map reduce) map": the kinds of a program's kernels.
std::string shape(const tile::Program& p) {
  std::string s;
  for (const tile::Kernel& k : p.kernels) {
    if (!s.empty()) s += ' ';
    s += name(k.kind);
    if (k.loop) s += '(' + shape(*k.loop) + ')';
  }
  return s;
}
std::string shape(const Graph& g) { return shape(compile(g, small_target(on_chip))->program()); }
}  // namespace

TEST_CASE("strips: a softmax is one loop, and a shorter one for what is left") {
  for (std::int64_t rows : {64, 65}) {
    Builder b;
    Val x = b.input({f32, {rows, 100}});
    const Graph g = b.finish(Vec<Val>{softmax(x)});
    check(g);
    const std::string loop = "scan(reduce map reduce map)";
    CHECK(shape(g) == (rows == 64 ? loop : loop + ' ' + loop));
    CHECK(compile(g, small_target(on_chip))->program().buffers.size() == 2);
  }
}

TEST_CASE("strips: a layer norm with its scale, and a log-sum-exp") {
  Builder b;
  Val x = b.input({f32, {64, 100}}), scale = b.input({f32, {100}});
  Val m = reduce_sum(x, {1}) / 100.0, c = x - rows_of(m, x);
  Val v = reduce_sum(c * c, {1}) / 100.0;
  const Graph g = b.finish(Vec<Val>{c * rows_of(rsqrt(v + 1e-5), x) * broadcast_in_dim(scale, {64, 100}, {1})});
  check(g);
  CHECK(shape(g).find(' ', shape(g).find(')')) == std::string::npos);
  CHECK(shape(g).substr(0, 5) == "scan(");

  Builder d;
  Val y = d.input({f64, {128, 100}});
  Val most = reduce_max(y, {1});
  const Graph h = d.finish(Vec<Val>{log(reduce_sum(exp(y - rows_of(most, y)), {1})) + most, most});
  check(h);
  CHECK(shape(h).substr(0, 5) == "scan(");
}

TEST_CASE("strips: what is read elsewhere is written whole") {
  Builder b;
  Val x = b.input({f32, {64, 100}});
  Val y = softmax(x), z = tanh(y);
  const Graph g = b.finish(Vec<Val>{z, reduce_sum(y, {0}), rev(y, {0}) + z, transpose(z, {1, 0}) * 2.0});
  check(g);
  CHECK(shape(g).substr(0, 5) == "scan(");
}

TEST_CASE("strips: a kernel that needs what was left out between stays behind") {
  Builder b;
  Val x = b.input({f32, {64, 100}});
  Val y = exp(x - rows_of(reduce_max(x, {1}), x));
  Val all = reduce_sum(y, {0, 1}), first = slice(y, {0, 0}, {1, 100}, {1, 1});
  Val p = y / broadcast_in_dim(all, {64, 100}, {}), q = y * broadcast_to(first, {64, 100});
  const Graph g = b.finish(Vec<Val>{p, q, rows_of(reduce_sum(p, {1}), x) + q});
  check(g);
  CHECK(shape(g).substr(0, 5) == "scan(");
}

TEST_CASE("strips: rows that fit on chip are one strip; positions and single kernels are left alone") {
  Builder b;
  Val x = b.input({f32, {4, 10}});
  CHECK(shape(b.finish(Vec<Val>{softmax(x)})) == "scan(reduce map reduce map)");
  Builder c;
  Val y = c.input({f32, {64, 100}});
  CHECK(shape(c.finish(Vec<Val>{tanh(y) * 2.0})) == "map");
  Builder d;
  Val z = d.input({f32, {64, 100}});
  Val i = iota(d, f32, {64, 100}, 0);
  const Graph g = d.finish(Vec<Val>{softmax(z + i) * i});
  check(g);
}

TEST_CASE("strips: inside the body of a loop, and in text that reads back") {
  Builder b;
  Val x = b.input({f32, {64, 100}});
  const Graph g = b.finish(Vec<Val>{softmax(softmax(x) * 3.0)});
  auto e = compile(g, small_target(on_chip));
  const std::string text = e->text("tile");
  CHECK(tile::verify(e->program()).empty());
  CHECK(tiled::TiledExecutable({}, tile::parse_program(text)).text("tile") == text);
}

namespace {
Val rows_at(Val table, Val indices, bool clamp) {
  return gather(table, indices,
                {.window_dims = {1},
                 .collapsed = {0},
                 .index_map = {0},
                 .window = {1, type_of(table).dims[1]},
                 .operand_batch = {},
                 .index_batch = {},
                 .clamp = clamp});
}
}  // namespace

TEST_CASE("strips: a gather of rows is part of the loop, one of other things stays before it") {
  for (bool clamp : {false, true}) {
    Builder b;
    Val table = b.input({f32, {7, 100}}), at = b.input({i32, {64, 1}});
    const Graph g = b.finish(Vec<Val>{softmax(rows_at(table, at, clamp))});
    check(g);
    CHECK(shape(g) == "scan(index reduce map reduce map)");
  }
  Builder c;  // what the loop makes is no table for it
  Val x = c.input({f32, {64, 100}}), at = c.input({i32, {64, 1}});
  const Graph g = c.finish(Vec<Val>{softmax(x) + rows_at(softmax(x), at, true)});
  check(g);
  CHECK(shape(g).find("index") > shape(g).find(')'));
}
