// reference/table.cpp -- what a row is tested for.
#include "reference/table.hpp"

#include <fx/passes/batch.hpp>

#include "reference/run.hpp"

namespace reference {
namespace {

constexpr fx::DType computed_dtypes[] = {fx::boolean, fx::i32, fx::i64, fx::u32, fx::u64, fx::f32, fx::f64};

// One way to apply a row: the shape of elementwise operands, and which operands are literals.
struct Variant {
  const Row& row;
  fx::DType d;
  std::vector<fx::Dims> dims;
  std::vector<char> literal;

  Variant(const Row& r, fx::DType dtype) : row(r), d(dtype), literal(r.operands.size(), 0) {
    for (const Operand& o : r.operands) dims.push_back(o.dims);
  }
  fx::DType dtype(std::size_t k) const { return row.operands[k].dtype == own ? d : fx::DType(row.operands[k].dtype); }
  fx::Type type(std::size_t k) const { return {dtype(k), literal[k] ? fx::Dims{} : dims[k]}; }

  Values sample_all(Random& random) const {
    Values v;
    for (std::size_t k = 0; k < dims.size(); ++k) v.push_back(sample(random, type(k), row.operands[k].domain));
    return v;
  }
  // The Graph, in which the values of literals are those of `all`; and the values of its inputs.
  fx::Graph graph(const Values& all) const {
    fx::Builder b;
    fx::Vec<fx::Val> in;
    for (std::size_t k = 0; k < dims.size(); ++k)
      in.push_back(literal[k] ? b.literal(dtype(k), to_bits(dtype(k), all[k].at[0])) : b.input(type(k)));
    const fx::Val first = b.bind(*row.prim, in, row.params ? row.params(d) : fx::Params());
    fx::Vec<fx::Val> outs;
    for (int j = 0; j < b.g.eqns.back().n_out; ++j) outs.push_back({first.b, first.id + j});
    return b.finish(outs);
  }
  Values inputs(const Values& all) const {
    Values v;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!literal[k]) v.push_back(all[k]);
    return v;
  }
};

Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string check_derivatives(const fx::Graph& g, const Values& x, int order, Random& random) {
  const std::vector<char> wrt = float_inputs(g);
  if (!any(wrt) || order < 0) return {};
  for (std::size_t k = 0; k <= wrt.size(); ++k) {  // each input alone, then all of them
    std::vector<char> some(wrt.size(), 0);
    if (k == wrt.size())
      some = wrt;
    else if (wrt[k])
      some[k] = 1;
    else
      continue;
    if (std::string s = check_jvp(g, x, some, random, order > 0); !s.empty()) return s;
    if (std::string s = check_vjp(g, x, some, random); !s.empty()) return s;
  }
  const fx::Graph j = fx::jvp(g, span(wrt)), v = fx::vjp(g, span(wrt));
  Values t, ct;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (wrt[k]) t.push_back(sample(random, x[k].type, {-1, 1}));
  for (int out : g.outs)
    if (fx::is_float(g.type(out).dtype)) ct.push_back(sample(random, g.type(out), {-1, 1}));
  if (std::string s = check_value(j, joined(x, t)); !s.empty()) return "value of jvp: " + s;
  if (std::string s = check_value(v, joined(x, ct)); !s.empty()) return "value of vjp: " + s;
  if (std::string s = check_graph(v, joined(x, ct)); !s.empty()) return "vjp: " + s;
  std::vector<Values> examples;
  for (int i = 0; i < 2; ++i) {
    Values example = joined(x, ct);
    for (std::size_t k = 0; k < example.size(); ++k)
      if (k >= x.size() && i) example[k] = sample(random, example[k].type, {-1, 1});
    examples.push_back(example);
  }
  if (std::string s = check_vmap(v, examples, std::vector<char>(examples[0].size(), 1)); !s.empty()) return "vjp: " + s;
  if (order < 2) return {};
  if (std::string s = check_derivatives(v, joined(x, ct), order - 1, random); !s.empty()) return "second order: " + s;
  return {};
}

// A batch of size 0.
std::string check_no_examples(const fx::Graph& g) {
  std::vector<char> mapped(std::size_t(g.ins.size()), 1), out_mapped;
  const fx::GraphRef b = batched(g, mapped, 0, out_mapped);
  Values nothing;
  for (int v : b->ins) nothing.push_back(zeros(b->type(v)));
  const std::string s = check_value(*b, nothing);
  return s.empty() ? s : "vmap over nothing: " + s;
}

std::string check_batches(const Variant& v, const fx::Graph& g, const Values& first, Random& random) {
  std::vector<Values> examples{v.inputs(first)};
  for (int i = 1; i < 3; ++i) {
    Values more = v.inputs(v.sample_all(random));
    examples.push_back(more);
  }
  const unsigned n = unsigned(examples[0].size()), all = (1u << n) - 1;
  if (std::string s = check_no_examples(g); !s.empty()) return s;
  for (unsigned mask = 1; mask <= all; ++mask) {
    if (n > 4 && mask != all && (mask & (mask - 1)) != 0 && random.below(1 << (n - 3)) != 0) continue;
    std::vector<char> mapped;
    for (unsigned k = 0; k < n; ++k) mapped.push_back(mask >> k & 1);
    if (std::string s = check_vmap(g, examples, mapped); !s.empty()) return s;
  }
  return {};
}

std::string check_variant(const Variant& v, Random& random) {
  const Values all = v.sample_all(random), x = v.inputs(all);
  const fx::Graph g = v.graph(all);
  if (std::string s = check_graph(g, x); !s.empty()) return s;
  if (std::string s = check_value(g, x); !s.empty()) return s;
  if (std::string s = check_derivatives(g, x, v.row.order, random); !s.empty()) return s;
  return x.empty() ? std::string() : check_batches(v, g, all, random);
}

// Elements of the row's own dtype drawn from the special values.
std::string check_special_draws(const Variant& v, Random& random) {
  for (int round = 0; round < 6; ++round) {
    Values x = v.sample_all(random);
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (v.row.operands[k].dtype != own) continue;
      const std::vector<Element>& from = special_values(v.d);
      for (Element& e : x[k].at)
        if (round > 2 || random.below(4) == 0) e = from[std::size_t(random.below(int(from.size())))];
    }
    if (std::string s = check_value(v.graph(x), x); !s.empty()) return s;
    if (std::string s = check_graph(v.graph(x), x); !s.empty()) return s;
  }
  return {};
}

// All combinations of special values, in operands of one dimension.
std::string check_special_combinations(Variant v, Random& random) {
  std::size_t count = 1;
  for (std::size_t k = 0; k < v.dims.size(); ++k) count *= special_values(v.dtype(k)).size();
  if (count > 10000) return check_special_draws(v, random);
  for (fx::Dims& dims : v.dims) dims = fx::Dims{fx::Dim(std::int64_t(count))};
  Values x;
  std::size_t period = 1;
  for (std::size_t k = 0; k < v.dims.size(); ++k) {
    const std::vector<Element>& from = special_values(v.dtype(k));
    Value value = zeros(v.type(k));
    for (std::size_t i = 0; i < count; ++i) value.at[i] = from[i / period % from.size()];
    period *= from.size();
    x.push_back(value);
  }
  if (std::string s = check_value(v.graph(x), x); !s.empty()) return s;
  // One operand a literal: identities must hold for every value of the other.
  for (std::size_t k = 0; k < v.dims.size() && v.dims.size() > 1; ++k) {
    v.literal[k] = 1;
    for (const Element& e : special_values(v.dtype(k))) {
      Values all = x;
      all[k] = {v.type(k), {e}};
      if (std::string s = check_graph(v.graph(all), v.inputs(all)); !s.empty())
        return "literal " + text(all[k]) + ": " + s;
    }
    v.literal[k] = 0;
  }
  return {};
}
std::string check_variants(const Row& row, fx::DType d, Random& random) {
  Variant v(row, d);
  if (std::string s = check_variant(v, random); !s.empty()) return s;
  for (std::size_t k = 0; k < v.dims.size(); ++k) {
    if (!row.elementwise && v.dims[k].n != 0) continue;
    v.literal[k] = 1;
    if (std::string s = check_variant(v, random); !s.empty())
      return "operand " + std::to_string(k) + " a literal: " + s;
    v.literal[k] = 0;
  }
  if (!row.elementwise) return row.specials ? check_special_draws(v, random) : std::string();
  if (row.operands.empty()) return {};
  for (const fx::Dims& dims : {fx::Dims{}, fx::Dims{0}, fx::Dims{1}, fx::Dims{2, 0, 3}, fx::Dims{1, 2, 1, 2}}) {
    for (fx::Dims& own_dims : v.dims) own_dims = dims;
    if (std::string s = check_variant(v, random); !s.empty())
      return "shape " + std::string(fx::text(dims).view()) + ": " + s;
  }
  return row.specials ? check_special_combinations(v, random) : std::string();
}

std::vector<Element> special_floats(fx::DType d) {
  const long double inf = infinity, tiny = ulp(d, 0), normal = d == fx::f32 ? 0x1p-126L : 0x1p-1022L;
  std::vector<Element> r;
  for (long double x : {not_a_number,
                        inf,
                        0.0L,
                        tiny,
                        normal,
                        normal - tiny,
                        largest(d),
                        0.5L,
                        1.0L,
                        1 + ulp(d, 1),
                        2.0L,
                        3.5L,
                        33.0L,
                        1e10L,
                        88.5L,
                        104.0L,
                        709.5L,
                        746.0L,
                        1.57079632679489661923L,
                        0.1L,
                        1e-9L,
                        2147483648.0L,
                        9223372036854775808.0L}) {
    r.push_back(real(d, x));
    if (!std::isnan(x)) r.push_back(real(d, -x));
  }
  return r;
}
std::vector<Element> special_wholes(fx::DType d) {
  std::vector<Element> r;
  if (d == fx::boolean) return {whole(d, 0), whole(d, 1)};
  const std::uint64_t top = std::uint64_t(1) << (width_of(d) - 1);
  for (std::uint64_t x :
       {std::uint64_t(0), std::uint64_t(1), ~std::uint64_t(0), std::uint64_t(2), ~std::uint64_t(1), top, top - 1,
        top + 1, std::uint64_t(7), std::uint64_t(0) - 7, std::uint64_t(31), std::uint64_t(32), std::uint64_t(33),
        std::uint64_t(63), std::uint64_t(64), std::uint64_t(65), std::uint64_t(0x123456789abcdef0)})
    r.push_back(whole(d, x));
  return r;
}

}  // namespace

Row elementwise_row(const fx::Prim& p, fx::DTypes dtypes, std::vector<Domain> domains, int result) {
  Row row;
  row.prim = &p;
  row.dtypes = dtypes;
  for (const Domain& domain : domains) row.operands.push_back({fx::Dims{2, 3}, domain});
  row.results = {{fx::Dims{2, 3}, result}};
  row.elementwise = true;
  return row;
}

const std::vector<Element>& special_values(fx::DType d) {
  static const std::vector<std::vector<Element>> all = [] {
    std::vector<std::vector<Element>> r(fx::dtype_count);
    for (fx::DType t : computed_dtypes) r[std::size_t(t)] = fx::is_float(t) ? special_floats(t) : special_wholes(t);
    return r;
  }();
  return all[std::size_t(d)];
}

fx::Graph graph_of(const Row& row, fx::DType d) {
  Random random(1);
  const Variant v(row, d);
  return v.graph(v.sample_all(random));
}

std::string check_types(const Row& row, fx::DType d) {
  const fx::Graph g = graph_of(row, d);
  if (row.results.empty()) return {};
  if (int(row.results.size()) != g.outs.size()) return "another number of results";
  for (int j = 0; j < g.outs.size(); ++j) {
    const Result& r = row.results[std::size_t(j)];
    const fx::Type want{r.dtype == own ? d : fx::DType(r.dtype), r.dims};
    if (g.type(g.outs[j]) == want) continue;
    const fx::Str a = fx::text(want), b = fx::text(g.type(g.outs[j]));
    return "type " + std::string(a.view()) + " expected, got " + std::string(b.view());
  }
  return {};
}

std::string check(const Row& row, fx::DType d) {
  Random random(fx::name_id(row.prim->name) + fx::name_id(row.note) + std::uint64_t(d));
  try {
    if (std::string s = check_types(row, d); !s.empty()) return s;
    return check_variants(row, d, random);
  } catch (const std::exception& e) { return std::string("exception: ") + e.what(); }
}

int check_all(const Table& table, const std::function<void(const std::string&, const std::string&)>& report) {
  int tested = 0;
  for (const Row& row : table)
    for (fx::DType d : computed_dtypes) {
      if (!fx::in(d, row.dtypes)) continue;
      ++tested;
      const std::string why = check(row, d);
      if (!why.empty()) report(std::string(row.prim->name) + " " + row.note + " " + std::string(fx::name(d)), why);
    }
  return tested;
}

}  // namespace reference
