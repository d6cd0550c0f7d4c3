// type.hpp -- DType, Dims and Type: what is known of a value before it exists.
#pragma once
#include "base/digest.hpp"
#include "dim.hpp"

namespace fx::inline v0 {

// Element types. All exist as types; `computes` tells which have arithmetic in this version.
enum class DType : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int dtype_count = 15;

inline constexpr DType boolean = DType::boolean, i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64,
                       u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64, f16 = DType::f16,
                       bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64, c64 = DType::c64, c128 = DType::c128;

// Sets of dtypes, one bit each.
using DTypes = unsigned;
constexpr DTypes only(DType d) { return 1u << unsigned(d); }
inline constexpr DTypes bools = only(DType::boolean), signed_ints = only(i8) | only(i16) | only(i32) | only(i64),
                        unsigned_ints = only(u8) | only(u16) | only(u32) | only(u64),
                        integers = signed_ints | unsigned_ints, floats = only(f16) | only(bf16) | only(f32) | only(f64),
                        complexes = only(c64) | only(c128), numbers = integers | floats, bit_types = integers | bools,
                        any_dtype = numbers | bools,
                        computed = bools | only(i32) | only(i64) | only(u32) | only(u64) | only(f32) | only(f64);
constexpr bool in(DType d, DTypes set) { return set >> unsigned(d) & 1; }
constexpr bool is_float(DType d) { return in(d, floats); }
constexpr bool is_integer(DType d) { return in(d, integers); }
constexpr bool computes(DType d) { return in(d, computed); }

constexpr std::string_view name(DType d) {
  constexpr std::string_view names[dtype_count] = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                                   "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  return names[int(d)];
}
// Bytes of one element in memory.
constexpr int size_of(DType d) {
  constexpr int sizes[dtype_count] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[int(d)];
}

namespace detail {
template <class T>
inline constexpr int dtype_index = -1;
template <>
inline constexpr int dtype_index<bool> = int(DType::boolean);
template <>
inline constexpr int dtype_index<float> = int(DType::f32);
template <>
inline constexpr int dtype_index<double> = int(DType::f64);
template <class T>
requires(__is_same(T, signed char) || __is_same(T, short) || __is_same(T, int) || __is_same(T, long) ||
         __is_same(T, long long)) inline constexpr int dtype_index<T> = sizeof(T) == 1   ? int(i8)
                                                                        : sizeof(T) == 2 ? int(i16)
                                                                        : sizeof(T) == 4 ? int(i32)
                                                                                         : int(i64);
template <class T>
requires(__is_same(T, unsigned char) || __is_same(T, unsigned short) || __is_same(T, unsigned) ||
         __is_same(T, unsigned long) ||
         __is_same(T, unsigned long long)) inline constexpr int dtype_index<T> = sizeof(T) == 1   ? int(u8)
                                                                                 : sizeof(T) == 2 ? int(u16)
                                                                                 : sizeof(T) == 4 ? int(u32)
                                                                                                  : int(u64);
}  // namespace detail

// The C++ types that are element types of an Array (char is text, not a number).
template <class T>
concept Element = (detail::dtype_index<T> >= 0);
template <Element T>
inline constexpr DType dtype_of = DType(detail::dtype_index<T>);

namespace detail {
// An element as 64 bits and back; narrower types are zero-extended.
template <Element T>
constexpr std::uint64_t to_bits(T v) {
  if constexpr (sizeof(T) == 1)
    return std::uint64_t(std::uint8_t(v));
  else if constexpr (sizeof(T) == 2)
    return std::uint64_t(std::uint16_t(v));
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(std::uint32_t, v);
  else
    return __builtin_bit_cast(std::uint64_t, v);
}
template <Element T>
constexpr T from_bits(std::uint64_t v) {
  if constexpr (sizeof(T) <= 2)
    return T(v);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, std::uint32_t(v));
  else
    return __builtin_bit_cast(T, v);
}
}  // namespace detail

// A list of at most max_rank dimensions (or strides, offsets, axes), without allocation.
struct Dims {
  int n = 0;
  std::int64_t d[max_rank]{};
  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<Dim> l, Loc where = Loc::here()) {
    for (Dim v : l) push_back(v.v, where);
  }
  constexpr explicit Dims(Span<const std::int64_t> s) {
    for (std::int64_t v : s) push_back(v);
  }
  constexpr Dims(int count, std::int64_t v) {
    for (int i = 0; i < count; ++i) push_back(v);
  }
  constexpr int size() const { return n; }
  constexpr bool empty() const { return n == 0; }
  constexpr std::int64_t* data() { return d; }
  constexpr const std::int64_t* data() const { return d; }
  constexpr const std::int64_t* begin() const { return d; }
  constexpr const std::int64_t* end() const { return d + n; }
  constexpr std::int64_t& operator[](int i) { return d[i]; }
  constexpr const std::int64_t& operator[](int i) const { return d[i]; }
  constexpr Dim dim(int i) const { return Dim(d[i]); }
  constexpr void push_back(Dim v, Loc where = {}) {
    if (n == max_rank) fail(ErrorCode::shape, "an Array has at most 8 dimensions; merge some with reshape", where);
    d[n++] = v.v;
  }
  constexpr void insert(int at, Dim v) {
    push_back(v);
    for (int i = n - 1; i > at; --i) d[i] = d[i - 1];
    d[at] = v.v;
  }
  constexpr void erase(int at) {
    for (int i = at; i + 1 < n; ++i) d[i] = d[i + 1];
    --n;
  }
  constexpr bool contains(std::int64_t v) const {
    for (int i = 0; i < n; ++i)
      if (d[i] == v) return true;
    return false;
  }
  friend constexpr bool operator==(const Dims& a, const Dims& b) {
    if (a.n != b.n) return false;
    for (int i = 0; i < a.n; ++i)
      if (a.d[i] != b.d[i]) return false;
    return true;
  }
};

// dtype and shape. Prints as `f32[8,n]`.
struct Type {
  DType dtype = DType::f32;
  Dims dims;
  constexpr int rank() const { return dims.n; }
  constexpr bool is_static() const {
    for (std::int64_t v : dims)
      if (v < 0) return false;
    return true;
  }
  friend constexpr bool operator==(const Type& a, const Type& b) { return a.dtype == b.dtype && a.dims == b.dims; }
};

// The type of an argument: `fx::type(fx::f32, {n, 8})`.
constexpr Type type(DType d, Dims dims = {}) { return {d, dims}; }

// Number of elements of a static shape; -1 when it exceeds 2^62.
constexpr std::int64_t numel(const Dims& d) {
  std::int64_t r = 1;
  for (std::int64_t v : d)
    if (v == 0) return 0;
  for (std::int64_t v : d)
    if (r >= 0) r = detail::checked_mul(r, v);
  return r;
}
constexpr std::int64_t numel(const Type& t) { return numel(t.dims); }

// Row-major strides in elements.
constexpr Dims strides_of(const Dims& d) {
  Dims s(d.n, 1);
  for (int i = d.n - 2; i >= 0; --i) s[i] = s[i + 1] * d[i + 1];
  return s;
}

constexpr void put(Str& s, const Dims& d, char open = '[', char close = ']') {
  s += open;
  for (int i = 0; i < d.n; ++i) {
    if (i) s += ',';
    put(s, Dim(d[i]));
  }
  s += close;
}
constexpr void put(Str& s, const Type& t) {
  s += name(t.dtype);
  put(s, t.dims);
}
constexpr Str text(const Type& t) {
  Str s;
  put(s, t);
  return s;
}
constexpr Str text(const Dims& d) {
  Str s;
  put(s, d);
  return s;
}

// A symbolic dimension enters a digest by its text: handles differ between processes.
constexpr void hash(Hasher& h, Dim d) {
  if (d.is_static())
    h.word(std::uint64_t(d.v));
  else
    h.text(detail::dim_text(d));
}
constexpr void hash(Hasher& h, const Type& t) {
  h.word(std::uint64_t(t.dtype) << 8 | std::uint64_t(t.dims.n));
  for (std::int64_t v : t.dims) hash(h, Dim(v));
}

}  // namespace fx::inline v0
