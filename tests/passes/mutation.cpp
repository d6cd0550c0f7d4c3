// passes/mutation.cpp -- breaks one rule of each primitive at a time: the tables must notice.
//
// A mutant is a copy of a Prim with one rule wrapped: it calls the original and spoils the result. A mutant that never
// got to spoil anything (a tangent of an integer, say) does not count; each one that did must be caught.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fx/passes/batch.hpp>
#include <map>
#include <set>

#include "ops/arithmetic.hpp"
#include "ops/control.hpp"
#include "ops/index.hpp"
#include "ops/layout.hpp"
#include "ops/logic.hpp"
#include "ops/reduce.hpp"
#include "ops/transcendental.hpp"

namespace {

using fx::Val, fx::DType;

const fx::Prim* original = nullptr;  // what the wrappers call
bool spoiled = false;

void jvp_negated(fx::JvpCtx& c) {
  original->jvp(c);
  for (Val& d : c.dy)
    if (d && d.b) d = -d, spoiled = true;
}
void jvp_doubled(fx::JvpCtx& c) {
  original->jvp(c);
  for (Val& d : c.dy)
    if (d && d.b) d = d * 2.0, spoiled = true;
}
void jvp_lost(fx::JvpCtx& c) {
  original->jvp(c);
  for (Val& d : c.dy)
    if (d) d = Val(), spoiled = true;
}
void jvp_invented(fx::JvpCtx& c) {
  original->jvp(c);
  for (int j = 0; j < c.dy.size(); ++j)
    for (const Val& t : c.t)
      if (!c.dy[j] && t && t.b && fx::type_of(t) == c.g.type(c.e.out + j)) c.dy[j] = t, spoiled = true;
}
void transpose_negated(fx::TransposeCtx& c) {
  original->transpose(c);
  for (Val& v : c.sum)
    if (v && v.b) v = -v, spoiled = true;
}
void transpose_lost(fx::TransposeCtx& c) {
  original->transpose(c);
  for (Val& v : c.sum)
    if (v) v = Val(), spoiled = true;
}
void batch_reversed(fx::BatchCtx& c) {  // the examples in another order
  original->batch(c);
  for (int j = 0; j < c.out.size(); ++j)
    if (c.out_mapped[j] && fx::type_of(c.out[j]).dims[0] > 1) c.out[j] = fx::rev(c.out[j], {0}), spoiled = true;
}
void batch_one(fx::BatchCtx& c) {  // all examples are the first
  original->batch(c);
  for (int j = 0; j < c.out.size(); ++j)
    if (c.out_mapped[j] && fx::type_of(c.out[j]).dims[0] > 1) {
      const fx::Dims dims = fx::type_of(c.out[j]).dims;
      fx::Dims start(dims.n, 0);
      c.out[j] = fx::broadcast_to(fx::slice_dim(c.out[j], 0, 0, 1), dims);
      spoiled = true;
    }
}
void type_reversed(fx::TypeCtx& c) {
  original->type(c);
  for (fx::Type& t : c.out) {
    fx::Dims r;
    for (int k = t.dims.n - 1; k >= 0; --k) r.push_back(t.dims.dim(k));
    spoiled = spoiled || !(r == t.dims);
    t.dims = r;
  }
}
void type_other_dtype(fx::TypeCtx& c) {
  original->type(c);
  for (fx::Type& t : c.out) t.dtype = t.dtype == fx::f64 ? fx::i64 : fx::f64;
  spoiled = true;
}
void scalar_negated(fx::ScalarCtx& c) {
  original->scalar(c);
  if (c.out_dtypes.empty()) return;
  const DType d = c.out_dtypes[0];
  c.out[0] ^= d == fx::f32 ? std::uint64_t(1) << 31 : d == fx::f64 ? std::uint64_t(1) << 63 : 1;
  spoiled = true;
}
void record_negated(fx::RecordCtx& c) {
  original->record(c);
  if (c.out_dtypes.empty()) return;
  fx::Instr i;
  i.type = c.out_dtypes[0];
  i.op = fx::is_float(i.type) ? fx::Instr::neg : fx::Instr::bit_not;
  i.a = c.out[0];
  c.out[0] = c.r.push(i, i.type);
  spoiled = true;
}
void pieces_reversed(fx::LayoutCtx& c) {  // each piece is read backwards along its last dimension
  original->pieces(c);
  for (fx::Piece& p : c.pieces) {
    const int last = p.size.n - 1;
    if (last < 0 || p.size[last] < 2 || fx::numel(p.size) == 0) continue;
    p.in_offset += (p.size[last] - 1) * p.in_stride[last];
    p.in_stride[last] = -p.in_stride[last];
    spoiled = true;
  }
}
fx::IndexSpec index_other_clamp(const fx::Graph& g, const fx::Eqn& e) {
  fx::IndexSpec s = original->index(g, e);
  s.clamp = !s.clamp;
  spoiled = true;
  return s;
}
fx::IndexSpec index_other_combine(const fx::Graph& g, const fx::Eqn& e) {
  fx::IndexSpec s = original->index(g, e);
  if (!s.write) return s;
  const DType d = g.type(g.in(e)[s.operand]).dtype;
  s.combine = s.combine || d == fx::boolean ? nullptr : &fx::prim<fx::Add>;
  spoiled = spoiled || d != fx::boolean;
  return s;
}
Val simplify_to_operand(fx::SimplifyCtx& c) {
  for (const Val& v : c.in)
    if (c.b.type(v) == c.type) {
      spoiled = true;
      return v;
    }
  return {};
}

enum class Looks {
  at_all,
  at_floats,
  at_types
};  // what must be tested; evaluation trusts types, which are tested alone
struct Mutation {
  const char* name;
  bool (*apply)(fx::Prim&);  // false: there is no such rule
  Looks looks = Looks::at_all;
};
const Mutation mutations[] = {
    {"tangent negated", [](fx::Prim& p) { return p.jvp = jvp_negated, true; }, Looks::at_floats},
    {"tangent doubled", [](fx::Prim& p) { return p.jvp = jvp_doubled, true; }, Looks::at_floats},
    {"tangent lost", [](fx::Prim& p) { return p.jvp = jvp_lost, true; }, Looks::at_floats},
    {"tangent invented", [](fx::Prim& p) { return p.jvp = jvp_invented, true; }, Looks::at_floats},
    {"cotangent negated", [](fx::Prim& p) { return p.transpose = transpose_negated, true; }, Looks::at_floats},
    {"cotangent lost", [](fx::Prim& p) { return p.transpose = transpose_lost, true; }, Looks::at_floats},
    {"batch reversed", [](fx::Prim& p) { return p.batch = batch_reversed, true; }},
    {"batch of one", [](fx::Prim& p) { return p.batch = batch_one, true; }},
    {"type reversed", [](fx::Prim& p) { return p.type = type_reversed, true; }, Looks::at_types},
    {"type of another dtype", [](fx::Prim& p) { return p.type = type_other_dtype, true; }, Looks::at_types},
    {"scalar negated", [](fx::Prim& p) { return p.scalar && (p.scalar = scalar_negated, true); }},
    {"record negated", [](fx::Prim& p) { return p.record && (p.record = record_negated, true); }},
    {"pieces reversed", [](fx::Prim& p) { return p.pieces && (p.pieces = pieces_reversed, true); }},
    {"index clamps otherwise", [](fx::Prim& p) { return p.index && (p.index = index_other_clamp, true); }},
    {"index combines otherwise", [](fx::Prim& p) { return p.index && (p.index = index_other_combine, true); }},
    {"simplified to an operand",
     [](fx::Prim& p) {
       if (p.name == "sort" || p.name == "threefry2x32" || p.kind == fx::Kind::control)
         return false;  // several results
       p.simplifies = true;
       p.simplify = simplify_to_operand;
       return true;
     }},
};
// Mutants that are no mistake: where these give their operand's type they are the operand; and the tables do not ask
// for tangents that stop_gradient stops.
bool harmless(const std::string& prim, std::string_view mutation) {
  static const std::set<std::string> identities{"stop_gradient", "convert",          "bitcast",    "reduce_max",
                                                "reduce_min",    "broadcast_in_dim", "reshape",    "slice",
                                                "concatenate",   "dynamic_slice",    "reduce_sum", "reduce_prod"};
  if (mutation == "simplified to an operand") return identities.count(prim) > 0;
  return prim == "stop_gradient" && mutation == "tangent invented";
}

std::map<std::string_view, std::vector<reference::Row>> rows_by_prim() {
  std::map<std::string_view, std::vector<reference::Row>> r;
  for (const reference::Table& t :
       {tables::arithmetic(), tables::logic(), tables::transcendental(), tables::layout(), tables::reduce(),
        tables::sort(), tables::dot(), tables::index(), tables::control()})
    for (const reference::Row& row : t) r[row.prim->name].push_back(row);
  return r;
}

struct Outcome {
  bool spoiled = false, noticed = false;
};
Outcome outcome_of(const fx::Prim& mutant, const Mutation& m, const std::vector<reference::Row>& rows) {
  Outcome r;
  for (reference::Row row : rows) {
    row.prim = &mutant;
    for (DType d : {fx::f64, fx::i32, fx::u32, fx::boolean}) {
      if (!fx::in(d, row.dtypes) || (m.looks == Looks::at_floats && d != fx::f64)) continue;
      spoiled = false;
      const std::string why = m.looks == Looks::at_types ? reference::check_types(row, d) : reference::check(row, d);
      r.spoiled = r.spoiled || spoiled;
      r.noticed = spoiled && !why.empty();
      if (!spoiled && !why.empty()) FAIL_CHECK(std::string(m.name) << " changed nothing, but: " << why);
      if (r.noticed) return r;
    }
  }
  return r;
}

}  // namespace

TEST_CASE("every broken rule is noticed") {
  const auto rows = rows_by_prim();
  int caught = 0;
  for (const fx::Prim* p : fx::builtin_prims) {
    const std::string name(p->name);
    INFO(name);
    REQUIRE(rows.count(p->name) == 1);
    int of_this = 0;
    for (const Mutation& m : mutations) {
      const std::string what = name + ": " + m.name;
      fx::Prim mutant = *p;
      original = p;
      if (!m.apply(mutant)) continue;
      const Outcome o = outcome_of(mutant, m, rows.at(p->name));
      if (!o.spoiled || harmless(name, m.name)) continue;
      if (o.noticed)
        ++of_this;
      else
        FAIL_CHECK(what << " was not noticed");
    }
    CHECK(of_this >= 4);
    caught += of_this;
    if (std::getenv("FX_MUTATION_COUNTS")) MESSAGE(name << ": " << of_this);
  }
  CHECK(caught > 500);
}
