// ops/iota.hpp -- iota: the position along a dimension, computed where it is needed.
#pragma once
#include "layout.hpp"

namespace fx::inline v0 {

// 0, 1, 2, ... along one dimension of the shape.
struct Iota : Elementwise<Iota, 0> {
  static constexpr std::string_view name = "iota";
  static constexpr DTypes takes = numbers;
  static constexpr bool flat = true;
  static constexpr AttrSpec attrs[] = {
      {"dtype", AttrKind::dtype}, {"shape", AttrKind::dims}, {"dim", AttrKind::integer}};
  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, 0);
    if (c.failed()) return;
    const Type t{c.attrs.dtype(0), c.attrs.dims(1)};
    const std::int64_t dim = c.attrs.integer(2);
    if (!in(t.dtype, numbers & computed)) return c.fail(ErrorCode::dtype, Str("takes i32, i64, u32, u64, f32 or f64"));
    if (dim < 0 || dim >= t.rank()) {
      Str s("dimension ");
      s.num(dim) += " is not one of ";
      put(s, t);
      return c.fail(ErrorCode::shape, s);
    }
    c.result(t);
  }
  static constexpr void jvp(JvpCtx&) {}
  static constexpr void batch(BatchCtx& c) {
    c.result(c.b.bind(prim<Iota>, Span<const Val>(), params_of(c.g, c.e)), false);
  }
  template <class World, class Ctx>
  static constexpr void run(Ctx& c) {
    detail::with_type<numbers & computed>(c.attrs.dtype(0), [&]<class T>() {
      World::put(c, 0, World::template position<T>(c, int(c.attrs.integer(2))));
    });
  }
  static constexpr void scalar(ScalarCtx& c) { run<detail::ScalarWorld>(c); }
  static void record(RecordCtx& c) { run<detail::RecordWorld>(c); }
};
constexpr Val iota(Builder& b, DType d, const Dims& shape, int dim) {
  return b.bind(prim<Iota>, Span<const Val>(), Params().dtype(d).dims(shape).integer(dim));
}

}  // namespace fx::inline v0
