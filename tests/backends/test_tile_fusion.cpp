// Which equations share kernels: counts of kernels, of body equations, and that all of it stays right.
#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
int count(const Graph& g, tile::KernelKind k) {
  int n = 0;
  auto e = compile(g);
  for (const tile::Kernel& kernel : e->program().kernels) n += kernel.kind == k;
  return n;
}
int kernels(const Graph& g) { return compile(g)->program().kernels.size(); }
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
