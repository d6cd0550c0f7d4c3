// ops/elementwise.hpp -- the base of elementwise primitives: type rule, batching, dispatch of the body over dtypes and
// worlds.
//
// Operands have one shape; a rank-0 literal may stand for any of them.
#pragma once
#include "record.hpp"

namespace fx::inline v0 {

namespace detail {

// Calls f.template operator()<T>() for the C++ type of d, among the dtypes of `set`.
template <DTypes set, class F>
constexpr void with_type(DType d, F&& f) {
  if constexpr (in(boolean, set))
    if (d == boolean) return f.template operator()<bool>();
  if constexpr (in(i32, set))
    if (d == i32) return f.template operator()<std::int32_t>();
  if constexpr (in(i64, set))
    if (d == i64) return f.template operator()<std::int64_t>();
  if constexpr (in(u32, set))
    if (d == u32) return f.template operator()<std::uint32_t>();
  if constexpr (in(u64, set))
    if (d == u64) return f.template operator()<std::uint64_t>();
  if constexpr (in(f32, set))
    if (d == f32) return f.template operator()<float>();
  if constexpr (in(f64, set))
    if (d == f64) return f.template operator()<double>();
}

// The two worlds a body runs in: scalars now, or vector instructions for later.
struct ScalarWorld {
  template <class T>
  using V = Scalar<T>;
  template <class T>
  static constexpr Scalar<T> get(const ScalarCtx& c, int k) {
    return Scalar<T>::c(from_bits<T>(c.bits[k]));
  }
  template <class T>
  static constexpr void put(ScalarCtx& c, int j, Scalar<T> v) {
    c.out[j] = to_bits(v.v);
  }
  template <class T>
  static constexpr Scalar<T> position(const ScalarCtx& c, int dim) {
    return Scalar<T>::c(T(c.index[dim]));
  }
};
struct RecordWorld {
  template <class T>
  using V = Rec<T>;
  template <class T>
  static Rec<T> get(const RecordCtx& c, int k) {
    return {&c.r, c.regs[k]};
  }
  template <class T>
  static void put(RecordCtx& c, int j, Rec<T> v) {
    c.out[j] = v.in(c.r);
  }
  template <class T>
  static Rec<T> position(const RecordCtx& c, int dim) {
    Instr i{Instr::index, dtype_of<T>};
    i.a = dim;
    return {&c.r, c.r.push(i, dtype_of<T>)};
  }
};

// The bits of a literal `v` as dtype d. The caller has checked that d can represent it.
constexpr std::uint64_t encode(DType d, double v) {
  std::uint64_t r = 0;
  with_type<computed>(d, [&]<class T>() { r = to_bits(fp::convert<T>(v)); });
  return r;
}
constexpr double decode(DType d, std::uint64_t bits) {
  double r = 0;
  with_type<computed>(d, [&]<class T>() { r = fp::convert<double>(from_bits<T>(bits)); });
  return r;
}

// A literal takes the dtype of its partner.
constexpr Val coerce(Val v, Val partner) {
  if (v.b || v.is_zero()) return v;
  const DType d = type_of(partner).dtype;
  return partner.b->literal(d, encode(d, v.lit));
}
constexpr Val unary(const Prim& p, Val a) { return bind(p, {a}); }
constexpr Val binary(const Prim& p, Val a, Val b) { return bind(p, {coerce(a, b), coerce(b, a)}); }

// Shape shared by elementwise operands.
constexpr Dims common_dims(TypeCtx& c) {
  int shaped = -1;
  for (int k = 0; k < c.size(); ++k) {
    if (c.is_literal(k)) continue;
    if (shaped < 0) {
      shaped = k;
    } else if (!(c.type(k).dims == c.type(shaped).dims)) {
      Str s("operands have shapes ");
      put(s, c.type(shaped));
      s += " and ";
      put(s, c.type(k));
      s += "; broadcast them to one shape";
      c.fail(ErrorCode::shape, s);
    }
  }
  return shaped < 0 ? Dims{} : c.type(shaped).dims;
}
constexpr void check_arity(TypeCtx& c, int n) {
  if (c.size() == n) return;
  Str s("takes ");
  s.num(n) += " operands, got ";
  s.num(c.size());
  c.fail(ErrorCode::internal, s);
}
constexpr void check_dtype(TypeCtx& c, int k, DTypes set, std::string_view what) {
  const DType d = c.type(k).dtype;
  if (in(d, set) && computes(d)) return;
  Str s("takes ");
  s += what;
  s += ", got ";
  put(s, c.type(k));
  if (in(d, set))
    s += " (arithmetic on this dtype comes in a later version; convert to f32 or i32)";
  else
    s += "; use fx::convert";
  c.fail(in(d, set) ? ErrorCode::unsupported : ErrorCode::dtype, s);
}
constexpr std::string_view describe(DTypes set) {
  return set == floats                   ? "floating-point operands"
         : set == numbers                ? "numbers"
         : set == integers               ? "integers"
         : set == bit_types              ? "integers or booleans"
         : set == bools                  ? "booleans"
         : set == (floats | signed_ints) ? "signed numbers"
                                         : "numbers or booleans";
}
}  // namespace detail

constexpr bool SimplifyCtx::is_literal(int k, double v) const {
  return b.g.is_literal(in[k].id) && detail::decode(b.g.type(in[k].id).dtype, b.g.literal(in[k].id)) == v;
}

constexpr Val operator+(Val a, Val b);

// The operand with the mapped dimension in front: as it is, a literal, or broadcast.
constexpr Val broadcast_front(Val v, Dim size);
constexpr Val BatchCtx::moved(int k) const {
  return mapped(k) || b.g.is_literal(in[k].id) ? in[k] : broadcast_front(in[k], size);
}

// P gives: name, arity, takes, emit; and tangent(...) or `flat` (no derivative: zero everywhere). Optional: typed, the
// operand whose dtype selects the body; result(dtype), the dtype of the result.
template <class P, int Arity>
struct Elementwise {
  static constexpr Kind kind = Kind::elementwise;
  static constexpr int arity = Arity, typed = 0;
  static constexpr bool flat = false;
  static constexpr DType result(DType d) { return d; }

  static constexpr void type(TypeCtx& c) {
    detail::check_arity(c, P::arity);
    if (c.failed()) return;
    for (int k = P::typed; k < P::arity; ++k) {
      detail::check_dtype(c, k, P::takes, detail::describe(P::takes));
      if (c.failed()) return;
      if (c.type(k).dtype == c.type(P::typed).dtype) continue;
      Str s("operands have dtypes ");
      s += fx::name(c.type(P::typed).dtype);
      s += " and ";
      s += fx::name(c.type(k).dtype);
      s += "; fx never promotes: convert one with fx::convert";
      return c.fail(ErrorCode::dtype, s);
    }
    c.result({P::result(c.type(P::typed).dtype), detail::common_dims(c)});
  }

  static constexpr void batch(BatchCtx& c) {
    Vec<Val> in;
    for (int k = 0; k < c.n(); ++k) in.push_back(c.moved(k));
    Val first = c.b.bind(*c.e.prim, in, params_of(c.g, c.e));
    for (int j = 0; j < c.e.n_out; ++j) c.result(Val(first.b, first.id + j));
  }

  static constexpr void jvp(JvpCtx& c) {
    if constexpr (!P::flat) {
      Val sum;
      for (int k = 0; k < P::arity; ++k) {
        if (c.t[k].is_zero()) continue;
        Val t = part(c, k);
        if (t.is_zero()) continue;
        sum = sum.is_zero() ? t : sum + t;
      }
      c.dy[0] = sum;
    }
  }

  template <class World, class Ctx>
  static constexpr void run(Ctx& c) {
    detail::with_type<P::takes & computed>(c.dtypes[P::typed], [&]<class T>() { apply<World, T>(c); });
  }
  template <class World, class T, class Ctx>
  static constexpr void apply(Ctx& c) {
    if constexpr (requires(Ctx & r) { P::template body<World, T>(r); })
      P::template body<World, T>(c);
    else if constexpr (P::arity == 1)
      World::put(c, 0, P::emit(World::template get<T>(c, 0)));
    else
      World::put(c, 0, P::emit(World::template get<T>(c, 0), World::template get<T>(c, 1)));
  }
  static constexpr void scalar(ScalarCtx& c) { run<detail::ScalarWorld>(c); }
  static void record(RecordCtx& c) { run<detail::RecordWorld>(c); }

  static constexpr void pad(PadCtx& c) {
    c.operands = Vec<Padding>(c.e.n_in, Padding::anything);
    c.result = Padding::anything;
  }
  static constexpr void cost(CostCtx& c) {
    const double n = double(numel(c.g.type(c.e.out)));
    if constexpr (requires { P::transcendental; })
      c.cost.transcendentals = n;
    else
      c.cost.flops = n;
  }

 private:
  static constexpr Val part(JvpCtx& c, int k) {
    if constexpr (P::arity == 1 && requires { P::tangent(c, c.t[0]); })
      return P::tangent(c, c.t[0]);
    else if constexpr (P::arity == 1)
      return P::tangent(c.t[0], c.x[0], c.y[0]);
    else if constexpr (P::arity == 2)
      return P::tangent(k, c.t[k], c.x[0], c.x[1], c.y[0]);
    else
      return P::tangent(c, k, c.t[k]);
  }
};
template <class P>
using Unary = Elementwise<P, 1>;
template <class P>
using Binary = Elementwise<P, 2>;

}  // namespace fx::inline v0
