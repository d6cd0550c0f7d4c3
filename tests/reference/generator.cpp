// reference/generator.cpp -- the pool of values, and how a wanted one is made from it.
#include "reference/generator.hpp"

#include <fx/ops/all.hpp>

namespace reference {
namespace {
using fx::Type;
constexpr fx::DTypes float_types = fx::floats & fx::computed;
}  // namespace

void Coverage::add(const fx::Graph& g) {
  for (const fx::Eqn& e : g.eqns) {
    ++prims[std::string(e.prim->name)];
    for (int j = 0; j < e.n_out; ++j) ++dtypes[std::size_t(g.type(e.out + j).dtype)];
  }
  for (const fx::GraphRef& sub : g.subs) add(*sub);
}

fx::DType Generator::pick(fx::DTypes set) {
  set &= fx::computed;
  for (;;) {
    const DType d = DType(below(fx::dtype_count));
    if (fx::in(d, set)) return d;
  }
}

fx::Dims Generator::random_dims(int max_rank) {
  Dims d;
  for (int k = below(max_rank + 1); k > 0; --k) d.push_back(chance(4) ? 0 : 1 + below(4));
  return d;
}
fx::Type Generator::type_of(fx::DTypes set, int max_rank) {
  const fx::DTypes reals = set & float_types;
  const Type fresh{reals && chance(50) ? pick(reals) : pick(set), random_dims(max_rank)};
  if (chance(20)) return fresh;
  for (int tries = 0; tries < 6; ++tries) {  // the newest come first
    const int n = int(pool_.size()), at = n - 1 - std::min(below(n), below(n));
    const Type& t = b_.type(pool_[std::size_t(at)]);
    if (fx::in(t.dtype, set) && t.rank() <= max_rank && fx::numel(t) <= 64 &&
        (!reals || fx::is_float(t.dtype) || chance(40)))
      return t;
  }
  return fresh;
}
fx::Type Generator::random_type() { return {chance(60) ? pick(float_types) : pick(fx::any_dtype), random_dims(3)}; }

fx::Val Generator::input(const fx::Type& t) {
  const Val v = b_.input(t);
  pool_.push_back(v);
  return v;
}

fx::Val Generator::bind(const fx::Prim& p, std::vector<Val> in, const fx::Params& params) {
  return b_.bind(p, fx::Span<const Val>(in.data(), int(in.size())), params);
}

void Generator::keep(Val v) { pool_.push_back(v); }
void Generator::keep(Val v, double bound) {
  if (fx::is_float(b_.type(v).dtype) && !(bound <= 4)) {
    if (bound < 1e4 && chance(70))
      v = v * (4 / bound);
    else if (chance(50))
      v = fx::tanh(v);
    else if (chance(50))
      v = fx::sin(v);
    else
      v = fx::maximum(fx::minimum(v, 3.0), -3.0);
  }
  pool_.push_back(v);
}

fx::Vec<fx::Val> Generator::loose_ends() const {
  std::vector<char> used(std::size_t(b_.g.vars.size()), 0);
  for (const fx::Eqn& e : b_.g.eqns)
    for (int v : b_.g.in(e)) used[std::size_t(v)] = 1;
  fx::Vec<Val> r;
  for (const fx::Eqn& e : b_.g.eqns)
    for (int v = e.out; v < e.out + e.n_out; ++v)
      if (!used[std::size_t(v)]) r.push_back({const_cast<fx::Builder*>(&b_), v});
  if (r.empty()) r.push_back(pool_.back());
  return r;
}

fx::Val Generator::constant(const fx::Type& t) {
  Domain domain{-2, 2};
  if (!fx::is_float(t.dtype)) domain = {-3, 9};
  const Val literal = b_.literal(t.dtype, to_bits(t.dtype, sample(random_, t.dtype, domain)));
  if (t.dims.n > 0 && t.dtype != fx::boolean && chance(30)) {
    const int dim = below(t.dims.n);
    const Val count = fx::iota(b_, t.dtype, t.dims, dim);
    return fx::is_float(t.dtype) ? fx::rem(count, 3.0) : count;
  }
  return t.dims.n == 0 && chance(50) ? literal : fx::broadcast_in_dim(literal, t.dims, {});
}

fx::Val Generator::from_other_dtype(const fx::Type& t) {
  std::vector<Val> others;
  for (Val v : pool_)
    if (b_.type(v).dims == t.dims && b_.type(v).dtype != t.dtype) others.push_back(v);
  if (others.empty()) return {};
  const Val v = others[std::size_t(below(int(others.size())))];
  const DType from = b_.type(v).dtype;
  if (t.dtype == fx::boolean) return fx::is_float(from) ? fx::lt(v, 0.25) : fx::convert(v, fx::boolean);
  if (fx::size_of(from) == fx::size_of(t.dtype) && from != fx::boolean && chance(30)) {
    const Val same_bits = fx::bitcast(v, t.dtype);
    if (fx::is_float(t.dtype) && fx::is_float(from)) return v;
    return fx::is_float(t.dtype) ? harmless(same_bits) : fx::is_float(from) ? fx::bit_and(same_bits, 255.0) : same_bits;
  }
  if (!fx::is_float(t.dtype) || fx::is_float(from)) return fx::convert(v, t.dtype);
  if (from == fx::boolean) return fx::convert(v, t.dtype);
  return chance(50) ? fx::convert(fx::bit_and(v, 3.0), t.dtype) : fx::tanh(fx::convert(v, t.dtype) * 0.01);
}

fx::Val Generator::want(const fx::Type& t) {
  std::vector<Val> same, reshaped, broadcast;
  for (Val v : pool_) {
    const fx::Type& own = b_.type(v);
    if (own.dtype != t.dtype) continue;
    if (own.dims == t.dims)
      same.push_back(v);
    else if (fx::numel(own) == fx::numel(t))
      reshaped.push_back(v);
    else if (own.rank() == 0)
      broadcast.push_back(v);
  }
  if (!same.empty() && chance(same.size() > 1 ? 85 : 60)) {  // the newer more often
    const int n = int(same.size());
    return same[std::size_t(std::max(below(n), below(n)))];
  }
  if (!reshaped.empty() && chance(50)) return fx::reshape(reshaped[std::size_t(below(int(reshaped.size())))], t.dims);
  if (!broadcast.empty() && chance(30))
    return fx::broadcast_in_dim(broadcast[std::size_t(below(int(broadcast.size())))], t.dims, {});
  if (chance(40))
    if (const Val v = from_other_dtype(t)) return v;
  if (depth_ == 0 && b_.g.ins.size() < 6 && chance(80)) return input(t);
  return constant(t);
}

fx::Val Generator::harmless(Val v) { return fx::select(fx::lt(fx::abs(v), 4.0), v, 0.5); }
fx::Val Generator::positive(const fx::Type& t) {
  const Val v = want(t);
  if (b_.g.is_literal(v.id)) return fx::abs(v) + 0.25;
  return chance(50) ? fx::abs(v) + 0.25 : fx::logistic(v) * 2.0 + 0.25;
}
fx::Val Generator::away_from_zero(const fx::Type& t) {
  const Val v = want(t);
  return fx::select(fx::ge(v, 0.0), v + 0.5, v - 0.5);
}
fx::Val Generator::unit(const fx::Type& t) {
  const Val v = want(t);
  return chance(50) ? fx::tanh(v) : v * 0.25;
}

void Generator::step() {
  for (;;) {
    // The rarer of a few.
    const int n = int(std::size(fx::builtin_prims));
    const fx::Prim* p = fx::builtin_prims[below(n)];
    for (int tries = 0; tries < 2; ++tries) {
      const fx::Prim* other = fx::builtin_prims[below(n)];
      if (coverage_.prims[std::string(other->name)] < coverage_.prims[std::string(p->name)]) p = other;
    }
    if (apply(*p)) return;
  }
}

bool Generator::apply(const fx::Prim& p) {
  switch (p.kind) {
    case fx::Kind::elementwise: return elementwise(p);
    case fx::Kind::layout: return layout(p);
    case fx::Kind::reduce:
    case fx::Kind::cumulative: return reduce(p);
    case fx::Kind::sort: return sort(p);
    case fx::Kind::dot: return dot(p);
    case fx::Kind::index: return p.name.starts_with("dynamic") ? dynamic(p) : index(p);
    case fx::Kind::control: return control(p);
    default: return false;
  }
}

Program random_program(std::uint64_t seed, Coverage& coverage) {
  Random random(Random(seed).bits());
  Generator generator(random, coverage, 0);
  for (int n = 1 + random.below(2); n > 0; --n) generator.input(generator.random_type());
  for (int n = 4 + random.below(8); n > 0; --n) generator.step();
  const fx::Vec<fx::Val> outs = generator.loose_ends();
  Program p{generator.finish(outs), {}};
  for (int v : p.graph.ins) {
    const fx::Type& t = p.graph.type(v);
    p.inputs.push_back(sample(random, t, fx::is_float(t.dtype) ? Domain{-2, 2} : Domain{-9, 9}));
  }
  coverage.add(p.graph);
  return p;
}

}  // namespace reference
