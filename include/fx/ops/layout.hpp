// ops/layout.hpp -- broadcast_in_dim reshape transpose rev slice pad concatenate: elements move, none is computed.
//
// Each tells the backends the strided boxes it copies (`pieces`); that is all they know of it.
#pragma once
#include "reduce.hpp"

namespace fx::inline v0 {

namespace detail {
// The same primitive on the tangent of the only operand.
constexpr void linear_jvp(JvpCtx& c) { c.dy[0] = bind(*c.e.prim, {c.t[0]}, params_of(c.g, c.e)); }

constexpr bool permutation(Span<const std::int64_t> p, int n) {
  if (p.size() != n) return false;
  for (int i = 0; i < n; ++i) {
    bool found = false;
    for (std::int64_t v : p) found = found || v == i;
    if (!found) return false;
  }
  return true;
}
constexpr Dims front(const Dims& d, Dim v) {
  Dims r = d;
  r.insert(0, v);
  return r;
}
constexpr Dims shifted(const Dims& d, std::int64_t by = 1) {
  Dims r = d;
  for (int i = 0; i < r.n; ++i) r[i] += by;
  return r;
}
constexpr Str pair_text(std::string_view a, const Dims& x, std::string_view b, const Type& t) {
  Str s(a);
  put(s, x);
  s += b;
  put(s, t);
  return s;
}
constexpr bool needs_sizes(TypeCtx& c, int k) {
  if (c.type(k).is_static()) return false;
  Str s("needs the sizes of ");
  put(s, c.type(k));
  s += ", and one is symbolic";
  c.fail(ErrorCode::shape, s);
  return true;
}
}  // namespace detail

template <class P>
struct Layout {
  static constexpr Kind kind = Kind::layout;
  static constexpr void jvp(JvpCtx& c) { detail::linear_jvp(c); }
  static constexpr void cost(CostCtx& c) {
    c.cost.bytes = 2.0 * double(numel(c.g.type(c.e.out))) * size_of(c.g.type(c.e.out).dtype);
  }
};

// Operand dimension i becomes result dimension dims[i]; size 1 is repeated; the other result dimensions repeat the
// operand.
struct BroadcastInDim : Layout<BroadcastInDim> {
  static constexpr std::string_view name = "broadcast_in_dim";
  static constexpr AttrSpec attrs[] = {{"shape", AttrKind::dims}, {"dims", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    const Dims shape = c.attrs.dims(0), dims = c.attrs.dims(1);
    const Type& t = c.type(0);
    bool ok = dims.n == t.rank();
    for (int i = 0; ok && i < dims.n; ++i)
      ok = dims[i] >= 0 && dims[i] < shape.n && (i == 0 || dims[i] > dims[i - 1]) &&
           (t.dims[i] == 1 || t.dims[i] == shape[int(dims[i])]);
    if (!ok) {
      Str s = detail::pair_text("shape ", shape, " cannot hold ", t);
      s += " along dimensions ";
      put(s, dims);
      return c.fail(ErrorCode::shape, s);
    }
    c.result({t.dtype, shape});
  }
  static constexpr void transpose(TransposeCtx& c);
  static constexpr void batch(BatchCtx& c) {
    Params p;
    p.dims(detail::front(c.attrs().dims(0), c.size)).dims(detail::front(detail::shifted(c.attrs().dims(1)), 0));
    c.result(c.b.bind(prim<BroadcastInDim>, {c.in[0]}, p));
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.b.type(c.in[0]) == c.type ? c.in[0] : Val(); }
  static constexpr void pieces(LayoutCtx& c) {
    const Dims dims = c.attrs().dims(1), in = strides_of(c.type(0).dims);
    Piece p{0, c.out_type().dims, Dims(c.out_type().rank(), 0), strides_of(c.out_type().dims)};
    for (int i = 0; i < dims.n; ++i)
      if (c.type(0).dims[i] != 1) p.in_stride[int(dims[i])] = in[i];
    c.pieces.push_back(p);
  }
};
constexpr Val broadcast_in_dim(Val x, const Dims& shape, const Dims& dims) {
  return bind(prim<BroadcastInDim>, {x}, Params().dims(shape).dims(dims));
}
// x, right-aligned, repeated to the shape (NumPy's rule).
constexpr Val broadcast_to(Val x, const Dims& shape) {
  const Dims& own = type_of(x).dims;
  if (own == shape) return x;
  Dims dims;
  for (int i = 0; i < own.n; ++i) dims.push_back(shape.n - own.n + i);
  return broadcast_in_dim(x, shape, dims);
}
constexpr Val broadcast_front(Val x, Dim size) { return broadcast_to(x, detail::front(type_of(x).dims, size)); }
constexpr Val full(Builder& b, const Type& t, double v) {
  return broadcast_to(b.literal(t.dtype, detail::encode(t.dtype, v)), t.dims);
}
constexpr Val zeros(Builder& b, const Type& t) { return full(b, t, 0); }

// The elements in row-major order under another shape of the same size.
struct Reshape : Layout<Reshape> {
  static constexpr std::string_view name = "reshape";
  static constexpr AttrSpec attrs[] = {{"shape", AttrKind::dims}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    const Dims shape = c.attrs.dims(0);
    Dim a(1), b(1);
    for (std::int64_t v : c.type(0).dims) a = a * Dim(v);
    for (std::int64_t v : shape) b = b * Dim(v);
    if (!(a == b)) {
      Str s = detail::pair_text("shape ", shape, " has another number of elements than ", c.type(0));
      return c.fail(ErrorCode::shape, s);
    }
    c.result({c.type(0).dtype, shape});
  }
  static constexpr void transpose(TransposeCtx& c) {
    c.add(0, bind(prim<Reshape>, {c.ct()}, Params().dims(c.type(0).dims)));
  }
  static constexpr void batch(BatchCtx& c) {
    c.result(c.b.bind(prim<Reshape>, {c.in[0]}, Params().dims(detail::front(c.attrs().dims(0), c.size))));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    if (c.b.type(c.in[0]) == c.type) return c.in[0];
    const Eqn* e = c.defined_by(c.in[0], "reshape");
    return e ? c.b.bind(prim<Reshape>, {c.operand(*e, 0)}, c.params) : Val();
  }
  static constexpr void pieces(LayoutCtx& c) {
    const Dims n(1, numel(c.out_type()));
    c.pieces.push_back({0, n, Dims(1, 1), Dims(1, 1)});
  }
};
constexpr Val reshape(Val x, const Dims& shape) {
  return type_of(x).dims == shape ? x : bind(prim<Reshape>, {x}, Params().dims(shape));
}

// Result dimension i is operand dimension perm[i].
struct Transpose : Layout<Transpose> {
  static constexpr std::string_view name = "transpose";
  static constexpr AttrSpec attrs[] = {{"perm", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    const Dims perm = c.attrs.dims(0);
    if (!detail::permutation(perm, c.type(0).rank())) {
      Str s = detail::pair_text("", perm, " is no permutation of the dimensions of ", c.type(0));
      return c.fail(ErrorCode::shape, s);
    }
    Type t{c.type(0).dtype, {}};
    for (std::int64_t p : perm) t.dims.push_back(c.type(0).dims.dim(int(p)));
    c.result(t);
  }
  static constexpr Dims inverse(const Dims& p) {
    Dims r = p;
    for (int i = 0; i < p.n; ++i) r[int(p[i])] = i;
    return r;
  }
  static constexpr void transpose(TransposeCtx& c) {
    c.add(0, bind(prim<Transpose>, {c.ct()}, Params().dims(inverse(c.attrs().dims(0)))));
  }
  static constexpr void batch(BatchCtx& c) {
    c.result(c.b.bind(prim<Transpose>, {c.in[0]}, Params().dims(detail::front(detail::shifted(c.attrs().dims(0)), 0))));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    const Dims perm = c.attrs.dims(0);
    bool identity = true;
    for (int i = 0; i < perm.n; ++i) identity = identity && perm[i] == i;
    if (identity) return c.in[0];
    const Eqn* e = c.defined_by(c.in[0], "transpose");
    if (!e) return {};
    const Dims first = fx::attrs(c.b.g, *e).dims(0);
    Dims both = perm;
    for (int i = 0; i < perm.n; ++i) both[i] = first[int(perm[i])];
    return c.b.bind(prim<Transpose>, {c.operand(*e, 0)}, Params().dims(both));
  }
  static constexpr void pieces(LayoutCtx& c) {
    const Dims perm = c.attrs().dims(0), in = strides_of(c.type(0).dims);
    Piece p{0, c.out_type().dims, in, strides_of(c.out_type().dims)};
    for (int i = 0; i < perm.n; ++i) p.in_stride[i] = in[int(perm[i])];
    c.pieces.push_back(p);
  }
};
constexpr Val transpose(Val x, const Dims& perm) {
  bool identity = perm.n == type_of(x).rank();
  for (int i = 0; i < perm.n; ++i) identity = identity && perm[i] == i;
  return identity ? x : bind(prim<Transpose>, {x}, Params().dims(perm));
}
// x with dimension `from` moved to `to`.
constexpr Val move_dim(Val x, int from, int to) {
  if (from == to) return x;
  Dims perm;
  for (int i = 0; i < type_of(x).rank(); ++i)
    if (i != from) perm.push_back(i);
  perm.insert(to, from);
  return transpose(x, perm);
}

// The elements in reverse order along the given dimensions.
struct Rev : Layout<Rev> {
  static constexpr std::string_view name = "rev";
  static constexpr AttrSpec attrs[] = {{"dims", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    detail::check_axes(c, c.attrs.dims(0), c.type(0));
    c.result(c.type(0));
  }
  static constexpr void transpose(TransposeCtx& c) { c.add(0, bind(prim<Rev>, {c.ct()}, params_of(c.g, c.e))); }
  static constexpr void batch(BatchCtx& c) {
    c.result(c.b.bind(prim<Rev>, {c.in[0]}, Params().dims(detail::shifted(c.attrs().dims(0)))));
  }
  static constexpr void pieces(LayoutCtx& c) {
    const Dims& shape = c.out_type().dims;
    Piece p{0, shape, strides_of(shape), strides_of(shape)};
    for (std::int64_t d : c.attrs().dims(0)) {
      p.in_offset += (shape[int(d)] - 1) * p.in_stride[int(d)];
      p.in_stride[int(d)] = -p.in_stride[int(d)];
    }
    c.pieces.push_back(p);
  }
};
constexpr Val rev(Val x, const Dims& dims) { return bind(prim<Rev>, {x}, Params().dims(dims)); }

// Elements start, start + stride, ... below limit, per dimension.
struct Slice : Layout<Slice> {
  static constexpr std::string_view name = "slice";
  static constexpr AttrSpec attrs[] = {
      {"start", AttrKind::ints}, {"limit", AttrKind::ints}, {"stride", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 1);
    if (c.failed()) return;
    if (detail::needs_sizes(c, 0)) return;
    const Dims start = c.attrs.dims(0), limit = c.attrs.dims(1), stride = c.attrs.dims(2);
    const Type& t = c.type(0);
    Type r{t.dtype, {}};
    bool ok = start.n == t.rank() && limit.n == t.rank() && stride.n == t.rank();
    for (int i = 0; ok && i < t.rank(); ++i) {
      ok = start[i] >= 0 && start[i] <= limit[i] && limit[i] <= t.dims[i] && stride[i] >= 1;
      if (ok) r.dims.push_back(limit[i] > start[i] ? (limit[i] - start[i] - 1) / stride[i] + 1 : 0);
    }
    if (!ok) {
      Str s = detail::pair_text("start ", start, ", limit ", Type{t.dtype, {}});
      s = Str("start ");
      put(s, start);
      s += " and limit ";
      put(s, limit);
      s += " do not lie in ";
      put(s, t);
      return c.fail(ErrorCode::shape, s);
    }
    c.result(r);
  }
  static constexpr void transpose(TransposeCtx& c);
  static constexpr void batch(BatchCtx& c) {
    Params p;
    p.dims(detail::front(c.attrs().dims(0), 0))
        .dims(detail::front(c.attrs().dims(1), c.size))
        .dims(detail::front(c.attrs().dims(2), 1));
    c.result(c.b.bind(prim<Slice>, {c.in[0]}, p));
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.b.type(c.in[0]) == c.type ? c.in[0] : Val(); }
  static constexpr void pieces(LayoutCtx& c) {
    const Dims start = c.attrs().dims(0), stride = c.attrs().dims(2);
    Piece p{0, c.out_type().dims, strides_of(c.type(0).dims), strides_of(c.out_type().dims)};
    for (int i = 0; i < start.n; ++i) {
      p.in_offset += start[i] * p.in_stride[i];
      p.in_stride[i] *= stride[i];
    }
    c.pieces.push_back(p);
  }
};
constexpr Val slice(Val x, const Dims& start, const Dims& limit, const Dims& stride) {
  return bind(prim<Slice>, {x}, Params().dims(start).dims(limit).dims(stride));
}
constexpr Val slice(Val x, const Dims& start, const Dims& limit) { return slice(x, start, limit, Dims(start.n, 1)); }
// Elements [from, to) along one dimension.
constexpr Val slice_dim(Val x, int dim, std::int64_t from, std::int64_t to) {
  Dims start(type_of(x).rank(), 0), limit = type_of(x).dims;
  start[dim] = from;
  limit[dim] = to;
  return slice(x, start, limit);
}

// Operand 1 (one element) before, between and after the elements of operand 0; negative low or high cut elements off.
struct Pad : Layout<Pad> {
  static constexpr std::string_view name = "pad";
  static constexpr AttrSpec attrs[] = {{"low", AttrKind::ints}, {"high", AttrKind::ints}, {"interior", AttrKind::ints}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 2);
    if (c.failed()) return;
    if (detail::needs_sizes(c, 0)) return;
    const Dims low = c.attrs.dims(0), high = c.attrs.dims(1), interior = c.attrs.dims(2);
    const Type& t = c.type(0);
    Type r{t.dtype, {}};
    bool ok = low.n == t.rank() && high.n == t.rank() && interior.n == t.rank() && c.type(1).rank() == 0;
    for (int i = 0; ok && i < t.rank(); ++i) {
      __extension__ using Wide = __int128;
      const Wide n = Wide(t.dims[i]) + low[i] + high[i] + (t.dims[i] > 1 ? Wide(t.dims[i] - 1) * interior[i] : 0);
      ok = interior[i] >= 0 && n >= 0 && n <= std::int64_t(1) << 62;
      if (ok) r.dims.push_back(std::int64_t(n));
    }
    if (!ok) {
      Str s("low ");
      put(s, low);
      s += ", high ";
      put(s, high);
      s += ", interior ";
      put(s, interior);
      s += " do not fit ";
      put(s, t);
      return c.fail(ErrorCode::shape, s);
    }
    if (!(c.type(1).dtype == t.dtype)) {
      Str s("the padding value has dtype ");
      s += fx::name(c.type(1).dtype);
      s += ", the operand ";
      s += fx::name(t.dtype);
      return c.fail(ErrorCode::dtype, s);
    }
    c.result(r);
  }
  static constexpr void jvp(JvpCtx& c) {
    Val x = c.t[0].is_zero() ? zeros(c.linear, type_of(c.x[0])) : c.t[0];
    Val v = c.t[1].is_zero() ? like(c.x[1], 0.0) : c.t[1];
    c.dy[0] = bind(prim<Pad>, {x, v}, params_of(c.g, c.e));
  }
  static constexpr void transpose(TransposeCtx& c) {
    const Dims low = c.attrs().dims(0), high = c.attrs().dims(1), interior = c.attrs().dims(2);
    Dims cut_low = low, cut_high = high, stride = interior;
    for (int i = 0; i < low.n; ++i) cut_low[i] = -low[i], cut_high[i] = -high[i], stride[i] = interior[i] + 1;
    Val cut = bind(prim<Pad>, {c.ct(), like(c.ct(), 0.0)}, Params().dims(cut_low).dims(cut_high).dims(Dims(low.n, 0)));
    Val inner = slice(cut, Dims(low.n, 0), type_of(cut).dims, stride);
    if (c.linear(0)) c.add(0, inner);
    if (!c.linear(1)) return;
    Val all = sum_all(c.ct()), inside = sum_all(inner);
    c.add(1, all - inside);
  }
  static constexpr void batch(BatchCtx& c) {
    Params p;
    p.dims(detail::front(c.attrs().dims(0), 0))
        .dims(detail::front(c.attrs().dims(1), 0))
        .dims(detail::front(c.attrs().dims(2), 0));
    if (!c.mapped(1)) return c.result(c.b.bind(prim<Pad>, {c.moved(0), c.in[1]}, p));
    // One padding value per example: pad with 0, and put the value where a mask padded with true says so.
    Val x = c.mapped(0) ? c.in[0] : broadcast_front(c.in[0], c.size);  // a literal too
    Val padded = bind(prim<Pad>, {x, like(x, 0.0)}, p);
    Val mask = bind(prim<Pad>, {full(c.b, {boolean, type_of(x).dims}, 0), c.b.literal(boolean, 1)}, p);
    c.result(select(mask, broadcast_in_dim(c.in[1], type_of(padded).dims, Dims{0}), padded));
  }
  static constexpr Val simplify(SimplifyCtx& c) {
    const Dims none(c.type.rank(), 0);  // of one type and with nothing before or between: nothing after
    return c.b.type(c.in[0]) == c.type && c.attrs.dims(0) == none && c.attrs.dims(2) == none ? c.in[0] : Val();
  }
  static constexpr void pieces(LayoutCtx& c) {
    const Dims low = c.attrs().dims(0), interior = c.attrs().dims(2), in = strides_of(c.type(0).dims),
               out = strides_of(c.out_type().dims);
    Piece p{0, c.type(0).dims, in, out};
    for (int i = 0; i < low.n; ++i) {  // element j lands at low + j * step, if that is inside
      const std::int64_t step = interior[i] + 1, n = c.out_type().dims[i];
      std::int64_t first = low[i] >= 0 ? 0 : (-low[i] + step - 1) / step;
      std::int64_t end = n <= low[i] ? 0 : (n - 1 - low[i]) / step + 1;
      if (end > c.type(0).dims[i]) end = c.type(0).dims[i];
      p.size[i] = end > first ? end - first : 0;
      p.in_offset += first * in[i];
      p.out_offset += (low[i] + first * step) * out[i];
      p.out_stride[i] = step * out[i];
    }
    c.fill = 1;
    c.pieces.push_back(p);
  }
};
constexpr Val pad(Val x, Val v, const Dims& low, const Dims& high, const Dims& interior) {
  return bind(prim<Pad>, {x, detail::coerce(v, x)}, Params().dims(low).dims(high).dims(interior));
}

// The operands one after the other along a dimension.
struct Concatenate : Layout<Concatenate> {
  static constexpr std::string_view name = "concatenate";
  static constexpr AttrSpec attrs[] = {{"dim", AttrKind::integer}};
  static constexpr void type(TypeCtx& c) {
    const int dim = int(c.attrs.integer(0));
    Type r = c.type(0);
    for (int k = 0; k < c.size(); ++k) {
      Type t = c.type(k);
      bool ok = dim >= 0 && dim < t.rank() && t.dtype == r.dtype && t.rank() == r.rank();
      for (int i = 0; ok && i < t.rank(); ++i) ok = i == dim || t.dims[i] == r.dims[i];
      if (!ok) {
        Str s("operands ");
        put(s, c.type(0));
        s += " and ";
        put(s, t);
        s += " do not join along dimension ";
        s.num(dim);
        return c.fail(ErrorCode::shape, s);
      }
      if (k) r.dims[dim] = (r.dims.dim(dim) + t.dims.dim(dim)).v;
    }
    c.result(r);
  }
  static constexpr void jvp(JvpCtx& c) {
    Vec<Val> t;
    for (int k = 0; k < c.x.size(); ++k) t.push_back(c.t[k].is_zero() ? zeros(c.linear, type_of(c.x[k])) : c.t[k]);
    c.dy[0] = bind(prim<Concatenate>, t, params_of(c.g, c.e));
  }
  static constexpr void transpose(TransposeCtx& c) {
    const int dim = int(c.attrs().integer(0));
    std::int64_t at = 0;
    for (int k = 0; k < c.e.n_in; ++k) {
      const std::int64_t n = c.type(k).dims[dim];
      if (c.linear(k)) c.add(k, slice_dim(c.ct(), dim, at, at + n));
      at += n;
    }
  }
  static constexpr void batch(BatchCtx& c) {
    Vec<Val> in;
    for (int k = 0; k < c.n(); ++k) in.push_back(c.moved(k));
    c.result(c.b.bind(prim<Concatenate>, in, Params().integer(c.attrs().integer(0) + 1)));
  }
  static constexpr Val simplify(SimplifyCtx& c) { return c.in.size() == 1 ? c.in[0] : Val(); }
  static constexpr void pieces(LayoutCtx& c) {
    const int dim = int(c.attrs().integer(0));
    const Dims out = strides_of(c.out_type().dims);
    std::int64_t at = 0;
    for (int k = 0; k < c.e.n_in; ++k) {
      const Dims& d = c.type(k).dims;
      c.pieces.push_back({k, d, strides_of(d), out, 0, at * out[dim]});
      at += d[dim];
    }
  }
};
constexpr Val concatenate(Span<const Val> xs, int dim) { return bind(prim<Concatenate>, xs, Params().integer(dim)); }

constexpr void BroadcastInDim::transpose(TransposeCtx& c) {
  const Dims dims = c.attrs().dims(1);
  Dims axes;
  for (int d = 0; d < c.out_type(0).rank(); ++d) {
    bool kept = false;
    for (int i = 0; i < dims.n; ++i) kept = kept || (dims[i] == d && c.type(0).dims[i] == c.out_type(0).dims[d]);
    if (!kept) axes.push_back(d);
  }
  c.add(0, reshape(reduce_sum(c.ct(), axes), c.type(0).dims));
}

constexpr void Slice::transpose(TransposeCtx& c) {
  const Dims start = c.attrs().dims(0), stride = c.attrs().dims(2), &own = c.type(0).dims;
  Dims high = own, interior = own;
  for (int i = 0; i < own.n; ++i) {
    const std::int64_t n = c.out_type(0).dims[i];
    interior[i] = stride[i] - 1;
    high[i] = own[i] - start[i] - (n > 0 ? (n - 1) * stride[i] + 1 : 0);
  }
  c.add(0, pad(c.ct(), 0.0, start, high, interior));
}

}  // namespace fx::inline v0
