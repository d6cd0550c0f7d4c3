// cuda/ptx_programs.hpp -- Graphs that between them use every instruction, reduction and loop that has PTX, and inputs
// for them.
#pragma once
#include <cstring>
#include <fx/backends/cuda/ptx.hpp>
#include <fx/backends/tiled/backend.hpp>
#include <fx/ops/all.hpp>
#include <fx/tile/parse.hpp>
#include <limits>
#include <string>
#include <vector>

namespace ptx_test {
using namespace fx;

struct Case {
  std::string name;
  Graph graph;
  bool pairs = false;        // the two inputs run through all pairs of special values
  std::int64_t on_chip = 0;  // of the Target; 0: this processor's
};

// Operations that no primitive is alone.
#define FX_RAW(Name, text, set, ...)                     \
  struct Name : Binary<Name> {                           \
    static constexpr std::string_view name = text;       \
    static constexpr bool flat = true;                   \
    static constexpr DTypes takes = set;                 \
    template <class V>                                   \
    static constexpr V emit(V a, [[maybe_unused]] V b) { \
      __VA_ARGS__                                        \
    }                                                    \
  };
FX_RAW(RawFma, "raw_fma", floats, return fma(a, b, a);)
FX_RAW(RawRint, "raw_rint", floats, return rint(a);)
FX_RAW(RawProductSum, "raw_product_sum", floats, return a * b + a;)  // must not be contracted
inline constexpr float table_f32[] = {1, 2.5f, -0.0f, 4};
inline constexpr double table_f64[] = {1, 0.1, -0.0};
FX_RAW(RawLookup, "raw_lookup", integers& computed, using I = typename V::type;
       using F = typename V::template rebind<float>; using D = typename V::template rebind<double>;
       F f = lookup(table_f32, 4, a); D d = lookup(table_f64, 3, b);
       return convert<I>(f) + convert<I>(d * V::template rebind<double>::c(10));)
#undef FX_RAW
// Position along the last dimension, times the operand.
struct Ramp : Unary<Ramp> {
  static constexpr std::string_view name = "ptx_ramp";
  static constexpr bool flat = true;
  static constexpr DTypes takes = numbers;
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    World::put(c, 0, World::template get<T>(c, 0) * World::template position<T>(c, 1));
  }
};
// a + b + a b, with identity 0.
struct ReduceMix : Reduce<ReduceMix> {
  static constexpr std::string_view name = "ptx_reduce_mix";
  static constexpr DTypes takes = numbers;
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return a + b + a * b;
  }
};
// The first element of the largest magnitude.
struct ArgLargest : ArgReduce<ArgLargest> {
  static constexpr std::string_view name = "ptx_arg_largest";
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr auto better(V best, V next) {
    return lt(best * best, next * next);
  }
};

inline constexpr DType dtypes[] = {boolean, i32, i64, u32, u64, f32, f64};

template <class T>
std::vector<T> special_values() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return {0,
            1,
            2,
            3,
            7,
            10,
            31,
            32,
            33,
            63,
            64,
            65,
            1000,
            T(-1),
            T(-2),
            T(-7),
            T(-33),
            low,
            T(low + 1),
            high,
            T(high - 1),
            T(high / 2),
            T(high / 3 * 2),
            T(0x1234567890abcdef)};
  } else {
    using L = std::numeric_limits<T>;
    return {0,
            T(-0.0),
            1,
            -1,
            T(0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(3.7),
            -7,
            T(0.1),
            T(-1e-10),
            100.25,
            T(1e10),
            T(2147483520.0),
            T(2147483647.0),
            2147483648.0,
            T(-2147483649.0),
            T(4294967040.0),
            T(4294967295.0),
            T(4294967296.0),
            T(9223371487098961920.0),
            T(9223372036854775808.0),
            T(-9223372036854775808.0),
            T(18446742974197923840.0),
            T(18446744073709551616.0),
            T(-1e20),
            L::denorm_min(),
            -L::min() / 3,
            L::min(),
            L::max(),
            L::lowest(),
            L::infinity(),
            -L::infinity(),
            L::quiet_NaN(),
            L::epsilon()};
  }
}

// Calls f<T>() for the type of d.
template <class F>
void for_type(DType d, F&& f) {
  detail::with_type<computed>(d, [&]<class T>() { f.template operator()<T>(); });
}

// Element i of input k.
template <class T>
T value_at(const Case& c, int k, std::int64_t i) {
  if (c.pairs) {
    const std::vector<T> s = special_values<T>();
    const std::int64_t n = std::int64_t(s.size());
    return s[std::size_t(k == 0 ? i % n : i / n % n)];
  }
  std::uint64_t z = (std::uint64_t(i) + 1) * 0x9E3779B97F4A7C15ull + std::uint64_t(k) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  if constexpr (std::is_same_v<T, bool>) return z & 1;
  if constexpr (std::is_integral_v<T>) return T(z % 9);
  return T(double(z >> 11) * 0x1p-53 * 4 - 2);
}
inline std::vector<char> input_bytes(const Case& c, int k) {
  const Type& t = c.graph.type(c.graph.ins[k]);
  std::vector<char> bytes(std::size_t(numel(t) * size_of(t.dtype)));
  for_type(t.dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < numel(t); ++i) {
      const T v = value_at<T>(c, k, i);
      std::memcpy(bytes.data() + i * std::int64_t(sizeof v), &v, sizeof v);
    }
  });
  return bytes;
}

inline Case finish(std::string name, Builder& b, const Vec<Val>& outs, bool pairs = false, std::int64_t on_chip = 0) {
  return {std::move(name), b.finish(outs), pairs, on_chip};
}
inline Val raw(const Prim& p, Val x, Val y) { return bind(p, {x, y}); }

inline void float_values(Vec<Val>& out, Val x, Val y) {
  for (Val v :
       {x / y, raw(prim<RawFma>, x, y), raw(prim<RawRint>, x, y), raw(prim<RawProductSum>, x, y), floor(x), sqrt(x)})
    out.push_back(v);
  for (Val v : {exp(x), log(x), log1p(x), tanh(x), sin(x), cos(x), rsqrt(x), logistic(x), erf_inv(x), pow(x, y)})
    out.push_back(v);
}
inline void integer_values(Vec<Val>& out, Val x, Val y) {
  for (Val v : {bit_and(x, y), bit_or(x, y), bit_xor(x, y), logical_not(x), shift_left(x, y),
                shift_right_arithmetic(x, y), shift_right_logical(x, y), raw(prim<RawLookup>, x, y), x / y})
    out.push_back(v);
}
// Every operation on all pairs of special values.
inline Case operations(DType d) {
  Builder b;
  std::int64_t n = 0;
  for_type(d, [&]<class T>() { n = std::int64_t(special_values<T>().size()); });
  Val x = b.input({d, {n * n}}), y = b.input({d, {n * n}});
  Vec<Val> out{maximum(x, y), minimum(x, y), lt(x, y), le(x, y), eq(x, y), ne(x, y), select(lt(x, y), y, x)};
  if (d == boolean)
    for (Val v : {bit_and(x, y), bit_or(x, y), bit_xor(x, y), logical_not(x)}) out.push_back(v);
  else
    for (Val v : {x + y, x - y, x * y, -x, rem(x, y), integer_pow(x, 3)}) out.push_back(v);
  if (in(d, signed_ints | floats))
    for (Val v : {abs(x), sign(x)}) out.push_back(v);
  if (is_float(d)) float_values(out, x, y);
  if (is_integer(d)) integer_values(out, x, y);
  for (DType to : dtypes) {
    if (to != d) out.push_back(convert(x, to));
    if (to != d && to != boolean && size_of(to) == size_of(d)) out.push_back(bitcast(x, to));
  }
  return finish("operations on " + std::string(name(d)), b, out, true);
}

inline Case layouts() {
  Builder b;
  Val x = b.input({f32, {6, 10}}), row = b.input({f32, {10}}), one = b.input({f32, {}}),
      flag = b.input({boolean, {6, 10}});
  Val all = broadcast_in_dim(one, {6, 10}, {});
  Vec<Val> out{transpose(x, {1, 0}) * 2.0,
               rev(x, {0, 1}) + broadcast_in_dim(row, {6, 10}, {1}) * all,
               slice(x, {1, 1}, {6, 10}, {2, 3}) - 1.0,
               bind(prim<Ramp>, {rev(x, {0})}),
               select(flag, x, all),
               convert(iota(b, i64, {3, 4, 5}, 1), f64) + convert(iota(b, f64, {3, 4, 5}, 2), f64)};
  return finish("layouts and positions", b, out);
}

inline void known_reductions(Vec<Val>& out, Val x, const Dims& axes) {
  const DType d = type_of(x).dtype;
  out.push_back(reduce_max(x, axes));
  out.push_back(reduce_min(x, axes));
  if (axes.n == 1) {
    out.push_back(argmax(x, int(axes[0]), i64));
    out.push_back(argmin(x, int(axes[0]), u32));
  }
  if (d == boolean) return;
  out.push_back(reduce_sum(x, axes));
  out.push_back(reduce_prod(x, axes));
  out.push_back(x.b->bind(prim<ReduceMix>, {x * x}, Params().dims(axes)));
  if (axes.n == 1) out.push_back(x.b->bind(prim<ArgLargest>, {x}, Params().ints({axes[0]}).dtype(i32)));
}
inline Case reductions(DType d) {
  Builder b;
  Val rows = b.input({d, {3, 4500}}), columns = b.input({d, {4200, 3}}), box = b.input({d, {4, 5, 6, 7}});
  Vec<Val> out;
  known_reductions(out, rows, {1});
  known_reductions(out, columns, {0});
  for (const Dims& axes : {Dims{2, 3}, Dims{0, 2}, Dims{3}, Dims{1}, Dims{0, 1, 2, 3}})
    known_reductions(out, box, axes);
  if (is_float(d)) {
    out.push_back(reduce_sum(bind(prim<Ramp>, {rows}), {1}));
    out.push_back(reduce_max(bind(prim<Ramp>, {transpose(columns, {1, 0})}), {0}));
  }
  return finish("reductions of " + std::string(name(d)), b, out);
}
// Zeros of both signs, infinities and NaNs among what is reduced; and nothing at all.
inline Case special_reductions(DType d) {
  Builder b;
  std::int64_t n = 0;
  for_type(d, [&]<class T>() { n = std::int64_t(special_values<T>().size()); });
  Val x = b.input({d, {n, n}}), y = b.input({d, {n, n}}), none = b.input({d, {3, 0}});
  Vec<Val> out;
  for (Val v : {x, y})
    for (int axis : {0, 1}) known_reductions(out, v, {axis});
  for (Val v : {reduce_sum(none, {1}), reduce_max(none, {1}), reduce_min(none, {1}), reduce_prod(none, {1})})
    out.push_back(v);
  return finish("special reductions of " + std::string(name(d)), b, out, true);
}

inline Val along_rows(Val v, Val like) { return broadcast_in_dim(v, type_of(like).dims, {0}); }
inline Val softmax(Val x) {
  Val e = exp(x - along_rows(reduce_max(x, {1}), x));
  return e / along_rows(reduce_sum(e, {1}), x);
}
inline Case row_tiles(DType d, std::int64_t rows, std::int64_t cols, std::int64_t on_chip) {
  Builder b;
  Val x = b.input({d, {rows, cols}}), scale = b.input({d, {cols}});
  Val c = x - along_rows(reduce_sum(x, {1}) / double(cols), x), v = reduce_sum(c * c, {1}) / double(cols);
  Val normal = c * along_rows(rsqrt(v + 1e-5), x) * broadcast_in_dim(scale, {rows, cols}, {1});
  return finish("row tiles of " + std::string(name(d)), b, {softmax(x), normal, argmax(x, 1)}, false, on_chip);
}

inline std::vector<Case> cases() {
  std::vector<Case> r;
  for (DType d : dtypes) {
    r.push_back(operations(d));
    r.push_back(reductions(d));
    if (d != boolean) r.push_back(special_reductions(d));
  }
  r.push_back(layouts());
  for (std::int64_t on_chip : {1 << 14, 1 << 20}) {
    r.push_back(row_tiles(f32, 65, 100, on_chip));
    r.push_back(row_tiles(f64, 40, 600, on_chip));
  }
  r.push_back(row_tiles(f32, 600, 2000, 1 << 20));  // strips whose intermediates exceed shared memory
  return r;
}

inline Target target_of(std::int64_t on_chip) {
  Target t = tile::host();
  if (on_chip) t.on_chip = on_chip;
  return t;
}
inline Ref<const tiled::TiledExecutable> compile(const Graph& g, const Target& t) {
  ExecutableRef e = tiled::TiledBackend(t).compile(g);
  return Ref<const tiled::TiledExecutable>(static_cast<const tiled::TiledExecutable*>(e.get()));
}
inline Vec<int> kernels_with_ptx(const tile::Program& p) {
  Vec<int> r;
  for (int i = 0; i < p.kernels.size(); ++i)
    if (cuda::has_ptx(p.kernels[i])) r.push_back(i);
  return r;
}

}  // namespace ptx_test
