// The matrix product against one chain of fused multiply-adds for each result.
#include <fx/backends/tiled/kernels/dot.hpp>

#include "test_kernels.hpp"

using namespace fx;
using namespace kernel_test;

namespace {

template <class T>
T chain(T acc, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, acc);
  else
    return T(std::make_unsigned_t<T>(acc) + std::make_unsigned_t<T>(a) * std::make_unsigned_t<T>(b));
}

template <class T>
T small(int v) {
  if constexpr (std::is_floating_point_v<T>)
    return T(v) / 7;
  else
    return T(v);
}

struct Layout {
  std::int64_t row, col, start;
};
// Some ways to lay out rows x cols, within 2 * rows * cols + rows + cols elements.
std::vector<Layout> layouts(std::int64_t rows, std::int64_t cols) {
  return {{cols, 1, 0},
          {1, rows, 0},
          {cols + 1, 1, 0},
          {2 * cols, 2, 0},
          {-cols, 1, (rows - 1) * cols},
          {1, -rows, (cols - 1) * rows},
          {0, 1, 0},
          {1, 0, 0}};
}

template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t k, Layout la, Layout lb, bool tame, std::uint64_t seed) {
  const DType d = dtype_of<T>;
  Random r(seed);
  auto make = [&](std::int64_t size) {
    Array a(d, size, r);
    for (std::int64_t i = 0; tame && i < size; ++i)
      a.set(i, fx::detail::to_bits(small<T>(int(r.next() % 2001) - 1000)));
    return a;
  };
  const Array a = make(2 * m * k + m + k), b = make(2 * k * n + k + n);
  const std::int64_t c_row = n + 3;
  Array c(d, m * c_row), want(d, m * c_row);
  for (std::int64_t i = 0; i < c.n; ++i) c.set(i, 77), want.set(i, 77);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T acc = 0;
      for (std::int64_t p = 0; p < k; ++p)
        acc = chain(acc, fx::detail::from_bits<T>(a[la.start + i * la.row + p * la.col]),
                    fx::detail::from_bits<T>(b[lb.start + p * lb.row + j * lb.col]));
      want.set(i * c_row + j, fx::detail::to_bits(acc));
    }
  at_levels(
      [&] {
        const tiled::DotLoops loops = tiled::dot_loops(d, tiled::level());
        Scratch s(tiled::dot_workspace(loops, m, n, k));
        tiled::DotShape shape{m, n, k, la.row, la.col, lb.row, lb.col, c_row};
        const char *pa = a.bytes.data() + la.start * size_of(d), *pb = b.bytes.data() + lb.start * size_of(d);
        tiled::dot(loops, shape, pa, pb, c.data(), s.p);
        CAPTURE(name(d));
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(la.row);
        CAPTURE(lb.row);
        CHECK(difference(c, want) == -1);
        // In parts, with the workspace of the whole.
        if (m < 4 || n < 4) return;
        for (std::int64_t i = 0; i < c.n; ++i) c.set(i, 77);
        for (std::int64_t i : {std::int64_t(0), m / 3})
          for (std::int64_t j : {std::int64_t(0), n / 3 + 1}) {
            shape.m = i ? m - i : m / 3, shape.n = j ? n - j : n / 3 + 1;
            tiled::dot(loops, shape, pa + i * la.row * size_of(d), pb + j * lb.col * size_of(d),
                       c.bytes.data() + (i * c_row + j) * size_of(d), s.p);
          }
        CHECK(difference(c, want) == -1);
      },
      true);
}

template <class T>
void check_all() {
  const std::int64_t shapes[][3] = {{1, 1, 1},    {1, 5, 9},    {5, 1, 9},    {3, 17, 8},   {4, 64, 20},
                                    {6, 16, 3},   {7, 17, 33},  {13, 70, 40}, {64, 64, 64}, {12, 130, 31},
                                    {33, 9, 300}, {2, 2, 1000}, {9, 66, 129}};
  std::uint64_t seed = sizeof(T);
  for (auto& q : shapes)
    for (Layout la : layouts(q[0], q[2]))
      for (Layout lb : layouts(q[2], q[1]))
        if (++seed % 5 < (dtype_of<T> == f32 ? 3 : 1)) check<T>(q[0], q[1], q[2], la, lb, seed % 4 != 0, seed);
  check<T>(200, 150, 600, {600, 1, 0}, {150, 1, 0}, true, 1);  // several blocks each way
  check<T>(150, 200, 300, {1, 150, 0}, {1, 300, 0}, true, 2);
  check<T>(500, 10, 200, {200, 1, 0}, {10, 1, 0}, true, 3);
}

}  // namespace

TEST_CASE("each product is one chain") {
  check_all<float>();
  check_all<double>();
  check_all<std::int32_t>();
  check_all<std::int64_t>();
  check_all<std::uint32_t>();
  check_all<std::uint64_t>();
}

TEST_CASE("products of nothing") {
  for (DType d : dtypes) {
    if (d == boolean) continue;
    Array c(d, 12);
    for (int i = 0; i < 12; ++i) c.set(i, 5);
    const tiled::DotLoops loops = tiled::dot_loops(d, tiled::level());
    Scratch s(tiled::dot_workspace(loops, 3, 4, 0));
    tiled::dot(loops, {3, 4, 0, 0, 1, 4, 1, 4}, nullptr, nullptr, c.data(), s.p);
    for (int i = 0; i < 12; ++i) CHECK(c[i] == 0);
    tiled::dot(loops, {0, 4, 3, 3, 1, 4, 1, 4}, nullptr, nullptr, nullptr, s.p);
    tiled::dot(loops, {3, 0, 3, 3, 1, 0, 1, 0}, nullptr, nullptr, nullptr, s.p);
  }
}

TEST_CASE("the sign of a zero") {
  // A chain starts from +0: +0 + -0 * 1 is +0.
  const float a[] = {-0.0f}, b[] = {1.0f};
  float c[] = {5};
  const tiled::DotLoops loops = tiled::dot_loops(f32, tiled::level());
  Scratch s(tiled::dot_workspace(loops, 1, 1, 1));
  tiled::dot(loops, {1, 1, 1, 1, 1, 1, 1, 1}, a, b, c, s.p);
  CHECK(fx::detail::to_bits(c[0]) == 0);
}
