// random/samplers.hpp -- uniform normal bernoulli randint permutation, with the numbers JAX gives.
#pragma once
#include "../numpy/selection.hpp"
#include "bits.hpp"

namespace fx::inline v0 {

namespace random {
// f32 or f64; numbers from min up to and without max.
struct UniformOptions {
  DType dtype = f32;
  double min = 0, max = 1;
};
struct NormalOptions {
  DType dtype = f32;
};
struct RandintOptions {
  DType dtype = i32;
};
}  // namespace random

namespace detail {
constexpr void need_sampled(DType d, std::string_view who, Loc loc) {
  if (d == f32 || d == f64) return;
  Str s = message(who);
  s += "gives f32 or f64, not ";
  s += name(d);
  fail(ErrorCode::dtype, s, loc);
}
// Uniform in [0, 1): the high bits as the mantissa of a number in [1, 2), less 1.
constexpr Val unit_interval(const KeyWords& k, std::int64_t n, DType d) {
  const DType word = d == f32 ? u32 : u64;
  const int unused = d == f32 ? 32 - 23 : 64 - 52;
  const std::uint64_t one = d == f32 ? to_bits(1.0f) : to_bits(1.0);
  Val mantissa = shift_right_logical(flat_bits(k, n, word), double(unused));
  return bitcast(bit_or(mantissa, k.hi.b->literal(word, one)), d) - 1.0;
}
// u * width + low with one rounding, as XLA contracts it: a dot product is a chain of fused multiply-adds.
constexpr Val scaled(Val u, double width, double low) {
  const Type t = type_of(u);
  Builder& b = *u.b;
  const Val row[] = {full(b, {t.dtype, Dims{t.dims.dim(0), 1}}, 1), reshape(u, Dims{t.dims.dim(0), 1})};
  const Val column[] = {full(b, {t.dtype, Dims{1}}, low), full(b, {t.dtype, Dims{1}}, width)};
  return dot_general(concatenate(row, 1), concatenate(column, 0), {Dims{1}, Dims{0}, {}, {}});
}
// max(min, u * (max - min) + min), with bounds rounded to the dtype first.
constexpr Val uniform_val(const KeyWords& k, std::int64_t n, const random::UniformOptions& o) {
  Val u = unit_interval(k, n, o.dtype);
  if (o.min == 0 && o.max == 1) return u;
  double low = o.min, width = o.max - o.min;
  if (o.dtype == f32) {
    const float f = fp::convert<float>(o.min);
    low = double(f);
    width = double(fp::sub(fp::convert<float>(o.max), f));
  }
  return maximum(scaled(u, width, low), low);
}

// erf_inv of f32 by the polynomials of Giles, "Approximating the erfinv function" (2010), in the steps of XLA: their
// errors (7 ulp for |x| near 1, from rounding x * x) are part of JAX's numbers. ErfInv is more accurate.
constexpr Val erf_inv_giles(Val x) {
  constexpr double central[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Val w = -log1p(-(x * x)), near = lt(w, 5.0);
  w = select(near, w - 2.5, sqrt(w) - 3.0);
  Val p = select(near, like(x, central[0]), like(x, tail[0]));
  for (int i = 1; i < 9; ++i) p = select(near, like(x, central[i]), like(x, tail[i])) + p * w;
  return p * x;
}

// randint in unsigned words: two words of bits make the bias of `mod span` negligible.
constexpr Val random_offset(const KeyWords& k, std::int64_t n, DType word, std::uint64_t span) {
  const std::uint64_t mask = word == u32 ? 0xffff'ffff : ~std::uint64_t(0);
  const auto mod = [&](std::uint64_t v) { return span ? v % span : v; };
  const std::uint64_t half = mod(word == u32 ? 1 << 16 : std::uint64_t(1) << 32), multiplier = mod(half * half & mask);
  Builder& b = *k.hi.b;
  const Bits2x32 keys = encrypt_positions(k, 2);
  Val by = b.literal(word, span);
  Val high = rem(flat_bits(nth_key(keys, 0), n, word), by), low = rem(flat_bits(nth_key(keys, 1), n, word), by);
  return rem(high * b.literal(word, multiplier) + low, by);
}
constexpr std::int64_t largest_integer(DType d) {
  return d == i32 ? 0x7fff'ffff : d == u32 ? 0xffff'ffff : std::int64_t(~std::uint64_t(0) >> 1);
}
constexpr void check_range(std::int64_t low, std::int64_t high, DType d, Loc loc) {
  const std::int64_t smallest = d == i32 ? -0x8000'0000ll : d == i64 ? -largest_integer(i64) - 1 : 0;
  const bool fits = low >= smallest && high - (high > low) <= largest_integer(d);
  if (low < high && fits) return;
  Str s("random::randint: ");
  (s.num(low) += " to ").num(high) += fits ? " holds no integer" : " does not fit ";
  if (!fits) s += name(d);
  fail(ErrorCode::value, s, loc);
}

// Sorting n numbers by random 32-bit keys, so often that ties do not matter: n^3 <= (2^32 - 1)^rounds.
constexpr int shuffle_rounds(std::int64_t n) {
  int rounds = 0;
  for (fp::u128 cube = fp::u128(n) * fp::u128(n) * fp::u128(n), p = 1; p < cube; p *= 0xffff'ffff) ++rounds;
  return rounds;
}
constexpr Val shuffled(KeyWords k, Val x) {
  const std::int64_t n = type_of(x).dims[0];
  for (int round = shuffle_rounds(n); round > 0; --round) {
    const Bits2x32 keys = encrypt_positions(k, 2);
    k = nth_key(keys, 0);
    Val sorted = bind(prim<Sort>, {flat_bits(nth_key(keys, 1), n, u32), x}, Params().integer(0).integer(1));
    x = Val(sorted.b, sorted.id + 1);
  }
  return x;
}
constexpr std::int64_t shuffle_size(std::int64_t n, Loc loc) {
  if (n >= 0 && n <= 0x7fff'ffff) return n;
  fail(ErrorCode::value, "random::permutation: the size is negative or above 2^31 - 1", loc);
  return 0;
}
}  // namespace detail

namespace random {

// Uniform numbers in [min, max). Errors: a dtype that is not f32 or f64 (dtype), a negative size (shape), data that is
// no key (shape).
constexpr Array uniform(const Key& key, const Dims& shape, const UniformOptions& o = {}, Loc where = Loc::here()) {
  detail::need_sampled(o.dtype, "random::uniform", where);
  return detail::record_random(key, shape, "random::uniform", where,
                               [&](const detail::KeyWords& k, std::int64_t n) { return detail::uniform_val(k, n, o); });
}
// Normal numbers of mean 0 and variance 1: sqrt(2) erf_inv(u), u uniform in (-1, 1). Errors as uniform.
constexpr Array normal(const Key& key, const Dims& shape, const NormalOptions& o = {}, Loc where = Loc::here()) {
  detail::need_sampled(o.dtype, "random::normal", where);
  return detail::record_random(key, shape, "random::normal", where, [&](const detail::KeyWords& k, std::int64_t n) {
    const bool single = o.dtype == f32;
    const double above = single ? -1 + 0x1p-24 : -1 + 0x1p-53;                   // the number next to -1
    Val u = maximum(detail::unit_interval(k, n, o.dtype) * 2.0 + above, above);  // exact: 1 - above rounds to 2
    return (single ? detail::erf_inv_giles(u) : erf_inv(u)) * 1.41421356237309504880;
  });
}
// true with probability p: a number, or a floating-point Array that broadcasts to the shape. Errors as uniform.
constexpr Array bernoulli(const Key& key, Array::Op p, const Dims& shape) {
  const std::int64_t n = detail::random_count(shape, "random::bernoulli", p.loc);
  const detail::Operand operands[] = {detail::Operand(key.data, p.loc), p};
  detail::Recording r(Span<const detail::Operand>(operands, p.is_scalar() ? 1 : 2), p.loc);
  Val chance = p.is_scalar() ? r.number(p, f64) : r.vals[1];
  const DType d = type_of(chance).dtype;
  detail::need_sampled(d, "random::bernoulli", p.loc);
  const detail::KeyWords k = detail::key_words(r.vals[0], "random::bernoulli", p.loc);
  Val u = reshape(detail::unit_interval(k, n, d), shape);
  return r.result(lt(u, detail::broadcast_to_checked(chance, shape, "random::bernoulli", p.loc)));
}
// Integers low, ..., high - 1, i32 unless said: i32, i64, u32 or u64. Errors: another dtype (dtype), no integer between
// the bounds or bounds that the dtype does not hold (value).
constexpr Array randint(const Key& key, const Dims& shape, std::int64_t low, std::int64_t high,
                        const RandintOptions& o = {}, Loc where = Loc::here()) {
  if (!in(o.dtype, integers & computed)) fail(ErrorCode::dtype, "random::randint: gives i32, i64, u32 or u64", where);
  detail::check_range(low, high, o.dtype, where);
  return detail::record_random(key, shape, "random::randint", where, [&](const detail::KeyWords& k, std::int64_t n) {
    const DType word = size_of(o.dtype) == 4 ? u32 : u64;
    const std::uint64_t mask = word == u32 ? 0xffff'ffff : ~std::uint64_t(0);
    Val offset = detail::random_offset(k, n, word, (std::uint64_t(high) - std::uint64_t(low)) & mask);
    if (o.dtype != word) offset = convert(offset, o.dtype);
    return offset + k.hi.b->literal(o.dtype, std::uint64_t(low) & mask);
  });
}
// 0, ..., n - 1 in random order, as i32. Errors (value): n < 0 or above 2^31 - 1.
constexpr Array permutation(const Key& key, std::int64_t n, Loc where = Loc::here()) {
  detail::shuffle_size(n, where);
  return detail::record_random(
      key, Dims{n}, "random::permutation", where,
      [](const detail::KeyWords& k, std::int64_t m) { return detail::shuffled(k, iota(*k.hi.b, i32, Dims{m}, 0)); });
}
// x with its rows (along axis 0) in random order. Errors (shape): a scalar.
constexpr Array permutation(const Key& key, const Array& x, Loc where = Loc::here()) {
  return detail::record_binary(detail::Operand(key.data, where), detail::Operand(x, where), [&](Val data, Val v) {
    const Type t = type_of(v);
    detail::axis_of(0, t, "random::permutation", where);
    detail::need_sizes(t, "random::permutation", where);
    const detail::KeyWords k = detail::key_words(data, "random::permutation", where);
    const std::int64_t n = detail::shuffle_size(t.dims[0], where);
    return detail::taken(v, detail::shuffled(k, iota(*k.hi.b, i32, Dims{n}, 0)), 0);
  });
}

}  // namespace random
}  // namespace fx::inline v0
