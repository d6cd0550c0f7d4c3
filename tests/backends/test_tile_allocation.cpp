// Running allocates nothing: operator new is counted in this binary.
#include <cstdlib>
#include <new>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
thread_local std::int64_t news = 0;
void* counted(std::size_t n) {
  ++news;
  if (n > std::size_t(1) << 60) throw std::bad_alloc();
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace
void* operator new(std::size_t n) { return counted(n); }
void* operator new[](std::size_t n) { return counted(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

TEST_CASE("tile: running allocates nothing, whatever the kernel") {
  Builder body;
  Val w = body.input({f32, {6, 6}}), h = body.input({f32, {6}}), x = body.input({f32, {6}});
  DotDims d;
  d.lhs_contract = {0}, d.rhs_contract = {0};
  Val h2 = tanh(dot_general(h, w, d) + x);
  GraphRef f(new Graph(body.finish(Vec<Val>{h2, h})));

  Builder b;
  Val m = b.input({f32, {6, 6}}), xs = b.input({f32, {9, 6}}), i = b.input({i32, {}});
  Val first = b.bind(prim<Scan>, {m, full(b, {f32, {6}}, 0.5), xs}, Scan::params({9, false, 1, 1, f}));
  Val ys(&b, first.id + 1);
  Val starts[] = {i, b.literal(i32, 0)};
  Val sorted = b.bind(prim<Sort>, {ys}, Params().integer(1).integer(1));
  Val updated = dynamic_update_slice(ys, slice(xs, {0, 0}, {2, 6}), Span<const Val>(starts));
  IndexDims rows;
  rows.window_dims = {1};
  rows.collapsed = rows.index_map = {0};
  rows.window = {1, 6};
  Val ids = b.input({i32, {4, 1}});
  Val parts[] = {ys, xs};
  const Graph g = b.finish(Vec<Val>{sorted, updated, scatter_add(ys, ids, gather(xs, ids, rows), rows), cumsum(ys, 0),
                                    argmax(ys, 1), reduce_sum(exp(ys), {0}), reduce_max(transpose(ys, {1, 0}), {1}),
                                    concatenate(Span<const Val>(parts), 1), iota(b, f32, {9, 6}, 0) * ys});
  for (std::int64_t on_chip : {1 << 20, 1 << 9}) {
    auto e = compile(g, small_target(on_chip));
    const Vec<Elements> in = samples(g);
    Vec<Ref<Storage>> owners;
    Vec<Buffer> ins, outs;
    for (int k = 0; k < g.ins.size(); ++k) {
      owners.push_back(pack(g.type(g.ins[k]), in[k]));
      ins.push_back({owners.back()->data, owners.back()->bytes});
    }
    for (int v : g.outs) {
      owners.push_back(allocate(numel(g.type(v)) * size_of(g.type(v).dtype)));
      outs.push_back({owners.back()->data, owners.back()->bytes});
    }
    Ref<Storage> workspace = allocate(e->workspace());
    const std::int64_t before = news;
    e->run(ins, outs, workspace->data);
    CHECK(news == before);
  }
}
