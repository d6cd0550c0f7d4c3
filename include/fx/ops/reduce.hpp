// ops/reduce.hpp -- reduce_sum reduce_prod reduce_max reduce_min argmax argmin, and cumsum.
//
// The order of a reduction is a function of the index alone. Elements are numbered along the reduced dimensions in
// row-major order. When these are the last dimensions, element i goes to lane i mod L of its block of 4096 elements (L:
// 32 for 4-byte elements, else 16), the lanes fold in halves, and blocks are combined in order; otherwise lanes are not
// used (L = 1).
#pragma once
#include "arithmetic.hpp"

namespace fx::inline v0 {

inline constexpr int reduce_block = 4096;
constexpr int reduce_lanes(DType d) { return size_of(d) == 4 ? 32 : 16; }

constexpr Val reshape(Val x, const Dims& shape);
constexpr Val broadcast_in_dim(Val x, const Dims& shape, const Dims& dims);
constexpr Val slice_dim(Val x, int dim, std::int64_t from, std::int64_t to);
constexpr Val concatenate(Span<const Val> xs, int dim);
constexpr Val zeros(Builder& b, const Type& t);

namespace detail {
// Axes are distinct dimensions of t.
constexpr bool check_axes(TypeCtx& c, const Dims& axes, const Type& t) {
  for (int i = 0; i < axes.n; ++i) {
    bool ok = axes[i] >= 0 && axes[i] < t.rank();
    for (int j = 0; j < i; ++j) ok = ok && axes[i] != axes[j];
    if (ok) continue;
    Str s("axes ");
    put(s, axes);
    s += " are not distinct dimensions of ";
    put(s, t);
    c.fail(ErrorCode::shape, s);
    return false;
  }
  return true;
}
constexpr Dims without(const Dims& d, const Dims& axes) {
  Dims r;
  for (int i = 0; i < d.n; ++i)
    if (!axes.contains(i)) r.push_back(d.dim(i));
  return r;
}
// The dimensions of a rank-n value that are not in axes: where a reduced value lies in the unreduced one.
constexpr Dims others(int n, const Dims& axes) {
  Dims r;
  for (int i = 0; i < n; ++i)
    if (!axes.contains(i)) r.push_back(i);
  return r;
}
}  // namespace detail

// P gives name, takes, emit (the fold of two values), the primitive that is the same (pair), and identity<T>().
template <class P>
struct Reduce {
  static constexpr Kind kind = Kind::reduce;
  static constexpr int form = fold_form;
  static constexpr AttrSpec attrs[] = {{"axes", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    detail::check_dtype(c, 0, P::takes, detail::describe(P::takes));
    const Dims axes = c.attrs.dims(0);
    if (c.failed() || !detail::check_axes(c, axes, c.type(0))) return;
    c.result({c.type(0).dtype, detail::without(c.type(0).dims, axes)});
  }
  static constexpr void batch(BatchCtx& c) {
    Dims axes = c.attrs().dims(0);
    for (int i = 0; i < axes.n; ++i) ++axes[i];
    c.result(c.b.bind(*c.e.prim, {c.in[0]}, Params().dims(axes)));
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.attrs.dims(0).empty() ? c.in[0] : Val(); }
  // With two operands: their fold; with none: the identity.
  template <class World, class Ctx>
  static constexpr void run(Ctx& c) {
    detail::with_type<P::takes & computed>(c.out_dtypes[0], [&]<class T>() {
      using V = typename World::template V<T>;
      if (c.dtypes.empty())
        World::put(c, 0, V::c(P::template identity<T>()));
      else
        World::put(c, 0, P::emit(World::template get<T>(c, 0), World::template get<T>(c, 1)));
    });
  }
  static constexpr void scalar(ScalarCtx& c) { run<detail::ScalarWorld>(c); }
  static void record(RecordCtx& c) { run<detail::RecordWorld>(c); }
  static constexpr void cost(CostCtx& c) { c.cost.flops = double(numel(c.g.type(c.g.in(c.e)[0]))); }

  // y broadcast along the reduced axes of x.
  static constexpr Val spread(Val y, Val x, const Dims& axes) {
    return broadcast_in_dim(y, type_of(x).dims, detail::others(type_of(x).rank(), axes));
  }
};

// Starts from -0, so that a sum of -0 is -0; the empty sum is +0.
struct ReduceSum : Reduce<ReduceSum> {
  static constexpr std::string_view name = "reduce_sum";
  static constexpr DTypes takes = numbers;
  static constexpr const Prim* pair = &prim<Add>;
  template <class T>
  static constexpr T identity() {
    return is_float(dtype_of<T>) ? T(-0.0) : T(0);
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return a + b;
  }
  static constexpr void jvp(JvpCtx& c) { c.dy[0] = bind(prim<ReduceSum>, {c.t[0]}, params_of(c.g, c.e)); }
  static constexpr void transpose(TransposeCtx& c) {
    c.add(0, broadcast_in_dim(c.ct(), c.type(0).dims, detail::others(c.type(0).rank(), c.attrs().dims(0))));
  }
};
constexpr Val reduce_sum(Val x, const Dims& axes) {
  return axes.empty() ? x : bind(prim<ReduceSum>, {x}, Params().dims(axes));
}
constexpr Dims all_axes(Val x) { return detail::others(type_of(x).rank(), {}); }
constexpr Val sum_all(Val x) { return reduce_sum(x, all_axes(x)); }

struct ReduceProd : Reduce<ReduceProd> {
  static constexpr std::string_view name = "reduce_prod";
  static constexpr DTypes takes = numbers;
  static constexpr const Prim* pair = &prim<Mul>;
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return a * b;
  }
  // Differentiates a tree of products, which is right also where elements are zero.
  static constexpr void jvp(JvpCtx& c) {
    Builder tree;
    const Type t = type_of(c.x[0]);
    const Dims axes = c.attrs().dims(0);
    Val x = tree.input(t);
    for (std::int64_t a : axes) {
      const int dim = int(a);
      while (type_of(x).dims[dim] > 1) {
        const std::int64_t n = type_of(x).dims[dim], half = n / 2;
        Val low = slice_dim(x, dim, 0, half), high = slice_dim(x, dim, half, 2 * half), p = low * high;
        if (n % 2) {
          Val parts[] = {p, slice_dim(x, dim, n - 1, n)};
          p = concatenate(Span<const Val>(parts, 2), dim);
        }
        x = p;
      }
    }
    if (numel(t) == 0) return;
    const Val outs[] = {reshape(x, detail::without(t.dims, axes))};
    const Graph g = tree.finish(Span<const Val>(outs, 1));
    Vec<Val> y, dy;
    c.passes.linearize_into(c.b, c.linear, g, c.x, c.t, y, dy);
    c.dy[0] = dy[0];
  }
};

namespace detail {
// Tangent of an extremum: the mean over the elements that attain it (JAX).
constexpr void extremum_jvp(JvpCtx& c) {
  const Dims axes = c.attrs().dims(0);
  const Type t = type_of(c.x[0]);
  if (!is_float(t.dtype) || (t.is_static() && numel(t) == 0)) return;
  Val y = broadcast_in_dim(c.y[0], type_of(c.x[0]).dims, others(type_of(c.x[0]).rank(), axes));
  Val mask = convert(eq(c.x[0], y), type_of(c.x[0]).dtype);
  c.dy[0] = reduce_sum(c.t[0] * mask, axes) / reduce_sum(mask, axes);
}
}  // namespace detail

struct ReduceMax : Reduce<ReduceMax> {
  static constexpr std::string_view name = "reduce_max";
  static constexpr DTypes takes = any_dtype;
  static constexpr const Prim* pair = &prim<Max>;
  template <class T>
  static constexpr T identity() {
    return detail::lowest<T>();
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return Max::emit(a, b);
  }
  static constexpr void jvp(JvpCtx& c) { detail::extremum_jvp(c); }
};
struct ReduceMin : Reduce<ReduceMin> {
  static constexpr std::string_view name = "reduce_min";
  static constexpr DTypes takes = any_dtype;
  static constexpr const Prim* pair = &prim<Min>;
  template <class T>
  static constexpr T identity() {
    return detail::highest<T>();
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return Min::emit(a, b);
  }
  static constexpr void jvp(JvpCtx& c) { detail::extremum_jvp(c); }
};
constexpr Val reduce_max(Val x, const Dims& axes) { return bind(prim<ReduceMax>, {x}, Params().dims(axes)); }
constexpr Val reduce_min(Val x, const Dims& axes) { return bind(prim<ReduceMin>, {x}, Params().dims(axes)); }
constexpr Val reduce_prod(Val x, const Dims& axes) { return bind(prim<ReduceProd>, {x}, Params().dims(axes)); }

// The position of the first extremum along one axis; a NaN counts as the extremum. P::emit(best, next): next is better.
template <class P>
struct ArgReduce {
  static constexpr Kind kind = Kind::reduce;
  static constexpr int form = arg_form;
  static constexpr DTypes takes = any_dtype;
  static constexpr AttrSpec attrs[] = {{"axes", AttrKind::ints}, {"dtype", AttrKind::dtype}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    detail::check_dtype(c, 0, takes, detail::describe(takes));
    const Dims axes = c.attrs.dims(0);
    if (c.failed() || !detail::check_axes(c, axes, c.type(0))) return;
    if (axes.n != 1) return c.fail(ErrorCode::shape, Str("takes one axis"));
    if (c.type(0).dims[int(axes[0])] == 0) {
      Str s("has no answer along an axis of size 0: ");
      put(s, c.type(0));
      return c.fail(ErrorCode::shape, s);
    }
    if (!in(c.attrs.dtype(1), integers & computed)) return c.fail(ErrorCode::dtype, Str("gives i32, i64, u32 or u64"));
    c.result({c.attrs.dtype(1), detail::without(c.type(0).dims, axes)});
  }
  static constexpr void jvp(JvpCtx&) {}
  static constexpr void batch(BatchCtx& c) {
    c.result(c.b.bind(*c.e.prim, {c.in[0]}, Params().ints({c.attrs().dims(0)[0] + 1}).dtype(c.attrs().dtype(1))));
  }
  template <class World, class Ctx>
  static constexpr void run(Ctx& c) {
    detail::with_type<takes & computed>(c.dtypes[0], [&]<class T>() {
      World::put(c, 0, P::better(World::template get<T>(c, 0), World::template get<T>(c, 1)));
    });
  }
  static constexpr void scalar(ScalarCtx& c) { run<detail::ScalarWorld>(c); }
  static void record(RecordCtx& c) { run<detail::RecordWorld>(c); }
};

namespace detail {
// next is better: it compares so, or is the first NaN.
template <class V, class B>
constexpr B better_or_nan(V best, V next, B wins) {
  if constexpr (is_float(dtype_of<typename V::type>))
    return wins | (ne(next, next) & eq(best, best));
  else
    return wins;
}
}  // namespace detail

struct ArgMax : ArgReduce<ArgMax> {
  static constexpr std::string_view name = "argmax";
  template <class V>
  static constexpr auto better(V best, V next) {
    return detail::better_or_nan(best, next, detail::less(best, next));
  }
};
struct ArgMin : ArgReduce<ArgMin> {
  static constexpr std::string_view name = "argmin";
  template <class V>
  static constexpr auto better(V best, V next) {
    return detail::better_or_nan(best, next, detail::less(next, best));
  }
};
constexpr Val argmax(Val x, int axis, DType d = i32) { return bind(prim<ArgMax>, {x}, Params().ints({axis}).dtype(d)); }
constexpr Val argmin(Val x, int axis, DType d = i32) { return bind(prim<ArgMin>, {x}, Params().ints({axis}).dtype(d)); }

// Running sums along an axis, from the front or (reverse) from the back, in one chain of additions.
struct CumSum {
  static constexpr std::string_view name = "cumsum";
  static constexpr Kind kind = Kind::cumulative;
  static constexpr DTypes takes = numbers;
  static constexpr AttrSpec attrs[] = {{"axis", AttrKind::integer}, {"reverse", AttrKind::flag}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    detail::check_dtype(c, 0, takes, detail::describe(takes));
    if (c.failed() || !detail::check_axes(c, Dims{c.attrs.integer(0)}, c.type(0))) return;
    c.result(c.type(0));
  }
  static constexpr void jvp(JvpCtx& c) { c.dy[0] = bind(prim<CumSum>, {c.t[0]}, params_of(c.g, c.e)); }
  static constexpr void transpose(TransposeCtx& c) {
    c.add(0, bind(prim<CumSum>, {c.ct()}, Params().integer(c.attrs().integer(0)).flag(!c.attrs().flag(1))));
  }
  static constexpr void batch(BatchCtx& c) {
    c.result(c.b.bind(prim<CumSum>, {c.in[0]}, Params().integer(c.attrs().integer(0) + 1).flag(c.attrs().flag(1))));
  }
  static constexpr void scalar(ScalarCtx& c) { ReduceSum::scalar(c); }
  static void record(RecordCtx& c) { ReduceSum::record(c); }
};
constexpr Val cumsum(Val x, int axis, bool reverse = false) {
  return bind(prim<CumSum>, {x}, Params().integer(axis).flag(reverse));
}

}  // namespace fx::inline v0
