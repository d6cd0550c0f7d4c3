// kernels/copy_body.hpp -- the loops of copy_box and fill: merged dimensions, rows by memcpy, transposes in squares.
#pragma once
#include <cstring>
#include <utility>

#include "copy.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled {
namespace kernels {

// An element that is only moved.
template <int Size>
struct Moved;
template <>
struct Moved<1> {
  typedef std::uint8_t type __attribute__((__may_alias__));
};
template <>
struct Moved<2> {
  typedef std::uint16_t type __attribute__((__may_alias__));
};
template <>
struct Moved<4> {
  typedef std::uint32_t type __attribute__((__may_alias__));
};
template <>
struct Moved<8> {
  typedef std::uint64_t type __attribute__((__may_alias__));
};
template <>
struct Moved<16> {
  struct __attribute__((__may_alias__)) type {
    std::uint64_t half[2];
  };
};

// The dimensions of a copy, innermost last: none of size 1, neighbours merged where both sides allow it.
struct Box {
  int rank = 0;
  std::int64_t size[max_rank]{}, in[max_rank]{}, out[max_rank]{};

  void add(std::int64_t n, std::int64_t from, std::int64_t to) {
    if (n == 1) return;
    if (rank && in[rank - 1] == from * n && out[rank - 1] == to * n) {
      size[rank - 1] *= n, in[rank - 1] = from, out[rank - 1] = to;
    } else {
      size[rank] = n, in[rank] = from, out[rank] = to, ++rank;
    }
  }
  void swap_dims(int a, int b) {
    std::swap(size[a], size[b]);
    std::swap(in[a], in[b]);
    std::swap(out[a], out[b]);
  }
  static std::int64_t magnitude(std::int64_t v) { return v < 0 ? -v : v; }
  // Writes go in rising addresses: the innermost dimension is the one with the smallest output stride; beside it, the
  // one that reads contiguously, so that the two can be copied in squares.
  void order() {
    for (int i = 1; i < rank; ++i)
      for (int j = i; j > 0 && magnitude(out[j - 1]) < magnitude(out[j]); --j) swap_dims(j - 1, j);
    if (rank < 3 || magnitude(in[rank - 1]) <= 1) return;
    for (int d = 0; d < rank - 2; ++d)
      if (magnitude(in[d]) == 1) {
        for (int j = d; j < rank - 2; ++j) swap_dims(j, j + 1);
        return;
      }
  }
};

template <class T>
void copy_row(T* out, std::int64_t out_step, const T* in, std::int64_t in_step, std::int64_t n) {
  if (out_step == 1 && in_step == 1) {
    std::memcpy(out, in, std::size_t(n) * sizeof(T));
  } else if (out_step == 1 && in_step == 0) {
    const T v = *in;
    for (std::int64_t i = 0; i < n; ++i) out[i] = v;
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i * out_step] = in[i * in_step];
  }
}

template <class T>
constexpr std::int64_t square_side = 64 / sizeof(T);  // a cache line

// A square of contiguous lines on either side, turned in a small buffer: every cache line is touched once, whatever the
// strides (powers of two would make lines push each other out of the cache).
template <class T>
void turn_square(T* out, std::int64_t out_row, const T* in, std::int64_t in_col) {
  constexpr std::int64_t side = square_side<T>;
  T square[side * side];
  for (std::int64_t j = 0; j < side; ++j)
    for (std::int64_t i = 0; i < side; ++i) square[i * side + j] = in[j * in_col + i];
  for (std::int64_t i = 0; i < side; ++i) std::memcpy(out + i * out_row, square + i * side, side * sizeof(T));
}
// rows x cols in squares, which fit the first-level cache on both sides.
template <class T>
void copy_squares(T* out, std::int64_t out_row, std::int64_t out_col, const T* in, std::int64_t in_row,
                  std::int64_t in_col, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t side = square_side<T>;
  for (std::int64_t r = 0; r < rows; r += side)
    for (std::int64_t c = 0; c < cols; c += side) {
      const std::int64_t m = rows - r < side ? rows - r : side, n = cols - c < side ? cols - c : side;
      T* to = out + r * out_row + c * out_col;
      const T* from = in + r * in_row + c * in_col;
      if (in_row == 1 && out_col == 1 && m == side && n == side)
        turn_square(to, out_row, from, in_col);
      else
        for (std::int64_t i = 0; i < m; ++i) copy_row(to + i * out_row, out_col, from + i * in_row, in_col, n);
    }
}

// The two innermost dimensions.
template <class T>
void copy_plane(const Box& b, T* out, const T* in) {
  const int c = b.rank - 1, r = b.rank - 2;
  const bool crossed = Box::magnitude(b.in[c]) > 1 && Box::magnitude(b.in[r]) < Box::magnitude(b.in[c]) && b.in[r] != 0;
  if (crossed) return copy_squares(out, b.out[r], b.out[c], in, b.in[r], b.in[c], b.size[r], b.size[c]);
  for (std::int64_t i = 0; i < b.size[r]; ++i)
    copy_row(out + i * b.out[r], b.out[c], in + i * b.in[r], b.in[c], b.size[c]);
}

template <class T>
void copy_dims(const Box& b, T* out, const T* in) {
  if (b.rank == 0) return void(*out = *in);
  if (b.rank == 1) return copy_row(out, b.out[0], in, b.in[0], b.size[0]);
  std::int64_t at[max_rank] = {};  // of the outer dimensions
  for (;;) {
    copy_plane(b, out, in);
    int d = b.rank - 3;
    for (; d >= 0; --d) {
      out += b.out[d], in += b.in[d];
      if (++at[d] < b.size[d]) break;
      out -= b.out[d] * b.size[d], in -= b.in[d] * b.size[d], at[d] = 0;
    }
    if (d < 0) return;
  }
}

template <int Size>
void copy_as(const Box& b, void* out, const void* in) {
  using T = typename Moved<Size>::type;
  copy_dims(b, static_cast<T*>(out), static_cast<const T*>(in));
}

template <class T>
void fill_as(void* out, T v, std::int64_t n) {
  typedef T V __attribute__((vector_size(16), aligned(sizeof(T)), __may_alias__));
  constexpr int lanes = 16 / int(sizeof(T));
  char* p = static_cast<char*>(out);
  const V all = V{} + v;
  for (; n >= lanes; n -= lanes, p += 16) *reinterpret_cast<V*>(p) = all;
  for (; n > 0; --n, p += sizeof(T)) std::memcpy(p, &v, sizeof(T));
}
}  // namespace kernels

FX_INLINE void copy_box(void* out, const std::int64_t* out_strides, const void* in, const std::int64_t* in_strides,
                        const std::int64_t* sizes, int rank, int element_size) {
  kernels::Box b;
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] == 0) return;
    b.add(sizes[d], in_strides[d], out_strides[d]);
  }
  b.order();
  switch (element_size) {
    case 1: return kernels::copy_as<1>(b, out, in);
    case 2: return kernels::copy_as<2>(b, out, in);
    case 4: return kernels::copy_as<4>(b, out, in);
    case 8: return kernels::copy_as<8>(b, out, in);
    default: return kernels::copy_as<16>(b, out, in);
  }
}

FX_INLINE void fill(void* out, std::uint64_t bits, std::int64_t n, int element_size) {
  if (n == 0) return;
  if (element_size == 1)
    std::memset(out, int(bits & 255), std::size_t(n));
  else if (element_size == 4)
    kernels::fill_as(out, std::uint32_t(bits), n);
  else
    kernels::fill_as(out, std::uint64_t(bits), n);
}

}  // namespace fx::inline v0::tiled
#endif
