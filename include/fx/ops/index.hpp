// ops/index.hpp -- gather scatter scatter_add dynamic_slice dynamic_update_slice: reads and writes at computed
// positions.
//
// One set of dimension numbers serves all (StableHLO's). The last dimension of `indices` holds index vectors; component
// j says where a window starts along operand dimension index_map[j]. `window` is the window's size per operand
// dimension. Result (or updates) dimensions listed in `window_dims` run over the window, less the `collapsed` and
// `operand_batch` dimensions (window size 1); the others run over the dimensions of `indices` but the last.
// operand_batch[i] and index_batch[i] advance together. Out of range: `clamp` moves the window inside; else reads give
// 0 and writes are dropped.
#pragma once
#include "iota.hpp"

namespace fx::inline v0 {

struct IndexDims {
  Dims window_dims, collapsed, index_map, window, operand_batch, index_batch;
  bool clamp = true;
};

namespace detail {
inline constexpr AttrSpec index_attrs[] = {{"window_dims", AttrKind::ints},   {"collapsed", AttrKind::ints},
                                           {"index_map", AttrKind::ints},     {"window", AttrKind::ints},
                                           {"operand_batch", AttrKind::ints}, {"index_batch", AttrKind::ints},
                                           {"clamp", AttrKind::flag}};
constexpr Params index_params(const IndexDims& d) {
  Params p;
  p.dims(d.window_dims)
      .dims(d.collapsed)
      .dims(d.index_map)
      .dims(d.window)
      .dims(d.operand_batch)
      .dims(d.index_batch)
      .flag(d.clamp);
  return p;
}
constexpr IndexDims index_dims(const Attrs& a) {
  return {a.dims(0), a.dims(1), a.dims(2), a.dims(3), a.dims(4), a.dims(5), a.flag(6)};
}
constexpr IndexSpec index_spec(const IndexDims& d, bool write, const Prim* combine) {
  IndexSpec s;
  s.write = write;
  s.combine = combine;
  s.clamp = d.clamp;
  s.window_dims = d.window_dims;
  s.collapsed = d.collapsed;
  s.index_map = d.index_map;
  s.window = d.window;
  s.operand_batch = d.operand_batch;
  s.index_batch = d.index_batch;
  return s;
}

// Whether d lists distinct dimensions below n.
constexpr bool distinct(const Dims& d, int n) {
  for (int i = 0; i < d.n; ++i) {
    if (d[i] < 0 || d[i] >= n) return false;
    for (int j = 0; j < i; ++j)
      if (d[j] == d[i]) return false;
  }
  return true;
}

// The shape a gather gives; empty message if the numbers fit.
constexpr bool index_result(TypeCtx& c, const IndexDims& d, Dims& out) {
  const Type &x = c.type(0), &i = c.type(1);
  auto fail = [&](std::string_view what) {
    Str s(what);
    s += " (operand ";
    put(s, x);
    s += ", indices ";
    put(s, i);
    s += ')';
    c.fail(ErrorCode::shape, s);
    return false;
  };
  if (!in(i.dtype, integers & computed)) {
    Str s("indices must be integers (i32, i64, u32 or u64), got ");
    put(s, i);
    c.fail(ErrorCode::dtype, s);
    return false;
  }
  if (i.rank() < 1 || i.dims[i.rank() - 1] != d.index_map.n)
    return fail("the last dimension of the indices must have one entry per indexed dimension");
  if (d.window.n != x.rank()) return fail("the window needs one size per operand dimension");
  if (d.operand_batch.n != d.index_batch.n) return fail("operand and indices share different numbers of dimensions");
  if (!distinct(d.index_map, x.rank()) || !distinct(d.collapsed, x.rank()) || !distinct(d.operand_batch, x.rank()) ||
      !distinct(d.index_batch, i.rank() - 1))
    return fail("the dimension numbers must be distinct dimensions of operand and indices");
  for (int k = 0; k < d.operand_batch.n; ++k)
    if (x.dims[int(d.operand_batch[k])] != i.dims[int(d.index_batch[k])] || d.collapsed.contains(d.operand_batch[k]))
      return fail("a shared dimension must have one size in operand and indices, and is not collapsed as well");
  for (int k = 0; k < x.rank(); ++k)  // a shared dimension may be empty: no index reads it
    if (d.window[k] < 0 || (x.dims.dim(k).is_static() && d.window[k] > x.dims[k] && !d.operand_batch.contains(k)))
      return fail("the window is larger than the operand");
  Dims offsets;  // sizes of the window dimensions that remain
  for (int k = 0; k < x.rank(); ++k)
    if (!d.collapsed.contains(k) && !d.operand_batch.contains(k))
      offsets.push_back(d.window[k]);
    else if (d.window[k] > 1)
      return fail("a collapsed or shared dimension needs window size 1");
  if (offsets.n != d.window_dims.n) return fail("window_dims needs one entry per remaining window dimension");
  const int rank = i.rank() - 1 + offsets.n;
  for (int k = 0; k < d.window_dims.n; ++k)
    if (d.window_dims[k] < 0 || d.window_dims[k] >= rank || (k > 0 && d.window_dims[k] <= d.window_dims[k - 1]))
      return fail("window_dims must be rising dimensions of the result");
  int at_window = 0, at_index = 0;
  for (int k = 0; k < rank; ++k) {
    if (d.window_dims.contains(k))
      out.push_back(offsets[at_window++]);
    else
      out.push_back(i.dims.dim(at_index++));
  }
  return true;
}

constexpr IndexDims batched(BatchCtx& c, IndexDims d, bool operand, bool index) {
  if (operand) {
    d.collapsed = shifted(d.collapsed);
    d.index_map = shifted(d.index_map);
    d.operand_batch = shifted(d.operand_batch);
  }
  if (index) d.index_batch = shifted(d.index_batch);
  d.window_dims = shifted(d.window_dims);
  if (operand && index) {
    d.operand_batch.insert(0, 0);
    d.index_batch.insert(0, 0);
    d.window.insert(0, 1);
  } else if (operand) {
    d.window_dims.insert(0, 0);
    d.window.insert(0, c.size);
  }
  return d;
}
}  // namespace detail

struct ScatterAdd;

struct Gather {
  static constexpr std::string_view name = "gather";
  static constexpr Kind kind = Kind::index;
  static constexpr Span<const AttrSpec> attrs = detail::index_attrs;
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 2);
    if (c.failed()) return;
    Dims out;
    if (detail::index_result(c, detail::index_dims(c.attrs), out)) c.result({c.type(0).dtype, out});
  }
  static constexpr IndexSpec index(const Graph& g, const Eqn& e) {
    return detail::index_spec(detail::index_dims(fx::attrs(g, e)), false, nullptr);
  }
  static constexpr void jvp(JvpCtx& c) {
    if (c.t[0]) c.dy[0] = bind(prim<Gather>, {c.t[0], c.x[1]}, params_of(c.g, c.e));
  }
  static constexpr void transpose(TransposeCtx& c);
  static constexpr void batch(BatchCtx& c) {
    const bool x = c.mapped(0), i = c.mapped(1);
    c.result(c.b.bind(prim<Gather>, {c.in[0], c.in[1]},
                      detail::index_params(detail::batched(c, detail::index_dims(c.attrs()), x, i))));
  }
};
constexpr Val gather(Val x, Val indices, const IndexDims& d) {
  return bind(prim<Gather>, {x, indices}, detail::index_params(d));
}

namespace detail {
// scatter and scatter_add: (operand, indices, updates). Updates are applied in row-major order of the indices.
template <class P>
struct ScatterBase {
  static constexpr Kind kind = Kind::index;
  static constexpr Span<const AttrSpec> attrs = index_attrs;
  static constexpr void type(TypeCtx& c) {
    check_arity(c, 3);
    if (c.failed()) return;
    Dims updates;
    if (!index_result(c, index_dims(c.attrs), updates)) return;
    if (!(c.type(2) == Type{c.type(0).dtype, updates})) {
      Str s("updates must be ");
      put(s, Type{c.type(0).dtype, updates});
      s += ", got ";
      put(s, c.type(2));
      return c.fail(ErrorCode::shape, s);
    }
    c.result(c.type(0));
  }
  static constexpr void batch(BatchCtx& c) {
    // The operand is written, so it is mapped; without mapped indices the window covers the new dimension.
    const bool i = c.mapped(1);
    IndexDims d = batched(c, index_dims(c.attrs()), true, i);
    Val x = broadcast_to(c.moved(0), front(c.type(0).dims, c.size)),
        u = broadcast_to(c.moved(2), front(c.type(2).dims, c.size));
    c.result(c.b.bind(*c.e.prim, {x, c.in[1], u}, index_params(d)));
  }
};
}  // namespace detail

struct ScatterAdd : detail::ScatterBase<ScatterAdd> {
  static constexpr std::string_view name = "scatter_add";
  static constexpr void type(TypeCtx& c) {
    detail::check_dtype(c, 0, numbers, "numbers");
    if (!c.failed()) detail::ScatterBase<ScatterAdd>::type(c);
  }
  static constexpr IndexSpec index(const Graph& g, const Eqn& e) {
    return detail::index_spec(detail::index_dims(fx::attrs(g, e)), true, &prim<Add>);
  }
  static constexpr void jvp(JvpCtx& c) {
    Val x = c.t[0] ? c.t[0] : zeros(c.linear, type_of(c.x[0])), u = c.t[2] ? c.t[2] : zeros(c.linear, type_of(c.x[2]));
    c.dy[0] = bind(prim<ScatterAdd>, {x, c.x[1], u}, params_of(c.g, c.e));
  }
  static constexpr void transpose(TransposeCtx& c) {
    if (c.linear(0)) c.add(0, c.ct());
    if (c.linear(2)) c.add(2, bind(prim<Gather>, {c.ct(), c.x[1]}, params_of(c.g, c.e)));
  }
};
constexpr Val scatter_add(Val x, Val indices, Val updates, const IndexDims& d) {
  return bind(prim<ScatterAdd>, {x, indices, updates}, detail::index_params(d));
}
constexpr void Gather::transpose(TransposeCtx& c) {
  c.add(0, bind(prim<ScatterAdd>, {zeros(c.b, c.type(0)), c.x[1], c.ct()}, params_of(c.g, c.e)));
}

// Of several updates of one element the last in row-major order of the indices stays.
struct Scatter : detail::ScatterBase<Scatter> {
  static constexpr std::string_view name = "scatter";
  static constexpr IndexSpec index(const Graph& g, const Eqn& e) {
    return detail::index_spec(detail::index_dims(fx::attrs(g, e)), true, nullptr);
  }
  // Number the updates from 1 and scatter the numbers: they tell which update stayed where, and what stayed untouched.
  static constexpr void jvp(JvpCtx& c) {
    const Params p = params_of(c.g, c.e);
    const Dims shape = type_of(c.x[2]).dims;
    Val ids = reshape(iota(c.b, i64, Dims{numel(shape)}, 0) + 1, shape);
    Val winners = bind(prim<Scatter>, {zeros(c.b, {i64, type_of(c.x[0]).dims}), c.x[1], ids}, p);
    Val kept, written;
    if (c.t[0]) kept = select(eq(winners, 0), c.t[0], like(c.x[0], 0.0));
    if (c.t[2]) {
      Val stayed = eq(bind(prim<Gather>, {winners, c.x[1]}, p), ids);
      written = bind(prim<ScatterAdd>,
                     {zeros(c.linear, type_of(c.x[0])), c.x[1], select(stayed, c.t[2], like(c.x[2], 0.0))}, p);
    }
    if (kept && written)
      c.dy[0] = kept + written;
    else
      c.dy[0] = kept ? kept : written;
  }
};
constexpr Val scatter(Val x, Val indices, Val updates, const IndexDims& d) {
  return bind(prim<Scatter>, {x, indices, updates}, detail::index_params(d));
}

// x[..., order[...], ...] along dim; order has x's shape but for its size along dim.
constexpr Val take_along(Val x, Val order, int dim) {
  IndexDims d;
  for (int k = 0; k < type_of(x).rank(); ++k) {
    d.window.push_back(1);
    if (k == dim) continue;
    d.operand_batch.push_back(k);
    d.index_batch.push_back(k);
  }
  d.collapsed = d.index_map = Dims{dim};
  Dims rows = type_of(order).dims;
  rows.push_back(1);
  return gather(x, reshape(order, rows), d);
}

namespace detail {
// The rank-0 index operands from `first` on as one vector (rows, when mapped) for gather and scatter.
constexpr Val index_rows(BatchCtx& c, int first) {
  Vec<Val> parts;
  for (int k = first; k < c.n(); ++k) {
    Val i = c.mapped(k) ? c.in[k] : broadcast_to(c.in[k], Dims{c.size});
    parts.push_back(reshape(i, Dims{c.size, 1}));
  }
  return concatenate(parts, 1);
}
constexpr bool check_starts(TypeCtx& c, int first) {
  if (c.size() - first != c.type(0).rank()) {
    Str s("takes one start per dimension of ");
    put(s, c.type(0));
    s += ", got ";
    s.num(c.size() - first);
    c.fail(ErrorCode::shape, s);
    return false;
  }
  for (int k = first; k < c.size(); ++k)
    if (c.type(k).rank() != 0 || !in(c.type(k).dtype, integers & computed) || c.type(k).dtype != c.type(first).dtype) {
      Str s("starts must be integer scalars of one dtype, got ");
      put(s, c.type(k));
      c.fail(ErrorCode::dtype, s);
      return false;
    }
  return true;
}
constexpr IndexSpec starts_spec(const Dims& window, int first, bool write) {
  IndexSpec s;
  s.write = write;
  s.clamp = s.scalar_indices = true;
  s.indices = first;
  s.updates = 1;
  s.window = window;
  for (int k = 0; k < window.n; ++k) s.window_dims.push_back(k), s.index_map.push_back(k);
  return s;
}
}  // namespace detail

// (operand, start...): the box of the given sizes; the start is clamped so that the box lies inside.
struct DynamicSlice {
  static constexpr std::string_view name = "dynamic_slice";
  static constexpr Kind kind = Kind::index;
  static constexpr AttrSpec attrs[] = {{"sizes", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    const Dims sizes = c.attrs.dims(0);
    const Type& t = c.type(0);
    bool ok = sizes.n == t.rank();
    for (int k = 0; ok && k < sizes.n; ++k) ok = sizes[k] >= 0 && (!t.dims.dim(k).is_static() || sizes[k] <= t.dims[k]);
    if (!ok) {
      Str s = detail::pair_text("sizes ", sizes, " do not fit ", t);
      return c.fail(ErrorCode::shape, s);
    }
    if (detail::check_starts(c, 1)) c.result({t.dtype, sizes});
  }
  static constexpr IndexSpec index(const Graph& g, const Eqn& e) {
    return detail::starts_spec(fx::attrs(g, e).dims(0), 1, false);
  }
  static constexpr void jvp(JvpCtx& c) {
    if (!c.t[0]) return;
    Vec<Val> in(c.x);
    in[0] = c.t[0];
    c.dy[0] = bind(prim<DynamicSlice>, in, params_of(c.g, c.e));
  }
  static constexpr void transpose(TransposeCtx& c);
  static constexpr void batch(BatchCtx& c) {
    const Dims sizes = c.attrs().dims(0);
    bool starts = false;
    for (int k = 1; k < c.n(); ++k) starts = starts || c.mapped(k);
    if (!starts) {
      Vec<Val> in{c.in[0]};
      in.push_back(c.n() > 1 ? like(c.in[1], 0.0) : c.b.literal(i32, 0));
      for (int k = 1; k < c.n(); ++k) in.push_back(c.in[k]);
      return c.result(c.b.bind(prim<DynamicSlice>, in, Params().dims(detail::front(sizes, c.size))));
    }
    IndexDims d;
    d.window = sizes;
    for (int k = 0; k < sizes.n; ++k) d.window_dims.push_back(k), d.index_map.push_back(k);
    Val rows = detail::index_rows(c, 1);
    c.result(gather(c.in[0], rows, detail::batched(c, d, c.mapped(0), true)));
  }
};
constexpr Val dynamic_slice(Val x, Span<const Val> starts, const Dims& sizes) {
  Vec<Val> in{x};
  in.append(starts);
  return bind(prim<DynamicSlice>, in, Params().dims(sizes));
}

// (operand, update, start...): the operand with the box at start replaced; the start is clamped.
struct DynamicUpdateSlice {
  static constexpr std::string_view name = "dynamic_update_slice";
  static constexpr Kind kind = Kind::index;
  static constexpr void type(TypeCtx& c) {
    const Type &t = c.type(0), &u = c.type(1);
    bool ok = u.rank() == t.rank() && u.dtype == t.dtype;
    for (int k = 0; ok && k < u.rank(); ++k)
      ok = !t.dims.dim(k).is_static() || (u.dims.dim(k).is_static() && u.dims[k] <= t.dims[k]);
    if (!ok) {
      Str s("update ");
      put(s, u);
      s += " does not fit ";
      put(s, t);
      return c.fail(ErrorCode::shape, s);
    }
    if (detail::check_starts(c, 2)) c.result(t);
  }
  static constexpr IndexSpec index(const Graph& g, const Eqn& e) {
    return detail::starts_spec(g.type(g.in(e)[1]).dims, 2, true);
  }
  static constexpr void jvp(JvpCtx& c) {
    Vec<Val> in(c.x);
    if (!c.t[0] && !c.t[1]) return;
    in[0] = c.t[0] ? c.t[0] : zeros(c.linear, type_of(c.x[0]));
    in[1] = c.t[1] ? c.t[1] : zeros(c.linear, type_of(c.x[1]));
    c.dy[0] = bind(prim<DynamicUpdateSlice>, in);
  }
  static constexpr void transpose(TransposeCtx& c) {
    const Span<const Val> starts = c.x.sub(2, c.x.size() - 2);
    if (c.linear(0)) {
      Vec<Val> in{c.ct(), zeros(c.b, c.type(1))};
      in.append(starts);
      c.add(0, bind(prim<DynamicUpdateSlice>, in));
    }
    if (c.linear(1)) c.add(1, dynamic_slice(c.ct(), starts, c.type(1).dims));
  }
  static constexpr void batch(BatchCtx& c) {
    bool starts = false;
    for (int k = 2; k < c.n(); ++k) starts = starts || c.mapped(k);
    Val x = broadcast_to(c.moved(0), detail::front(c.type(0).dims, c.size)),
        u = broadcast_to(c.moved(1), detail::front(c.type(1).dims, c.size));
    if (!starts) {
      Vec<Val> in{x, u};
      in.push_back(c.n() > 2 ? like(c.in[2], 0.0) : c.b.literal(i32, 0));
      for (int k = 2; k < c.n(); ++k) in.push_back(c.in[k]);
      return c.result(c.b.bind(prim<DynamicUpdateSlice>, in));
    }
    IndexDims d;
    d.window = c.type(1).dims;
    for (int k = 0; k < d.window.n; ++k) d.window_dims.push_back(k), d.index_map.push_back(k);
    c.result(scatter(x, detail::index_rows(c, 2), u, detail::batched(c, d, true, true)));
  }
};
constexpr Val dynamic_update_slice(Val x, Val update, Span<const Val> starts) {
  Vec<Val> in{x, update};
  in.append(starts);
  return bind(prim<DynamicUpdateSlice>, in);
}
constexpr void DynamicSlice::transpose(TransposeCtx& c) {
  c.add(0, dynamic_update_slice(zeros(c.b, c.type(0)), c.ct(), c.x.sub(1, c.x.size() - 1)));
}

}  // namespace fx::inline v0
