// The text of tile programs: read back it is the same program and gives the same bits; mistakes in it are Errors.
#include <fx/tile/parse.hpp>
#include <fx/tile/print.hpp>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
Graph sample_graph() {
  Builder body;
  Val w = body.input({f32, {8, 8}}), h = body.input({f32, {8}}), x = body.input({f32, {8}});
  DotDims d;
  d.lhs_contract = {0}, d.rhs_contract = {0};
  Val h2 = tanh(dot_general(h, w, d) + x);
  GraphRef f(new Graph(body.finish(Vec<Val>{h2, h2 * 2.0})));
  Builder b;
  Val m = b.input({f32, {8, 8}}), xs = b.input({f32, {5, 8}}), i = b.input({i32, {}});
  Val first = b.bind(prim<Scan>, {m, full(b, {f32, {8}}, 0.5), xs}, Scan::params({5, true, 1, 1, f}));
  Val ys(&b, first.id + 1);
  Val s = reduce_sum(exp(ys) * broadcast_to(first, {5, 8}), {0}), c = cumsum(ys, 1);
  Val starts[] = {i, b.literal(i32, 0)};
  Val sorted = b.bind(prim<Sort>, {c}, Params().integer(1).integer(1));
  Val parts[] = {ys, dynamic_slice(c, Span<const Val>(starts), {2, 8})};
  Val k = iota(b, f32, {5, 8}, 1);
  return b.finish(
      Vec<Val>{first, ys, s, sorted, concatenate(Span<const Val>(parts), 0), argmax(transpose(ys, {1, 0}), 1), k * ys});
}
}  // namespace

TEST_CASE("tile text: read back, it is the same program with the same bits") {
  const Graph g = sample_graph();
  for (std::int64_t on_chip : {1 << 20, 1 << 9}) {
    auto e = compile(g, small_target(on_chip));
    const std::string text = e->text("tile");
    Ref<const tile::Program> p = tile::parse_program(text);
    CHECK(tile::text(*p, tile::host()) == text);
    const tiled::TiledExecutable again({}, p);
    CHECK(again.workspace() == e->workspace());
    const Vec<Elements> in = samples(g);
    const Outcome a = run_bits(*e, g, in), b = run_bits(again, g, in);
    check_same(g, a.out, b.out);
    for (int k = 0; k < a.counts.size(); ++k) CHECK(a.counts[k] == b.counts[k]);
    for (int k = 0; k < g.outs.size(); ++k) CHECK(e->may_alias(k) == again.may_alias(k));
  }
}

TEST_CASE("tile text: every mistake is an Error, never a crash") {
  const Graph g = sample_graph();
  const std::string text = compile(g)->text("tile");
  Random r{7};
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string t = text;
    const std::size_t at = std::size_t(r.below(int(t.size())));
    switch (r.below(4)) {
      case 0: t.resize(at); break;
      case 1: t[at] = char("0123456789(){}[],=-b \"x"[r.below(23)]); break;
      case 2: t.erase(at, std::size_t(1 + r.below(5))); break;
      default: t.insert(at, t.substr(std::size_t(r.below(int(t.size()))), std::size_t(r.below(20)))); break;
    }
    try {
      Ref<const tile::Program> p = tile::parse_program(t);
      const tiled::TiledExecutable e({}, p);
      if (p->ins.size() != g.ins.size() || p->outs.size() != g.outs.size()) continue;
      bool same = true;
      for (int k = 0; same && k < g.ins.size(); ++k) same = p->buffers[p->ins[k]].type == g.type(g.ins[k]);
      for (int k = 0; same && k < g.outs.size(); ++k) same = p->buffers[p->outs[k]].type == g.type(g.outs[k]);
      if (same) run_bits(e, g, samples(g));
    } catch (const Error& e) {
      ++refused;
      CHECK((e.code == ErrorCode::parse || e.code == ErrorCode::value));
    }
  }
  CHECK(refused > 200);
}

TEST_CASE("tile text: costs on known targets") {
  const std::string t = compile(sample_graph())->text("cost");
  CHECK(t.find("tpu_v6e") != t.npos);
  CHECK_THROWS_AS(compile(sample_graph())->text("wasm"), Error);
}
