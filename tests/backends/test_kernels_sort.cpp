// The sort against std::sort with a comparison on scalars that no two elements tie in.
#include <algorithm>
#include <fx/backends/tiled/kernels/sort.hpp>

#include "test_kernels.hpp"

using namespace fx;
using namespace kernel_test;

namespace {

// a comes before b.
bool before(DType d, std::uint64_t a, std::uint64_t b) {
  bool r = false;
  fx::detail::with_type<computed>(d, [&]<class T>() {
    const T x = fx::detail::from_bits<T>(a), y = fx::detail::from_bits<T>(b);
    r = x < y || (x == x && y != y);
  });
  return r;
}

void check(const std::vector<DType>& ds, int keys, std::int64_t outer, std::int64_t n, std::int64_t inner,
           bool in_place, bool few, Random& r) {
  const std::int64_t size = outer * n * inner;
  std::vector<Array> in, want, got;
  for (DType d : ds) {
    in.emplace_back(d, size, r);
    for (std::int64_t i = 0; few && i < size; ++i) {  // many ties
      const std::uint64_t pick = std::uint64_t(r.below(4));
      in.back().set(i, d == f32       ? (pick == 0   ? 0x80000000u
                                         : pick == 1 ? 0
                                         : pick == 2 ? 0x7FC00001u
                                                     : 0xFFC00000u)
                       : d == boolean ? pick & 1
                                      : pick);
    }
  }
  want = in;
  got = in;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t j = 0; j < inner; ++j) {
      std::vector<std::int64_t> order;
      for (std::int64_t i = 0; i < n; ++i) order.push_back((o * n + i) * inner + j);
      std::vector<std::int64_t> place = order;
      std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        for (int k = 0; k < keys; ++k) {
          const Array& x = in[std::size_t(k)];
          if (before(x.dtype, x[a], x[b])) return true;
          if (before(x.dtype, x[b], x[a])) return false;
        }
        return a < b;  // stable
      });
      for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t k = 0; k < ds.size(); ++k) want[k].set(place[i], in[k][order[i]]);
    }
  Scratch s(tiled::sort_workspace(n));
  std::vector<const void*> from;
  std::vector<void*> to;
  for (std::size_t k = 0; k < ds.size(); ++k)
    from.push_back(in_place ? got[k].data() : in[k].data()), to.push_back(got[k].data());
  tiled::sort(Span<const DType>(ds.data(), int(ds.size())), keys, from.data(), to.data(), outer, n, inner, s.p);
  for (std::size_t k = 0; k < ds.size(); ++k) CHECK(got[k].bytes == want[k].bytes);  // not even a NaN's bits change
}

}  // namespace

TEST_CASE("sorts each dtype, stably, along any dimension") {
  Random r(3);
  const std::int64_t shapes[][3] = {{1, 1, 1},    {1, 2, 1}, {3, 16, 1}, {2, 17, 3}, {1, 100, 2},
                                    {1, 1000, 1}, {0, 4, 2}, {2, 0, 2},  {2, 4, 0}};
  for (DType d : dtypes)
    for (auto& q : shapes)
      for (bool in_place : {false, true})
        for (bool few : {false, true}) check({d, i32}, 1, q[0], q[1], q[2], in_place, few, r);
}
TEST_CASE("sorts by several keys") {
  Random r(4);
  for (int keys = 1; keys <= 3; ++keys)
    for (std::int64_t n : {5, 33, 500})
      for (bool few : {false, true}) {
        check({f32, boolean, i64, f64}, keys, 2, n, 2, true, few, r);
        check({boolean, f32, u32}, keys, 1, n, 1, false, few, r);
        check({u64, i32, boolean}, keys, 1, n, 1, false, few, r);
      }
}
