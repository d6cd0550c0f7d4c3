// trace.hpp -- recording operations on Arrays: into the open trace, or into one of their own that runs at once.
//
// Run time: the innermost open trace of the thread records everything. Constant evaluation knows no thread: the trace
// is the innermost one among the operands; a trace whose arguments are all known finds its parent by what it captures
// first.
#pragma once
#include "array.hpp"
#include "base/fp_text.hpp"

namespace fx::inline v0::detail {

class Trace {
 public:
  Builder b;
  Ref<TraceToken> token;
  Trace* parent = nullptr;  // the enclosing trace; in constant evaluation null until it is known
  bool captures = true;     // constant evaluation: the traced function may capture outer values
  bool lift = true;         // C++ scalars become inputs, so that changing them needs no new executable
  std::uint64_t serial = 0;
  Vec<NodeRef> captured;  // Arrays from outside, as the inputs `captured_vars`
  Vec<int> captured_vars;

  constexpr Trace(Loc where, bool lifting) : token(new TraceToken), lift(lifting) {
    token->open = this;
    token->where = where;
    b.loc = where;
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  constexpr ~Trace() { token->open = nullptr; }

  constexpr NodeRef traced(Val v, Loc loc) {
    NodeRef n = make_node(Node::traced, b.type(v), loc);
    n->token = token;
    n->var = v.id;
    return n;
  }
  constexpr NodeRef argument(const Type& t, Loc loc) { return traced(b.input(t), loc); }

  // The variable that stands for n in this trace.
  constexpr Val use(const NodeRef& n, Loc loc) {
    if (n->kind == Node::traced) {
      if (n->token->open == this) return {&b, n->var};
      if (!n->token->open) fail_leaked(*n, loc);
      anchor(*n->token->open);
      if (!FX_CONSTANT_EVALUATED()) check_enclosing(*this, *n, loc);
    } else if (is_constant(*n)) {
      return b.literal(n->type.dtype, first_element(*n, loc));
    }
    const int known = find_captured(*n);
    if (known >= 0) return {&b, captured_vars[known]};
    Val v = b.input(n->type);
    captured.push_back(n);
    captured_vars.push_back(v.id);
    if (!FX_CONSTANT_EVALUATED()) remember_captured();
    return v;
  }

  struct Closed {
    Graph graph;  // explicit inputs, then captured ones
    Vec<NodeRef> captured;
  };
  constexpr Closed close(Span<const Val> outs) {
    if (FX_CONSTANT_EVALUATED()) return close_here(outs);
    return close_run_time(outs);
  }

 private:
  Vec<int> table_;  // run time: hash of captured nodes
  constexpr Closed close_here(Span<const Val> outs);
  Closed close_run_time(Span<const Val> outs);
  // A number of the function itself: in constant evaluation any, at run time one that was made since the trace began.
  constexpr bool is_constant(const Node& n) const {
    if (n.kind != Node::concrete || n.type.rank() > 0 || !computes(n.type.dtype)) return false;
    return FX_CONSTANT_EVALUATED() || (!lift && n.serial >= serial);
  }
  constexpr void anchor(Trace& outer) {
    if (parent || !FX_CONSTANT_EVALUATED()) return;
    parent = &outer;
    b.depth = outer.b.depth + 1;
  }
  constexpr int find_captured(const Node& n) const {
    if (!FX_CONSTANT_EVALUATED() && captured.size() > 8) return find_hashed(n);
    for (int i = 0; i < captured.size(); ++i)
      if (captured[i].get() == &n) return i;
    return -1;
  }
  int find_hashed(const Node& n) const;
  void remember_captured();
  static void check_enclosing(const Trace& t, const Node& n, Loc loc);
};

// The innermost open trace of this thread; null outside every transformed function.
Trace*& current_trace();

// Opens a trace on this thread for a scope. In constant evaluation there is no thread: nothing to do.
class OpenTrace {
  Trace* t_;

 public:
  constexpr explicit OpenTrace(Trace& t) : t_(&t) {
    if (!FX_CONSTANT_EVALUATED()) open(t);
  }
  OpenTrace(const OpenTrace&) = delete;
  OpenTrace& operator=(const OpenTrace&) = delete;
  constexpr ~OpenTrace() {
    if (!FX_CONSTANT_EVALUATED()) close(*t_);
  }

 private:
  static void open(Trace& t);
  static void close(Trace& t);
};

constexpr Trace* deeper(Trace* a, Trace* b) {
  if (!a || a == b) return b;
  if (!b) return a;
  for (Trace* p = a; p; p = p->parent)
    if (p == b) return a;
  for (Trace* p = b; p; p = p->parent)
    if (p == a) return b;
  // Unrelated so far: the inner one is the one that may capture and has not found its parent.
  const bool a_inner = !a->parent && a->captures, b_inner = !b->parent && b->captures;
  if (a_inner == b_inner)
    fail(ErrorCode::trace,
         "constant evaluation cannot tell which of two traces is the inner one; pass the outer value as an argument");
  return a_inner ? a : b;
}
constexpr Trace* trace_of(const Node& n) { return n.kind == Node::traced ? n.token->open : nullptr; }

constexpr Trace::Closed Trace::close_here(Span<const Val> outs) {
  // Captured Arrays are inputs of the Builder; the Graph keeps those that are used, last.
  Vec<char> live(b.g.vars.size(), 0);
  for (const Val& v : outs) live[v.id] = 1;
  for (int i = b.g.eqns.size() - 1; i >= 0; --i) {
    const Eqn& e = b.g.eqns[i];
    bool any = false;
    for (int j = 0; j < e.n_out; ++j) any = any || live[e.out + j];
    if (any)
      for (int v : b.g.in(e)) live[v] = 1;
  }
  Closed c;
  Vec<int> ins;
  Vec<char> is_captured(b.g.vars.size(), 0);
  for (int v : captured_vars) is_captured[v] = 1;
  for (int v : b.g.ins)
    if (!is_captured[v]) ins.push_back(v);
  for (int i = 0; i < captured.size(); ++i)
    if (live[captured_vars[i]]) {
      ins.push_back(captured_vars[i]);
      c.captured.push_back(captured[i]);
    }
  b.g.ins = ins;
  c.graph = b.finish(outs);
  c.graph.captured = c.captured.size();
  return c;
}

// Runs a closed Graph on concrete Arrays. donated[i]: nobody else holds input i, its memory may become an output's.
Vec<NodeRef> execute(const Graph& g, Span<const NodeRef> in, Span<const char> donated, Loc loc);

constexpr Vec<NodeRef> run_graph(const Graph& g, Span<const NodeRef> in, Span<const char> donated, Loc loc) {
  if (!FX_CONSTANT_EVALUATED()) return execute(g, in, donated, loc);
  Vec<Elements> ins;
  for (const NodeRef& n : in) ins.push_back(n->elements);
  Vec<Elements> outs = evaluate(g, ins);
  Vec<NodeRef> r;
  for (int j = 0; j < outs.size(); ++j) {
    r.push_back(make_node(Node::concrete, g.type(g.outs[j]), loc));
    r.back()->elements = std::move(outs[j]);
  }
  return r;
}

// The dtype that numbers take among operands: that of the first Array which is no predicate, else the last one's.
struct Partner {
  DType dtype{};
  bool known = false;  // and no null pointer: g++ 12 cannot compare the address of a temporary in constant evaluation
  constexpr explicit Partner(Span<const Operand> operands) {
    for (const Operand& o : operands) {
      if (o.is_scalar() || (known && dtype != boolean)) continue;
      dtype = o.array->dtype();
      known = true;
    }
  }
  constexpr DType of(const Operand& number) const {
    const bool alone = !known || (dtype == boolean && number.dtype != boolean);  // a predicate is no number's partner
    return alone ? number.dtype : dtype;
  }
};
// The bits of a number as its partner's dtype, which must hold it.
constexpr std::uint64_t number_bits(const Operand& o, DType want) {
  if (o.dtype == want) return o.bits;
  std::uint64_t r = 0;
  bool exact = false;
  with_type<computed>(o.dtype, [&]<class From>() {
    with_type<computed>(want, [&]<class To>() {
      const From v = from_bits<From>(o.bits);
      const To w = fp::convert<To>(v);
      r = to_bits(w);
      exact = is_float(want) || (fp::convert<From>(w) == v && (w < To(0)) == (v < From(0)));
    });
  });
  if (exact) return r;
  Str s("the number ");
  with_type<computed>(o.dtype, [&]<class T>() {
    if constexpr (is_float(dtype_of<T>))
      fp::put_float(s, from_bits<T>(o.bits));
    else if constexpr (T(-1) > T(0))
      s.num_u(std::uint64_t(from_bits<T>(o.bits)));
    else
      s.num(std::int64_t(from_bits<T>(o.bits)));
  });
  s += " is not representable as ";
  s += name(want);
  s += ", the dtype of its partner; convert the Array with fx::convert";
  fail(ErrorCode::dtype, s, o.loc);
  return 0;
}

// The scope of one operation on Arrays: `vals` are the operands where it is recorded.
class Recording {
  Trace own_;
  Trace* t_ = nullptr;
  Loc loc_;

 public:
  Vec<Val> vals;

  constexpr Recording(Span<const Operand> operands, Loc loc) : own_(loc, true), loc_(loc) {
    if (FX_CONSTANT_EVALUATED())
      take(operands);
    else
      take_run_time(operands);
  }
  constexpr Recording(Span<const NodeRef> nodes, Loc loc) : own_(loc, true), loc_(loc) {
    for (const NodeRef& n : nodes) find(*n);
    start();
    for (const NodeRef& n : nodes) vals.push_back(t_->use(n, loc));
  }

  constexpr Builder& b() { return t_->b; }
  constexpr bool eager() const { return t_ == &own_; }
  // The Arrays of the results. Eager: runs. donated: nodes that only the caller holds.
  constexpr Vec<NodeRef> results(Span<const Val> outs, Span<const Node* const> donated = {}) {
    if (FX_CONSTANT_EVALUATED()) return results_here(outs, donated);
    return results_run_time(outs, donated);
  }
  constexpr Array result(Val v) {
    const Val outs[] = {v};
    return Array(results(outs)[0]);
  }
  // One more operand: a number, as dtype `want`, which must hold it.
  constexpr Val number(const Operand& o, DType want) { return scalar(o, want); }

 private:
  void take_run_time(Span<const Operand> operands);
  constexpr void take(Span<const Operand> operands) {
    for (const Operand& o : operands)
      if (!o.is_scalar()) find(node(*o.array, o.loc));
    start();
    const Partner partner(operands);
    for (const Operand& o : operands)
      vals.push_back(o.is_scalar() ? scalar(o, partner.of(o)) : t_->use(node_ref(*o.array, o.loc), o.loc));
  }
  Vec<NodeRef> results_run_time(Span<const Val> outs, Span<const Node* const> donated);
  constexpr Vec<NodeRef> results_here(Span<const Val> outs, Span<const Node* const> donated) {
    Vec<NodeRef> r;
    if (!eager()) {
      for (const Val& v : outs) r.push_back(t_->traced(v, loc_));
      return r;
    }
    Trace::Closed c = own_.close(outs);
    Vec<char> give(c.captured.size(), 0);
    for (int i = 0; i < c.captured.size(); ++i)
      for (const Node* n : donated) give[i] = give[i] || c.captured[i].get() == n;
    return run_graph(c.graph, c.captured, give, loc_);
  }
  constexpr void find(const Node& n) {
    if (FX_CONSTANT_EVALUATED()) t_ = deeper(t_, trace_of(n));
  }
  constexpr void start() {
    if (!FX_CONSTANT_EVALUATED()) t_ = current_trace();
    if (!t_) t_ = &own_;
    t_->b.loc = loc_;
  }
  constexpr Val scalar(const Operand& o, DType want) {
    const std::uint64_t bits = number_bits(o, want);
    if (!t_->lift || FX_CONSTANT_EVALUATED()) return t_->b.literal(want, bits);
    return t_->use(scalar_node(want, bits, o.loc), o.loc);
  }
};

// f(Val...) recorded on operands: the body of every function on Arrays.
template <class F>
constexpr Array record_op(Span<const Operand> operands, Loc loc, F&& f) {
  Recording r(operands, loc);
  return r.result(f(r));
}

#if FX_BODIES
FX_INLINE void Recording::take_run_time(Span<const Operand> operands) { take(operands); }
FX_INLINE Vec<NodeRef> Recording::results_run_time(Span<const Val> outs, Span<const Node* const> donated) {
  return results_here(outs, donated);
}
FX_INLINE Trace*& current_trace() {
  static thread_local Trace* t = nullptr;
  return t;
}
FX_INLINE Trace::Closed Trace::close_run_time(Span<const Val> outs) { return close_here(outs); }
FX_INLINE void OpenTrace::open(Trace& t) {
  t.parent = current_trace();
  t.serial = count_trace();
  if (t.parent) {
    t.b.depth = t.parent->b.depth + 1;
    t.lift = t.parent->lift && t.lift;
  }
  current_trace() = &t;
}
FX_INLINE void OpenTrace::close(Trace& t) { current_trace() = t.parent; }

FX_INLINE void Trace::check_enclosing(const Trace& t, const Node& n, Loc loc) {
  for (const Trace* p = t.parent; p; p = p->parent)
    if (p == n.token->open) return;
  fail(ErrorCode::trace,
       "a traced value is used on another thread, or in a trace that does not enclose this one; trace and use values "
       "on one thread",
       loc);
}

namespace tables {
FX_INLINE unsigned slot(const Node* n, int size) {
  return unsigned((reinterpret_cast<std::uint64_t>(n) >> 4) * 0x9E3779B97F4A7C15ull >> 32) & unsigned(size - 1);
}
}  // namespace tables
FX_INLINE int Trace::find_hashed(const Node& n) const {
  if (table_.empty()) return -1;
  for (unsigned h = tables::slot(&n, table_.size());; h = (h + 1) & unsigned(table_.size() - 1)) {
    if (table_[int(h)] < 0) return -1;
    if (captured[table_[int(h)]].get() == &n) return table_[int(h)];
  }
}
FX_INLINE void Trace::remember_captured() {
  auto enter = [&](int i) {
    unsigned h = tables::slot(captured[i].get(), table_.size());
    while (table_[int(h)] >= 0) h = (h + 1) & unsigned(table_.size() - 1);
    table_[int(h)] = i;
  };
  if (2 * captured.size() < table_.size()) return enter(captured.size() - 1);
  table_ = Vec<int>(table_.empty() ? 32 : 2 * table_.size(), -1);
  for (int i = 0; i < captured.size(); ++i) enter(i);
}
#endif

}  // namespace fx::inline v0::detail
