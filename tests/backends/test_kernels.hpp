// test_kernels.hpp -- what the tests of the compute loops share: awkward values, dtypes, equality of bits.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fx/backends/tiled/kernels/vector_program.hpp>
#include <fx/ops/layout.hpp>
#include <vector>

namespace kernel_test {
using namespace fx;

inline constexpr DType dtypes[] = {boolean, i32, i64, u32, u64, f32, f64};
inline constexpr DTypes words = only(i32) | only(i64) | only(u32) | only(u64), reals = only(f32) | only(f64);

// The same sequence everywhere.
struct Random {
  std::uint64_t state;
  explicit Random(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint64_t next() {
    state += 0x9E3779B97F4A7C15ull;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int below(int n) { return int(next() % std::uint64_t(n)); }
};

// A value of dtype d, often one at which something can go wrong.
inline std::uint64_t awkward(Random& r, DType d) {
  static const double special[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   2.5,
                                   -2.5,
                                   1e-40,
                                   -1e-310,
                                   1e-45,
                                   3e38,
                                   -3e38,
                                   1.7e308,
                                   HUGE_VAL,
                                   -HUGE_VAL,
                                   2147483647.0,
                                   -2147483648.0,
                                   4294967295.0,
                                   2147483648.0,
                                   8388607.5,
                                   4503599627370495.5,
                                   9.3e18,
                                   -9.3e18,
                                   1.8446744073709552e19,
                                   NAN,
                                   -7.25,
                                   1e10};
  const int kind = r.below(4);
  const std::uint64_t bits = r.next();
  if (d == boolean) return bits & 1;
  if (d == f32) {
    float v = kind == 0   ? float(special[r.below(int(std::size(special)))])
              : kind == 1 ? float(int(bits % 2001) - 1000) / 8
                          : 0;
    if (kind > 1) return kind == 2 ? bits & 0xFFFFFFFFu : fx::detail::to_bits(float(bits >> 40) * 0x1p-24f - 0.5f);
    return fx::detail::to_bits(v);
  }
  if (d == f64) {
    double v = kind == 0   ? special[r.below(int(std::size(special)))]
               : kind == 1 ? double(int(bits % 2001) - 1000) / 8
                           : 0;
    if (kind > 1) return kind == 2 ? bits : fx::detail::to_bits(double(bits >> 11) * 0x1p-53 - 0.5);
    return fx::detail::to_bits(v);
  }
  static const std::uint64_t words_[] = {
      0,  1,  ~0ull, 0x80000000u, 0x7FFFFFFFu, 0x8000000000000000u, 0x7FFFFFFFFFFFFFFFu, 31,
      32, 33, 63,    64,          65,          0xFFFFFFFFu};
  std::uint64_t v = kind == 0 ? words_[r.below(int(std::size(words_)))] : kind == 1 ? bits % 100 - 50 : bits;
  return size_of(d) == 4 ? v & 0xFFFFFFFFu : v;
}

inline bool is_nan(DType d, std::uint64_t bits) {
  if (d == f32) return std::isnan(fx::detail::from_bits<float>(bits));
  if (d == f64) return std::isnan(fx::detail::from_bits<double>(bits));
  return false;
}
// Two NaNs are one value.
inline bool same(DType d, std::uint64_t a, std::uint64_t b) { return a == b || (is_nan(d, a) && is_nan(d, b)); }

// An array whose memory ends right after its elements, so that the sanitizer sees what goes beyond.
struct Array {
  DType dtype = f32;
  std::int64_t n = 0;
  std::vector<char> bytes;
  Array() = default;
  Array(DType d, std::int64_t size) : dtype(d), n(size), bytes(std::size_t(size * size_of(d))) {}
  Array(DType d, std::int64_t size, Random& r) : Array(d, size) {
    for (std::int64_t i = 0; i < n; ++i) set(i, awkward(r, d));
  }
  void* data() { return bytes.data(); }
  const void* data() const { return bytes.data(); }
  std::uint64_t operator[](std::int64_t i) const {
    std::uint64_t v = 0;
    std::memcpy(&v, bytes.data() + i * size_of(dtype), std::size_t(size_of(dtype)));
    return v;
  }
  void set(std::int64_t i, std::uint64_t v) {
    std::memcpy(bytes.data() + i * size_of(dtype), &v, std::size_t(size_of(dtype)));
  }
};
// The first position where the two differ, or -1.
inline std::int64_t difference(const Array& a, const Array& b) {
  if (a.n != b.n || a.dtype != b.dtype) return -2;
  for (std::int64_t i = 0; i < a.n; ++i)
    if (!same(a.dtype, a[i], b[i])) return i;
  return -1;
}

struct Scratch {
  std::vector<char> bytes;
  char* p = nullptr;
  explicit Scratch(std::int64_t n) : bytes(std::size_t(n + 64)) {
    p = bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
  }
};

// The machine's own level, AVX2 if `three`, and the baseline that all machines have.
template <class F>
void at_levels(F&& f, bool three = false) {
  for (tiled::Level cap : {tiled::Level::avx512, tiled::Level::avx2, tiled::Level::baseline}) {
    if (cap == tiled::Level::avx2 && !three) continue;
    tiled::cap_level(cap);
    CAPTURE(int(cap));
    f();
  }
  tiled::cap_level(tiled::Level::avx512);
}

// One step of a primitive on scalars.
inline std::uint64_t scalar_step(const Prim& p, DType d, DType out, std::uint64_t a, std::uint64_t b) {
  const DType in[] = {d, d}, to[] = {out};
  const std::uint64_t bits[] = {a, b};
  ScalarCtx c{Span<const DType>(in, 2), Span<const std::uint64_t>(bits, 2), Span<const DType>(to, 1), {}, {}};
  p.scalar(c);
  return c.out[0];
}
inline std::uint64_t scalar_identity(const Prim& p, DType d) {
  const DType to[] = {d};
  ScalarCtx c{{}, {}, Span<const DType>(to, 1), {}, {}};
  p.scalar(c);
  return c.out[0];
}

}  // namespace kernel_test
