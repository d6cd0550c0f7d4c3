// Random Graphs: the bits of constant evaluation at every block size, through the text and back, and with outputs on
// inputs.
#include <fx/tile/parse.hpp>
#include <fx/tile/print.hpp>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {

class RandomGraph {
  Random r_;
  Builder* b_ = nullptr;
  Vec<Val> pool_;

  static constexpr DType dtypes[] = {f32, f64, i32, u32, i64, boolean};
  Dims shape() {
    static const Dims shapes[] = {{}, {5}, {3, 4}, {4, 3}, {2, 3, 4}, {12}, {1, 4}, {0, 3}, {6, 7}, {40, 3}, {3, 130}};
    return shapes[r_.below(11)];
  }
  Val pick() { return pool_[r_.below(pool_.size())]; }
  Val pick(DTypes set) {
    for (int i = 0; i < 20; ++i)
      if (Val v = pick(); in(type_of(v).dtype, set)) return v;
    return convert(pick(), f32);
  }
  // v made to have a shape: broadcast, reduced, sliced or reshaped.
  Val fit(Val v, Dims to) {
    if (type_of(v).dims == to) return v;
    if (numel(type_of(v)) == numel(to)) return reshape(v, to);
    return broadcast_to(scalar(v), to);
  }
  Val same_type(Val like) {
    Val v = pick();
    if (type_of(v).dtype != type_of(like).dtype) v = convert(v, type_of(like).dtype);
    return fit(v, type_of(like).dims);
  }
  Val scalar(Val v) { return reshape(type_of(v).dims.n ? reduce_max(v, all_axes(v)) : v, {}); }
  Val position(int n) {
    return bind(prim<Rem>, {convert(scalar(pick()), i32), Val(b_->literal(i32, std::uint64_t(n)))});
  }

  Val elementwise() {
    Val x = pick();
    const DType d = type_of(x).dtype;
    if (d == boolean) return r_.below(2) ? bit_xor(x, same_type(x)) : convert(x, dtypes[r_.below(5)]);
    Val y = same_type(x);
    switch (r_.below(9)) {
      case 0: return x + y;
      case 1: return x * y;
      case 2: return x - y;
      case 3: return bind(prim<Max>, {x, y});
      case 4: return select(lt(x, y), y, x);
      case 5: return lt(x, y);
      case 6: return is_float(d) ? tanh(x) : bind(prim<Min>, {x, y});
      case 7: return convert(x, dtypes[r_.below(6)]);
      default: return x * 0.0 + y + 3.0;
    }
  }
  Val layout() {
    Val x = pick();
    const Dims d = type_of(x).dims;
    const int n = d.n, k = n ? r_.below(n) : 0;
    switch (r_.below(8)) {
      case 0: return n == 3 ? transpose(x, {1, 2, 0}) : n == 2 ? transpose(x, {1, 0}) : x;
      case 1: return n ? rev(x, Dims{k}) : x;
      case 2: return reshape(x, Dims{numel(d)});
      case 3: {
        if (n == 0) return x;
        Dims start(n, 0), limit = d, stride(n, 1);
        start[k] = r_.below(int(d[k]) + 1);
        stride[k] = 1 + r_.below(2);
        return slice(x, start, limit, stride);
      }
      case 4: {
        if (n == 3) return x;
        Dims to = d, at;
        const int where = r_.below(n + 1);
        to.insert(where, 1 + r_.below(4));
        for (int i = 0; i < n; ++i) at.push_back(i + (i >= where));
        return broadcast_in_dim(x, to, at);
      }
      case 5: {
        if (n == 0) return x;
        Dims low(n, 0), high(n, 0), interior(n, 0);
        low[k] = r_.below(3) - (d[k] > 2 ? 1 : 0), high[k] = r_.below(2), interior[k] = r_.below(2);
        return pad(x, scalar(x), low, high, interior);
      }
      case 6: {
        if (n == 0) return x;
        Val parts[] = {x, same_type(x), x};
        return concatenate(Span<const Val>(parts, 1 + r_.below(3)), k);
      }
      default: return iota(*b_, dtypes[r_.below(5)], n ? d : Dims{4}, n ? k : 0);
    }
  }
  Val fold() {
    Val x = pick(numbers);
    const Dims d = type_of(x).dims;
    if (d.n == 0) return x;
    Dims axes;
    for (int i = 0; i < d.n; ++i)
      if (r_.below(2)) axes.push_back(i);
    if (axes.empty()) axes.push_back(r_.below(d.n));
    const int k = r_.below(d.n);
    switch (r_.below(6)) {
      case 0: return reduce_sum(x, axes);
      case 1: return reduce_max(x, axes);
      case 2: return reduce_min(x * same_type(x), axes);
      case 3: return d[k] > 0 ? argmax(x, k) : x;
      case 4: return cumsum(x, k, r_.below(2));
      default: {
        Val y = same_type(x);
        Val s = b_->bind(prim<Sort>, {x, y}, Params().integer(k).integer(1 + r_.below(2)));
        return Val(s.b, s.id + r_.below(2));
      }
    }
  }
  Val product() {
    Val x = pick(only(f32) | only(f64) | only(i32));
    const Dims d = type_of(x).dims;
    if (d.n == 0) return x;
    DotDims dd;
    Val y = same_type(x);
    const int k = r_.below(d.n);
    dd.lhs_contract.push_back(k);
    dd.rhs_contract.push_back(k);
    if (d.n > 1 && r_.below(2)) {
      dd.lhs_batch.push_back((k + 1) % d.n);
      dd.rhs_batch.push_back((k + 1) % d.n);
    } else if (d.n == 2 && r_.below(2)) {
      y = transpose(y, {1, 0});
      dd.rhs_contract[0] = 1 - k;
    }
    if (d.n == 3 && r_.below(2)) {
      dd.lhs_contract.push_back((k + 2) % 3);
      dd.rhs_contract.push_back((k + 2) % 3);
    }
    return dot_general(x, y, dd);
  }
  Val index() {
    Val x = pick();
    const Dims d = type_of(x).dims;
    if (d.n == 0 || numel(d) == 0) return x;
    Dims sizes = d;
    Vec<Val> starts;
    for (int i = 0; i < d.n; ++i) {
      sizes[i] = 1 + r_.below(int(d[i]));
      starts.push_back(position(7));
    }
    switch (r_.below(3)) {
      case 0: return dynamic_slice(x, starts, sizes);
      case 1: return dynamic_update_slice(x, fit(convert(pick(), type_of(x).dtype), sizes), starts);
      default: {
        IndexDims rows;
        for (int i = 1; i < d.n; ++i) rows.window_dims.push_back(i);
        rows.collapsed = rows.index_map = {0};
        rows.window = d;
        rows.window[0] = 1;
        rows.clamp = r_.below(2);
        Val ids = reshape(convert(fit(pick(), {6}), i32), {6, 1});
        Val g = gather(x, ids, rows);
        if (r_.below(2)) return g;
        return type_of(x).dtype != boolean && r_.below(2) ? scatter_add(x, ids, g, rows) : scatter(x, ids, g, rows);
      }
    }
  }
  Val loop(int depth) {
    Val c = pick(), x = pick();
    const Type ct = type_of(c), kt = type_of(pick());
    Type xt = type_of(x);
    if (xt.dims.n == 0) return c;
    const std::int64_t length = xt.dims[0];
    xt.dims.erase(0);
    Builder body(false, b_->depth + 1);
    Builder* outer = b_;
    Vec<Val> kept = std::move(pool_);
    pool_ = Vec<Val>();
    b_ = &body;
    const Type types[] = {kt, ct, ct, xt};
    for (const Type& t : types) pool_.push_back(body.input(t));
    steps(3 + r_.below(5), depth + 1);
    Vec<Val> outs{fit(convert(pick(), ct.dtype), ct.dims), fit(convert(pick(), ct.dtype), ct.dims), pick(), pick()};
    GraphRef f(new Graph(body.finish(outs)));
    b_ = outer;
    pool_ = std::move(kept);
    Val k = fit(convert(pick(), kt.dtype), kt.dims);
    Val first = b_->bind(prim<Scan>, {k, c, same_type(c), x}, Scan::params({length, r_.below(2) == 1, 1, 2, f}));
    for (int j = 1; j < 4; ++j) keep(Val(b_, first.id + j));
    return first;
  }
  void keep(Val v) {
    if (numel(type_of(v)) < 5000 && type_of(v).rank() <= 3) pool_.push_back(v);
  }
  void steps(int n, int depth) {
    for (int i = 0; i < n; ++i) {
      const int kind = r_.below(20);
      Val v = kind < 8    ? elementwise()
              : kind < 12 ? layout()
              : kind < 15 ? fold()
              : kind < 16 ? product()
              : kind < 18 ? index()
              : depth < 2 ? loop(depth)
                          : elementwise();
      keep(v);
    }
  }

 public:
  explicit RandomGraph(std::uint64_t seed) : r_{seed} {}
  Graph make() {
    Builder b;
    b_ = &b;
    for (int i = 0; i < 4; ++i) pool_.push_back(b.input({dtypes[r_.below(4)], shape()}));
    steps(6 + r_.below(20), 0);
    Vec<Val> outs;
    for (int i = 0; i < 1 + r_.below(4); ++i)
      outs.push_back(pool_[pool_.size() - 1 - r_.below(std::min(pool_.size(), 8))]);
    return b.finish(outs);
  }
};

void check_text(const Graph& g, const Vec<Elements>& in, const Vec<Elements>& expected) {
  auto e = compile(g, small_target(1 << 13));
  const std::string text = e->text("tile");
  Ref<const tile::Program> p = tile::parse_program(text);
  CHECK(tile::text(*p, tile::host()) == text);
  check_same(g, expected, run_bits(tiled::TiledExecutable({}, p), g, in).out);
}

// Outputs in the memory of inputs: those the executable names, or any others that it allows.
void check_aliased(const Graph& g, const Vec<Elements>& in, const Vec<Elements>& expected, Random* pick) {
  auto e = compile(g);
  Vec<Ref<Storage>> owners;
  Vec<Buffer> ins, outs;
  Vec<int> free;
  for (int k = 0; k < g.ins.size(); ++k) {
    owners.push_back(pack(g.type(g.ins[k]), in[k]));
    ins.push_back({owners.back()->data, owners.back()->bytes});
    free.push_back(k);
  }
  for (int k = 0; k < g.outs.size(); ++k) {
    const Type& t = g.type(g.outs[k]);
    int alias = pick ? -1 : e->may_alias(k);
    for (int tries = 0; pick && tries < 8 && alias < 0 && !free.empty(); ++tries) {
      const int at = pick->below(free.size());
      if (!e->may_alias(k, free[at])) continue;
      alias = free[at];
      free[at] = free.back();
      free.pop_back();
    }
    owners.push_back(alias >= 0 ? owners[alias] : allocate(numel(t) * size_of(t.dtype)));
    outs.push_back({owners.back()->data, owners.back()->bytes});
  }
  Ref<Storage> workspace = allocate(e->workspace());
  e->run(ins, outs, workspace->data);
  Vec<Elements> got;
  for (int k = 0; k < g.outs.size(); ++k) got.push_back(unpack(g.type(g.outs[k]), *owners[g.ins.size() + k]));
  check_same(g, expected, got);
}
}  // namespace

TEST_CASE("tile fuzz: random Graphs") {
  const char* asked = std::getenv("FX_FUZZ");  // a larger number, or one seed as "=7"
  const int programs = asked && *asked != '=' ? std::atoi(asked) : 400;
  for (int seed = 0; seed < programs; ++seed) {
    const std::uint64_t s = asked && *asked == '=' ? std::strtoull(asked + 1, nullptr, 10) : std::uint64_t(seed);
    INFO("seed " << s);
    const Graph g = RandomGraph(s).make();
    const Vec<Elements> in = samples(g, s), expected = evaluate(g, in);
    for (std::int64_t on_chip : {1 << 20, 1 << 12}) {
      auto e = compile(g, small_target(on_chip));
      const Outcome r = run_bits(*e, g, in);
      check_same(g, expected, r.out);
      const Vec<tile::Counts> predicted = e->program().predicted();
      for (int k = 0; k < predicted.size(); ++k) CHECK(predicted[k] == r.counts[k]);
    }
    check_text(g, in, expected);
    if (const auto again = reloaded(g)) check_same(g, expected, run_bits(*again, g, in).out);
    check_aliased(g, in, expected, nullptr);
    Random pick{s};
    check_aliased(g, in, expected, &pick);
    if (asked && *asked == '=') break;
  }
}
