// ir_bytes.hpp -- a Graph as bytes and back, for what is stored: smaller and quicker to read than its text.
#pragma once
#include "base/bytes.hpp"
#include "verify.hpp"

namespace fx::inline v0 {

// Writes Graphs one after the other. Primitives are written once, as their ids. Lines are not kept.
class GraphWriter {
 public:
  explicit GraphWriter(ByteWriter& to) : to_(to) {}
  void put(const Graph& g);
  void put(const Type& t);
  void put(const Dims& d);

 private:
  ByteWriter& to_;
  Vec<std::uint64_t> prims_;  // ids, in the order in which they were first written
  void put(const Prim& p);
  template <class T>
  void list(const Vec<T>& v);
};

// The same way back. prims: those that may occur. Whoever wrote the bytes: what `graph` returns has passed the
// verifier, or the reader has failed.
class GraphReader {
 public:
  GraphReader(ByteReader& from, Span<const Prim* const> prims) : from_(from), prims_(prims) {}
  GraphRef graph();
  Type type();
  Dims dims();

 private:
  ByteReader& from_;
  Span<const Prim* const> prims_;
  Vec<const Prim*> seen_;
  int depth_ = 0;
  static constexpr int most_nested = 100;
  void read(Graph& g);
  const Prim* prim();
};

#if FX_BODIES
FX_INLINE void GraphWriter::put(const Dims& d) {
  to_.word(std::uint64_t(d.n));
  for (std::int64_t n : d) to_.number(n);
}
FX_INLINE void GraphWriter::put(const Type& t) {
  to_.word(std::uint64_t(t.dtype));
  put(t.dims);
}
FX_INLINE void GraphWriter::put(const Prim& p) {
  int k = 0;
  while (k < prims_.size() && prims_[k] != p.id) ++k;
  to_.word(std::uint64_t(k));
  if (k < prims_.size()) return;
  to_.fixed(p.id);
  prims_.push_back(p.id);
}
template <class T>
void GraphWriter::list(const Vec<T>& v) {
  to_.word(std::uint64_t(v.size()));
  for (T n : v) to_.number(std::int64_t(n));
}

FX_INLINE void GraphWriter::put(const Graph& g) {
  to_.word(std::uint64_t(g.types.size()));
  for (const Type& t : g.types) put(t);
  to_.word(std::uint64_t(g.vars.size()));
  for (const Var& v : g.vars) to_.word(v.kind), to_.number(v.type), to_.number(v.at);
  list(g.operands);
  list(g.words);
  to_.word(std::uint64_t(g.literals.size()));
  for (std::uint64_t bits : g.literals) to_.word(bits);
  to_.word(std::uint64_t(g.labels.size()));
  for (const Str& s : g.labels) to_.text(s.view());
  to_.word(std::uint64_t(g.subs.size()));
  for (const GraphRef& s : g.subs) put(*s);
  to_.word(std::uint64_t(g.eqns.size()));
  for (const Eqn& e : g.eqns) {
    put(*e.prim);
    for (int n : {e.in, e.n_in, e.out, e.n_out, e.attrs, e.n_attrs}) to_.number(n);
  }
  list(g.ins);
  list(g.outs);
  to_.number(g.captured);
}

FX_INLINE Dims GraphReader::dims() {
  Dims d;
  const int n = from_.below(max_rank);
  for (int i = 0; i < n; ++i) d.push_back(Dim(from_.number()));
  return d;
}
FX_INLINE Type GraphReader::type() {
  Type t;
  t.dtype = DType(from_.below(dtype_count - 1));
  t.dims = dims();
  from_.check(t.is_static());
  return t;
}
FX_INLINE const Prim* GraphReader::prim() {
  const int k = from_.below(seen_.size());
  if (k < seen_.size()) return seen_[k];
  const std::uint64_t id = from_.fixed();
  for (const Prim* p : prims_)
    if (from_.ok() && p->id == id) {
      seen_.push_back(p);
      return p;
    }
  from_.fail();
  return nullptr;
}

namespace detail {
// An index or a count: the verifier looks at its value.
inline int narrow(ByteReader& from) {
  const std::int64_t n = from.number();
  return from.check(n == int(n)) ? int(n) : 0;
}
template <class T>
void read_list(ByteReader& from, Vec<T>& v) {
  const int n = from.count();
  v.reserve(n);
  for (int i = 0; i < n; ++i)
    if constexpr (sizeof(T) == 8)
      v.push_back(from.number());
    else
      v.push_back(narrow(from));
}
}  // namespace detail

FX_INLINE void GraphReader::read(Graph& g) {
  using detail::narrow;
  for (int n = from_.count(); n > 0; --n) g.types.push_back(type());
  const int vars = from_.count();
  g.vars.reserve(vars);
  for (int i = 0; i < vars; ++i) {
    Var v;
    v.kind = Var::Kind(from_.below(Var::result));
    v.type = narrow(from_);
    v.at = narrow(from_);
    g.vars.push_back(v);
  }
  detail::read_list(from_, g.operands);
  detail::read_list(from_, g.words);
  for (std::int64_t w : g.words) from_.check(w > -(std::int64_t(1) << 62));  // nor is one of these a symbolic size
  for (int n = from_.count(); n > 0; --n) g.literals.push_back(from_.word());
  for (int n = from_.count(); n > 0; --n) g.labels.push_back(Str(from_.text()));
  for (int n = from_.count(); n > 0 && from_.ok(); --n) g.subs.push_back(graph());
  const int eqns = from_.count();
  g.eqns.reserve(eqns);
  for (int i = 0; i < eqns; ++i) {
    Eqn e;
    e.prim = prim();
    for (int* n : {&e.in, &e.n_in, &e.out, &e.n_out, &e.attrs, &e.n_attrs}) *n = narrow(from_);
    g.eqns.push_back(e);
  }
  detail::read_list(from_, g.ins);
  detail::read_list(from_, g.outs);
  g.captured = narrow(from_);
  g.locs.push_back(Loc{});
}

FX_INLINE GraphRef GraphReader::graph() {
  Graph* g = new Graph;
  const GraphRef owner(g);
  if (!from_.check(depth_ < most_nested)) return {};
  ++depth_;
  read(*g);
  --depth_;
  if (!from_.ok() || (depth_ == 0 && !from_.check(verify(*g).view().empty()))) return {};
  return owner;
}
#endif

}  // namespace fx::inline v0
