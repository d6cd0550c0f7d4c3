// Reductions and running folds against one plain loop in the documented order, on scalars.
#include <fx/backends/tiled/kernels/cumulative.hpp>
#include <fx/backends/tiled/kernels/reduce.hpp>

#include "test_kernels.hpp"

using namespace fx;
using namespace kernel_test;
using fx::detail::to_bits;

namespace {

// A fold that the backend does not know: a + b + 1.
struct Odd : Reduce<Odd> {
  static constexpr std::string_view name = "test_odd_fold";
  static constexpr DTypes takes = numbers;
  template <class T>
  static constexpr T identity() {
    return T(-1);
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return (a + b) + V::c(typename V::type(1));
  }
};
// An arg-fold that it does not know: the last of the smallest.
struct ArgLastMin : ArgReduce<ArgLastMin> {
  static constexpr std::string_view name = "test_arg_last_min";
  template <class V>
  static constexpr auto better(V best, V next) {
    return le(next, best);
  }
};

constexpr const Prim* folds[] = {&prim<ReduceSum>, &prim<ReduceProd>, &prim<ReduceMax>, &prim<ReduceMin>, &prim<Odd>};
constexpr const Prim* args[] = {&prim<ArgMax>, &prim<ArgMin>, &prim<ArgLastMin>};
bool takes(const Prim& p, DType d) { return d != boolean || p == prim<ReduceMax> || p == prim<ReduceMin>; }

// Values whose sums and products stay in range often enough to show the order.
Array values(DType d, std::int64_t n, Random& r, bool tame) {
  Array a(d, n, r);
  if (!tame) return a;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = 1 + double(r.next() >> 40) * 0x1p-26 * (r.below(2) ? 1 : -1);
    if (d == f32) a.set(i, to_bits(float(v)));
    if (d == f64) a.set(i, to_bits(v));
    if (d != f32 && d != f64 && d != boolean) a.set(i, std::uint64_t(r.below(7)));
  }
  return a;
}

// The documented order over x[i * stride], with `lanes` lanes.
std::uint64_t plain(const Prim& p, const Array& x, std::int64_t from, std::int64_t n, std::int64_t stride, int lanes) {
  const DType d = x.dtype;
  const std::uint64_t identity = scalar_identity(p, d);
  if (n == 0) return p == prim<ReduceSum> ? 0 : identity;
  auto fold = [&](std::uint64_t a, std::uint64_t b) { return scalar_step(p, d, d, a, b); };
  std::uint64_t total = identity;
  for (std::int64_t b = 0; b < n; b += 4096) {
    std::vector<std::uint64_t> lane(std::size_t(lanes), identity);
    for (std::int64_t i = b; i < n && i < b + 4096; ++i) {
      std::uint64_t& l = lane[std::size_t(i % lanes)];
      l = fold(l, x[from + i * stride]);
    }
    for (int h = lanes / 2; h > 0; h /= 2)
      for (int l = 0; l < h; ++l) lane[std::size_t(l)] = fold(lane[std::size_t(l)], lane[std::size_t(l + h)]);
    total = fold(total, lane[0]);
  }
  return total;
}
std::int64_t plain_arg(const Prim& p, const Array& x, std::int64_t from, std::int64_t n, std::int64_t stride) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i)
    if (scalar_step(p, x.dtype, boolean, x[from + best * stride], x[from + i * stride]) & 1) best = i;
  return best;
}

void check_rows(const Prim& p, DType d, bool tame) {
  const tiled::Fold f = tiled::Fold::make(p, d, {}, i64);
  Scratch s(f.scratch_bytes());
  f.prepare(s.p);
  Random r(11);
  const int lanes = reduce_lanes(d);
  for (std::int64_t n : {0, 1, 2, 15, 16, 17, 31, 33, 64, 100, 4095, 4096, 4097, 9000}) {
    if (f.is_arg() && n == 0) continue;
    const std::int64_t rows = 3, stride = n + 5;
    const Array x = values(d, rows * stride, r, tame);
    Array want(f.to, rows), whole(f.to, rows), pieces(f.to, rows), merged(f.to, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      want.set(i, f.is_arg() ? std::uint64_t(plain_arg(p, x, i * stride, n, 1)) : plain(p, x, i * stride, n, 1, lanes));
    tiled::reduce_rows(f, x.data(), rows, n, stride, whole.data(), s.p);
    Scratch state(tiled::row_state_bytes(f)), block(tiled::row_state_bytes(f));
    for (std::int64_t i = 0; i < rows; ++i) {
      const char* row = x.bytes.data() + i * stride * size_of(d);
      tiled::row_begin(f, state.p);
      for (std::int64_t at = 0, step; at < n; at += step) {
        step = std::min<std::int64_t>(1 + r.below(3) * r.below(700), n - at);
        tiled::row_feed(f, state.p, row + at * size_of(d), at, step, s.p);
      }
      tiled::row_finish(f, state.p, n, pieces.bytes.data() + i * size_of(f.to), s.p);
      tiled::row_begin(f, state.p);
      for (std::int64_t at = 0; at < n; at += 4096) {
        tiled::row_begin(f, block.p);
        tiled::row_feed(f, block.p, row + at * size_of(d), at, std::min<std::int64_t>(4096, n - at), s.p);
        tiled::row_merge(f, state.p, block.p, s.p);
      }
      tiled::row_finish(f, state.p, n, merged.bytes.data() + i * size_of(f.to), s.p);
    }
    CAPTURE(n);
    CHECK(difference(whole, want) == -1);
    CHECK(difference(pieces, want) == -1);
    CHECK(difference(merged, want) == -1);
  }
}

void check_cols(const Prim& p, DType d, bool tame) {
  const tiled::Fold f = tiled::Fold::make(p, d, {}, i32);
  Scratch s(f.scratch_bytes());
  f.prepare(s.p);
  Random r(13);
  const std::int64_t shapes[][2] = {{0, 3},    {1, 1},    {2, 7},    {5, 64},   {17, 33}, {3, 300},
                                    {40, 130}, {4096, 2}, {4097, 3}, {8200, 5}, {3, 0}};
  for (const auto& shape : shapes) {
    const std::int64_t n = shape[0], cols = shape[1];
    if (f.is_arg() && n == 0) continue;
    const std::int64_t stride = cols + 2;
    const Array x = values(d, n * stride, r, tame);
    Array want(f.to, cols), whole(f.to, cols), pieces(f.to, cols), merged(f.to, cols);
    for (std::int64_t c = 0; c < cols; ++c)
      want.set(c, f.is_arg() ? std::uint64_t(plain_arg(p, x, c, n, stride)) : plain(p, x, c, n, stride, 1));
    tiled::reduce_cols(f, x.data(), n, cols, stride, whole.data(), s.p);
    Scratch state(tiled::col_state_bytes(f, cols)), block(tiled::col_state_bytes(f, cols));
    tiled::col_begin(f, state.p, cols);
    for (std::int64_t at = 0, step; at < n; at += step) {
      step = std::min<std::int64_t>(1 + r.below(3) * r.below(700), n - at);
      tiled::col_feed(f, state.p, cols, x.bytes.data() + at * stride * size_of(d), stride, at, step, s.p);
    }
    tiled::col_finish(f, state.p, cols, n, pieces.data(), s.p);
    for (std::int64_t at = 0; at < n; at += 4096) {
      char* to = at ? block.p : state.p;
      tiled::col_begin(f, to, cols);
      tiled::col_feed(f, to, cols, x.bytes.data() + at * stride * size_of(d), stride, at,
                      std::min<std::int64_t>(4096, n - at), s.p);
      if (at) tiled::col_merge(f, state.p, block.p, cols, s.p);
    }
    if (n == 0) tiled::col_begin(f, state.p, cols);
    tiled::col_finish(f, state.p, cols, n, merged.data(), s.p);
    CAPTURE(n);
    CAPTURE(cols);
    CHECK(difference(whole, want) == -1);
    CHECK(difference(pieces, want) == -1);
    CHECK(difference(merged, want) == -1);
  }
}

}  // namespace

TEST_CASE("folds keep the documented order") {
  at_levels(
      [] {
        for (const Prim* p : folds)
          for (DType d : dtypes)
            for (bool tame : {false, true}) {
              if (!takes(*p, d)) continue;
              CAPTURE(p->name);
              CAPTURE(name(d));
              check_rows(*p, d, tame);
              check_cols(*p, d, tame);
            }
      },
      true);
}

template <class T>
void check_zeros_and_nan(DType d) {
  for (const Prim* p : {&prim<ReduceMax>, &prim<ReduceMin>}) {
    const bool max = p == &prim<ReduceMax>;
    const tiled::Fold f = tiled::Fold::make(*p, d, {});
    Scratch s(f.scratch_bytes());
    f.prepare(s.p);
    for (int n : {64, 37})
      for (int at = 0; at < n; ++at)
        for (T odd : {T(0.0), T(-0.0), T(NAN), T(1), T(-1)}) {
          std::vector<T> x(std::size_t(n), max ? T(-0.0) : T(0.0)), out(3);
          x[std::size_t(at)] = odd;
          const T want =
              odd != odd || (max ? odd > 0 : odd < 0) || (odd == 0 && std::signbit(odd) != max) ? odd : x[at ? 0 : 1];
          tiled::reduce_rows(f, x.data(), 1, n, n, &out[0], s.p);
          tiled::reduce_cols(f, x.data(), n, 1, 1, &out[1], s.p);
          std::vector<T> wide(std::size_t(n * 70)), across(70);
          for (int r = 0; r < n; ++r)
            for (int c = 0; c < 70; ++c) wide[std::size_t(r * 70 + c)] = c == 41 ? x[std::size_t(r)] : T(0);
          tiled::reduce_cols(f, wide.data(), n, 70, 70, across.data(), s.p);
          out[2] = across[41];
          CAPTURE(n);
          CAPTURE(at);
          for (T got : out) REQUIRE(same(d, to_bits(got), to_bits(want)));
          REQUIRE((to_bits(across[40]) == 0 && to_bits(across[42]) == 0));
        }
  }
}
TEST_CASE("maxima and minima: signed zeros, and a NaN anywhere") {
  at_levels([] {
    check_zeros_and_nan<float>(f32);
    check_zeros_and_nan<double>(f64);
  });
}

TEST_CASE("arg-folds find the first extremum") {
  at_levels([] {
    for (const Prim* p : args)
      for (DType d : dtypes)
        for (bool tame : {false, true}) {
          CAPTURE(p->name);
          CAPTURE(name(d));
          check_rows(*p, d, tame);
          check_cols(*p, d, tame);
        }
  });
}

TEST_CASE("ties, zeros and NaN of arg-folds") {
  const float inf = HUGE_VALF;
  const float rows[][6] = {{0.0f, -0.0f, 0.0f, -1, 0.0f, 0},     {1, NAN, 5, NAN, 2, 0},
                           {-inf, -inf, -inf, -inf, -inf, -inf}, {3, 3, 3, 3, 3, 3},
                           {inf, 1, inf, NAN, -inf, NAN},        {5, 4, 3, 2, 1, 0}};
  const int largest[] = {0, 1, 0, 0, 3, 0}, smallest[] = {3, 1, 0, 0, 3, 5};
  std::int64_t out[6];
  at_levels([&] {
    tiled::reduce_rows(tiled::Fold::make(prim<ArgMax>, f32, {}, i64), rows, 6, 6, 6, out, nullptr);
    for (int i = 0; i < 6; ++i) CHECK(out[i] == largest[i]);
    tiled::reduce_rows(tiled::Fold::make(prim<ArgMin>, f32, {}, u64), rows, 6, 6, 6, out, nullptr);
    for (int i = 0; i < 6; ++i) CHECK(out[i] == smallest[i]);
  });
}

TEST_CASE("running folds are chains") {
  at_levels([] {
    for (const Prim* p : {&prim<CumSum>, &prim<ReduceMax>, &prim<ReduceProd>, &prim<Odd>})
      for (DType d : dtypes) {
        if (d == boolean) continue;
        const tiled::Fold f = tiled::Fold::make(*p, d);
        Scratch s(f.scratch_bytes());
        f.prepare(s.p);
        Random r(17);
        const std::int64_t shapes[][3] = {{1, 1, 1}, {2, 9, 1}, {3, 5, 4},  {1, 3, 100}, {2, 0, 3},    {2, 3, 0},
                                          {0, 3, 3}, {4, 1, 1}, {11, 7, 1}, {2, 19, 77}, {1, 20, 301}, {1, 2, 1500}};
        for (auto [outer, n, inner] : shapes)
          for (bool reverse : {false, true})
            for (bool in_place : {false, true}) {
              const Array x = values(d, outer * n * inner, r, true);
              Array want = x, got = in_place ? x : Array(d, x.n);
              for (std::int64_t o = 0; o < outer; ++o)
                for (std::int64_t j = 0; j < inner; ++j)
                  for (std::int64_t k = 1; k < n; ++k) {
                    const std::int64_t i = reverse ? n - 1 - k : k, before = reverse ? i + 1 : i - 1;
                    want.set((o * n + i) * inner + j,
                             scalar_step(*p, d, d, want[(o * n + before) * inner + j], x[(o * n + i) * inner + j]));
                  }
              tiled::cumulative(f, in_place ? got.data() : x.data(), got.data(), outer, n, inner, reverse, s.p);
              CHECK(difference(got, want) == -1);
            }
      }
  });
}
