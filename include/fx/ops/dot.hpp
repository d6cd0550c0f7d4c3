// ops/dot.hpp -- dot_general: contraction over some dimensions, batched over others.
//
// Each result is one chain of fused multiply-adds in rising order of the contracted index, starting from +0, carried
// across blocks; integers wrap.
#pragma once
#include "layout.hpp"

namespace fx::inline v0 {

// The dimensions of one operand of dot_general, by role.
struct DotDims {
  Dims lhs_contract, rhs_contract, lhs_batch, rhs_batch;
  constexpr Dims lhs_free(int rank) const { return free(rank, lhs_contract, lhs_batch); }
  constexpr Dims rhs_free(int rank) const { return free(rank, rhs_contract, rhs_batch); }

 private:
  static constexpr Dims free(int rank, const Dims& contract, const Dims& batch) {
    Dims r;
    for (int i = 0; i < rank; ++i)
      if (!contract.contains(i) && !batch.contains(i)) r.push_back(i);
    return r;
  }
};

constexpr Val dot_general(Val a, Val b, const DotDims& d);

// Result dimensions: batch, then the free ones of lhs, then those of rhs.
struct DotGeneral {
  static constexpr std::string_view name = "dot_general";
  static constexpr Kind kind = Kind::dot;
  static constexpr DTypes takes = numbers;
  static constexpr AttrSpec attrs[] = {{"lhs_contract", AttrKind::ints},
                                       {"rhs_contract", AttrKind::ints},
                                       {"lhs_batch", AttrKind::ints},
                                       {"rhs_batch", AttrKind::ints}};
  static constexpr DotDims dims(const Attrs& a) { return {a.dims(0), a.dims(1), a.dims(2), a.dims(3)}; }
  static constexpr Params params(const DotDims& d) {
    Params p;
    p.dims(d.lhs_contract).dims(d.rhs_contract).dims(d.lhs_batch).dims(d.rhs_batch);
    return p;
  }
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 2);
    if (c.failed()) return;
    const DotDims d = dims(c.attrs);
    const Type &a = c.type(0), &b = c.type(1);
    detail::check_dtype(c, 0, takes, detail::describe(takes));
    if (c.failed()) return;
    if (a.dtype != b.dtype) return mismatch(c, "operands have different dtypes: ", ErrorCode::dtype);
    Dims l = d.lhs_contract, r = d.rhs_contract;
    for (std::int64_t v : d.lhs_batch) l.push_back(v);
    for (std::int64_t v : d.rhs_batch) r.push_back(v);
    if (!detail::check_axes(c, l, a) || !detail::check_axes(c, r, b)) return;
    if (d.lhs_contract.n != d.rhs_contract.n || d.lhs_batch.n != d.rhs_batch.n)
      return mismatch(c, "contracts or batches different numbers of dimensions: ", ErrorCode::shape);
    for (int i = 0; i < l.n; ++i)
      if (a.dims[int(l[i])] != b.dims[int(r[i])])
        return mismatch(
            c, i < d.lhs_contract.n ? "contracted dimensions differ: " : "batch dimensions differ: ", ErrorCode::shape);
    Type out{a.dtype, {}};
    for (std::int64_t v : d.lhs_batch) out.dims.push_back(a.dims.dim(int(v)));
    for (std::int64_t v : d.lhs_free(a.rank())) out.dims.push_back(a.dims.dim(int(v)));
    for (std::int64_t v : d.rhs_free(b.rank())) out.dims.push_back(b.dims.dim(int(v)));
    c.result(out);
  }
  static constexpr void jvp(JvpCtx& c) {
    const DotDims d = dims(c.attrs());
    Val a, b;
    if (c.t[0]) a = fx::dot_general(c.t[0], c.x[1], d);
    if (c.t[1]) b = fx::dot_general(c.x[0], c.t[1], d);
    if (a && b)
      c.dy[0] = a + b;
    else
      c.dy[0] = a ? a : b;
  }
  static constexpr void transpose(TransposeCtx& c) {
    const DotDims d = dims(c.attrs());
    const int k = c.linear(0) ? 0 : 1;  // the operand whose cotangent is wanted
    const Dims own_contract = k == 0 ? d.lhs_contract : d.rhs_contract,
               other_contract = k == 0 ? d.rhs_contract : d.lhs_contract;
    const Dims own_batch = k == 0 ? d.lhs_batch : d.rhs_batch, other_batch = k == 0 ? d.rhs_batch : d.lhs_batch;
    const int rank = c.type(k).rank(), other_rank = c.type(1 - k).rank(), nb = own_batch.n;
    const Dims own_free = k == 0 ? d.lhs_free(rank) : d.rhs_free(rank);
    const Dims other_free = k == 0 ? d.rhs_free(other_rank) : d.lhs_free(other_rank);
    DotDims e;  // contract ct with the other operand over the other's free dimensions
    for (int i = 0; i < other_free.n; ++i) e.lhs_contract.push_back(nb + (k == 0 ? own_free.n : 0) + i);
    e.rhs_contract = other_free;
    for (int i = 0; i < nb; ++i) e.lhs_batch.push_back(i);
    e.rhs_batch = other_batch;
    Val r = fx::dot_general(c.ct(), c.x[1 - k], e);  // [batch, own free, contracted dims in the other's order]
    Dims perm(rank, 0);
    for (int i = 0; i < nb; ++i) perm[int(own_batch[i])] = i;
    for (int i = 0; i < own_free.n; ++i) perm[int(own_free[i])] = nb + i;
    int at = nb + own_free.n;
    for (int dim = 0; dim < other_rank; ++dim)
      for (int i = 0; i < other_contract.n; ++i)
        if (other_contract[i] == dim) perm[int(own_contract[i])] = at++;
    c.add(k, fx::transpose(r, perm));
  }
  static constexpr void batch(BatchCtx& c) {
    DotDims d = dims(c.attrs());
    const bool l = c.mapped(0), r = c.mapped(1);
    if (l) d.lhs_contract = detail::shifted(d.lhs_contract), d.lhs_batch = detail::shifted(d.lhs_batch);
    if (r) d.rhs_contract = detail::shifted(d.rhs_contract), d.rhs_batch = detail::shifted(d.rhs_batch);
    int at = 0;  // where the mapped dimension comes out
    if (l && r) {
      d.lhs_batch.insert(0, 0);
      d.rhs_batch.insert(0, 0);
    } else {
      at = d.lhs_batch.n + (l ? 0 : d.lhs_free(c.type(0).rank()).n);
    }
    c.result(move_dim(fx::dot_general(c.in[0], c.in[1], d), at, 0));
  }
  static constexpr void cost(CostCtx& c) {
    double k = 1;
    const Type& a = c.g.type(c.g.in(c.e)[0]);
    for (std::int64_t v : fx::attrs(c.g, c.e).dims(0)) k *= double(a.dims[int(v)]);
    c.cost.flops = 2 * k * double(numel(c.g.type(c.e.out)));
  }

 private:
  static constexpr void mismatch(TypeCtx& c, std::string_view what, ErrorCode code) {
    Str s(what);
    put(s, c.type(0));
    s += " along ";
    put(s, c.attrs.dims(0));
    s += " and ";
    put(s, c.type(1));
    s += " along ";
    put(s, c.attrs.dims(1));
    c.fail(code, s);
  }
};
constexpr Val dot_general(Val a, Val b, const DotDims& d) {
  return bind(prim<DotGeneral>, {a, b}, DotGeneral::params(d));
}

}  // namespace fx::inline v0
