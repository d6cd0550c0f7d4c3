// ir.hpp -- Graph, the one intermediate representation: single-assignment equations over typed variables.
//
// A Graph is a few flat pools: equations hold (offset, count) into them, types are interned per Graph, and a variable
// is an index. That keeps equations trivially copyable, passes linear, and the same code usable in constant evaluation.
#pragma once
#include "base/ref.hpp"
#include "type.hpp"

namespace fx::inline v0 {

struct Prim;
struct Graph;
using GraphRef = Ref<const Graph>;

// What an attribute of an equation is; attributes are lists of 64-bit words.
enum class AttrKind : std::uint8_t {
  ints,     // a list of integers
  integer,  // one integer
  flag,     // 0 or 1, printed as a word
  dtype,    // one DType
  dims,     // a list of dimensions, possibly symbolic
  graph,    // a sub-graph: index into Graph::subs
  label     // a name for people: index into Graph::labels; no part of the digest
};
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
};

// One equation: `outs = prim[attrs] operands`. Its results are consecutive variables.
struct Eqn {
  const Prim* prim = nullptr;
  int in = 0, n_in = 0;        // into Graph::operands
  int out = 0, n_out = 0;      // variables out .. out + n_out - 1
  int attrs = 0, n_attrs = 0;  // into Graph::words
  int loc = 0;                 // into Graph::locs
};

struct Var {
  enum Kind : std::uint8_t { input, literal, result } kind = input;
  int type = 0;  // into Graph::types
  int at = 0;    // input number, index into Graph::literals, or equation
};

struct Graph : Shared {
  Vec<Var> vars;
  Vec<Eqn> eqns;
  Vec<int> operands;
  Vec<std::int64_t> words;
  Vec<Type> types;
  Vec<std::uint64_t> literals;  // bit patterns of rank-0 constants
  Vec<GraphRef> subs;
  Vec<Str> labels;
  Vec<Loc> locs;
  Vec<int> ins, outs;
  int captured = 0;  // the last `captured` inputs come from outside the traced function

  constexpr const Type& type(int var) const { return types[vars[var].type]; }
  constexpr Span<const int> in(const Eqn& e) const { return {operands.data() + e.in, e.n_in}; }
  constexpr bool is_literal(int var) const { return vars[var].kind == Var::literal; }
  constexpr std::uint64_t literal(int var) const { return literals[vars[var].at]; }
};

// The attributes of one equation, in the order of its primitive's specification.
struct Attrs {
  Span<const std::int64_t> words;
  const Graph* graph = nullptr;
  constexpr Span<const std::int64_t> list(int k) const {
    int at = 0;
    while (k-- > 0) at += 1 + int(words[at]);
    return words.sub(at + 1, int(words[at]));
  }
  constexpr Dims dims(int k) const { return Dims(list(k)); }
  constexpr std::int64_t integer(int k) const { return list(k)[0]; }
  constexpr bool flag(int k) const { return list(k)[0] != 0; }
  constexpr DType dtype(int k) const { return DType(list(k)[0]); }
  constexpr const GraphRef& sub(int k) const { return graph->subs[int(list(k)[0])]; }
  constexpr std::string_view label(int k) const { return graph->labels[int(list(k)[0])].view(); }
};
constexpr Attrs attrs(const Graph& g, const Eqn& e) { return {{g.words.data() + e.attrs, e.n_attrs}, &g}; }

// Attributes on their way into an equation: `Params().ints(axes).flag(true)`.
struct Params {
  Vec<std::int64_t> words;
  Vec<GraphRef> subs;
  Vec<Str> labels;
  constexpr Params& ints(Span<const std::int64_t> v) {
    words.push_back(v.size());
    words.append(v);
    return *this;
  }
  constexpr Params& integer(std::int64_t v) {
    words.push_back(1);
    words.push_back(v);
    return *this;
  }
  constexpr Params& flag(bool v) { return integer(v); }
  constexpr Params& dtype(DType v) { return integer(std::int64_t(v)); }
  constexpr Params& dims(const Dims& v) { return ints(Span<const std::int64_t>(v.d, v.n)); }
  constexpr Params& graph(GraphRef g) {
    subs.push_back(std::move(g));
    return integer(subs.size() - 1);
  }
  constexpr Params& label(std::string_view s) {
    labels.push_back(Str(s));
    return integer(labels.size() - 1);
  }
};

enum class Kind : std::uint8_t {
  elementwise,
  reduce,
  cumulative,
  sort,
  dot,
  layout,
  index,
  control,
  collective,
  library
};

struct Builder;

// A value in a rule or a pass: a variable of a Builder, a literal that takes its partner's dtype and shape, or a known
// zero (an absent tangent or cotangent).
struct Val {
  Builder* b = nullptr;
  int id = -1;
  double lit = 0;
  constexpr Val() : id(-2) {}
  constexpr Val(Builder* builder, int var) : b(builder), id(var) {}
  constexpr Val(double literal) : lit(literal) {}
  constexpr Val(int literal) : lit(literal) {}
  constexpr bool is_zero() const { return id == -2; }
  constexpr explicit operator bool() const { return id != -2; }
};

struct TypeCtx;  // the contexts of the rules: prim.hpp
struct JvpCtx;
struct TransposeCtx;
struct BatchCtx;
struct SimplifyCtx;
struct ScalarCtx;
struct RecordCtx;
struct LayoutCtx;
struct IndexSpec;
struct CostCtx;
struct PadCtx;
struct PartitionCtx;
struct PruneCtx;

// A primitive: everything fx knows of one operation. Built from a struct by `prim<P>` (prim.hpp); compared by id, never
// by address (two shared objects have two).
struct Prim {
  std::string_view name;
  std::uint64_t id = 0;
  Kind kind = Kind::elementwise;
  Span<const AttrSpec> attrs;
  void (*type)(TypeCtx&) = nullptr;
  void (*jvp)(JvpCtx&) = nullptr;
  void (*transpose)(TransposeCtx&) = nullptr;
  void (*batch)(BatchCtx&) = nullptr;
  Val (*simplify)(SimplifyCtx&) = nullptr;  // null: nothing to simplify
  void (*scalar)(ScalarCtx&) = nullptr;     // elementwise, reduce, cumulative: one element in constant evaluation
  void (*record)(RecordCtx&) = nullptr;     // the same as vector instructions
  void (*pieces)(LayoutCtx&) = nullptr;     // layout: strided boxes to copy
  IndexSpec (*index)(const Graph&, const Eqn&) = nullptr;  // index: which elements are read or written
  void (*pad)(PadCtx&) = nullptr;
  void (*partition)(PartitionCtx&) = nullptr;
  void (*cost)(CostCtx&) = nullptr;
  bool (*prune)(PruneCtx&) = nullptr;  // whether an equation becomes smaller when only some results are read
  // simplify, scalar and prune are set: a constant, which `simplify != nullptr` is not for g++ -fsanitize=undefined (PR
  // 71962).
  bool simplifies = false, folds = false, prunes = false;
  int form = 0;  // variant within the kind (ReduceForm, ControlForm)
  // Of a reduction: what it does with two values, as an elementwise primitive. A loop over rows may then fold columns
  // as it goes; null: it is a kernel of its own.
  const Prim* pair = nullptr;
};
constexpr bool operator==(const Prim& a, const Prim& b) { return a.id == b.id; }

// What goes wrong inside a pass is a value; the border throws it.
struct Failure {
  bool set = false;
  ErrorCode code = ErrorCode::internal;
  Str message;
  Loc loc;
};

// A Graph under construction. Equal equations are merged when `simplify` is set, and rewritten by exact identities.
struct Builder {
  Graph g;
  bool simplify = false;
  int depth = 0;  // nesting: an operation on values of two Builders belongs to the deeper one
  Loc loc;        // where the equations being bound come from
  Failure failure;
  Vec<Val> captured;  // values of outer Builders used here, as the inputs `captured_vars`
  Vec<int> captured_vars;

  constexpr Builder() = default;
  constexpr explicit Builder(bool simplifying, int nesting = 0) : simplify(simplifying), depth(nesting) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  constexpr Val input(const Type& t) {
    g.ins.push_back(g.vars.size());
    return new_var({Var::input, type_id(t), g.ins.size() - 1});
  }
  // A rank-0 constant from its bit pattern.
  constexpr Val literal(DType d, std::uint64_t bits);
  constexpr const Type& type(Val v) const { return v.b->g.type(v.id); }

  // The variable that stands for v here: itself, a literal written again, or an input that captures an outer value.
  constexpr int use(Val v);
  // Appends `prim[params] in...` and returns its first result; results are consecutive.
  constexpr Val bind(const Prim& p, Span<const Val> in, const Params& params = {}) {
    return FX_CONSTANT_EVALUATED() ? bind_here(p, in, params) : bind_run_time(p, in, params);
  }
  constexpr Val bind(const Prim& p, std::initializer_list<Val> in, const Params& params = {}) {
    return bind(p, Span<const Val>(in), params);
  }
  // The Graph of the live equations. Unused captured inputs are dropped from `captured` too.
  constexpr Graph finish(Span<const Val> outs) {
    if (FX_CONSTANT_EVALUATED()) return finish_here(outs);
    return finish_run_time(outs);
  }

  constexpr void fail(ErrorCode code, Str message) {
    if (failure.set) return;
    failure = {true, code, std::move(message), loc};
    if (!FX_CONSTANT_EVALUATED()) fx::fail(code, failure.message, loc);
  }

  constexpr int type_id(const Type& t) {
    for (int i = g.types.size() - 1; i >= 0; --i)
      if (g.types[i] == t) return i;
    g.types.push_back(t);
    return g.types.size() - 1;
  }

 private:
  Vec<int> table_;          // open-addressing hash of equations, when simplify is set
  Vec<unsigned> hashes_;    // of each equation
  Vec<int> literal_table_;  // the same of literal variables
  Vec<int> capture_id_;     // outer variable -> index into captured, for captures from one Builder
  constexpr Val new_var(Var v) {
    g.vars.push_back(v);
    return {this, g.vars.size() - 1};
  }
  // Two doors to one body: constant evaluation, and run time, where it is compiled once.
  constexpr Val bind_here(const Prim& p, Span<const Val> in, const Params& params);
  Val bind_run_time(const Prim& p, Span<const Val> in, const Params& params);
  constexpr Graph finish_here(Span<const Val> outs);
  Graph finish_run_time(Span<const Val> outs);
  constexpr int capture(Val v);
  constexpr int add_words(const Params& params);
  constexpr int loc_id();
  constexpr bool same_eqn(const Eqn& a, const Eqn& b) const;
  constexpr unsigned hash_eqn(const Eqn& e) const;
  constexpr int merge(const Eqn& e);  // an equal earlier equation, or -1 after entering e
  constexpr bool fold(const Prim& p, Span<const Val> in, const Params& params, Val& out);
  constexpr bool fold_spread(const Prim& p, Vec<Val>& in, const Params& params, Val& out);
};

constexpr Builder* deeper(Builder* a, Builder* b) { return !a ? b : !b ? a : a->depth >= b->depth ? a : b; }
constexpr Builder* builder_of(Span<const Val> vals) {
  Builder* b = nullptr;
  for (const Val& v : vals) b = deeper(b, v.b);
  return b;
}

// Binds in the deepest Builder among the operands.
constexpr Val bind(const Prim& p, Span<const Val> in, const Params& params = {}) {
  return builder_of(in)->bind(p, in, params);
}
constexpr Val bind(const Prim& p, std::initializer_list<Val> in, const Params& params = {}) {
  return bind(p, Span<const Val>(in), params);
}
constexpr const Type& type_of(Val v) { return v.b->g.type(v.id); }

// The parameters of an equation, to bind it again elsewhere.
constexpr Params params_of(const Graph& g, const Eqn& e);
// Binds every equation of g in b with the given inputs; returns its outputs. An output that is an input passes through.
constexpr Vec<Val> inline_graph(Builder& b, const Graph& g, Span<const Val> ins);
// g rewritten by exact identities, without equal or dead equations.
constexpr Graph simplify(const Graph& g);
// Equal Graphs have equal digests, in every process. Labels and lines are no part of it.
constexpr Digest digest(const Graph& g);
// Empty, or what is wrong with g: order of definitions, operand counts, types that differ from the type rules'.
Str verify(const Graph& g);

}  // namespace fx::inline v0
