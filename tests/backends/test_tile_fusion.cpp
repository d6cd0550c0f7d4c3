// Which equations share kernels: counts of kernels, of body equations, and that all of it stays right.
#include <array>
#include <fx/tile/parse.hpp>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
int count(const Graph& g, tile::KernelKind k) {
  int n = 0;
  auto e = compile(g);
  for (const tile::Kernel& kernel : e->program().kernels) n += kernel.kind == k;
  return n;
}
// Those inside of loops, if there are any.
int kernels(const tile::Program& p) {
  int n = 0;
  for (const tile::Kernel& k : p.kernels) n += k.loop ? kernels(*k.loop) : 1;
  return n;
}
int kernels(const Graph& g) {
  auto e = compile(g);
  return kernels(e->program());
}
}  // namespace

TEST_CASE("fusion: softmax is two reductions and two maps at most") {
  Builder b;
  Val x = b.input({f32, {20, 30}});
  Val m = broadcast_in_dim(reduce_max(x, {1}), {20, 30}, {0});
  Val e = exp(x - m);
  Val y = e / broadcast_in_dim(reduce_sum(e, {1}), {20, 30}, {0});
  const Graph g = b.finish(Vec<Val>{y});
  check(g);
  CHECK(kernels(g) == 4);
}

TEST_CASE("fusion: a value that later kernels read is computed where they are, if they are one") {
  Builder b;
  Val x = b.input({f32, {10, 10}}), y = b.input({f32, {10, 10}});
  Val early = x * 2.0 + y;  // only read after the reduction
  Val r = reduce_sum(x, {1});
  Val z = early + broadcast_in_dim(r, {10, 10}, {0});
  const Graph g = b.finish(Vec<Val>{z});
  check(g);
  CHECK(kernels(g) == 2);
}

TEST_CASE("fusion: an elementwise chain that a reduction alone reads is its prologue") {
  Builder b;
  Val x = b.input({f32, {10, 10}});
  Val p = x * x + 1.0, q = exp(x);
  const Graph g = b.finish(Vec<Val>{reduce_sum(p, {0}), reduce_sum(q, {0}), q});
  check(g);
  CHECK(count(g, tile::KernelKind::map) == 1);  // q is an output too
  CHECK(count(g, tile::KernelKind::reduce) == 2);
}

TEST_CASE("fusion: iota and broadcast literals are computed wherever they are read") {
  Builder b;
  Val x = b.input({f32, {10, 10}});
  Val i = iota(b, f32, {10, 10}, 0);
  const Graph g =
      b.finish(Vec<Val>{x * i, reduce_sum(i * x, {0, 1}), transpose(i, {1, 0}) + full(b, {f32, {10, 10}}, 3), i});
  check(g);
}

TEST_CASE("fusion: what changes nothing costs nothing") {
  Builder b;
  Val x = b.input({f32, {6, 4}});
  Val y = reshape(stop_gradient(exp(x)) + 1.0, {4, 6});
  const Graph g = b.finish(Vec<Val>{reshape(stop_gradient(y), {24})});
  check(g);
  CHECK(kernels(g) == 1);
}

TEST_CASE("fusion: a product reads transposed and broadcast operands where they lie") {
  Builder b;
  Val x = b.input({f32, {8, 6}}), w = b.input({f32, {5, 6}}), v = b.input({f32, {6}});
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  const Graph g = b.finish(
      Vec<Val>{dot_general(x, transpose(w, {1, 0}), d), dot_general(x, broadcast_in_dim(v, {6, 3}, {0}), d),
               dot_general(slice(x, {0, 1}, {8, 4}), rev(slice(transpose(w, {1, 0}), {0, 0}, {3, 5}), {0, 1}), d)});
  check(g);
  CHECK(kernels(g) == 3);
}

TEST_CASE("fusion: very large bodies are split") {
  Builder b;
  Val x = b.input({f32, {50}}), y = b.input({f32, {50}});
  for (int i = 0; i < 1000; ++i) y = y * x + double(i % 7);
  const Graph g = b.finish(Vec<Val>{y});
  check(g);
  CHECK(kernels(g) >= 10);
  CHECK(kernels(g) <= 12);
}

TEST_CASE("fusion: calls are inlined, nested ones too") {
  Builder inner;
  Val a = inner.input({f32, {5}});
  GraphRef f(new Graph(inner.finish(Vec<Val>{a * 2.0, a + 1.0})));
  for (int depth = 0; depth < 50; ++depth) {
    Builder b;
    Val x = b.input({f32, {5}});
    Val r = b.bind(prim<Jit>, {x}, Params().label("f").graph(f));
    f = GraphRef(new Graph(b.finish(Vec<Val>{Val(&b, r.id + 1), r})));
  }
  check(*f);
  CHECK(kernels(*f) == 1);
}

TEST_CASE("fusion: views of views") {
  Random r{3};
  for (int round = 0; round < 60; ++round) {
    Builder b;
    Val x = b.input({f32, {4, 6, 2}});
    Val y = x;
    std::string trail;
    for (int i = 0; i < 4; ++i) {
      const Dims& d = type_of(y).dims;
      switch (r.below(6)) {
        case 0:
          y = transpose(y, d.n == 3 ? Dims{2, 0, 1} : d.n == 2 ? Dims{1, 0} : d.n == 1 ? Dims{0} : Dims{3, 1, 2, 0});
          break;
        case 1: y = rev(y, Dims{r.below(d.n)}); break;
        case 2: y = reshape(y, Dims{numel(d)}); break;
        case 3: {
          Dims e{2};
          e.push_back(numel(d) / 2);
          if (numel(d) % 2 == 0) y = reshape(y, e);
          break;
        }
        case 4: {
          Dims start(d.n, 0), limit = d, stride(d.n, 1);
          const int k = r.below(d.n);
          if (d[k] > 2) start[k] = 1, stride[k] = 1 + r.below(2);
          y = slice(y, start, limit, stride);
          break;
        }
        default:
          if (d.n < 4) {
            Dims to = d, at;
            to.insert(d.n, 3);
            for (int k = 0; k < d.n; ++k) at.push_back(k);
            y = broadcast_in_dim(y, to, at);
          }
      }
    }
    const Graph g = b.finish(Vec<Val>{y * 2.0, reduce_sum(y, {0})});
    check(g, std::uint64_t(round));
  }
}

namespace {
Val times(Val x, Val y) {
  DotDims d;
  d.lhs_contract = {1}, d.rhs_contract = {0};
  return dot_general(x, y, d);
}
const tile::Kernel& product_of(const tile::Program& p) {
  for (const tile::Kernel& k : p.kernels)
    if (k.kind == tile::KernelKind::dot) return k;
  FAIL("no product");
  std::abort();
}
// On every tier, counted and not, compiled and from an image.
void check_product(const Graph& g, int results, int count) {
  const Vec<Elements> in = samples(g), expected = evaluate(g, in);
  for (tiled::Level l : {tiled::Level::baseline, tiled::Level::avx2, tiled::Level::avx512}) {
    tiled::cap_level(l);
    check(g);
    check_same(g, expected, call_bits(*compile(g), g, in));
    if (const auto again = reloaded(g)) check_same(g, expected, call_bits(*again, g, in));
  }
  const auto e = compile(g);
  CHECK(product_of(e->program()).out.size() == results);
  CHECK(e->program().kernels.size() == count);
}
}  // namespace

TEST_CASE("fusion: what reads a product is its epilogue") {
  for (DType d : {f32, f64, i32, i64})
    for (const auto& sizes : {std::array{40, 70, 65}, std::array{6, 600, 400}, std::array{100, 300, 16}}) {
      const int m = sizes[0], k = sizes[1], n = sizes[2];
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      Builder b;
      Val x = b.input({d, {m, k}}), w = b.input({d, {k, n}}), bias = b.input({d, {n}}), old = b.input({d, {m, n}});
      Val z = times(x, w) + broadcast_in_dim(bias, {m, n}, {1}), c = b.literal(d, detail::encode(d, 1));
      check_product(b.finish(Vec<Val>{maximum(z, c) - old, lt(z, old)}), 2, 1);
    }
}

TEST_CASE("fusion: a product that others read too is a result of its own") {
  Builder b;
  Val x = b.input({f32, {40, 30}}), w = b.input({f32, {30, 50}});
  Val z = times(x, w), y = tanh(z);
  check_product(b.finish(Vec<Val>{y, transpose(z, {1, 0})}), 2, 2);
  Builder c;
  x = c.input({f32, {40, 30}}), w = c.input({f32, {30, 50}});
  z = times(x, w);
  check_product(c.finish(Vec<Val>{z, tanh(z)}), 2, 1);
}

TEST_CASE("fusion: epilogues of products over batches and over several row dimensions") {
  Builder b;
  Val x = b.input({f32, {3, 20, 30}}), w = b.input({f32, {3, 30, 50}}), v = b.input({f32, {3, 20}});
  DotDims d;
  d.lhs_batch = {0}, d.rhs_batch = {0}, d.lhs_contract = {2}, d.rhs_contract = {1};
  check_product(b.finish(Vec<Val>{exp(dot_general(x, w, d)) * broadcast_in_dim(v, {3, 20, 50}, {0, 1})}), 1, 1);
  Builder c;
  x = c.input({f32, {3, 20, 30}}), w = c.input({f32, {30, 50}}), v = c.input({f32, {20, 50}});
  DotDims rows;
  rows.lhs_contract = {2}, rows.rhs_contract = {0};
  check_product(c.finish(Vec<Val>{dot_general(x, w, rows) - broadcast_in_dim(v, {3, 20, 50}, {1, 2})}), 1, 1);
}

TEST_CASE("fusion: a product that is read turned around is computed turned around") {
  Builder b;
  Val x = b.input({f32, {20, 40}}), dy = b.input({f32, {20, 50}}), w = b.input({f32, {40, 50}});
  DotDims d;
  d.lhs_contract = {0}, d.rhs_contract = {0};
  check_product(b.finish(Vec<Val>{w - 0.1 * transpose(dot_general(dy, x, d), {1, 0})}), 1, 1);
  Builder c;  // batch, and dimensions taken apart
  Val u = c.input({f32, {3, 20, 30}}), v = c.input({f32, {3, 30, 24}}), e = c.input({f32, {24, 3, 4, 5}});
  DotDims batch;
  batch.lhs_batch = {0}, batch.rhs_batch = {0}, batch.lhs_contract = {2}, batch.rhs_contract = {1};
  Val y = reshape(dot_general(u, v, batch), {3, 4, 5, 24});
  check(c.finish(Vec<Val>{e * transpose(y, {3, 0, 1, 2}), transpose(e, {1, 2, 3, 0}) + reshape(y, {3, 4, 5, 24})}));
  check_product(c.finish(Vec<Val>{exp(transpose(y, {0, 2, 1, 3}))}), 1, 1);
}

TEST_CASE("fusion: an update by a product may stay in the memory of what it updates") {
  Builder b;
  Val w = b.input({f32, {30, 50}}), x = b.input({f32, {20, 30}}), dy = b.input({f32, {20, 50}});
  Val update = times(transpose(x, {1, 0}), dy);
  const Graph g = b.finish(Vec<Val>{w - 0.1 * update});
  check_product(g, 1, 1);
  const auto e = compile(g);
  CHECK(tile::Aliases(e->program()).allowed(0, 0));
  CHECK(!tile::Aliases(e->program()).allowed(0, 2));
  Builder c;  // the product reads what its epilogue reads
  Val y = c.input({f32, {32, 32}});
  const Graph square = c.finish(Vec<Val>{y - times(y, y)});
  check_product(square, 1, 1);
  CHECK(!tile::Aliases(compile(square)->program()).allowed(0, 0));
}

TEST_CASE("fusion: products without an epilogue: small, kept and turned around, or with positions") {
  Builder b;
  Val x = b.input({f32, {40, 30}}), w = b.input({f32, {30, 50}}), s = b.input({f32, {4, 4}});
  Val z = times(x, w), back = times(transpose(w, {1, 0}), transpose(x, {1, 0}));
  const Graph g =
      b.finish(Vec<Val>{tanh(times(s, s)), z, tanh(transpose(z, {1, 0})), back * iota(b, f32, {50, 40}, 0)});
  check(g);
  const auto e = compile(g);
  for (const tile::Kernel& k : e->program().kernels) CHECK(!(k.kind == tile::KernelKind::dot && k.body));
}

TEST_CASE("fusion: a program whose epilogue would leave its memory is none") {
  Builder b;
  Val x = b.input({f32, {40, 30}}), w = b.input({f32, {30, 50}}), v = b.input({f32, {50}});
  const Graph g = b.finish(Vec<Val>{tanh(times(x, w)) + broadcast_in_dim(v, {40, 50}, {1})});
  const auto e = compile(g);
  auto wrong = [&](auto&& change) {
    tile::Program p;
    p.target = e->program().target, p.buffers = e->program().buffers, p.ins = e->program().ins;
    p.outs = e->program().outs, p.kernels = e->program().kernels, p.workspace = e->program().workspace;
    change(p.kernels[0]);
    return tile::verify(p);
  };
  CHECK(wrong([](tile::Kernel&) {}) == "");
  const std::string start = "kernel 0 (dot): ";
  CHECK(wrong([](tile::Kernel& k) { k.out[0].stride[1] = 0; }) ==
        start + "its body must work on rows of contiguous elements");
  CHECK(wrong([](tile::Kernel& k) { k.in[0].stride[1] = 1, k.space[1] = 1; }) ==
        start + "an input of the body has another type than what is read");
  CHECK(wrong([](tile::Kernel& k) { k.space[2] = 0; }) == start + "its body must work on rows of contiguous elements");
  CHECK(wrong([](tile::Kernel& k) { k.in[2].stride[1] = 0, k.in[2].stride[2] = 1; }) ==
        start + "its last dimension must be the contracted one");
  CHECK(wrong([](tile::Kernel& k) { k.in.resize(2); }) == start + "the body takes or gives another number of values");
}
