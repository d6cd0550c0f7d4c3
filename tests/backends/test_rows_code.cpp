// Kernels that work row by row as one function: random ones give the bits of constant evaluation on each tier, kernel
// by kernel and as a whole, in memory that ends where the operands do. Which ones are one function, and which not.
#include <fx/backends/tiled/code/memory.hpp>
#include <fx/backends/tiled/kernels/level.hpp>
#include <fx/tile/parse.hpp>
#include <limits>

#include "backends/code_util.hpp"
using namespace tile_test;

namespace {

Val rows_of(Val v, Val like) {
  Dims dims;
  for (int d = 0; d < type_of(v).rank(); ++d) dims.push_back(d);
  return broadcast_in_dim(v, type_of(like).dims, dims);
}
Val along(Val v, Val like) { return broadcast_in_dim(v, type_of(like).dims, {type_of(like).rank() - 1}); }

// Numbers that break things, among others.
Elements strange(Random& r, const Type& t) {
  Elements e = sample(r, t);
  if (t.dtype == i32 || t.dtype == i64)
    for (std::uint64_t& x : e)
      if (r.below(6) == 0) x = t.dtype == i32 ? std::uint32_t(-r.below(5)) : std::uint64_t(-r.below(5));
  if (!is_float(t.dtype) || r.below(3) == 0) return e;
  constexpr double odd[] = {0.0, -0.0, 1e-42, -1e-310, 1e38, -1e300, 3.5};
  for (std::uint64_t& x : e) {
    if (r.below(8) != 0) continue;
    const int k = r.below(10);
    const double v = k < 7    ? odd[k]
                     : k == 7 ? std::numeric_limits<double>::quiet_NaN()
                              : (k == 8 ? 1 : -1) * std::numeric_limits<double>::infinity();
    x = t.dtype == f32 ? detail::to_bits(float(v)) : detail::to_bits(v);
  }
  return e;
}

// How many loops were one function row by row, how many not, and the carries of all.
struct Ways {
  int rows = 0, others = 0, carries = 0;
};

void check_rows(const Graph& g, std::uint64_t seed, Ways* ways = nullptr, std::int64_t on_chip = 1 << 12,
                int cores = 0) {
  Random r{seed};
  Vec<Elements> in;
  for (int v : g.ins) in.push_back(strange(r, g.type(v)));
  const Vec<Elements> expected = evaluate(g, in);
  for (tiled::Level l : {tiled::Level::baseline, tiled::Level::avx2, tiled::Level::avx512}) {
    tiled::cap_level(l);
    if (tiled::level() != l) continue;
    INFO("level " << int(l) << ", seed " << seed);
    Target target = small_target(on_chip);
    target.cores = cores;
    auto e = compile(g, target);
    const std::string text = e->text("asm");
    if (l == tiled::Level::baseline) CHECK(count(text, "row by row") == 0);
    if (ways && l != tiled::Level::baseline) {
      ways->rows += count(text, "row by row");
      ways->others += count(text, "kernel by kernel");
      for (const tile::Kernel& k : e->program().kernels) ways->carries += k.carries;
    }
    check_same(g, expected, run(*e, g, in));
    check_same(g, expected, run_bits(*e, g, in).out);
  }
  tiled::cap_level(tiled::Level::avx512);
}

// Values of columns and values of rows, of one dtype mostly, that random operations make more of.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : r_{seed} {
    constexpr std::int64_t widths[] = {2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 130, 257};
    const std::int64_t width = r_.below(12) == 0 ? 4096 * (1 + r_.below(2)) + r_.below(70) : widths[r_.below(17)];
    const std::int64_t rows = 2 + r_.below(width > 4000 ? 2 : 7);
    Dims shape{rows, width};
    if (r_.below(4) == 0) shape = Dims{rows, 1 + r_.below(3), width};
    constexpr DType dtypes[] = {f32, f32, f32, f64, f64, i32, u32, i64, u64};
    d_ = dtypes[r_.below(9)];
    axis_ = shape.n - 1;
    x_ = b_.input({d_, shape});
    columns_.push_back(x_);
    if (r_.below(2)) columns_.push_back(b_.input({d_, shape}));
    if (r_.below(2)) columns_.push_back(along(b_.input({d_, {width}}), x_));
    Dims once = shape;
    once.erase(axis_);
    flags_.push_back(r_.below(2) ? b_.input({boolean, shape}) : lt(x_, any(columns_)));
    if (r_.below(2)) flags_.push_back(rows_of(b_.input({boolean, once}), x_));
    if (r_.below(2)) rows_.push_back(b_.input({d_, once}));
    if (r_.below(3) == 0) columns_.push_back(gathered(once));
    rows_.push_back(reduced(any(columns_)));
  }
  Graph make() {
    const int n = 3 + r_.below(14);
    for (int i = 0; i < n; ++i) step();
    Vec<Val> outs;
    outs.push_back(any(columns_) + rows_of(rows_.back(), x_));
    for (int k = type_of(x_).rank() == 2 ? r_.below(3) : 0; k > 0; --k)
      outs.push_back(reduced(r_.below(2) ? any(columns_) : any(columns_) * any(columns_), 0));
    for (int k = r_.below(3); k > 0; --k) outs.push_back(r_.below(2) ? any(columns_) : any(rows_));
    if (r_.below(3) == 0) outs.push_back(any(flags_));
    if (r_.below(3) == 0) outs.push_back(lt(any(rows_), any(rows_)));
    return b_.finish(outs);
  }

 private:
  Random r_;
  Builder b_;
  DType d_;
  int axis_ = 1;
  Val x_;
  Vec<Val> columns_, rows_, flags_;
  Val any(const Vec<Val>& v) { return v[r_.below(v.size())]; }
  // Rows of an array, by indices that are out of range now and then.
  Val gathered(Dims once) {
    constexpr DType dtypes[] = {i32, u32, i64, u64};
    once.push_back(1);
    const std::int64_t width = type_of(x_).dims[axis_];
    return gather(b_.input({d_, {6, width}}), b_.input({dtypes[r_.below(4)], once}),
                  {.window_dims = {axis_},
                   .collapsed = {0},
                   .index_map = {0},
                   .window = {1, width},
                   .operand_batch = {},
                   .index_batch = {},
                   .clamp = r_.below(2) == 0});
  }
  Val reduced(Val v) { return reduced(v, axis_); }
  Val reduced(Val v, int axis) {
    switch (r_.below(5)) {
      case 0: return reduce_max(v, {axis});
      case 1: return reduce_min(v, {axis});
      case 2: return reduce_prod(v, {axis});
      default: return reduce_sum(v, {axis});
    }
  }
  Val mixed(Val a, Val b) {
    switch (r_.below(is_float(d_) ? 10 : 6)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * b;
      case 3: return maximum(a, b);
      case 4: return select(lt(a, b), a, b + a);
      case 5: return select(ne(a, b), a * a, b);
      case 6: return exp(a - b);
      case 7: return a / (abs(b) + 1.0);
      case 8: return tanh(a) * b;
      default: return convert(convert(a, d_ == f32 ? f64 : f32), d_) - b;
    }
  }
  void step() {
    switch (r_.below(7)) {
      case 5: flags_.push_back(lt(any(columns_), rows_of(any(rows_), x_))); break;
      case 6: columns_.push_back(select(any(flags_), any(columns_), any(columns_))); break;
      case 0: rows_.push_back(reduced(any(columns_))); break;
      case 1: rows_.push_back(mixed(any(rows_), any(rows_))); break;
      case 2: columns_.push_back(mixed(any(columns_), rows_of(any(rows_), x_))); break;
      default: columns_.push_back(mixed(any(columns_), any(columns_))); break;
    }
  }
};
}  // namespace

TEST_CASE("rows: random kernels on each tier") {
  Ways ways;
  for (std::uint64_t seed = 1; seed <= 250; ++seed)
    for (std::int64_t on_chip : {1 << 12, 1 << 15, 1 << 18}) {
      const Graph g = Maker(seed).make();
      check_rows(g, seed, &ways, on_chip, int(seed % 2));
      if (seed % 10 == 0) reloaded(g, small_target(on_chip));
    }
  if (tiled::level() == tiled::Level::baseline) return;
  CHECK(ways.rows > 300);
  CHECK(ways.carries > 20);
  CHECK(ways.others < ways.rows / 8);
}

namespace {
// How the loops of g are run, one word each: "rows", or the reason.
std::string ways_of(const Graph& g, int cores, std::int64_t on_chip = 1 << 15) {
  Target target = small_target(on_chip);
  target.cores = cores;
  const std::string text = compile(g, target)->text("asm");
  std::string s;
  for (std::size_t at = text.find("scan: "); at != std::string::npos; at = text.find("scan: ", at + 1)) {
    const std::size_t end = text.find_first_of(",\n", at);
    s += (s.empty() ? "" : "; ") + text.substr(at + 6, end - at - 6);
  }
  return s;
}
Graph layer_norm_grad(std::int64_t rows, DType d) {
  Builder b;
  Val x = b.input({d, {rows, 40}}), g = b.input({d, {rows, 40}}), scale = b.input({d, {40}});
  Val m = reduce_sum(x, {1}) / 40.0, c = x - rows_of(m, x);
  Val r = rsqrt(reduce_sum(c * c, {1}) / 40.0 + 1e-5), y = c * rows_of(r, x), h = g * along(scale, x);
  Val dx = (h - rows_of(reduce_sum(h, {1}) / 40.0, x) - y * rows_of(reduce_sum(h * y, {1}) / 40.0, x)) * rows_of(r, x);
  return b.finish(Vec<Val>{dx, reduce_sum(g * y, {0}), reduce_sum(g, {0})});
}
}  // namespace

TEST_CASE("rows: on one core, folds of columns join the loop") {
  if (tiled::level() == tiled::Level::baseline) return;
  for (DType d : {f32, f64})
    for (std::int64_t rows : {2, 37, 4096, 4097}) {
      const Graph g = layer_norm_grad(rows, d);
      check_rows(g, 1, nullptr, 1 << 15, 1);
      CHECK(ways_of(g, 1) == (rows == 4097 ? "row by row; row by row" : "row by row"));
      Target one = small_target(1 << 15);
      one.cores = 1;
      const auto e = compile(g, one), shared = compile(g, small_target(1 << 15));
      int carries = 0;
      for (const tile::Kernel& k : e->program().kernels) carries += k.carries;
      CHECK(carries == (rows <= 4096 ? 1 : 0));
      for (const tile::Kernel& k : shared->program().kernels) CHECK(k.carries == 0);
      reloaded(g, one);
      CHECK(tiled::TiledExecutable({}, tile::parse_program(e->text("tile"))).text("tile") == e->text("tile"));
    }
}

TEST_CASE("rows: what has no code as one function says why") {
  if (tiled::level() == tiled::Level::baseline) return;
  Builder b;
  Val x = b.input({i32, {64, 100}});
  CHECK(ways_of(b.finish(Vec<Val>{x / (rows_of(reduce_sum(x, {1}), x) + 1000)}), 0) ==
        "kernel by kernel: it has an operation that is a call");
  Builder c;
  Val y = c.input({i64, {64, 4000}});
  CHECK(ways_of(c.finish(Vec<Val>{y - rows_of(reduce_max(y, {1}), y)}), 0, 1 << 20) ==
        "kernel by kernel: it has a reduction that has no code");
  Builder d;
  Val z = d.input({f32, {64, 50, 50}});
  CHECK(ways_of(d.finish(Vec<Val>{z - rows_of(reduce_sum(z, {1, 2}), z) +
                                  broadcast_in_dim(reduce_sum(z, {2}), {64, 50, 50}, {0, 1})}),
                0, 1 << 20) == "kernel by kernel: it has a reduction of other dimensions");
}

TEST_CASE("rows: a reduction whose dimension is not the last one has another order, also if the last one has size 1") {
  for (DType d : {f32, f64})
    for (std::int64_t width : {3, 40, 100}) {
      Builder b;
      Val x = b.input({d, {9, width, 1}});
      Val s = reduce_sum(x, {1});
      const Graph g = b.finish(Vec<Val>{exp(x), s * 0.75, x - broadcast_in_dim(s, {9, width, 1}, {0, 2})});
      check_rows(g, std::uint64_t(width));
      check_rows(g, std::uint64_t(width), nullptr, 1 << 18);
    }
}
