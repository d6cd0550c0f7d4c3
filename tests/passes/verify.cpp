// passes/verify.cpp -- the verifier: sound Graphs pass, and each way to break one is named.
#include <doctest/doctest.h>

#include <fx/passes/batch.hpp>
#include <fx/verify.hpp>
#include <string>

#include "ops/control.hpp"

namespace {

using fx::Graph, fx::Val, fx::Dims, fx::f32, fx::i32;

// (f32[2,3] x, f32[] s) -> reduce_sum(x * 2 + pad(x[0:1])...), with a literal, attributes, and a call.
Graph sound() {
  const fx::GraphRef called =
      tables::body({{f32, {2}}}, [](std::vector<Val> v) { return std::vector<Val>{fx::exp(v[0])}; });
  fx::Builder b;
  const Val x = b.input({f32, {2, 3}}), s = b.input({f32, {}});
  const Val y = fx::reduce_sum(x * 2.0, {1});                                                  // equations 0, 1
  const Val z = fx::bind(fx::prim<fx::Jit>, {y}, fx::Params().label("called").graph(called));  // 2
  const Val w = fx::pad(z, s, {1}, {0}, {0});                                                  // 3
  const Val t = fx::bind(fx::prim<fx::Sort>, {w, w}, fx::Params().integer(0).integer(1));      // 4: two results
  const Val outs[] = {t, Val(t.b, t.id + 1), fx::convert(w, i32)};                             // 5
  return b.finish(fx::Span<const Val>(outs, 3));
}

std::string told(const Graph& g) { return std::string(fx::verify(g).view()); }

// What the verifier says after `breaking` the sound Graph.
template <class F>
std::string after(F&& breaking) {
  Graph g = sound();
  breaking(g);
  return told(g);
}
bool names(const std::string& message, const char* part) {
  if (message.find(part) != std::string::npos) return true;
  MESSAGE("\"" << message << "\" does not name \"" << part << "\"");
  return false;
}
// The operands of equation i.
int& operand(Graph& g, int i, int k) { return g.operands[g.eqns[i].in + k]; }
// Word k of attribute `attribute` (word 0: its length).
std::int64_t& word(Graph& g, int i, int attribute, int k) {
  int at = g.eqns[i].attrs;
  while (attribute-- > 0) at += 1 + int(g.words[at]);
  return g.words[at + k];
}

}  // namespace

TEST_CASE("sound graphs pass, and so do those that passes make of them") {
  CHECK(told(sound()) == "");
  CHECK(told(Graph()) == "");
  CHECK(told(fx::simplify(sound())) == "");
  const std::vector<char> all{1, 1};
  CHECK(told(fx::jvp(sound(), reference::span(all))) == "");
  CHECK(told(fx::vjp(sound(), reference::span(all))) == "");
  std::vector<char> outs;
  CHECK(told(*reference::batched(sound(), all, 4, outs)) == "");
}

TEST_CASE("variables") {
  CHECK(names(after([](Graph& g) { g.vars[0].type = 99; }), "variable 0 has a type that is not in the pool"));
  CHECK(names(after([](Graph& g) { g.vars[0].at = 7; }), "variable 0 refers to an input"));
  CHECK(names(after([](Graph& g) { g.vars[0].at = 1; }), "variable 0 claims to be another"));
  CHECK(names(after([](Graph& g) { g.vars[0].kind = fx::Var::Kind(7); }), "variable 0 is of no kind"));
  CHECK(names(after([](Graph& g) { g.ins[1] = 0; }), "another variable's input"));
  CHECK(names(after([](Graph& g) { g.ins[0] = -3; }), "another variable's input"));
  CHECK(names(after([](Graph& g) { g.ins.push_back(2); }), "input 2 is no variable of that kind"));
  CHECK(names(after([](Graph& g) { g.captured = 3; }), "captured"));
  CHECK(names(after([](Graph& g) { g.outs[1] = 99; }), "output 1 is no variable"));
  CHECK(names(after([](Graph& g) { g.vars.push_back(g.vars[g.eqns[1].out]); }), "no result of the equation it names"));
  CHECK(names(after([](Graph& g) { g.types[0].dims.n = 9; }), "type 0 has an impossible rank"));
  CHECK(names(after([](Graph& g) {
                g.types[0].dims = Dims{fx::Dim(std::int64_t(1) << 40), fx::Dim(std::int64_t(1) << 40)};
              }),
              "too many elements"));
  CHECK(names(after([](Graph& g) { g.types[0].dtype = fx::DType(77); }), "type 0 has an unknown dtype"));
}

TEST_CASE("literals") {
  const auto literal = [](Graph& g) -> int {
    for (int v = 0; v < g.vars.size(); ++v)
      if (g.is_literal(v)) return v;
    return -1;
  };
  CHECK(names(after([&](Graph& g) { g.vars[literal(g)].type = g.vars[0].type; }), "literal and not of rank 0"));
  CHECK(names(after([&](Graph& g) { g.literals[0] |= std::uint64_t(1) << 40; }), "bits beyond its dtype"));
  CHECK(names(after([&](Graph& g) {
                g.types.push_back({fx::f16, {}});
                g.vars[literal(g)].type = g.types.size() - 1;
              }),
              "without arithmetic"));
}

TEST_CASE("equations") {
  CHECK(names(after([](Graph& g) { g.eqns[1].prim = nullptr; }), "equation 1: no primitive"));
  CHECK(names(after([](Graph& g) { g.eqns[1].in = 1 << 20; }), "equation 1 (reduce_sum): operands outside the pool"));
  CHECK(names(after([](Graph& g) { g.eqns[1].n_in = -1; }), "operands outside the pool"));
  CHECK(names(after([](Graph& g) { g.eqns[1].n_in = 1 << 30; }), "operands outside the pool"));
  CHECK(names(after([](Graph& g) { g.eqns[1].attrs = -1; }), "attributes outside the pool"));
  CHECK(names(after([](Graph& g) { g.eqns[1].loc = 999; }), "no line"));
  CHECK(names(after([](Graph& g) { operand(g, 1, 0) = 99; }), "equation 1 (reduce_sum): operand 0 is no variable"));
  CHECK(names(after([](Graph& g) { operand(g, 1, 0) = g.eqns[3].out; }), "operand 0 is used before its definition"));
  CHECK(names(after([](Graph& g) { operand(g, 1, 0) = g.eqns[1].out; }), "operand 0 is used before its definition"));
  CHECK(names(after([](Graph& g) { g.eqns[2].out = g.eqns[1].out; }), "results are not the next variables"));
  CHECK(names(after([](Graph& g) { g.eqns[1].n_out = 0; }), "results are not the next variables"));
  CHECK(names(after([](Graph& g) { g.eqns[4].n_out = 99; }), "results are not the next variables"));
  CHECK(names(after([](Graph& g) { std::swap(g.eqns[0], g.eqns[1]); }), "belongs to something else"));
  CHECK(names(after([](Graph& g) { g.vars[g.eqns[4].out + 1].at = 3; }), "result 1 belongs to something else"));
}

TEST_CASE("types differ from the type rules'") {
  CHECK(names(after([](Graph& g) { g.vars[g.eqns[1].out].type = 0; }),
              "equation 1 (reduce_sum): result 0 has type f32[2,3], the type rule gives f32[2]"));
  CHECK(names(after([](Graph& g) { g.eqns[4].n_in = 1; }),
              "equation 4 (sort): the type rule gives another number of results: 1"));
  CHECK(names(after([](Graph& g) { operand(g, 0, 1) = 1; }),
              "equation 0 (mul): mul: operands have shapes f32[2,3] and f32[]"));
  CHECK(names(after([](Graph& g) { g.eqns[0].n_in = 1; }), "mul: takes 2 operands, got 1"));
  CHECK(names(after([](Graph& g) { word(g, 1, 0, 1) = 5; }), "axes [5] are not distinct dimensions of f32[2,3]"));
}

TEST_CASE("attributes") {
  CHECK(names(after([](Graph& g) { word(g, 1, 0, 0) = 5; }),
              "equation 1 (reduce_sum): attribute axes is longer than the words"));
  CHECK(names(after([](Graph& g) { word(g, 1, 0, 0) = -1; }), "attribute axes is longer"));
  CHECK(names(after([](Graph& g) { g.eqns[1].n_attrs = 0; }), "attribute axes is missing"));
  CHECK(names(after([](Graph& g) { word(g, 1, 0, 0) = 0; }), "more words than attributes"));
  CHECK(names(after([](Graph& g) { word(g, 2, 0, 1) = 5; }),
              "equation 2 (jit): attribute name is no label of the graph"));
  CHECK(names(after([](Graph& g) { word(g, 2, 1, 1) = 1; }), "attribute graph is no sub-graph of the graph"));
  CHECK(names(after([](Graph& g) { g.subs[0] = fx::GraphRef(); }), "attribute graph is no sub-graph of the graph"));
  CHECK(names(after([](Graph& g) { word(g, 5, 0, 1) = 99; }), "equation 5 (convert): attribute dtype is no dtype"));
  CHECK(names(after([](Graph& g) { word(g, 4, 0, 0) = 2; }), "attribute"));
}

TEST_CASE("sub-graphs, however deep") {
  Graph inner = *sound().subs[0];
  inner.outs[0] = 50;
  const fx::GraphRef broken(new Graph(inner));
  CHECK(names(after([&](Graph& g) { g.subs[0] = broken; }), "graph of jit: output 0 is no variable"));
  inner = *sound().subs[0];
  inner.locs.clear();
  const fx::GraphRef lost(new Graph(inner));
  CHECK(names(after([&](Graph& g) { g.subs[0] = lost; }), "graph of jit: equation 0 (exp): no line"));

  fx::GraphRef nested = lost;
  for (int i = 0; i < 3000; ++i)
    nested = tables::body({{f32, {2}}}, [&](std::vector<Val> v) {
      return std::vector<Val>{fx::bind(fx::prim<fx::Jit>, {v[0]}, fx::Params().label("f").graph(nested))};
    });
  CHECK(names(told(*nested), "equation 0 (exp): no line"));
}
