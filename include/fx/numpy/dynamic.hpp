// numpy/dynamic.hpp -- dynamic_slice and dynamic_update_slice: a box whose place is computed, and whose size is known.
#pragma once
#include "axes.hpp"

namespace fx::inline v0 {

namespace detail {
// x, perhaps an update, and one start per dimension: numbers become i64, and so do Arrays of several dtypes.
struct DynamicOperands {
  Recording r;
  Vec<Val> starts = {};

  constexpr DynamicOperands(Span<const NodeRef> arrays, std::initializer_list<Operand> list, int first, const Type& x,
                            std::string_view who, Loc loc)
      : r(arrays, loc) {
    if (int(list.size()) != x.rank()) {
      Str s = message(who, x, "needs ");
      (s.num(x.rank()) += " starts, got ").num(int(list.size()));
      fail(ErrorCode::shape, s, loc);
    }
    for (const Operand& o : list) {
      Val v = o.is_scalar() ? r.number(o, i64) : r.vals[first++];
      const Type t = type_of(v);
      if (t.rank() || !in(t.dtype, integers & computed))
        fail(ErrorCode::dtype, message(who, t, "is no start; starts are integer scalars"), o.loc);
      starts.push_back(t.dtype == i64 ? v : convert(v, i64));
    }
  }
};
constexpr void append_arrays(Vec<NodeRef>& out, std::initializer_list<Operand> list) {
  for (const Operand& o : list)
    if (!o.is_scalar()) out.push_back(node_ref(*o.array, o.loc));
}
}  // namespace detail

// The box of these sizes that starts at these positions, each an int or an integer scalar; moved inside x where it
// would reach beyond. Errors: another number of starts or sizes than axes, sizes above x's (shape); starts that are no
// integer scalars (dtype).
constexpr Array dynamic_slice(const Array& x, std::initializer_list<detail::Operand> starts, const Dims& sizes,
                              Loc where = Loc::here()) {
  Vec<detail::NodeRef> arrays{node_ref(x, where)};
  detail::append_arrays(arrays, starts);
  detail::DynamicOperands d(arrays, starts, 1, x.type(where), "dynamic_slice", where);
  return d.r.result(dynamic_slice(d.r.vals[0], d.starts, sizes));
}
// x with the box at these positions replaced by `update`, moved inside where it would reach beyond. Errors as
// dynamic_slice; an update of another dtype or number of axes, or larger than x (shape).
constexpr Array dynamic_update_slice(const Array& x, const Array& update, std::initializer_list<detail::Operand> starts,
                                     Loc where = Loc::here()) {
  Vec<detail::NodeRef> arrays{node_ref(x, where), node_ref(update, where)};
  detail::append_arrays(arrays, starts);
  detail::DynamicOperands d(arrays, starts, 2, x.type(where), "dynamic_update_slice", where);
  return d.r.result(dynamic_update_slice(d.r.vals[0], d.r.vals[1], d.starts));
}

}  // namespace fx::inline v0
