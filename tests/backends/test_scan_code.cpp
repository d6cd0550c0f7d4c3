// Loops as one function: random bodies give the bits of constant evaluation on each tier, kernel by kernel and as a
// whole, in memory that ends where the operands do; so do their gradients. Which loops are one function, and which not.
#include <fx/backends/tiled/code/memory.hpp>
#include <fx/backends/tiled/kernels/level.hpp>
#include <fx/passes/transpose.hpp>
#include <thread>

#include "backends/code_util.hpp"
using namespace tile_test;

namespace {

// How many loops were one function, and how many not.
struct Ways {
  int whole = 0, split = 0;
};

// All tiers against constant evaluation.
void check_tiers(const Graph& g, std::uint64_t seed, Ways* ways = nullptr) {
  const Vec<Elements> in = samples(g, seed), expected = evaluate(g, in);
  for (tiled::Level l : {tiled::Level::baseline, tiled::Level::avx2, tiled::Level::avx512}) {
    tiled::cap_level(l);
    if (tiled::level() != l) continue;
    INFO("level " << int(l) << ", seed " << seed);
    auto e = compile(g);
    const std::string text = e->text("asm");
    if (l == tiled::Level::baseline) CHECK(count(text, "the whole loop") == 0);
    if (ways && l != tiled::Level::baseline) {
      ways->whole += count(text, "the whole loop") + count(text, "row by row");
      ways->split += count(text, "kernel by kernel") - count(text, "it has no steps");
    }
    check_same(g, expected, run(*e, g, in));
    check_same(g, expected, run_bits(*e, g, in).out);
  }
  tiled::cap_level(tiled::Level::avx512);
}

// Random loops over what machine code is made for, and some that it is not.
class RandomLoop {
  Random r_;
  bool smooth_;  // floats alone, and operations with a derivative
  Builder* b_ = nullptr;
  Vec<Val> pool_;

  DType dtype() {
    static constexpr DType all[] = {f32, f64, i32, u32, i64, u64, boolean, f32, f32};
    return smooth_ ? (single_ ? f32 : f64) : mixed_ ? all[r_.below(9)] : one_;
  }
  bool single_ = true, mixed_ = true;
  DType one_ = f32;
  Dims shape() {
    static const Dims shapes[] = {{}, {1}, {3}, {4}, {8}, {16}, {17}, {3, 5}, {4, 4}, {2, 3, 2}, {33}, {0}, {7, 16}};
    return shapes[r_.below(13)];
  }
  Val pick() { return pool_[r_.below(pool_.size())]; }
  Val of(Val v, Type t) {  // by value: types move as they become more
    if (type_of(v).dtype != t.dtype) v = convert(v, t.dtype);
    const Dims d = type_of(v).dims;
    if (d == t.dims) return v;
    if (numel(d) == numel(t.dims)) return reshape(v, t.dims);
    if (numel(d) == 0) return broadcast_to(Val(b_->literal(t.dtype, 1)), t.dims);
    Dims start(d.n, 0), limit(d.n, 1), stride(d.n, 1);
    for (int i = 0; i < d.n; ++i) start[i] = r_.below(int(d[i])), limit[i] = start[i] + 1;
    return broadcast_to(reshape(d.n ? slice(v, start, limit, stride) : v, {}), t.dims);
  }
  Val like(Val v) { return of(pick(), type_of(v)); }

  Val elementwise() {
    Val x = pick();
    const DType d = type_of(x).dtype;
    if (d == boolean) return r_.below(2) ? bit_xor(x, like(x)) : convert(x, dtype());
    Val y = like(x);
    switch (r_.below(smooth_ ? 7 : 10)) {
      case 0: return x + y;
      case 1: return is_float(d) ? tanh(x) * y : x * y;
      case 2: return x - y;
      case 3: return is_float(d) ? sin(x) : bit_and(x, y);
      case 4: return is_float(d) ? exp(tanh(x)) : bind(prim<Min>, {x, y});
      case 5: return select(lt(x, y), y, x);
      case 6: return x * 0.5 + y;
      case 7: return lt(x, y);
      case 8: return convert(x, dtype());
      default: return bind(prim<Max>, {x, y});
    }
  }
  Val layout() {
    Val x = pick();
    const Dims d = type_of(x).dims;
    const int k = d.n ? r_.below(d.n) : 0;
    if (d.n == 0) return broadcast_to(x, Dims{1 + r_.below(20)});
    switch (r_.below(6)) {
      case 0: return d.n == 3 ? transpose(x, {1, 2, 0}) : d.n == 2 ? transpose(x, {1, 0}) : rev(x, Dims{0});
      case 1: return rev(x, Dims{k});
      case 2: return reshape(x, Dims{numel(d)});
      case 3: {
        Dims start(d.n, 0), limit = d, stride(d.n, 1);
        start[k] = r_.below(int(d[k]) + 1);
        stride[k] = 1 + r_.below(2);
        return slice(x, start, limit, stride);
      }
      case 4: {
        Val parts[] = {x, like(x)};
        return concatenate(Span<const Val>(parts, 2), k);
      }
      default: return smooth_ ? x * 0.25 : iota(*b_, dtype() == boolean ? i32 : f32, d, k);
    }
  }
  Val product() {
    Val x = pick();
    if (type_of(x).dtype == boolean) x = convert(x, i32);
    const Dims d = type_of(x).dims;
    if (d.n == 0) return x;
    DotDims dd;
    Val y = like(x);
    const int k = r_.below(d.n);
    if (d.n == 1 && r_.below(3) == 0) return dot_general(x, y, dd);  // all pairs
    dd.lhs_contract.push_back(k);
    dd.rhs_contract.push_back(k);
    if (d.n == 2 && r_.below(2)) {  // a matrix and a vector, either way round
      const Type v{type_of(x).dtype, {d[k]}};
      y = of(pick(), v);
      dd.rhs_contract[0] = 0;
      if (r_.below(2)) {
        std::swap(x, y);
        std::swap(dd.lhs_contract, dd.rhs_contract);
      }
    } else if (d.n > 1 && r_.below(3) == 0) {
      dd.lhs_batch.push_back((k + 1) % d.n);
      dd.rhs_batch.push_back((k + 1) % d.n);
    }
    return dot_general(x, y, dd);
  }
  Val fold() {
    Val x = pick();
    const int rank = type_of(x).rank();
    if (type_of(x).dtype == boolean || rank == 0) return x;
    Dims axes;
    for (int d = 0; d < rank; ++d)
      if (r_.below(2)) axes.push_back(d);
    if (axes.empty()) axes.push_back(r_.below(rank));
    if (r_.below(2)) std::swap(axes[0], axes[axes.n - 1]);
    if (r_.below(2)) x = x * like(x);
    if (smooth_ || r_.below(2)) return reduce_sum(x, axes);
    return r_.below(4) ? reduce_max(x, axes) : bind(prim<ReduceProd>, {x}, Params().ints(axes));
  }
  Val literal() {  // an array of one number, also one without elements
    const DType d = dtype();
    return broadcast_to(Val(b_->literal(d, 1)), shape());
  }
  void step() {
    const int kind = r_.below(44);
    Val v = kind == 0 ? literal() : kind < 20 ? elementwise() : kind < 30 ? layout() : kind < 38 ? product() : fold();
    if (is_float(type_of(v).dtype) && r_.below(3) == 0) v = tanh(v);
    if (numel(type_of(v)) <= 400 && type_of(v).rank() <= 3) pool_.push_back(v);
  }

 public:
  RandomLoop(std::uint64_t seed, bool smooth) : r_{seed}, smooth_(smooth) {
    static constexpr DType all[] = {f32, f64, i32, i64};
    single_ = r_.below(2), mixed_ = r_.below(2), one_ = all[r_.below(4)];
  }
  Graph make() {
    static const int lengths[] = {0, 1, 2, 3, 7, 5, 4, 8};
    const std::int64_t length = lengths[r_.below(8)];
    const int consts = r_.below(3), carries = r_.below(4), xs = r_.below(3) + (consts + carries == 0);
    Vec<Type> types;
    for (int k = 0; k < consts + carries + xs; ++k) types.push_back({dtype(), shape()});
    Builder b, body(false, 1);
    Vec<Val> operands;
    for (int k = 0; k < types.size(); ++k) {
      Type t = types[k];
      if (k >= consts + carries && t.dims.n == 3) types[k].dims = t.dims = Dims{6};
      if (k >= consts + carries) t.dims.insert(0, length);
      operands.push_back(b.input(t));
    }
    b_ = &body;
    for (const Type& t : types) pool_.push_back(body.input(t));
    for (int n = 2 + r_.below(8); n > 0; --n) step();
    Vec<Val> outs;
    for (int c = 0; c < carries; ++c) {
      Val v = of(pool_[pool_.size() - 1 - r_.below(pool_.size() < 4 ? pool_.size() : 4)], types[consts + c]);
      outs.push_back(smooth_ ? tanh(v) : v);
    }
    for (int j = r_.below(3) + (carries == 0); j > 0; --j) outs.push_back(pick());
    const GraphRef f(new Graph(body.finish(outs)));
    b_ = &b;
    const Val first = b.bind(prim<Scan>, operands, Scan::params({length, r_.below(2) == 1, consts, carries, f}));
    Vec<Val> results;
    for (int j = 0; j < outs.size(); ++j) results.push_back(Val(&b, first.id + j));
    return b.finish(results);
  }
};

// One carry, one row in, one row out.
template <class F>
Graph loop(std::int64_t length, const Vec<Type>& types, F&& f) {
  Builder b, body(false, 1);
  Vec<Val> in, operands;
  for (int k = 0; k < 3; ++k) {
    Type t = types[k];
    in.push_back(body.input(t));
    if (k == 2) t.dims.insert(0, length);
    operands.push_back(b.input(t));
  }
  const std::pair<Val, Val> r = f(in[0], in[1], in[2]);
  const Val body_outs[] = {r.first, r.second};
  const GraphRef g(new Graph(body.finish(body_outs)));
  const Val first = b.bind(prim<Scan>, operands, Scan::params({length, false, 1, 1, g}));
  const Val outs[] = {first, Val(first.b, first.id + 1)};
  return b.finish(outs);
}

}  // namespace

TEST_CASE("random loops, all dtypes") {
  Ways ways;
  for (std::uint64_t seed = 0; seed < 400; ++seed) check_tiers(RandomLoop(seed, false).make(), seed, &ways);
  if (tiled::level() == tiled::Level::baseline || !tiled::code::executable_memory()) return;
  MESSAGE(ways.whole << " loops were one function, " << ways.split << " not");
  // AVX2 alone calls for more conversions, and calls are no part of such a function.
  CHECK(ways.whole > (tiled::level() == tiled::Level::avx512 ? 9 : 4) * ways.split);
}

TEST_CASE("gradients of random loops") {
  Ways ways;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Graph g = RandomLoop(seed, true).make();
    const Vec<char> wrt(g.ins.size(), 1);
    if (g.ins.empty()) continue;
    check_tiers(simplify(vjp(g, wrt)), seed, &ways);
  }
  if (tiled::level() == tiled::Level::baseline || !tiled::code::executable_memory()) return;
  MESSAGE(ways.whole << " loops were one function, " << ways.split << " not");
  CHECK(ways.whole > 9 * ways.split);
}

TEST_CASE("recurrences of every small width") {
  for (DType d : {f32, f64, i32})
    for (std::int64_t n = 1; n <= 34; n += n < 18 ? 1 : 5) {
      const Graph g = loop(3, {{d, {n, n}}, {d, {n}}, {d, {n}}}, [&](Val w, Val h, Val x) {
        DotDims dd;
        dd.lhs_contract.push_back(1);
        dd.rhs_contract.push_back(0);
        const Val y = dot_general(w, h, dd) + x;
        const Val next = is_float(d) ? tanh(y) : y;
        return std::pair(next, next * h);
      });
      check_tiers(g, std::uint64_t(n));
      if (is_float(d)) check_tiers(simplify(vjp(g, Vec<char>(3, 1))), std::uint64_t(n));
    }
}

TEST_CASE("carries that change places, stay, and meet") {
  Builder b, body(false, 1);
  Vec<Val> in, operands;
  for (int k = 0; k < 5; ++k) {
    in.push_back(body.input({f32, {k == 4 ? 20 : 6}}));
    operands.push_back(b.input({f32, {k == 4 ? 20 : 6}}));
  }
  const Val sum = in[0] + in[1];
  const Val outs[] = {in[1], sum, sum, in[3], rev(in[4], Dims{0})};
  const GraphRef f(new Graph(body.finish(outs)));
  const Val first = b.bind(prim<Scan>, operands, Scan::params({Dim(5), false, 0, 5, f}));
  Vec<Val> results;
  for (int j = 0; j < 5; ++j) results.push_back(Val(&b, first.id + j));
  Ways ways;
  check_tiers(b.finish(results), 1, &ways);
  CHECK(ways.split == 0);
}

TEST_CASE("one executable, several threads") {
  const Vec<Type> types{{f32, {6, 6}}, {f32, {6}}, {f32, {6}}};
  const Graph g = loop(50, types, [](Val w, Val h, Val x) {
    DotDims dd;
    dd.lhs_contract.push_back(1);
    dd.rhs_contract.push_back(0);
    const Val next = tanh(dot_general(w, h, dd) + x);
    return std::pair(next, next);
  });
  const auto e = compile(g);
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Vec<Elements> in = samples(g, seed * 4 + std::uint64_t(t)), got = run(*e, g, in);
        good[std::size_t(t)] += got[0] == evaluate(g, in)[0];
      }
    });
  for (std::thread& t : threads) t.join();
  for (int n : good) CHECK(n == 20);
}

TEST_CASE("which loops are one function") {
  if (tiled::level() == tiled::Level::baseline || !tiled::code::executable_memory()) return;
  auto way = [](const Graph& g) { return compile(g)->text("asm"); };
  const Vec<Type> types{{f32, {8}}, {f32, {8}}, {f32, {8}}};
  const Vec<Type> large{{f32, {300}}, {f32, {300, 300}}, {f32, {300}}};
  const std::string small = way(loop(4, types, [](Val a, Val c, Val x) { return std::pair(c * a + x, c); }));
  CHECK(count(small, "the whole loop, ") == 1);
  const std::string sorted =
      way(loop(4, types, [](Val a, Val c, Val x) { return std::pair(c * a, cumsum(x, 0, false)); }));
  CHECK(count(sorted, "kernel by kernel: it has a kernel that is not made of vectors") == 1);
  const std::string wide = way(loop(4, large, [](Val a, Val c, Val x) { return std::pair(tanh(c), a + x); }));
  CHECK(count(wide, "kernel by kernel: it is too large") == 1);
  tiled::code::forbid_executable_memory(true);
  const Graph g = loop(4, types, [](Val a, Val c, Val x) { return std::pair(c * a + x, c); });
  const std::string none = way(g);
  check_tiers(g, 3);
  tiled::code::forbid_executable_memory(false);
  CHECK(count(none, "kernel by kernel: there is no machine code here") == 1);
}
