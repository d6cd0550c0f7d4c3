// Which products make an operand while they pack it, and that all of it stays right.
#include <fx/runtime/workers.hpp>
#include <fx/tile/parse.hpp>
#include <fx/tile/print.hpp>
#include <fx/tile/target.hpp>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
// Contracts dimension `l` of x with dimension `r` of y; a dimension 0 of both that is a batch.
Val product(Val x, Val y, std::int64_t l, std::int64_t r, bool batch = false) {
  DotDims d;
  d.lhs_contract = {l}, d.rhs_contract = {r};
  if (batch) d.lhs_batch = {0}, d.rhs_batch = {0};
  return dot_general(x, y, d);
}
Val times(Val x, Val y) { return product(x, y, 1, 0); }
Val rows(Val v, const Dims& to) { return broadcast_in_dim(v, to, {to.n - 1}); }

// "lr": the sides that the products of g make, in the order of the program; '.' for a product that makes none.
std::string made(const Graph& g) {
  std::string s;
  const auto e = compile(g);
  for (const tile::Kernel& k : e->program().kernels) {
    if (k.kind != tile::KernelKind::dot) continue;
    if (k.made[0]) s += 'l';
    if (k.made[1]) s += 'r';
    if (!k.made[0] && !k.made[1]) s += '.';
  }
  return s;
}
// On every tier: counted, called, read from an image, read from its text.
void check_made(const Graph& g, const std::string& sides, std::uint64_t seed = 1) {
  const Vec<Elements> in = samples(g, seed), expected = evaluate(g, in);
  for (tiled::Level l : {tiled::Level::baseline, tiled::Level::avx2, tiled::Level::avx512}) {
    tiled::cap_level(l);
    check(g, seed);
    const auto e = compile(g);
    check_same(g, expected, call_bits(*e, g, in));
    if (const auto again = reloaded(g)) check_same(g, expected, call_bits(*again, g, in));
    const std::string text = e->text("tile");
    const Ref<const tile::Program> p = tile::parse_program(text);
    CHECK(tile::text(*p, tile::host()) == text);
    const tiled::TiledExecutable parsed(GraphRef(), p);
    check_same(g, expected, call_bits(parsed, g, in));
  }
  CHECK(made(g) == sides);
}
}  // namespace

TEST_CASE("prologue: what makes an operand of a product is part of it") {
  for (DType d : {f32, f64, i32, i64, u32, u64}) {
    CAPTURE(name(d));
    Builder b;
    Val g = b.input({d, {70, 40}}), h = b.input({d, {70, 40}}), x = b.input({d, {70, 50}});
    Val zero = b.literal(d, 0);
    check_made(b.finish(Vec<Val>{product(x, select(lt(zero, h), g, zero), 0, 0)}), "r");
    Builder c;
    g = c.input({d, {70, 40}}), h = c.input({d, {40}}), x = c.input({d, {40, 50}});
    check_made(c.finish(Vec<Val>{times((g - rows(h, {70, 40})) * g, x)}), "l");
  }
}

TEST_CASE("prologue: both operands and an epilogue, of other dtypes than the product") {
  Builder b;
  Val x = b.input({i32, {60, 45}}), w = b.input({boolean, {45, 90}}), bias = b.input({f32, {90}});
  Val l = convert(x, f32) * 0.5, r = select(w, b.literal(f32, detail::encode(f32, 3)), b.literal(f32, 0));
  check_made(b.finish(Vec<Val>{tanh(times(l, r) + rows(bias, {60, 90}))}), "lr");
}

TEST_CASE("prologue: over batches, with operands that lie transposed, sliced, reversed and broadcast") {
  Builder b;
  Val x = b.input({f32, {3, 20, 30}}), w = b.input({f32, {3, 30, 50}}), v = b.input({f32, {3, 20}});
  Val y = exp(x - broadcast_in_dim(v, {3, 20, 30}, {0, 1}));
  check_made(b.finish(Vec<Val>{product(y, w * 2.0, 2, 1, true)}), "lr");
  Builder c;  // each operand of the map lies its own way
  x = c.input({f32, {30, 70}}), w = c.input({f32, {70, 30}}), v = c.input({f32, {31, 72}});
  y = transpose(x, {1, 0}) + w * rev(slice(transpose(v, {1, 0}), {1, 0}, {71, 30}), {0, 1});
  check_made(c.finish(Vec<Val>{product(y, c.input({f32, {70, 40}}), 0, 0)}), "l");
  Builder d;  // the product sees the operand transposed, or a part of it
  x = d.input({f32, {30, 70}}), w = d.input({f32, {30, 40}});
  check_made(d.finish(Vec<Val>{times(transpose(x + 1.0, {1, 0}), w)}), "l");
  Builder e;
  x = e.input({f32, {40, 80}}), w = e.input({f32, {35, 40}});
  check_made(e.finish(Vec<Val>{times(slice(x * x, {4, 5}, {34, 75}, {1, 2}), w)}), "l");
}

TEST_CASE("prologue: rows in several dimensions, and an operand that is taken apart") {
  Builder b;
  Val x = b.input({f32, {4, 6, 10, 30}}), v = b.input({f32, {6, 30}}), w = b.input({f32, {30, 40}});
  Val y = x * broadcast_in_dim(v, {4, 6, 10, 30}, {1, 3});
  check_made(b.finish(Vec<Val>{product(transpose(y, {1, 0, 2, 3}), w, 3, 0)}), "l");
  Builder c;  // (240, 30) of the map are (24, 10, 30) of the product, one operand of the map is the same in all rows
  x = c.input({f32, {240, 30}}), v = c.input({f32, {30}}), w = c.input({f32, {30, 40}});
  y = x + rows(v, {240, 30});
  check_made(c.finish(Vec<Val>{product(reshape(y, {24, 10, 30}), w, 2, 0)}), "l");
}

TEST_CASE("prologue: products without: the operand is read by others too, kept, has positions, is no map's") {
  Builder b;
  Val x = b.input({f32, {40, 30}}), w = b.input({f32, {30, 50}}), u = b.input({f32, {50, 30}});
  Val y = x * 2.0, z = exp(x), i = x + iota(b, f32, {40, 30}, 0);
  const Graph g = b.finish(
      Vec<Val>{times(y, w), product(y, u, 1, 1), times(z, w), z, times(i, w), times(cumsum(x, 0), w), times(x, w)});
  check_made(g, "......");
}

TEST_CASE("prologue: products without: small or with few rows or columns") {
  Builder b;
  Val x = b.input({f32, {40, 30}}), v = b.input({f32, {30, 1}}), w = b.input({f32, {30, 80}});
  Val few = b.input({f32, {4, 30}}), s = b.input({f32, {8, 8}});
  check_made(b.finish(Vec<Val>{times(x * 2.0, v), times(few * 2.0, w), times(s * 2.0, s),
                               times(x * 3.0, slice(w, {0, 0}, {30, 15}))}),
             "....");
}

TEST_CASE("prologue: an operand that is packed many times is made once, unless it is cheap") {
  Builder b;
  Val x = b.input({f32, {6, 20}}), w = b.input({f32, {20, 5000}});
  CHECK(made(b.finish(Vec<Val>{times(exp(x), w)})) == ".");
  Builder c;
  x = c.input({f32, {6, 20}}), w = c.input({f32, {20, 5000}});
  CHECK(made(c.finish(Vec<Val>{times(x + 1.0, w)})) == "l");
  Builder d;  // w is the same for the batch, and for its threads
  Val y = d.input({f32, {9, 64, 64}}), u = d.input({f32, {64, 64}}), t = d.input({f32, {64, 64}});
  CHECK(made(d.finish(Vec<Val>{product(y, broadcast_in_dim(tanh(u) * t, {9, 64, 64}, {1, 2}), 2, 1, true)})) == ".");
}

TEST_CASE("prologue: a result may not lie in the memory of what the operand is made from") {
  Builder b;
  Val x = b.input({f32, {32, 32}}), w = b.input({f32, {32, 32}}), u = b.input({f32, {32, 32}});
  const Graph g = b.finish(Vec<Val>{u - times(x * 2.0, w * w)});
  check_made(g, "lr");
  const auto e = compile(g);
  const tile::Aliases aliases(e->program());
  CHECK(!aliases.allowed(0, 0));
  CHECK(!aliases.allowed(0, 1));
  CHECK(aliases.allowed(0, 2));
  CHECK(e->program().buffers.size() == 4);
}

TEST_CASE("prologue: random shapes") {
  Random r{11};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const int m = 5 + r.below(150), n = 16 + r.below(150), k = 1 + r.below(round % 5 == 0 ? 700 : 60),
              batch = r.below(3);
    const DType d = round % 3 == 0 ? f64 : round % 7 == 0 ? i32 : f32;
    Builder b;
    auto operand = [&](std::int64_t line, std::int64_t term, bool turned) {
      Dims dims = turned ? Dims{term, line} : Dims{line, term};
      if (batch) dims.insert(0, batch);
      Val x = b.input({d, dims}), y = b.input({d, Dims{dims[dims.n - 1]}});
      Val z = r.below(3) == 0 ? x : r.below(2) ? maximum(x, rows(y, dims)) : x * x + rows(y, dims);
      if (r.below(2)) return z;
      Dims order;
      for (int i = 0; i < dims.n - 2; ++i) order.push_back(i);
      order.push_back(dims.n - 1), order.push_back(dims.n - 2);
      return transpose(transpose(z, order), order);
    };
    const bool left = r.below(2), right = r.below(2);
    Val x = operand(m, k, left), w = operand(n, k, right);
    Val z = product(x, w, (batch ? 1 : 0) + !left, (batch ? 1 : 0) + !right, batch);
    if (r.below(2)) z = abs(z) - rows(b.input({d, {n}}), type_of(z).dims);
    const Graph g = b.finish(Vec<Val>{z});
    check(g, std::uint64_t(round));
    const Vec<Elements> in = samples(g), expected = evaluate(g, in);
    for (tiled::Level l : {tiled::Level::baseline, tiled::Level::avx2}) {
      tiled::cap_level(l);
      check_same(g, expected, call_bits(*compile(g), g, in));
    }
    tiled::cap_level(tiled::Level::avx512);
  }
}

TEST_CASE("prologue: a program whose operand cannot be made is none") {
  Builder b;
  Val x = b.input({f32, {40, 30}}), w = b.input({f32, {30, 50}}), v = b.input({f32, {30}});
  const auto e = compile(b.finish(Vec<Val>{times(x * rows(v, {40, 30}), w)}));
  auto wrong = [&](auto&& change) {
    tile::Program p;
    p.target = e->program().target, p.buffers = e->program().buffers, p.ins = e->program().ins;
    p.outs = e->program().outs, p.kernels = e->program().kernels, p.workspace = e->program().workspace;
    REQUIRE(p.kernels.size() == 1);
    change(p.kernels[0]);
    return tile::verify(p);
  };
  auto graph = [](auto&& make) {
    Builder own;
    Val p = own.input({f32, {40, 30}}), q = own.input({f32, {40, 30}});
    return GraphRef(new Graph(own.finish(Vec<Val>{make(own, p, q)})));
  };
  CHECK(wrong([](tile::Kernel&) {}) == "");
  const std::string start = "kernel 0 (dot): ";
  CHECK(wrong([](tile::Kernel& k) { k.made[0] = {}; }) == start + "it reads or writes another number of arrays");
  CHECK(wrong([](tile::Kernel& k) { k.made[1] = k.made[0]; }) == start + "it reads or writes another number of arrays");
  CHECK(wrong([](tile::Kernel& k) { k.in[1].offset = 1; }) == start + "an access leaves its buffer");
  CHECK(wrong([](tile::Kernel& k) { k.space[2] = 0; }) == start + "an operand is made from nothing");
  CHECK(wrong([](tile::Kernel& k) { k.kind = tile::KernelKind::map; }) ==
        start.substr(0, 10) + "map): it makes operands of no product");
  CHECK(wrong([&](tile::Kernel& k) { k.made[0] = graph([](Builder&, Val p, Val q) { return lt(p, q); }); }) ==
        start + "an operand cannot be made so");
  CHECK(wrong([&](tile::Kernel& k) {
          k.made[0] = graph([](Builder& own, Val p, Val q) { return p + q + iota(own, f32, {40, 30}, 0); });
        }) == start + "an operand cannot be made so");
  CHECK(wrong([&](tile::Kernel& k) {
          k.made[0] = graph([](Builder&, Val p, Val q) { return reduce_sum(p + q, {1}); });
        }) != "");
}
