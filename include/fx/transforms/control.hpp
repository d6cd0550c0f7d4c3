// transforms/control.hpp -- scan: a loop that carries state, reads a row of each input and writes a row of each output.
#pragma once
#include "vmap.hpp"

namespace fx::inline v0 {

struct ScanOptions {
  std::int64_t length = -1;  // needed only without xs
  bool reverse = false;      // from the last row on
};

namespace detail {
// The number of rows that xs have in common.
constexpr Dim scan_length(Span<const NodeRef> xs, const ScanOptions& o, Loc where) {
  Dim n(o.length);
  for (int i = 0; i < xs.size(); ++i) {
    const Type& t = xs[i]->type;
    const bool first = i == 0 && o.length < 0;
    if (t.rank() > 0 && (first || t.dims.dim(0) == n)) {
      n = t.dims.dim(0);
      continue;
    }
    Str s("scan: xs must have rows (a first dimension) of one number; leaf ");
    s.num(i) += " is ";
    put(s, t);
    if (!first) {
      s += ", expected ";
      put(s, n);
      s += " rows";
    }
    fail(ErrorCode::shape, s, where);
  }
  if (xs.empty() && o.length < 0) fail(ErrorCode::value, "scan: without xs give .length", where);
  return n;
}

// What the body returns as carry must have the structure and types of what it takes.
template <class C>
[[noreturn]] void fail_carry(const C& carry, int leaf, const Type& want, const Type& got, Loc where) {
  Str s("scan: the body takes ");
  put_leaf(s, "the carry", -1, carry, leaf);
  s += " as ";
  put(s, want);
  s += " and returns it as ";
  put(s, got);
  s += "; both must be one type: convert or broadcast inside the body, or start with the other type";
  fail(want.dtype == got.dtype ? ErrorCode::shape : ErrorCode::dtype, s, where);
}
template <class C, class D>
constexpr void check_carry(const C& in, const D& out, const Graph& g, Loc where) {
  require_same_structure("scan (carry in, carry out)", in, 2, out, where);
  int leaf = 0;
  tree::for_each_leaf(in, [&](const Array& a) {
    const Type& got = g.type(g.outs[leaf]);
    if (!(a.type(where) == got)) fail_carry(in, leaf, a.type(where), got, where);
    ++leaf;
  });
}

template <class F, class C, class X>
constexpr auto scan_trees(F& f, const C& init, const X& xs, const ScanOptions& o, Loc where) {
  Vec<NodeRef> carry, rows;
  append_leaves("scan: the carry", -1, init, carry, where);
  append_leaves("scan: xs", -1, xs, rows, where);
  const Dim length = scan_length(rows, o, where);
  Vec<Type> types;
  for (const NodeRef& n : carry) types.push_back(n->type);
  for (const NodeRef& n : rows) {
    types.push_back(n->type);
    types.back().dims.erase(0);
  }
  Vec<NodeRef> in(carry);
  in.append(rows);
  Trace t(where, true);
  nest<F>(t, in);
  auto traced = trace_function(t, f, where, types.data(), init, xs);
  auto& [out_carry, out_rows] = traced.out;
  Graph& body = traced.closed.graph;
  check_carry(init, as_tree(out_carry, where), body, where);

  // (captured..., carry..., rows...) -> (carry..., rows...)
  Vec<int> order;
  Vec<NodeRef> operands(traced.closed.captured);
  const int explicit_ins = in.size(), consts = operands.size();
  for (int i = 0; i < consts; ++i) order.push_back(explicit_ins + i);
  for (int i = 0; i < explicit_ins; ++i) order.push_back(i);
  operands.append(in);
  const int n_out = body.outs.size();
  Recording r(operands, where);
  Val first = r.b().bind(prim<Scan>, r.vals,
                         Scan::params({length, o.reverse, consts, carry.size(), Scan::reordered(body, order)}));
  Vec<Val> outs;
  for (int j = 0; j < n_out; ++j) outs.push_back(Val(first.b, first.id + j));
  const Vec<NodeRef> results = r.results(outs);
  int at = 0;
  auto final_carry = with_leaves(init, results, at);
  auto ys = with_leaves(as_tree(out_rows, where), results, at);
  return std::pair(std::move(final_carry), std::move(ys));
}
}  // namespace detail

// carry = init; for each row x of xs: pair(carry, y) = f(carry, x). Returns pair(carry, ys), the ys stacked. xs is a
// tree whose leaves have one number of rows, or fx::none with .length. Errors: rows that differ in number (shape); a
// body that changes the type (shape, dtype) or structure (tree) of the carry.
template <class F, class C, class X>
constexpr auto scan(F f, const C& init, const X& xs, ScanOptions options = {}, Loc where = Loc::here()) {
  return detail::scan_trees(f, detail::as_tree(init, where), detail::as_tree(xs, where), options, where);
}

}  // namespace fx::inline v0
