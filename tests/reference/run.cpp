// reference/run.cpp -- the two worlds of fx that run a Graph.
#include "reference/run.hpp"

#include <fx/passes/evaluate.hpp>

namespace reference {

Values run_constant(const fx::Graph& g, const Values& in) {
  fx::Vec<fx::Elements> ins;
  for (const Value& v : in) {
    fx::Elements bits;
    for (const Element& x : v.at) bits.push_back(to_bits(v.type.dtype, x));
    ins.push_back(bits);
  }
  const fx::Vec<fx::Elements> outs = fx::evaluate(g, ins);
  Values r;
  for (int j = 0; j < outs.size(); ++j) {
    const fx::Type& t = g.type(g.outs[j]);
    Value v{t, {}};
    for (std::uint64_t bits : outs[j]) v.at.push_back(from_bits(t.dtype, bits));
    r.push_back(v);
  }
  return r;
}

Values run(const fx::Graph& g, const Values& in) { return run_constant(g, in); }

}  // namespace reference
