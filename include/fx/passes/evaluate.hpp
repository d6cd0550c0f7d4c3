// passes/evaluate.hpp -- runs a Graph in constant evaluation: one element at a time, by kind, on bit patterns.
//
// The order of every fold is the one ops/ documents, so the results are those of the backends.
#pragma once
#include "../ops/dot.hpp"
#include "../ops/random.hpp"
#include "../ops/sort.hpp"
#include "../ops/transcendental.hpp"
#include "batch.hpp"

namespace fx::inline v0 {

using Elements = Vec<std::uint64_t>;  // one array, row-major, each element as detail::to_bits

namespace detail {

constexpr std::int64_t flat(const Dims& index, const Dims& strides) {
  std::int64_t r = 0;
  for (int d = 0; d < index.n; ++d) r += index[d] * strides[d];
  return r;
}
// The next index in row-major order; false after the last.
constexpr bool advance(Dims& index, const Dims& shape) {
  for (int d = index.n - 1; d >= 0; --d) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}
constexpr bool is_empty(const Dims& shape) { return numel(shape) == 0; }

struct EvalCtx {
  const Graph& g;
  const Eqn& e;
  Span<const Elements* const> in;
  Vec<Elements>& out;
  constexpr const Type& type(int k) const { return g.type(g.in(e)[k]); }
  constexpr const Type& out_type(int j = 0) const { return g.type(e.out + j); }
};

constexpr void eval_elementwise(EvalCtx& c) {
  const Dims& shape = c.out_type().dims;
  DType dtypes[8]{}, out_dtypes[4]{};
  std::uint64_t bits[8]{};
  for (int k = 0; k < c.e.n_in; ++k) dtypes[k] = c.type(k).dtype;
  for (int j = 0; j < c.e.n_out; ++j) {
    out_dtypes[j] = c.out_type(j).dtype;
    c.out[j] = Elements(int(numel(shape)));
  }
  Dims index(shape.n, 0);
  for (int i = 0; i < int(numel(shape)); ++i, advance(index, shape)) {
    for (int k = 0; k < c.e.n_in; ++k) bits[k] = (*c.in[k])[c.g.is_literal(c.g.in(c.e)[k]) ? 0 : i];
    ScalarCtx s{{dtypes, c.e.n_in}, {bits, c.e.n_in}, {out_dtypes, c.e.n_out}, attrs(c.g, c.e), index};
    c.e.prim->scalar(s);
    for (int j = 0; j < c.e.n_out; ++j) c.out[j][i] = s.out[j];
  }
}

constexpr void eval_layout(EvalCtx& c) {
  LayoutCtx l{c.g, c.e};
  c.e.prim->pieces(l);
  c.out[0] = Elements(int(numel(c.out_type())), l.fill >= 0 ? (*c.in[l.fill])[0] : 0);
  for (const Piece& p : l.pieces) {
    if (is_empty(p.size)) continue;
    Dims index(p.size.n, 0);
    do
      c.out[0][int(p.out_offset + flat(index, p.out_stride))] =
          (*c.in[p.operand])[int(p.in_offset + flat(index, p.in_stride))];
    while (advance(index, p.size));
  }
}

// fold(a, b), and fold() for the identity.
struct Fold {
  const Prim& p;
  DType d;
  constexpr std::uint64_t operator()() const {
    ScalarCtx s{{}, {}, {&d, 1}, {}, {}};
    p.scalar(s);
    return s.out[0];
  }
  constexpr std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    const DType dtypes[2]{d, d};
    const std::uint64_t bits[2]{a, b};
    ScalarCtx s{dtypes, bits, {&d, 1}, {}, {}};
    p.scalar(s);
    return s.out[0];
  }
};

constexpr std::uint64_t fold_row(const Fold& fold, Span<const std::uint64_t> row, bool minor) {
  std::uint64_t total = fold();
  if (row.empty() && fold.p.name == "reduce_sum") return 0;
  const int lanes = minor ? reduce_lanes(fold.d) : 1;
  for (int block = 0; block < row.size(); block += reduce_block) {
    const int n = row.size() - block < reduce_block ? row.size() - block : reduce_block;
    Elements acc(lanes, fold());
    for (int i = 0; i < n; ++i) acc[i % lanes] = fold(acc[i % lanes], row[block + i]);
    for (int half = lanes / 2; half; half /= 2)
      for (int l = 0; l < half; ++l) acc[l] = fold(acc[l], acc[l + half]);
    total = block ? fold(total, acc[0]) : acc[0];
  }
  return total;
}

constexpr std::uint64_t arg_row(const Prim& p, DType d, Span<const std::uint64_t> row) {
  int best = 0;
  for (int i = 1; i < row.size(); ++i) {
    const DType dtypes[2]{d, d}, result = boolean;
    const std::uint64_t bits[2]{row[best], row[i]};
    ScalarCtx s{dtypes, bits, {&result, 1}, {}, {}};
    p.scalar(s);
    if (s.out[0]) best = i;
  }
  return std::uint64_t(best);
}

constexpr void eval_reduce(EvalCtx& c) {
  const Type& x = c.type(0);
  const Dims axes = attrs(c.g, c.e).dims(0), strides = strides_of(x.dims);
  Dims kept, kept_strides, reduced, reduced_strides;
  bool minor = true;
  for (int d = 0; d < x.rank(); ++d) {
    if (axes.contains(d)) {
      reduced.push_back(x.dims[d]);
      reduced_strides.push_back(strides[d]);
      minor = minor && d >= x.rank() - axes.n;
    } else {
      kept.push_back(x.dims[d]);
      kept_strides.push_back(strides[d]);
    }
  }
  c.out[0] = Elements(int(numel(kept)));
  if (is_empty(kept)) return;
  Dims at(kept.n, 0);
  Elements row;
  int i = 0;
  do {
    row.clear();
    Dims r(reduced.n, 0);
    if (!is_empty(reduced)) do
        row.push_back((*c.in[0])[int(flat(at, kept_strides) + flat(r, reduced_strides))]);
      while (advance(r, reduced));
    c.out[0][i++] =
        c.e.prim->form == arg_form ? arg_row(*c.e.prim, x.dtype, row) : fold_row({*c.e.prim, x.dtype}, row, minor);
  } while (advance(at, kept));
}

constexpr void eval_cumulative(EvalCtx& c) {
  const Type& x = c.type(0);
  const int axis = int(attrs(c.g, c.e).integer(0));
  const bool reverse = attrs(c.g, c.e).flag(1);
  const Fold fold{*c.e.prim, x.dtype};
  const std::int64_t n = x.dims[axis], step = strides_of(x.dims)[axis];
  c.out[0] = *c.in[0];
  for (int first = 0; n > 0 && first < c.out[0].size(); ++first) {
    if (first / step % n != 0) continue;
    for (std::int64_t k = 1; k < n; ++k) {
      const int i = int(first + (reverse ? n - 1 - k : k) * step), before = int(reverse ? i + step : i - step);
      c.out[0][i] = fold(c.out[0][before], c.out[0][i]);
    }
  }
}

constexpr std::uint64_t multiply_add(DType d, std::uint64_t a, std::uint64_t b, std::uint64_t sum) {
  std::uint64_t r = 0;
  with_type<numbers & computed>(d, [&]<class T>() {
    if constexpr (is_float(dtype_of<T>))
      r = to_bits(fp::fma(from_bits<T>(a), from_bits<T>(b), from_bits<T>(sum)));
    else
      r = to_bits(T(std::make_unsigned_t<T>(a) * std::make_unsigned_t<T>(b) + std::make_unsigned_t<T>(sum)));
  });
  return r;
}

constexpr void eval_dot(EvalCtx& c) {
  const DotDims d = DotGeneral::dims(attrs(c.g, c.e));
  const Type &a = c.type(0), &b = c.type(1);
  const Dims sa = strides_of(a.dims), sb = strides_of(b.dims);
  Dims out_a, out_b, sum, sum_a, sum_b;  // strides of each operand along the result's and the contracted dimensions
  for (int i = 0; i < d.lhs_batch.n; ++i)
    out_a.push_back(sa[int(d.lhs_batch[i])]), out_b.push_back(sb[int(d.rhs_batch[i])]);
  for (std::int64_t v : d.lhs_free(a.rank())) out_a.push_back(sa[int(v)]), out_b.push_back(0);
  for (std::int64_t v : d.rhs_free(b.rank())) out_a.push_back(0), out_b.push_back(sb[int(v)]);
  for (int i = 0; i < d.lhs_contract.n; ++i) {
    sum.push_back(a.dims[int(d.lhs_contract[i])]);
    sum_a.push_back(sa[int(d.lhs_contract[i])]);
    sum_b.push_back(sb[int(d.rhs_contract[i])]);
  }
  const Dims& shape = c.out_type().dims;
  c.out[0] = Elements(int(numel(shape)));
  if (is_empty(shape) || is_empty(sum)) return;
  Dims at(shape.n, 0);
  int i = 0;
  do {
    Dims k(sum.n, 0);
    std::uint64_t r = 0;
    do
      r = multiply_add(a.dtype, (*c.in[0])[int(flat(at, out_a) + flat(k, sum_a))],
                       (*c.in[1])[int(flat(at, out_b) + flat(k, sum_b))], r);
    while (advance(k, sum));
    c.out[0][i++] = r;
  } while (advance(at, shape));
}

// a sorts before b.
constexpr bool sorts_before(DType d, std::uint64_t a, std::uint64_t b) {
  bool r = false;
  with_type<computed>(d, [&]<class T>() {
    const T x = from_bits<T>(a), y = from_bits<T>(b);
    if constexpr (is_float(dtype_of<T>))
      r = x != x ? false : y != y ? true : x < y;
    else
      r = x < y;
  });
  return r;
}

constexpr void eval_sort(EvalCtx& c) {
  const Dims& shape = c.type(0).dims;
  const int axis = int(attrs(c.g, c.e).integer(0)), keys = int(attrs(c.g, c.e).integer(1));
  const std::int64_t n = shape[axis], step = strides_of(shape)[axis];
  for (int k = 0; k < c.e.n_in; ++k) c.out[k] = *c.in[k];
  auto before = [&](int i, int j) {
    for (int k = 0; k < keys; ++k) {
      if (sorts_before(c.type(k).dtype, c.out[k][i], c.out[k][j])) return true;
      if (sorts_before(c.type(k).dtype, c.out[k][j], c.out[k][i])) return false;
    }
    return false;
  };
  for (int first = 0; n > 1 && first < c.out[0].size(); ++first) {
    if (first / step % n != 0) continue;
    for (std::int64_t i = 1; i < n; ++i)  // insertion keeps equal elements in order
      for (std::int64_t j = i; j > 0 && before(int(first + j * step), int(first + (j - 1) * step)); --j)
        for (Elements& x : c.out) std::swap(x[int(first + j * step)], x[int(first + (j - 1) * step)]);
  }
}

constexpr std::int64_t index_value(DType d, std::uint64_t bits) {
  std::int64_t r = 0;
  with_type<integers & computed>(d, [&]<class T>() {
    const T v = from_bits<T>(bits);
    r = sizeof(T) == 8 && T(-1) > T(0) && v > T(std::uint64_t(1) << 62) ? std::int64_t(1) << 62 : std::int64_t(v);
  });
  return r;
}

// Walks all (window element) positions of a read or write: f(operand position, position in updates or result, inside).
template <class F>
constexpr void for_each_indexed(EvalCtx& c, const IndexSpec& s, const Dims& updates, F&& f) {
  const Dims& x = c.type(s.operand).dims;
  const Dims xs = strides_of(x), us = strides_of(updates);
  const Dims rows = s.scalar_indices ? Dims{} : [&] {
    Dims r = c.type(s.indices).dims;
    r.erase(r.n - 1);
    return r;
  }();
  Dims row_dims;  // dimensions of updates that run over the rows
  for (int d = 0; d < updates.n; ++d)
    if (!s.window_dims.contains(d)) row_dims.push_back(d);
  if (is_empty(rows) || is_empty(updates)) return;
  Dims row(rows.n, 0);
  int row_number = 0;
  do {
    Dims start(x.n, 0);
    bool inside = true;
    for (int j = 0; j < s.index_map.n; ++j) {
      const int d = int(s.index_map[j]);
      const int k = s.scalar_indices ? s.indices + j : s.indices;
      std::int64_t i = index_value(c.type(k).dtype, (*c.in[k])[s.scalar_indices ? 0 : row_number * s.index_map.n + j]);
      const std::int64_t last = x[d] - s.window[d];
      if (s.clamp) i = i < 0 ? 0 : i > last ? last : i;
      inside = inside && i >= 0 && i <= last;
      start[d] = i;
    }
    for (int j = 0; j < s.operand_batch.n; ++j) start[int(s.operand_batch[j])] = row[int(s.index_batch[j])];
    std::int64_t u0 = 0;
    for (int j = 0; j < rows.n; ++j) u0 += row[j] * us[int(row_dims[j])];
    Dims w(x.n, 0);
    do {
      std::int64_t u = u0;
      for (int d = 0, at = 0; d < x.n; ++d)
        if (!s.collapsed.contains(d) && !s.operand_batch.contains(d)) u += w[d] * us[int(s.window_dims[at++])];
      f(int(flat(start, xs) + flat(w, xs)), int(u), inside);
    } while (advance(w, s.window));
    ++row_number;
  } while (advance(row, rows));
}

constexpr void eval_index(EvalCtx& c) {
  const IndexSpec s = c.e.prim->index(c.g, c.e);
  if (!s.write) {
    c.out[0] = Elements(int(numel(c.out_type())));
    for_each_indexed(c, s, c.out_type().dims,
                     [&](int x, int u, bool inside) { c.out[0][u] = inside ? (*c.in[s.operand])[x] : 0; });
    return;
  }
  const DType d = c.type(s.operand).dtype;
  c.out[0] = *c.in[s.operand];
  for_each_indexed(c, s, c.type(s.updates).dims, [&](int x, int u, bool inside) {
    if (!inside) return;
    const std::uint64_t update = (*c.in[s.updates])[u];
    c.out[0][x] = s.combine ? Fold{*s.combine, d}(c.out[0][x], update) : update;
  });
}

}  // namespace detail

// The outputs of g for these inputs. For constant evaluation: no speed is attempted.
constexpr Vec<Elements> evaluate(const Graph& g, const Vec<Elements>& ins);

namespace detail {
constexpr void eval_scan(EvalCtx& c) {
  const Scan::View v = Scan::view(attrs(c.g, c.e));
  const int xs = v.consts + v.carry;
  Vec<Elements> in;
  for (int k = 0; k < c.e.n_in; ++k) in.push_back(*c.in[k]);
  for (int j = v.carry; j < c.e.n_out; ++j) c.out[j] = Elements(int(numel(c.out_type(j))));
  for (std::int64_t i = 0; i < v.length.v; ++i) {
    const int at = int(v.reverse ? v.length.v - 1 - i : i);
    for (int k = xs; k < c.e.n_in; ++k) {
      const int n = int(numel(v.body->type(v.body->ins[k])));
      in[k] = Elements(Span<const std::uint64_t>(c.in[k]->data() + at * n, n));
    }
    Vec<Elements> out = evaluate(*v.body, in);
    for (int j = 0; j < v.carry; ++j) in[v.consts + j] = out[j];
    for (int j = v.carry; j < c.e.n_out; ++j)
      for (int k = 0; k < out[j].size(); ++k) c.out[j][at * out[j].size() + k] = out[j][k];
  }
  for (int j = 0; j < v.carry; ++j) c.out[j] = in[v.consts + j];
}

constexpr void eval_eqn(EvalCtx& c) {
  switch (c.e.prim->kind) {
    case Kind::elementwise: return eval_elementwise(c);
    case Kind::layout: return eval_layout(c);
    case Kind::reduce: return eval_reduce(c);
    case Kind::cumulative: return eval_cumulative(c);
    case Kind::dot: return eval_dot(c);
    case Kind::sort: return eval_sort(c);
    case Kind::index: return eval_index(c);
    case Kind::control: {
      if (c.e.prim->form == scan_form) return eval_scan(c);
      Vec<Elements> in;
      for (const Elements* x : c.in) in.push_back(*x);
      c.out = evaluate(*attrs(c.g, c.e).sub(1), in);
      return;
    }
    default: fail(ErrorCode::unsupported, "this kind of primitive has no constant evaluation");
  }
}
}  // namespace detail

constexpr Vec<Elements> evaluate(const Graph& g, const Vec<Elements>& ins) {
  Vec<Elements> values(g.vars.size(), Elements());
  for (int i = 0; i < g.ins.size(); ++i) values[g.ins[i]] = ins[i];
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.is_literal(v)) values[v].push_back(g.literal(v));
  Vec<const Elements*> in;
  for (const Eqn& e : g.eqns) {
    in.clear();
    for (int v : g.in(e)) in.push_back(&values[v]);
    Vec<Elements> out(e.n_out, Elements());
    detail::EvalCtx c{g, e, in, out};
    detail::eval_eqn(c);
    for (int j = 0; j < e.n_out; ++j) values[e.out + j] = std::move(out[j]);
  }
  Vec<Elements> r;
  for (int v : g.outs) r.push_back(values[v]);
  return r;
}

}  // namespace fx::inline v0
