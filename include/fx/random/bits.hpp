// random/bits.hpp -- keys and raw bits: key split keys fold_in bits.
//
// A key is two words of Threefry-2x32; the same numbers as JAX gives with jax_threefry_partitionable (its default).
#pragma once
#include <array>
#include <vector>

#include "../numpy/creation.hpp"
#include "key.hpp"

namespace fx::inline v0 {

namespace detail {
// The two words of one key. Errors (shape, dtype): `data` is no key.
struct KeyWords {
  Val hi, lo;
};
constexpr KeyWords key_words(Val data, std::string_view who, Loc loc) {
  const Type& t = type_of(data);
  if (!(t == Type{u32, Dims{2}}))
    fail(ErrorCode::shape, message(who, t, "is not one key (u32[2]); map over several keys with fx::vmap"), loc);
  return {reshape(slice_dim(data, 0, 0, 1), {}), reshape(slice_dim(data, 0, 1, 2), {})};
}
// The key encrypts the numbers hi, lo, which have one shape.
constexpr Bits2x32 encrypt(const KeyWords& k, Val hi, Val lo) {
  const Dims shape = type_of(lo).dims;
  return threefry2x32(broadcast_to(k.hi, shape), broadcast_to(k.lo, shape), hi, lo);
}
// It encrypts 0, 1, ..., n - 1, as 64-bit numbers.
constexpr Bits2x32 encrypt_positions(const KeyWords& k, std::int64_t n) {
  Builder& b = *k.hi.b;
  if (n <= std::int64_t(1) << 32) return encrypt(k, b.literal(u32, 0), iota(b, u32, Dims{n}, 0));
  Val i = iota(b, u64, Dims{n}, 0);
  return encrypt(k, convert(shift_right_logical(i, 32.0), u32), convert(i, u32));
}
// The i-th of the keys that encrypt_positions gave.
constexpr KeyWords nth_key(const Bits2x32& keys, std::int64_t i) {
  return {reshape(slice_dim(keys.hi, 0, i, i + 1), {}), reshape(slice_dim(keys.lo, 0, i, i + 1), {})};
}
// Two words, of equal shape, side by side in a new last axis: keys.
constexpr Val side_by_side(const Bits2x32& w) {
  Dims shape = type_of(w.hi).dims;
  shape.push_back(1);
  const Val parts[] = {reshape(w.hi, shape), reshape(w.lo, shape)};
  return concatenate(parts, shape.n - 1);
}
constexpr Val split_val(Val data, std::int64_t n, Loc loc) {
  return side_by_side(encrypt_positions(key_words(data, "random::split", loc), n));
}
// Results as keys of their own.
constexpr Vec<NodeRef> split_nodes(const Key& key, std::int64_t n, Loc loc) {
  const Operand operands[] = {Operand(key.data, loc)};
  Recording r(operands, loc);
  Val rows = split_val(r.vals[0], n, loc);
  Vec<Val> keys;
  for (std::int64_t i = 0; i < n; ++i) keys.push_back(reshape(slice_dim(rows, 0, i, i + 1), Dims{2}));
  return r.results(keys);
}

// No named std::array: g++ 12 destroys the elements of one that is returned in constant evaluation.
template <int... I>
constexpr std::array<Key, sizeof...(I)> key_array_of(const Vec<NodeRef>& nodes, std::integer_sequence<int, I...>) {
  return {{Key{Array(nodes[I])}...}};
}

// Bits of dtype u32 or u64 as a vector; the shape comes later.
constexpr Val flat_bits(const KeyWords& k, std::int64_t n, DType d) {
  const Bits2x32 w = encrypt_positions(k, n);
  if (d == u32) return bit_xor(w.hi, w.lo);
  return bit_or(shift_left(convert(w.hi, u64), 32.0), convert(w.lo, u64));
}
constexpr std::int64_t random_count(const Dims& shape, std::string_view who, Loc loc) {
  check_new({f32, shape}, who, loc);
  need_sizes({f32, shape}, who, loc);
  const std::int64_t n = numel(shape);
  if (n >= 0) return n;
  fail(ErrorCode::memory, message(who, {f32, shape}, "has more elements than any memory"), loc);
  return 0;
}
// f(words of the key) -> a vector of n elements, as an Array of the shape.
template <class F>
constexpr Array record_random(const Key& key, const Dims& shape, std::string_view who, Loc loc, F&& f) {
  const std::int64_t n = random_count(shape, who, loc);
  const Operand operands[] = {Operand(key.data, loc)};
  Recording r(operands, loc);
  return r.result(reshape(f(key_words(r.vals[0], who, loc), n), shape));
}
constexpr Key key_of(std::uint64_t seed, Loc loc) {
  const std::uint64_t words[] = {seed >> 32, seed & 0xffff'ffff};
  if (!FX_CONSTANT_EVALUATED()) {
    const std::uint32_t bytes[] = {std::uint32_t(words[0]), std::uint32_t(words[1])};
    return {Array(concrete_node({u32, Dims{2}}, bytes, loc))};
  }
  NodeRef n = make_node(Node::concrete, {u32, Dims{2}}, loc);
  for (std::uint64_t w : words) n->elements.push_back(w);
  return {Array(std::move(n))};
}
}  // namespace detail

namespace random {

// The key of a seed: its high and its low 32 bits; a negative int counts as 64 bits.
template <detail::Integer T>
constexpr Key key(T seed, Loc where = Loc::here()) {
  return detail::key_of(std::uint64_t(std::int64_t(seed)), where);
}
// The key of a seed that is traced: an integer scalar. Errors: floats (dtype), no scalar (shape).
constexpr Key key(const Array& seed, Loc where = Loc::here()) {
  return {detail::record_unary(detail::Operand(seed, where), [&](Val s) {
    const Type t = type_of(s);
    detail::need_dtype(integers & computed, t, "random::key", "is no seed; seeds are integers", where);
    if (t.rank()) fail(ErrorCode::shape, detail::message("random::key", t, "is not one seed"), where);
    const bool wide = size_of(t.dtype) == 8;
    Val hi = wide ? convert(shift_right_logical(s, 32.0), u32) : s.b->literal(u32, 0);
    return detail::side_by_side({hi, convert(s, u32)});
  })};
}
// N new keys, independent of each other and of this one, which is not to be used again: auto [a, b] = split<2>(key).
template <int N = 2>
constexpr std::array<Key, N> split(const Key& key, Loc where = Loc::here()) {
  static_assert(N >= 1, "fx::random::split: at least one key");
  return detail::key_array_of(detail::split_nodes(key, N, where), std::make_integer_sequence<int, N>());
}
// n new keys. Errors (value): n < 0.
inline std::vector<Key> split(const Key& key, int n, Loc where = Loc::here()) {
  if (n < 0) fail(ErrorCode::value, "random::split: the number of keys is negative", where);
  std::vector<Key> r;
  for (const detail::NodeRef& node : detail::split_nodes(key, n, where)) r.push_back({Array(node)});
  return r;
}
// n new keys as one Key of u32[n, 2], to map over with fx::vmap. Errors (value): n < 0.
constexpr Key keys(const Key& key, std::int64_t n, Loc where = Loc::here()) {
  if (n < 0) fail(ErrorCode::value, "random::keys: the number of keys is negative", where);
  return {detail::record_unary(detail::Operand(key.data, where),
                               [&](Val data) { return detail::split_val(data, n, where); })};
}
// A new key from a key and a number: an int from 0 to 2^32 - 1, or an integer scalar, of which 32 bits count.
constexpr Key fold_in(const Key& key, Array::Op data) {
  return {detail::record_binary(detail::Operand(key.data, data.loc), data, [&](Val k, Val number) {
    const Type t = type_of(number);
    detail::need_dtype(integers & computed, t, "random::fold_in", "is no integer", data.loc);
    if (t.rank()) fail(ErrorCode::shape, detail::message("random::fold_in", t, "is no scalar"), data.loc);
    const detail::KeyWords words = detail::key_words(k, "random::fold_in", data.loc);
    Val low = t.dtype == u32 ? number : convert(number, u32);
    return detail::side_by_side(detail::encrypt(words, low.b->literal(u32, 0), low));
  })};
}
// Random bits, u32 or u64. Errors: another dtype (dtype), a negative size (shape).
constexpr Array bits(const Key& key, const Dims& shape, DType dtype = u32, Loc where = Loc::here()) {
  if (dtype != u32 && dtype != u64) fail(ErrorCode::dtype, "random::bits: gives u32 or u64", where);
  return detail::record_random(key, shape, "random::bits", where, [&](const detail::KeyWords& k, std::int64_t n) {
    return detail::flat_bits(k, n, dtype);
  });
}

}  // namespace random
}  // namespace fx::inline v0
