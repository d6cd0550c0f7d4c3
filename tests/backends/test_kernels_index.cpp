// Gather and scatter element by element, straight from the definition in ops/index.hpp; strided copies likewise.
#include <fx/backends/tiled/kernels/copy.hpp>
#include <fx/backends/tiled/kernels/index.hpp>
#include <fx/ops/index.hpp>

#include "test_kernels.hpp"

using namespace fx;
using namespace kernel_test;

namespace {

std::int64_t flat(const Dims& sizes, const std::int64_t* at) {
  std::int64_t r = 0;
  for (int d = 0; d < sizes.n; ++d) r = r * sizes[d] + at[d];
  return r;
}
void unflat(const Dims& sizes, std::int64_t i, std::int64_t* at) {
  for (int d = sizes.n - 1; d >= 0; --d) at[d] = i % sizes[d], i /= sizes[d];
}

// For element i of the result: its place in the operand, or -1.
std::int64_t place(const tiled::IndexLoop& l, const std::vector<Array>& indices, std::int64_t i) {
  const IndexSpec& s = l.spec;
  std::int64_t at[8], vector[8] = {}, operand[8] = {};
  unflat(l.result, i, at);
  int row = 0, window = 0;
  Dims remaining;  // operand dimensions whose window is in the result
  for (int d = 0; d < l.operand.n; ++d)
    if (!s.collapsed.contains(d) && !s.operand_batch.contains(d)) remaining.push_back(d);
  std::int64_t offset[8] = {};
  for (int d = 0; d < l.result.n; ++d)
    if (s.window_dims.contains(d))
      offset[remaining[window++]] = at[d];
    else
      vector[row++] = at[d];
  for (int b = 0; b < s.operand_batch.n; ++b) operand[s.operand_batch[b]] = vector[s.index_batch[b]];
  for (int j = 0; j < s.index_map.n; ++j) {
    std::uint64_t bits;
    if (s.scalar_indices) {
      bits = indices[std::size_t(j)][0];
    } else {
      vector[row] = j;
      bits = indices[0][flat(l.indices, vector)];
    }
    // In a type that holds them all.
    const __int128 v = l.index_dtype == i32   ? __int128(std::int32_t(bits))
                       : l.index_dtype == i64 ? __int128(std::int64_t(bits))
                                              : __int128(bits);
    const int d = int(s.index_map[j]);
    const std::int64_t last = l.operand[d] - s.window[d];
    if ((v < 0 || v > last) && !s.clamp) return -1;
    operand[d] = v < 0 ? 0 : v > last ? last : std::int64_t(v);
  }
  for (int d = 0; d < l.operand.n; ++d) operand[d] += offset[d];
  return flat(l.operand, operand);
}

struct Case {
  Dims operand, indices, result;
  IndexDims d;
};
// The dimension numbers of NumPy-like uses, and of what batching makes of them.
std::vector<Case> cases() {
  return {
      // x[i]: rows of a matrix
      {{6, 5}, {4, 1}, {4, 5}, {{1}, {0}, {0}, {1, 5}, {}, {}, true}},
      {{6, 5}, {2, 3, 1}, {2, 3, 5}, {{2}, {0}, {0}, {1, 5}, {}, {}, true}},
      // columns: the window comes first
      {{6, 5}, {4, 1}, {6, 4}, {{0}, {1}, {1}, {6, 1}, {}, {}, true}},
      // single elements, index components in either order
      {{6, 5}, {7, 2}, {7}, {{}, {0, 1}, {0, 1}, {1, 1}, {}, {}, true}},
      {{6, 5}, {7, 2}, {7}, {{}, {0, 1}, {1, 0}, {1, 1}, {}, {}, true}},
      // windows smaller than the operand, dimensions apart
      {{6, 5, 4}, {3, 2}, {2, 3, 3}, {{0, 2}, {1}, {2, 1}, {2, 1, 3}, {}, {}, true}},
      {{6, 5, 4}, {3, 1}, {3, 6, 5, 2}, {{1, 2, 3}, {}, {2}, {6, 5, 2}, {}, {}, true}},
      // take_along: shared dimensions
      {{3, 6}, {3, 4, 1}, {3, 4}, {{}, {1}, {1}, {1, 1}, {0}, {0}, true}},
      {{6, 3}, {4, 3, 1}, {4, 3}, {{}, {0}, {0}, {1, 1}, {1}, {1}, true}},
      {{2, 3, 6, 4}, {3, 2, 5, 1}, {3, 2, 5, 4}, {{3}, {2}, {2}, {1, 1, 1, 4}, {0, 1}, {1, 0}, true}},
      // one index vector, none, empty results
      {{6, 5}, {2}, {2, 3}, {{0, 1}, {}, {0, 1}, {2, 3}, {}, {}, true}},
      {{6, 5}, {3, 0}, {3, 6, 5}, {{1, 2}, {}, {}, {6, 5}, {}, {}, true}},
      {{6, 5}, {0, 1}, {0, 5}, {{1}, {0}, {0}, {1, 5}, {}, {}, true}},
      {{6, 5}, {3, 1}, {3, 0}, {{1}, {0}, {0}, {1, 0}, {}, {}, true}},
  };
}

tiled::IndexLoop loop_of(const Case& c, bool clamp, bool write, DType index, DType d) {
  tiled::IndexLoop l;
  l.spec = fx::detail::index_spec(c.d, write, nullptr);
  l.spec.clamp = clamp;
  l.operand = c.operand, l.indices = c.indices, l.result = c.result;
  l.index_dtype = index;
  l.element_size = size_of(d);
  return l;
}
Array some_indices(DType d, std::int64_t n, Random& r) {
  Array a(d, n, r);  // mostly awkward; make most of them lie inside
  for (std::int64_t i = 0; i < n; ++i)
    if (r.below(4)) a.set(i, std::uint64_t(r.below(7)));
  return a;
}

void check(const tiled::IndexLoop& l, const std::vector<Array>& indices, DType d, const Prim* combine, Random& r) {
  std::vector<const void*> pointers;
  for (const Array& i : indices) pointers.push_back(i.data());
  const std::int64_t n = numel(l.result), m = numel(l.operand);
  if (!l.spec.write) {
    const Array x(d, m, r);
    Array got(d, n, r), want(d, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = place(l, indices, i);
      want.set(i, at < 0 ? 0 : x[at]);
    }
    tiled::gather(l, x.data(), pointers.data(), got.data());
    CHECK(got.bytes == want.bytes);
    return;
  }
  const Array u(d, n, r);
  Array got(d, m, r), want = got;
  // Updates in row-major order of the index vectors, whatever the order of the dimensions.
  std::int64_t vectors = 1;
  for (int k = 0; k < l.result.n; ++k)
    if (!l.spec.window_dims.contains(k)) vectors *= l.result[k];
  for (std::int64_t pass = 0; pass < vectors; ++pass)
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t at[8], vector = 0;
      unflat(l.result, i, at);
      for (int k = 0; k < l.result.n; ++k)
        if (!l.spec.window_dims.contains(k)) vector = vector * l.result[k] + at[k];
      const std::int64_t to = vector == pass ? place(l, indices, i) : -1;
      if (to >= 0) want.set(to, combine ? scalar_step(*combine, d, d, want[to], u[i]) : u[i]);
    }
  tiled::Fold f;
  if (combine) f = tiled::Fold::make(*combine, d);
  Scratch s(combine ? f.scratch_bytes() : 0);
  if (combine) f.prepare(s.p);
  tiled::scatter(l, combine ? &f : nullptr, pointers.data(), u.data(), got.data(), s.p);
  CHECK(difference(got, want) == -1);
}

}  // namespace

TEST_CASE("gather and scatter follow the dimension numbers") {
  Random r(21);
  at_levels([&] {
    int number = 0;
    for (const Case& c : cases())
      for (bool clamp : {false, true})
        for (DType index : {i32, i64, u32, u64})
          for (DType d : dtypes) {
            CAPTURE(number);
            CAPTURE(clamp);
            CAPTURE(name(index));
            CAPTURE(name(d));
            ++number;
            const std::vector<Array> indices{some_indices(index, numel(c.indices), r)};
            check(loop_of(c, clamp, false, index, d), indices, d, nullptr, r);
            check(loop_of(c, clamp, true, index, d), indices, d, nullptr, r);
            for (const Prim* p : {&prim<Add>, &prim<Mul>, &prim<Max>, &prim<Min>, &prim<Sub>})
              if (d != boolean || p == &prim<Max> || p == &prim<Min>)
                check(loop_of(c, clamp, true, index, d), indices, d, p, r);
          }
  });
}

TEST_CASE("slices at scalar starts") {
  Random r(22);
  for (DType index : {i32, i64, u32, u64})
    for (const Dims& sizes : {Dims{2, 5, 1}, Dims{4, 5, 3}, Dims{1, 1, 1}, Dims{0, 2, 2}, Dims{3, 2, 3}})
      for (bool write : {false, true})
        for (int repeat = 0; repeat < 10; ++repeat) {
          tiled::IndexLoop l;
          l.spec = fx::detail::starts_spec(sizes, 1, write);
          l.operand = Dims{4, 5, 3}, l.result = sizes;
          l.index_dtype = index, l.element_size = 4;
          std::vector<Array> starts;
          for (int k = 0; k < 3; ++k) starts.push_back(some_indices(index, 1, r));
          check(l, starts, f32, nullptr, r);
        }
}

TEST_CASE("strided copies") {
  Random r(23);
  for (DType d : {boolean, f32, f64})
    for (int repeat = 0; repeat < 400; ++repeat) {
      const int rank = r.below(6);
      Dims sizes, in_strides, out_strides(rank, 1);
      for (int k = 0; k < rank; ++k) sizes.push_back(r.below(rank < 3 ? 60 : 6));
      // The output dense but for gaps, its dimensions in any order; the input anyhow.
      std::vector<int> order;
      for (int k = 0; k < rank; ++k) order.insert(order.begin() + r.below(k + 1), k);
      std::int64_t out_size = 1, low = 0, high = 0;
      for (int k : order) {
        out_strides[k] = out_size;
        out_size *= sizes[k] + r.below(2);
      }
      std::int64_t dense = 1;
      for (int k = rank - 1; k >= 0; --k) {
        const int kind = r.below(4);
        in_strides.insert(0, kind == 0   ? std::int64_t(0)
                             : kind == 1 ? std::int64_t(r.below(9) - 4)
                             : kind == 2 ? -dense
                                         : dense);
        dense *= sizes[k];
      }
      for (int k = 0; k < rank; ++k) {
        const std::int64_t reach = in_strides[k] * (sizes[k] > 0 ? sizes[k] - 1 : 0);
        (reach < 0 ? low : high) += reach;
      }
      const Array in(d, high - low + 1, r);
      Array got(d, std::max<std::int64_t>(out_size, 1)), want = got;
      for (std::int64_t i = 0, n = numel(sizes); i < n; ++i) {
        std::int64_t at[8], from = -low, to = 0;
        unflat(sizes, i, at);
        for (int k = 0; k < rank; ++k) from += at[k] * in_strides[k], to += at[k] * out_strides[k];
        want.set(to, in[from]);
      }
      tiled::copy_box(got.data(), out_strides.d, in.bytes.data() - low * size_of(d), in_strides.d, sizes.d, rank,
                      size_of(d));
      CHECK(got.bytes == want.bytes);
    }
  for (DType d : {boolean, f32, f64})
    for (int n : {0, 1, 7, 100}) {
      Array a(d, n);
      const std::uint64_t v = awkward(r, d);
      tiled::fill(a.data(), v, n, size_of(d));
      for (int i = 0; i < n; ++i) CHECK(a[i] == v);
    }
}
