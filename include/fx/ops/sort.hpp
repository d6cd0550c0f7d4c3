// ops/sort.hpp -- sort: several operands ordered together along a dimension, stable, by the first num_keys of them.
//
// -0 and +0 are equal, NaN comes last (JAX's order); booleans order false before true.
#pragma once
#include "index.hpp"

namespace fx::inline v0 {

struct Sort {
  static constexpr std::string_view name = "sort";
  static constexpr Kind kind = Kind::sort;
  static constexpr AttrSpec attrs[] = {{"dim", AttrKind::integer}, {"num_keys", AttrKind::integer}};
  static constexpr void type(TypeCtx& c) {
    const std::int64_t dim = c.attrs.integer(0), keys = c.attrs.integer(1);
    if (!detail::check_axes(c, Dims{dim}, c.type(0))) return;
    if (keys < 1 || keys > c.size())
      return c.fail(ErrorCode::value, Str("num_keys must be between 1 and the number of operands"));
    for (int k = 0; k < c.size(); ++k) {
      detail::check_dtype(c, k, any_dtype, "numbers or booleans");
      if (c.failed()) return;
      if (!(c.type(k).dims == c.type(0).dims)) {
        Str s("operands have shapes ");
        put(s, c.type(0));
        s += " and ";
        put(s, c.type(k));
        return c.fail(ErrorCode::shape, s);
      }
      c.result(c.type(k));
    }
  }
  // The permutation comes from sorting positions along; tangents follow it.
  static constexpr void jvp(JvpCtx& c) {
    const int dim = int(c.attrs().integer(0));
    const Type t = type_of(c.x[0]);
    const bool nothing_moves = t.dims[dim] == 1 || (t.is_static() && numel(t) == 0);
    Vec<Val> in(c.x);
    in.push_back(iota(c.b, i32, type_of(c.x[0]).dims, dim));
    Val first = bind(prim<Sort>, in, params_of(c.g, c.e));
    Val order(first.b, first.id + c.x.size());
    for (int k = 0; k < c.x.size(); ++k) {
      c.y[k] = Val(first.b, first.id + k);
      if (c.t[k]) c.dy[k] = nothing_moves ? c.t[k] : take_along(c.t[k], order, dim);
    }
  }
  static constexpr void batch(BatchCtx& c) {
    Vec<Val> in;
    for (int k = 0; k < c.n(); ++k) in.push_back(broadcast_to(c.moved(k), detail::front(c.type(k).dims, c.size)));
    Val first = c.b.bind(prim<Sort>, in, Params().integer(c.attrs().integer(0) + 1).integer(c.attrs().integer(1)));
    for (int k = 0; k < c.n(); ++k) c.result(Val(first.b, first.id + k));
  }
};

}  // namespace fx::inline v0
