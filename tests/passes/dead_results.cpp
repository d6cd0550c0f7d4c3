// passes/dead_results.cpp -- dead code inside loops: results, carries and operands that nothing needs leave the loop.
#include <doctest/doctest.h>

#include <fx/parse.hpp>
#include <fx/passes/linearize.hpp>
#include <fx/passes/transpose.hpp>
#include <fx/print.hpp>
#include <fx/verify.hpp>
#include <string>

#include "ops/control.hpp"
#include "reference/laws.hpp"
#include "reference/run.hpp"
#include "reference/sample.hpp"

namespace {

using fx::Graph;

std::string printed(const Graph& g) {
  fx::Str s;
  fx::put(s, g);
  return std::string(s.view());
}
// The same text, however it is numbered and spaced.
std::string normal(const char* source) { return printed(fx::parse(source)); }

// `before` becomes `after`, which means the same.
void check(const char* before, const char* after) {
  const Graph g = fx::parse(before), smaller = fx::simplify(g);
  CHECK(printed(smaller) == normal(after));
  CHECK(std::string(fx::verify(smaller).view()) == "");
  CHECK(fx::digest(fx::simplify(smaller)) == fx::digest(smaller));
  reference::Random random(7);
  reference::Values in;
  for (int v : g.ins) in.push_back(reference::sample(random, g.type(v)));
  CHECK(reference::check_graph(smaller, in) == "");
  CHECK(reference::check_value(g, in) == "");
  CHECK(reference::check_value(smaller, in) == "");
  if (std::vector<char> wrt = reference::float_inputs(g); reference::any(wrt))
    CHECK(reference::check_vjp(smaller, in, wrt, random) == "");
}

}  // namespace

TEST_CASE("rows that nothing reads, and what only they need") {
  check(R"({ lambda ; a:f32[3] b:f32[3] c:f32[4,3] d:f32[4,3]. let
    e:f32[3] f:f32[4,3] g:f32[4,3] = scan[length=(4) reverse=false consts=1 carry=1 body={ lambda ; a:f32[3] b:f32[3] c:f32[3] d:f32[3]. let
        e:f32[3] = add b c
        f:f32[3] = sin d
        g:f32[3] = mul f a
      in (e, g, e) }] b a c d
  in (e, g) })",
        R"({ lambda ; a:f32[3] b:f32[3] c:f32[4,3] d:f32[4,3]. let
    e:f32[3] f:f32[4,3] = scan[length=(4) reverse=false consts=0 carry=1 body={ lambda ; a:f32[3] b:f32[3]. let
        c:f32[3] = add a b
      in (c, c) }] a c
  in (e, f) })");
}

TEST_CASE("a carry stays if another result needs it, and leaves with others that need only each other") {
  check(R"({ lambda ; a:f64[] b:i32[] c:f64[] d:f64[]. let
    e:f64[] f:i32[] g:f64[] h:f64[] i:f64[5] = scan[length=(5) reverse=true consts=0 carry=4 body={ lambda ; a:f64[] b:i32[] c:f64[] d:f64[]. let
        e:f64[] = mul a 0.5:f64
        f:i32[] = add b 1:i32
        g:f64[] = add c d
        h:f64[] = sub d c
      in (e, f, g, h, a) }] a b c d
  in (i, f) })",
        R"({ lambda ; a:f64[] b:i32[] c:f64[] d:f64[]. let
    e:f64[] f:i32[] g:f64[5] = scan[length=(5) reverse=true consts=0 carry=2 body={ lambda ; a:f64[] b:i32[]. let
        c:f64[] = mul a 0.5:f64
        d:i32[] = add b 1:i32
      in (c, d, a) }] a b
  in (g, f) })");
}

TEST_CASE("a loop in a loop becomes smaller with it, and so do the operands of the outer one") {
  check(R"({ lambda ; a:f32[] b:f32[3,2] c:f32[]. let
    d:f32[] e:f32[] f:f32[3,2] = scan[length=(3) reverse=false consts=1 carry=2 body={ lambda ; a:f32[] b:f32[] c:f32[] d:f32[2]. let
        e:f32[] f:f32[] g:f32[2] = scan[length=(2) reverse=false consts=1 carry=2 body={ lambda ; a:f32[] b:f32[] c:f32[] d:f32[]. let
            e:f32[] = add b d
            f:f32[] = mul c a
            g:f32[] = sub f d
          in (e, f, g) }] a b c d
      in (e, f, g) }] c a a b
  in (d,) })",
        R"({ lambda ; a:f32[] b:f32[3,2] c:f32[]. let
    d:f32[] = scan[length=(3) reverse=false consts=0 carry=1 body={ lambda ; a:f32[] b:f32[2]. let
        c:f32[] = scan[length=(2) reverse=false consts=0 carry=1 body={ lambda ; a:f32[] b:f32[]. let
            c:f32[] = add a b
          in (c,) }] a b
      in (c,) }] a b
  in (d,) })");
}

TEST_CASE("a gradient's loops hold what the gradient needs") {
  // Of the sum of all rows: the loop forward keeps no row, since d(c * k) needs none of its own, and no final carry.
  const Graph g = fx::parse(R"({ lambda ; a:f64[2] b:f64[2]. let
    c:f64[2] d:f64[6,2] e:f64[6,2] = scan[length=(6) reverse=false consts=1 carry=1 body={ lambda ; a:f64[2] b:f64[2]. let
        c:f64[2] = mul b a
        d:f64[2] = sin c
      in (c, d, b) }] b a
    f:f64[] = reduce_sum[axes=(0)] c
  in (f,) })");
  const char start[] = {1, 0};
  const Graph gradient = fx::vjp(g, start);
  Graph only = gradient;  // without the value
  only.outs = fx::Vec<int>(1, gradient.outs.back());
  const Graph left = fx::simplify(only);
  CHECK(left.eqns.size() > 0);
  int loops = 0;
  for (const fx::Eqn& e : left.eqns)
    if (e.prim->name == "scan") {
      ++loops;
      CHECK(e.n_out == 1);
    }
  CHECK(loops == 1);  // the one backwards
  // d sum(a * b^6) / da = b^6
  const reference::Values in{
      {{fx::f64, {2}}, {{0.5L}, {-2.0L}}}, {{fx::f64, {2}}, {{0.75L}, {1.5L}}}, {{fx::f64, {}}, {{1.0L}}}};
  const reference::Values got = reference::run(left, in);
  CHECK(double(got[0].at[0].real) == std::pow(0.75, 6));
  CHECK(double(got[0].at[1].real) == std::pow(1.5, 6));
}
