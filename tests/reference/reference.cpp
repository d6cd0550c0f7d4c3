// reference/reference.cpp -- the loop over equations, calls and scans, and the table of rules.
#include "reference/reference.hpp"

#include <map>
#include <stdexcept>

namespace reference {
namespace {

// (inputs of the called graph) -> its outputs.
Values call(const Call& c) {
  Values in;
  for (const Value* v : c.in) in.push_back(*v);
  return evaluate(*c.attrs().sub(1), in, c.mode);
}

// Row i along dimension 0.
Value row(const Value& v, std::int64_t i) {
  Value r{v.type, {}};
  r.type.dims.erase(0);
  const std::int64_t n = fx::numel(r.type);
  r.at.assign(v.at.begin() + i * n, v.at.begin() + (i + 1) * n);
  return r;
}

Values scan(const Call& c) {
  const std::int64_t length = c.attrs().integer(0), consts = c.attrs().integer(2), carry = c.attrs().integer(3);
  const bool reverse = c.attrs().flag(1);
  const fx::Graph& body = *c.attrs().sub(4);
  Values out, state;
  for (int j = 0; j < c.e.n_out; ++j) out.push_back(zeros(c.out_type(j)));
  for (std::int64_t k = 0; k < carry; ++k) state.push_back(c[int(consts + k)]);
  for (std::int64_t step = 0; step < length; ++step) {
    const std::int64_t i = reverse ? length - 1 - step : step;
    Values in;
    for (std::int64_t k = 0; k < consts; ++k) in.push_back(c[int(k)]);
    for (const Value& v : state) in.push_back(v);
    for (int k = int(consts + carry); k < c.e.n_in; ++k) in.push_back(row(c[k], i));
    const Values y = evaluate(body, in, c.mode);
    for (std::int64_t k = 0; k < carry; ++k) state[k] = y[k];
    for (int j = int(carry); j < c.e.n_out; ++j)
      for (std::size_t n = y[j].at.size(), m = 0; m < n; ++m) out[j].at[i * n + m] = y[j].at[m];
  }
  for (std::int64_t k = 0; k < carry; ++k) out[k] = state[k];
  return out;
}

std::map<std::string, Rule, std::less<>>& table() {
  static std::map<std::string, Rule, std::less<>> rules = [] {
    Rules all{{"jit", call}, {"scan", scan}};
    for (auto* add : {add_arithmetic, add_bits, add_movement, add_reduction, add_ordering, add_indexing}) add(all);
    return std::map<std::string, Rule, std::less<>>(all.begin(), all.end());
  }();
  return rules;
}

}  // namespace

void define(const std::string& name, Rule rule) { table()[name] = std::move(rule); }

Values evaluate(const fx::Graph& g, const Values& ins, Mode mode) {
  if (int(ins.size()) != g.ins.size()) throw std::logic_error("reference: wrong number of inputs");
  std::vector<Value> values(g.vars.size());
  for (int i = 0; i < g.ins.size(); ++i) {
    if (!(ins[i].type == g.type(g.ins[i])))
      throw std::logic_error("reference: input " + std::to_string(i) + " has another type");
    values[g.ins[i]] = ins[i];
  }
  for (int v = 0; v < g.vars.size(); ++v)
    if (g.is_literal(v)) values[v] = {g.type(v), {from_bits(g.type(v).dtype, g.literal(v))}};
  for (const fx::Eqn& e : g.eqns) {
    const auto rule = table().find(e.prim->name);
    if (rule == table().end())
      throw std::logic_error("reference: no rule for primitive '" + std::string(e.prim->name) +
                             "'; reference::define it");
    Call c{g, e, {}, mode};
    for (int v : g.in(e)) c.in.push_back(&values[v]);
    Values out = rule->second(c);
    for (int j = 0; j < e.n_out; ++j) values[e.out + j] = std::move(out[j]);
  }
  Values outs;
  for (int v : g.outs) outs.push_back(values[v]);
  return outs;
}

}  // namespace reference
