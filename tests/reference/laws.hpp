// reference/laws.hpp -- what must hold of any Graph: its value, its derivatives, its batches, its simplified form.
//
// Each check returns "" or what is wrong. Values run in fx and are compared with the reference evaluator; rules are
// checked on the reference evaluator alone, in long double: tangents against differences, cotangents against tangents,
// batches against a loop.
#pragma once
#include "reference/sample.hpp"

namespace reference {

// g passes the verifier; built again it has the same digest; simplified it passes too and gives the same bits.
std::string check_graph(const fx::Graph& g, const Values& x);
// fx's results lie within the errors of the reference's, and are the same bits in constant evaluation and on the
// backend.
std::string check_value(const fx::Graph& g, const Values& x);

// How many tangents were compared with differences, and how many lay at a kink or jump.
struct Smoothness {
  int smooth = 0, rough = 0;
};
// The flagged inputs move along random tangents. `strict`: a rough place is an error.
std::string check_jvp(const fx::Graph& g, const Values& x, const std::vector<char>& wrt, Random& random, bool strict,
                      Smoothness* count = nullptr);
// <ct, J t> = <J^T ct, t>, and the values are g's.
std::string check_vjp(const fx::Graph& g, const Values& x, const std::vector<char>& wrt, Random& random);
// value_and_grad of an output that is a rank-0 float equals its vjp for the cotangent 1.
std::string check_grad(const fx::Graph& g, const Values& x, const std::vector<char>& wrt);
// Rows of the result = results of the rows; examples[i] holds the inputs of example i, equal where not mapped.
std::string check_vmap(const fx::Graph& g, const std::vector<Values>& examples, const std::vector<char>& mapped);

// The inputs that can have tangents.
std::vector<char> float_inputs(const fx::Graph& g);
bool any(const std::vector<char>& flags);
// A Span of flags for fx.
inline fx::Span<const char> span(const std::vector<char>& v) { return {v.data(), int(v.size())}; }
// The values of one flag pattern: a row of each mapped one, the first of the others.
Values stacked(const std::vector<Values>& examples, const std::vector<char>& mapped);
// The Graph that applies g to examples, with the flags of its results that are mapped.
fx::GraphRef batched(const fx::Graph& g, const std::vector<char>& mapped, int size, std::vector<char>& out_mapped);

}  // namespace reference
