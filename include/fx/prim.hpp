// prim.hpp -- what a primitive is: a struct with static members, turned into one constexpr rule table by `prim<P>`.
//
//   struct Sinc : Unary<Sinc> {                               // kind, type rule, batching, jvp and dispatch come from
//   here
//     static constexpr std::string_view name = "sinc";
//     static constexpr DTypes takes = floats;
//     template <class V> static constexpr V emit(V x) { ... } // the one body every tier runs
//     static constexpr Val tangent(Val t, Val x, Val y) { return t * ...; }
//   };
//   fx::apply(fx::prim<Sinc>, {x})                            // on Arrays (tests/transforms/user_primitive.cpp)
//
// Rules bind one operation per statement where order could vary: C++ leaves it to the compiler which argument comes
// first, and a Graph must not depend on the compiler.
//
// A struct must have `name`, `kind` and `type`; every other rule is optional, and a missing one is an Error that says
// what to write. Rules of control-flow primitives receive `Passes`, so that ops/ need not include any pass.
#pragma once
#include "ir.hpp"

namespace fx::inline v0 {

struct Passes;

namespace detail {
// A list of Vals on which rules write results.
using Vals = Vec<Val>;
}  // namespace detail

// Type rule: operand types in, `result` for each output, `fail` when they do not fit.
struct TypeCtx {
  Builder& b;
  const Prim& prim;
  Span<const Val> in;
  Attrs attrs;
  Vec<Type> out{};
  constexpr int size() const { return in.size(); }
  // The type of operand k; fails if there are fewer.
  constexpr const Type& type(int k) const;
  constexpr bool is_literal(int k) const { return k < in.size() && b.g.is_literal(in[k].id); }
  constexpr void result(const Type& t) { out.push_back(t); }
  // Message: "<primitive>: <what>".
  constexpr void fail(ErrorCode code, const Str& what) const {
    Str s(prim.name);
    s += ": ";
    s += what;
    b.fail(code, s);
  }
  constexpr bool failed() const { return b.failure.set; }
};

namespace detail {
inline constexpr Type no_type{};
}
constexpr const Type& TypeCtx::type(int k) const {
  if (k < in.size()) return b.g.type(in[k].id);
  Str s("has only ");
  s.num(in.size()) += " operands";
  fail(ErrorCode::internal, s);
  return detail::no_type;
}

// Forward rule. Primal values live in `b`, tangents in the nested linear Builder; an operation on both lands in the
// linear one and captures the primal. `t(k)` is zero when operand k has no tangent; unset outputs have none.
struct JvpCtx {
  const Passes& passes;
  Builder& b;
  Builder& linear;
  const Graph& g;
  const Eqn& e;
  Span<const Val> x;  // primal operands
  Span<const Val> t;  // their tangents
  Vec<Val> y{};       // primal results: bound already, except for control primitives, which bind them
  Vec<Val> dy{};      // tangents of the results, zero at first
  constexpr Attrs attrs() const { return fx::attrs(g, e); }
};

// Reverse rule of a primitive that is linear in the operands with linear(k): given the cotangents of the results, add
// to the cotangents of those operands. Everything is bound in `b`.
struct TransposeCtx {
  const Passes& passes;
  Builder& b;
  const Graph& g;
  const Eqn& e;
  Span<const Val> x;     // values of the operands that are not linear
  Span<const char> lin;  // which operands are linear
  Span<const Val> cts;   // cotangents of the results, zero if absent
  Vec<Val> sum{};        // contributions to the operands
  constexpr Attrs attrs() const { return fx::attrs(g, e); }
  constexpr bool linear(int k) const { return lin[k]; }
  constexpr const Type& type(int k) const { return g.type(g.in(e)[k]); }
  constexpr const Type& out_type(int j) const { return g.type(e.out + j); }
  constexpr Val ct(int j = 0) const { return cts[j]; }
  constexpr void add(int k, Val v) { sum[k] = v; }
};

// Batching rule: operands with mapped(k) have one more dimension, of `size`, in front; results likewise.
struct BatchCtx {
  const Passes& passes;
  Builder& b;
  const Graph& g;
  const Eqn& e;
  Dim size;
  Span<const Val> in;
  Span<const char> is_mapped;
  Vec<Val> out{};
  Vec<char> out_mapped{};
  constexpr Attrs attrs() const { return fx::attrs(g, e); }
  constexpr int n() const { return in.size(); }
  constexpr bool mapped(int k) const { return is_mapped[k]; }
  constexpr const Type& type(int k) const { return g.type(g.in(e)[k]); }  // without the mapped dimension
  constexpr const Type& out_type(int j = 0) const { return g.type(e.out + j); }
  constexpr Val moved(int k) const;  // operand k with the mapped dimension
  constexpr void result(Val v, bool mapped = true) {
    out.push_back(v);
    out_mapped.push_back(mapped);
  }
};

// Exact rewriting while an equation is bound: returns what it equals bit for bit, or zero for "nothing simpler".
struct SimplifyCtx {
  Builder& b;
  const Prim& prim;
  Span<const Val> in;
  const Params& params;
  Attrs attrs;
  Type type;  // of the (first) result
  constexpr bool is_literal(int k, double v) const;
  // The equation that defines v, if it is of primitive p.
  constexpr const Eqn* defined_by(Val v, std::string_view prim_name) const {
    const Var& d = b.g.vars[v.id];
    if (d.kind != Var::result || b.g.eqns[d.at].prim->name != prim_name) return nullptr;
    return &b.g.eqns[d.at];
  }
  constexpr Val operand(const Eqn& e, int k) const { return {&b, b.g.operands[e.in + k]}; }
};

// One output element of an elementwise primitive, or one step of a fold, on scalars.
struct ScalarCtx {
  Span<const DType> dtypes;        // of the operands
  Span<const std::uint64_t> bits;  // their values
  Span<const DType> out_dtypes;
  Attrs attrs;
  Dims index;  // position of the output element
  std::uint64_t out[4]{};
};

// Layout primitives copy strided boxes; strides and offsets are in elements. fill: outputs no box covers hold operand
// `fill`'s single value.
struct Piece {
  int operand = 0;
  Dims size, in_stride, out_stride;
  std::int64_t in_offset = 0, out_offset = 0;
};
struct LayoutCtx {
  const Graph& g;
  const Eqn& e;
  Vec<Piece> pieces{};
  int fill = -1;
  constexpr Attrs attrs() const { return fx::attrs(g, e); }
  constexpr const Type& type(int k) const { return g.type(g.in(e)[k]); }
  constexpr const Type& out_type() const { return g.type(e.out); }
};

// Reads (gather) and writes (scatter) at indices, in one form. Operand: the array read or written; index rows are the
// last dimension of the indices; see ops/index.hpp for the dimension numbers.
struct IndexSpec {
  bool write = false;
  const Prim* combine = nullptr;  // writes: null replaces, else old = combine(old, update)
  bool clamp = false;             // out of range: move inside; else reads give 0 and writes are dropped
  int operand = 0, indices = 1, updates = 2;
  Dims window_dims;                 // output (updates) dimensions that run over the window
  Dims collapsed;                   // operand dimensions of window size 1 that are not in the output
  Dims index_map;                   // operand dimension of each index component
  Dims window;                      // window size per operand dimension
  Dims operand_batch, index_batch;  // dimensions that operand and indices share
  bool scalar_indices = false;      // the indices are the rank-0 operands `indices`...: dynamic_slice and its update
};

// Dead code inside an equation: a primitive with results of its own choosing (a loop) says which operands and results
// are left when only those with live[j] are read, and the parameters of what is left.
struct PruneCtx {
  const Graph& g;
  const Eqn& e;
  Span<const char> live;  // of the results
  Vec<char> in{}, out{};  // which operands and results stay: all that are live do
  Params params{};
  constexpr Attrs attrs() const { return fx::attrs(g, e); }
};

enum ReduceForm : int { fold_form, arg_form };
enum ControlForm : int { call_form, scan_form };

// Rules of the later issues of sizes and sharding: how padding, partition and cost of a primitive follow.
enum class Padding : std::uint8_t { unknown, anything, zeros, masked };
struct PadCtx {
  const Graph& g;
  const Eqn& e;
  Vec<Padding> operands{};
  Padding result = Padding::unknown;
};
struct PartitionSpec {
  Vec<Str> axes;  // mesh axis per dimension; empty: not split
};
struct PartitionCtx {
  const Graph& g;
  const Eqn& e;
  Vec<PartitionSpec> operands{}, results{};
};
struct Cost {
  double flops = 0, bytes = 0, transcendentals = 0;
};
struct CostCtx {
  const Graph& g;
  const Eqn& e;
  Cost cost{};
};

// The passes that rules of control primitives apply to their bodies.
struct Linearized {
  GraphRef forward;  // ins -> outs..., residuals...
  GraphRef linear;   // tangents of the ins that have one, residuals... -> tangents of the outs that have one
  int residuals = 0;
  Vec<int> residual_input;  // the input of `forward` a residual equals, or -1
  Vec<char> out_nonzero;
};
struct Passes {
  Linearized (*linearize)(const Graph& g, Span<const char> nonzero_in, Span<const char> nonzero_out_required);
  // g is linear in the flagged inputs: (other ins..., cotangents of the outs...) -> cotangents of the flagged ins.
  GraphRef (*transpose)(const Graph& g, Span<const char> linear_in);
  // out_mapped: which outputs must be mapped on entry, which are on return.
  GraphRef (*batch)(const Graph& g, Span<const char> mapped_in, Dim size, Vec<char>& out_mapped);
  // Emits g's primal into b and its tangents into `linear`.
  void (*linearize_into)(Builder& b, Builder& linear, const Graph& g, Span<const Val> x, Span<const Val> t, Vec<Val>& y,
                         Vec<Val>& dy);
};

namespace detail {
// Errors (rule) at the line of the equation.
template <class Ctx>
void missing_rule(const Ctx& c, std::string_view primitive, std::string_view rule, std::string_view hint) {
  Str s("primitive '");
  s += primitive;
  s += "' has no ";
  s += rule;
  s += " rule; ";
  s += hint;
  fail(ErrorCode::rule, s, c.g.locs[c.e.loc]);
}

template <class P>
constexpr void type_rule(TypeCtx& c) {
  P::type(c);
}
template <class P>
constexpr void jvp_rule(JvpCtx& c) {
  if constexpr (requires { P::jvp(c); })
    P::jvp(c);
  else
    missing_rule(c, P::name, "jvp",
                 "write `static constexpr void jvp(fx::JvpCtx&)` in its struct, or stop_gradient its operands");
}
template <class P>
constexpr void transpose_rule(TransposeCtx& c) {
  if constexpr (requires { P::transpose(c); })
    P::transpose(c);
  else
    missing_rule(c, P::name, "transpose",
                 "write `static constexpr void transpose(fx::TransposeCtx&)` in its struct if it is linear in an "
                 "operand; else its jvp must use linear primitives only");
}
template <class P>
constexpr void batch_rule(BatchCtx& c) {
  if constexpr (requires { P::batch(c); })
    P::batch(c);
  else
    missing_rule(c, P::name, "batch", "write `static constexpr void batch(fx::BatchCtx&)` in its struct");
}
template <class P>
constexpr void pad_rule(PadCtx& c) {
  if constexpr (requires { P::pad(c); })
    P::pad(c);
  else
    missing_rule(c, P::name, "pad",
                 "write `static constexpr void pad(fx::PadCtx&)` in its struct to use it with symbolic sizes");
}
template <class P>
constexpr void partition_rule(PartitionCtx& c) {
  if constexpr (requires { P::partition(c); })
    P::partition(c);
  else
    missing_rule(c, P::name, "partition",
                 "write `static constexpr void partition(fx::PartitionCtx&)` in its struct to use it with sharding");
}
template <class P>
constexpr void cost_rule(CostCtx& c) {
  if constexpr (requires { P::cost(c); })
    P::cost(c);
  else
    missing_rule(c, P::name, "cost", "write `static constexpr void cost(fx::CostCtx&)` in its struct");
}

template <class P>
constexpr Prim make_prim() {
  Prim p;
  p.name = P::name;
  p.id = name_id(P::name);
  p.kind = P::kind;
  if constexpr (requires { P::attrs; }) p.attrs = P::attrs;
  p.type = &type_rule<P>;
  p.jvp = &jvp_rule<P>;
  p.transpose = &transpose_rule<P>;
  p.batch = &batch_rule<P>;
  p.pad = &pad_rule<P>;
  p.partition = &partition_rule<P>;
  p.cost = &cost_rule<P>;
  if constexpr (requires(SimplifyCtx & c) { P::simplify(c); }) p.simplifies = true, p.simplify = &P::simplify;
  if constexpr (requires(PruneCtx & c) { P::prune(c); }) p.prunes = true, p.prune = &P::prune;
  if constexpr (requires(ScalarCtx & c) { P::scalar(c); }) p.folds = true, p.scalar = &P::scalar;
  if constexpr (requires(RecordCtx & c) { P::record(c); }) p.record = &P::record;
  if constexpr (requires(LayoutCtx & c) { P::pieces(c); }) p.pieces = &P::pieces;
  if constexpr (requires(const Graph& g, const Eqn& e) { P::index(g, e); }) p.index = &P::index;
  if constexpr (requires { P::form; }) p.form = P::form;
  if constexpr (requires { P::pair; }) p.pair = P::pair;
  return p;
}
}  // namespace detail

template <class P>
concept Primitive = requires(TypeCtx& c) {
  {P::name};
  {P::kind};
  P::type(c);
};

template <Primitive P>
inline constexpr Prim prim = detail::make_prim<P>();

}  // namespace fx::inline v0

#include "builder.hpp"
