// reference/laws.cpp -- the checks of values, derivatives and batches.
#include "reference/laws.hpp"

#include <cstdio>
#include <fx/passes/batch.hpp>
#include <fx/verify.hpp>

#include "reference/run.hpp"

namespace reference {
namespace {

std::string str(const fx::Str& s) { return std::string(s.view()); }
std::string told(const std::string& what, const std::string& why) { return why.empty() ? why : what + ": " + why; }

// Element by element, v + h t for the flagged inputs; the others stay.
Values stepped(const Values& x, const Values& t, const std::vector<char>& wrt, long double h) {
  Values r = x;
  for (std::size_t k = 0, j = 0; k < x.size(); ++k) {
    if (!wrt[k]) continue;
    for (std::size_t i = 0; i < x[k].at.size(); ++i) r[k].at[i].real += h * t[j].at[i].real;
    ++j;
  }
  return r;
}
Values directions(const Values& x, const std::vector<char>& wrt, Random& random) {
  Values t;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (wrt[k]) t.push_back(sample(random, x[k].type, {-1, 1}));
  return t;
}
Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Values floats_of(const Values& y) {
  Values r;
  for (const Value& v : y)
    if (fx::is_float(v.type.dtype)) r.push_back(v);
  return r;
}
// The sum of products, and of their sizes.
struct Product {
  long double sum = 0, size = 0;
};
Product dot(const Values& a, const Values& b) {
  Product p;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].at.size(); ++i) {
      const long double x = a[k].at[i].real * b[k].at[i].real;
      p.sum += x;
      p.size += std::fabs(x);
    }
  return p;
}
bool holds(const fx::Graph& g, fx::DType d) {
  for (const fx::Type& t : g.types)
    if (t.dtype == d) return true;
  for (const fx::GraphRef& sub : g.subs)
    if (holds(*sub, d)) return true;
  return false;
}

// The first results are those of g.
std::string check_primal(const fx::Graph& g, const Values& x, const fx::Graph& with, const Values& more) {
  Values y = evaluate(with, joined(x, more));
  y.resize(std::size_t(g.outs.size()));
  return difference(evaluate(g, x), y);
}
std::string verified(const fx::Graph& g) {
  const fx::Str s = fx::verify(g);
  return s.empty() ? std::string() : "verifier: " + str(s);
}

// What four values along a line say of the slope at its middle.
struct Slope {
  long double value = 0, size = 0;
  bool finite = true, smooth = true;
};
Slope slope(long double back, long double half_back, long double middle, long double half_ahead, long double ahead,
            long double h) {
  const long double full = (ahead - back) / (2 * h), half = (half_ahead - half_back) / h;
  // The difference of the one-sided slopes halves with the step, but at a kink it stays.
  const long double bend = (ahead - 2 * middle + back) / h, half_bend = 2 * (half_ahead - 2 * middle + half_back) / h;
  Slope s;
  s.value = (4 * half - full) / 3;
  s.size = 1 + std::fabs(s.value) + std::fabs(middle);
  s.finite = std::isfinite(s.value) && std::isfinite(middle);
  s.smooth = s.finite && std::fabs(full - half) < 1e-5L * s.size && std::fabs(half_bend - bend / 2) < 1e-8L * s.size;
  return s;
}

}  // namespace

std::vector<char> float_inputs(const fx::Graph& g) {
  std::vector<char> r;
  for (int v : g.ins) r.push_back(fx::is_float(g.type(v).dtype));
  return r;
}
bool any(const std::vector<char>& flags) {
  for (char f : flags)
    if (f) return true;
  return false;
}

std::string check_graph(const fx::Graph& g, const Values& x) {
  if (std::string s = verified(g); !s.empty()) return s;
  fx::Builder again;
  fx::Vec<fx::Val> ins;
  for (int v : g.ins) ins.push_back(again.input(g.type(v)));
  const fx::Graph copy = again.finish(fx::inline_graph(again, g, ins));
  if (!(fx::digest(copy) == fx::digest(g))) return "an equal graph has another digest";
  const fx::Graph simple = fx::simplify(g);
  if (std::string s = verified(simple); !s.empty()) return "simplified: " + s;
  if (simple.eqns.size() > g.eqns.size()) return "simplify made the graph longer";
  return told("simplified", bit_difference(run_constant(g, x), run_constant(simple, x)));
}

std::string check_value(const fx::Graph& g, const Values& x) {
  if (std::string s = verified(g); !s.empty()) return s;
  const Values expected = evaluate(g, x), constant = run_constant(g, x);
  if (std::string s = difference(expected, constant); !s.empty()) return "in constant evaluation: " + s;
  return told("on the backend, against constant evaluation", bit_difference(constant, run(g, x)));
}

std::string check_jvp(const fx::Graph& g, const Values& x, const std::vector<char>& wrt, Random& random, bool strict,
                      Smoothness* count) {
  const fx::Graph j = fx::jvp(g, span(wrt));
  if (std::string s = verified(j); !s.empty()) return "jvp: " + s;
  const Values t = directions(x, wrt, random);
  const Values all = evaluate(j, joined(x, t), Mode::wide);
  const std::size_t n = std::size_t(g.outs.size());
  const Values dy(all.begin() + std::ptrdiff_t(n), all.end());
  if (std::string s = check_primal(g, x, j, t); !s.empty()) return "values of jvp: " + s;

  constexpr long double h = 0x1p-12L;
  const long double allowed = holds(j, fx::f32) ? 1e-6L : 1e-8L;  // constants in rules are rounded to the dtype
  auto at = [&](long double step) { return floats_of(evaluate(g, stepped(x, t, wrt, step), Mode::wide)); };
  const Values back = at(-h), half_back = at(-h / 2), middle = at(0), half_ahead = at(h / 2), ahead = at(h);
  if (dy.size() != middle.size())
    return "jvp: " + std::to_string(dy.size()) + " tangents of " + std::to_string(middle.size()) + " float results";
  for (std::size_t k = 0; k < dy.size(); ++k) {
    if (!(dy[k].type == middle[k].type)) return "jvp: a tangent has type " + str(fx::text(dy[k].type));
    for (std::size_t i = 0; i < dy[k].at.size(); ++i) {
      const Slope s = slope(back[k].at[i].real, half_back[k].at[i].real, middle[k].at[i].real, half_ahead[k].at[i].real,
                            ahead[k].at[i].real, h);
      if (count) ++(s.smooth ? count->smooth : count->rough);
      if (!s.smooth && !strict) continue;
      const long double away = std::fabs(s.value - dy[k].at[i].real);
      if (s.smooth && away <= allowed * s.size) continue;
      char text[200];
      std::snprintf(text, sizeof text, "%s: tangent %zu, element %zu is %.12Lg, differences give %.12Lg",
                    s.smooth ? "jvp" : "jvp at a rough place", k, i, dy[k].at[i].real, s.value);
      return text;
    }
  }
  return {};
}

std::string check_vjp(const fx::Graph& g, const Values& x, const std::vector<char>& wrt, Random& random) {
  const fx::Graph j = fx::jvp(g, span(wrt)), v = fx::vjp(g, span(wrt));
  if (std::string s = verified(v); !s.empty()) return "vjp: " + s;
  const Values t = directions(x, wrt, random);
  const std::ptrdiff_t n = g.outs.size();
  const Values forward = evaluate(j, joined(x, t), Mode::wide);
  const Values dy(forward.begin() + n, forward.end());
  Values ct;
  for (const Value& d : dy) ct.push_back(sample(random, d.type, {-1, 1}));
  const Values reverse = evaluate(v, joined(x, ct), Mode::wide);
  if (std::string s = check_primal(g, x, v, ct); !s.empty()) return "values of vjp: " + s;
  const Values dx(reverse.begin() + n, reverse.end());
  if (dx.size() != t.size())
    return "vjp: " + std::to_string(dx.size()) + " cotangents of " + std::to_string(t.size()) + " inputs";
  for (std::size_t k = 0; k < dx.size(); ++k)
    if (!(dx[k].type == t[k].type)) return "vjp: a cotangent has type " + str(fx::text(dx[k].type));
  const Product a = dot(ct, dy), b = dot(dx, t);
  if (!std::isfinite(a.size) || !std::isfinite(b.size)) return {};  // a pole: the values are told by other tests
  if (std::fabs(a.sum - b.sum) <= 1e-11L * (1 + a.size + b.size)) return {};
  char text[160];
  std::snprintf(text, sizeof text, "vjp: <ct, J t> = %.12Lg, <J^T ct, t> = %.12Lg", a.sum, b.sum);
  return text;
}

std::string check_grad(const fx::Graph& g, const Values& x, const std::vector<char>& wrt) {
  const fx::Graph gradient = fx::value_and_grad(g, span(wrt)), v = fx::vjp(g, span(wrt));
  if (std::string s = verified(gradient); !s.empty()) return "value_and_grad: " + s;
  Values ct;
  for (int out : g.outs)
    if (fx::is_float(g.type(out).dtype)) ct.push_back(zeros(g.type(out)));
  ct[0].at[0].real = 1;
  return told("value_and_grad", difference(evaluate(v, joined(x, ct)), evaluate(gradient, x)));
}

Values stacked(const std::vector<Values>& examples, const std::vector<char>& mapped) {
  Values r = examples[0];
  for (std::size_t k = 0; k < r.size(); ++k) {
    if (!mapped[k]) continue;
    r[k].type.dims.insert(0, fx::Dim(std::int64_t(examples.size())));
    for (std::size_t i = 1; i < examples.size(); ++i)
      r[k].at.insert(r[k].at.end(), examples[i][k].at.begin(), examples[i][k].at.end());
  }
  return r;
}

fx::GraphRef batched(const fx::Graph& g, const std::vector<char>& mapped, int size, std::vector<char>& out_mapped) {
  fx::Vec<char> outs(g.outs.size(), 0);
  fx::GraphRef b = fx::detail::batch(g, span(mapped), fx::Dim(size), outs);
  out_mapped.assign(outs.begin(), outs.end());
  return b;
}

std::string check_vmap(const fx::Graph& g, const std::vector<Values>& examples, const std::vector<char>& mapped) {
  std::string which = "vmap of inputs";
  for (std::size_t k = 0; k < mapped.size(); ++k)
    if (mapped[k]) which += " " + std::to_string(k);
  std::vector<char> out_mapped;
  const fx::GraphRef b = batched(g, mapped, int(examples.size()), out_mapped);
  if (std::string s = verified(*b); !s.empty()) return which + ": " + s;
  const Values x = stacked(examples, mapped);
  std::vector<Values> loop;
  for (const Values& example : examples) {
    Values own = examples[0];
    for (std::size_t k = 0; k < own.size(); ++k)
      if (mapped[k]) own[k] = example[k];
    loop.push_back(evaluate(g, own));
  }
  const Values expected = stacked(loop, out_mapped);
  if (std::string s = difference(expected, evaluate(*b, x)); !s.empty()) return which + ": " + s;
  return told(which, check_value(*b, x));
}

}  // namespace reference
