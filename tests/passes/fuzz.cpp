// passes/fuzz.cpp -- 2,000 random programs through every transform, on every world.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fx/parse.hpp>
#include <fx/passes/batch.hpp>
#include <map>

#include "reference/generator.hpp"
#include "reference/laws.hpp"

namespace {

using reference::Values, reference::Random, reference::sample;

// FX_FUZZ_PROGRAMS: another number of them; FX_FUZZ_SEED: this one alone; FX_FUZZ_COUNTS: says what was covered.
int number_of_programs() {
  const char* n = std::getenv("FX_FUZZ_PROGRAMS");
  return n ? std::atoi(n) : 2000;
}

Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::string str(const fx::Str& s) { return std::string(s.view()); }

std::string digest_text(const fx::Graph& g) {
  fx::Str s;
  fx::put(s, fx::digest(g));
  return str(s);
}

// The text reads back as an equal Graph.
std::string check_text(const fx::Graph& g) {
  const fx::Str text = fx::text(g);
  const fx::Graph again = fx::parse(text.view());
  if (!(fx::text(again) == text)) return "read back it prints as\n" + str(fx::text(again));
  return fx::digest(again) == fx::digest(g) ? "" : "read back it has another digest";
}

// The sum of all float results of g, in f64: a function that has a gradient.
fx::Graph summed(const fx::Graph& g) {
  fx::Builder b;
  fx::Vec<fx::Val> in;
  for (int v : g.ins) in.push_back(b.input(g.type(v)));
  fx::Val sum = b.literal(fx::f64, 0);
  for (const fx::Val& y : fx::inline_graph(b, g, in))
    if (fx::is_float(b.type(y).dtype)) sum = sum + fx::convert(fx::sum_all(y), fx::f64);
  const fx::Val outs[] = {sum};
  return b.finish(fx::Span<const fx::Val>(outs, 1));
}

// Everything that must hold of a program; `i` spreads the expensive checks.
std::string check(const reference::Program& p, int i, Random& random, reference::Smoothness& smooth) {
  const fx::Graph& g = p.graph;
  const Values& x = p.inputs;
  if (std::string s = reference::check_graph(g, x); !s.empty()) return s;
  if (std::string s = reference::check_value(g, x); !s.empty()) return s;
  if (std::string s = check_text(g); !s.empty()) return s;

  std::vector<char> wrt = reference::float_inputs(g);
  for (char& w : wrt) w = w && random.below(4) > 0;
  Values t, ct;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (wrt[k]) t.push_back(sample(random, x[k].type, {-1, 1}));
  for (int out : g.outs)
    if (fx::is_float(g.type(out).dtype)) ct.push_back(sample(random, g.type(out), {-1, 1}));
  if (reference::any(wrt)) {
    if (std::string s = reference::check_jvp(g, x, wrt, random, false, &smooth); !s.empty()) return s;
    if (std::string s = reference::check_vjp(g, x, wrt, random); !s.empty()) return s;
    const fx::Graph j = fx::jvp(g, reference::span(wrt)), v = fx::vjp(g, reference::span(wrt));
    if (std::string s = reference::check_value(j, joined(x, t)); !s.empty()) return "value of jvp: " + s;
    if (std::string s = reference::check_value(v, joined(x, ct)); !s.empty()) return "value of vjp: " + s;
    if (i % 4 == 0)
      if (std::string s = reference::check_graph(v, joined(x, ct)); !s.empty()) return "vjp: " + s;
    if (i % 5 == 0) {
      const Values all = joined(x, ct);
      const std::vector<char> again = reference::float_inputs(v);
      if (std::string s = reference::check_jvp(v, all, again, random, false); !s.empty()) return "vjp: " + s;
      if (std::string s = reference::check_vjp(v, all, again, random); !s.empty()) return "vjp: " + s;
    }
    if (i % 5 == 1)
      if (std::string s = reference::check_grad(summed(g), x, wrt); !s.empty()) return s;
    if (i % 5 == 2)
      if (std::string s = reference::check_jvp(j, joined(x, t), reference::float_inputs(j), random, false); !s.empty())
        return "jvp: " + s;
    if (i % 3 == 0) {
      std::vector<Values> examples{joined(x, ct), joined(x, ct)};
      for (reference::Value& e : examples[1]) e = sample(random, e.type);
      std::vector<char> mapped(examples[0].size());
      for (char& m : mapped) m = random.below(3) > 0;
      if (reference::any(mapped))
        if (std::string s = reference::check_vmap(v, examples, mapped); !s.empty()) return "vjp: " + s;
    }
  }
  std::vector<Values> examples;
  for (int n = 1 + random.below(3); n > 0; --n) {
    Values more = x;
    for (reference::Value& e : more)
      e = sample(random, e.type, fx::is_float(e.type.dtype) ? reference::Domain{} : reference::Domain{-9, 9});
    examples.push_back(more);
  }
  std::vector<char> mapped(x.size());
  for (char& m : mapped) m = random.below(3) > 0;
  if (!reference::any(mapped)) return {};
  if (std::string s = reference::check_vmap(g, examples, mapped); !s.empty()) return s;
  if (i % 3 == 2) return {};
  std::vector<char> out_mapped;
  const fx::GraphRef b = reference::batched(g, mapped, int(examples.size()), out_mapped);
  const Values rows = reference::stacked(examples, mapped);
  if (i % 3 == 0) {  // again
    Values others = rows;
    for (reference::Value& e : others) e = sample(random, e.type);
    for (char& m : mapped) m = random.below(3) > 0;
    return reference::any(mapped) ? reference::check_vmap(*b, {rows, others}, mapped) : std::string();
  }
  if (!reference::any(wrt)) return {};
  if (std::string s = reference::check_vjp(*b, rows, wrt, random); !s.empty()) return "vmap: " + s;
  if (std::string s = reference::check_jvp(*b, rows, wrt, random, false, &smooth); !s.empty()) return "vmap: " + s;
  return {};
}

}  // namespace

TEST_CASE("random programs: values, derivatives, batches, text, simplified form") {
  const char* only = std::getenv("FX_FUZZ_SEED");
  const int programs = number_of_programs();
  std::map<std::string, std::string> texts;  // by digest
  reference::Coverage coverage;
  reference::Smoothness smooth;
  int failures = 0;
  for (int i = 0; i < programs && failures < 5; ++i) {
    const reference::Program p = reference::random_program(std::uint64_t(i), coverage);
    if (std::getenv("FX_FUZZ_TRACE")) std::printf("seed %d\n", i), std::fflush(stdout);
    if (only && std::atoi(only) != i) continue;
    const std::string text = str(fx::text(p.graph));
    CHECK(texts.emplace(digest_text(p.graph), text).first->second == text);  // other programs have other digests
    Random random(std::uint64_t(i) + 77);
    std::string why;
    try {
      why = check(p, i, random, smooth);
    } catch (const std::exception& e) { why = std::string("exception: ") + e.what(); }
    if (why.empty()) continue;
    ++failures;
    std::string inputs;
    for (const reference::Value& v : p.inputs) inputs += "\n  " + reference::text(v);
    FAIL_CHECK("seed " << i << ": " << why << "\n" << str(fx::text(p.graph)) << "\ninputs:" << inputs);
  }
  if (only) return;
  for (const fx::Prim* p : fx::builtin_prims) {
    const std::string name(p->name);
    INFO(name);
    CHECK(coverage.prims[name] >= 20);
  }
  for (fx::DType d : {fx::boolean, fx::i32, fx::i64, fx::u32, fx::u64, fx::f32, fx::f64}) {
    const std::string name(fx::name(d));
    INFO(name);
    CHECK(coverage.dtypes[std::size_t(d)] >= 20);
  }
  CHECK(smooth.smooth > 10 * programs);
  CHECK(smooth.rough < smooth.smooth);
  if (std::getenv("FX_FUZZ_COUNTS")) {
    MESSAGE(smooth.smooth << " smooth and " << smooth.rough << " rough derivatives");
    for (const auto& [name, n] : coverage.prims) MESSAGE(name << " " << n);
  }
}
