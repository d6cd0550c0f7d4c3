// parse.hpp -- reads the text of a Graph (print.hpp) and checks it; and the primitives that users make known to it.
//
// One pass over the characters gives the equations by name; then a Builder binds them, so that the type rules see them.
#pragma once
#include "ops/all.hpp"
#include "print.hpp"

#if FX_BODIES
#include <map>
#include <mutex>
#include <vector>

#include "parse_text.hpp"
#endif

namespace fx::inline v0 {

// The Graph that `text` writes, with any white space between its words. Primitives are those of `extra`, of fx and of
// register_prim, in this order. Mistakes are Errors with line and column, what was found and what was expected.
FX_INLINE Graph parse(std::string_view text, Span<const Prim* const> extra = {}, Loc loc = Loc::here());

// Makes a primitive known to every later parse; of several with one name the first stays. It must live on, as prim<P>
// does.
FX_INLINE void register_prim(const Prim& p);

#if FX_BODIES

namespace detail {

struct PrimRegistry {
  std::mutex mutex;
  std::vector<const Prim*> prims;
};

// Leaked on purpose: destructors of static objects may parse.
FX_SHARED FX_INLINE PrimRegistry& prim_registry() {
  static auto* r = new PrimRegistry;
  return *r;
}

// Levenshtein's distance: how many letters to insert, delete or replace.
FX_INLINE int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = int(j);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

class GraphParser : TextScanner {
  static constexpr int most_nested = 100;

  // A variable by its place among the inputs and results as written, or a literal.
  struct Operand {
    int var = -1;
    Literal literal;
  };
  struct Result {
    std::string_view name;
    Type type;
    Cursor at;
  };
  struct Equation {
    const Prim* prim = nullptr;
    Params params;
    std::vector<Operand> in;
    std::vector<Result> out;
    int first = 0;  // variable of the first result
    Cursor at;
  };
  struct Attribute {
    bool given = false;
    Vec<std::int64_t> words;
    GraphRef graph;
    Str label;
  };
  // One `{ lambda ... }`: names of an outer one are not seen.
  struct Scope {
    std::map<std::string_view, int> names;
    int vars = 0;
    std::vector<Type> captured, own;  // types of the inputs
    std::vector<Equation> eqns;
    std::vector<Operand> outs;
  };

  std::map<std::string_view, const Prim*> prims_;

 public:
  GraphParser(std::string_view text, Span<const Prim* const> extra, Loc loc) : TextScanner(text, loc) {
    for (const Prim* p : extra) prims_.emplace(p->name, p);
    for (const Prim* p : builtin_prims) prims_.emplace(p->name, p);
    PrimRegistry& registry = prim_registry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    for (const Prim* p : registry.prims) prims_.emplace(p->name, p);
  }

  Graph run() {
    Graph g = graph(0);
    if (here().at < text_.size()) fail(pos_, "the end of the text");
    return g;
  }

 private:
  // ---- variables and literals ----

  int define(Scope& s, std::string_view name, const Cursor& at) {
    if (name != "_" && !s.names.emplace(name, s.vars).second)
      fail(at, "a new name: " + quoted(name) + " is defined already");
    return s.vars++;
  }
  // `b:f32[2]`
  Result declaration(const char* expected) {
    Result r;
    r.at = here();
    r.name = word();
    if (r.name.empty()) fail(r.at, expected);
    expect(':', "':' and a type");
    r.type = type();
    return r;
  }
  void inputs(Scope& s, std::vector<Type>& types, char end, const char* expected) {
    while (!take(end)) {
      const Result r = declaration(expected);
      define(s, r.name, r.at);
      types.push_back(r.type);
    }
  }
  Operand variable(const Scope& s, std::string_view name, const Cursor& at) {
    const auto it = s.names.find(name);
    if (it == s.names.end()) fail(at, "a variable that is defined above");
    return {it->second, {}};
  }
  bool at_outputs() {
    const Cursor start = here();
    const bool r = word() == "in" && peek() == '(';
    pos_ = start;
    return r;
  }
  // The operand here, if there is one: not the outputs, and not the next equation, which starts as `b:f32[`.
  bool operand(const Scope& s, std::vector<Operand>& to) {
    const Cursor start = here();
    const bool number = is_digit(peek()) || peek() == '-';
    if (!number && !is_word_char(peek())) return false;
    if (at_outputs()) return false;
    const std::string_view w = word();
    const bool payload = w == "nan" && peek() == '(';
    const bool colon = take(':');
    const bool result = colon && !word().empty() && peek() == '[';
    if (!number && !payload && !colon) {
      to.push_back(variable(s, w, start));
      return true;
    }
    pos_ = start;
    if (!number && result) return false;
    to.push_back({-1, literal()});
    return true;
  }

  // ---- equations ----

  const Prim* primitive() {
    const Cursor start = here();
    while (pos_.at < text_.size() && text_[pos_.at] > ' ' && text_[pos_.at] != '[') ++pos_.at;
    const std::string_view w = text_.substr(start.at, pos_.at - start.at);
    const auto it = prims_.find(w);
    if (it != prims_.end()) return it->second;
    if (w.empty()) fail(start, "the name of a primitive");
    const std::string close = close_names(w);
    error(start, "found " + quoted(w.substr(0, 40)) + ", expected the name of a primitive" +
                     (close.empty() ? "" : "; close ones: " + close));
  }
  // At most three names that a typing mistake makes w, or that contain it.
  std::string close_names(std::string_view w) const {
    const int most = w.size() <= 4 ? 1 : w.size() <= 8 ? 2 : 3;
    std::vector<std::pair<int, std::string_view>> near;
    for (const auto& [name, p] : prims_) {
      const int d = edit_distance(w, name);
      if (d <= most)
        near.emplace_back(d, name);
      else if (w.size() >= 3 && name.find(w) != name.npos)
        near.emplace_back(most + 1, name);
    }
    std::sort(near.begin(), near.end());
    std::string r;
    for (std::size_t i = 0; i < near.size() && i < 3; ++i) (r += i ? ", " : "") += near[i].second;
    return r;
  }

  void value(Attribute& a, AttrKind kind, int depth) {
    const Cursor start = here();
    switch (kind) {
      case AttrKind::ints: a.words = list('(', ')', false); break;
      case AttrKind::dims: a.words = list('(', ')', true); break;
      case AttrKind::integer: a.words.push_back(integer()); break;
      case AttrKind::dtype: a.words.push_back(std::int64_t(dtype())); break;
      case AttrKind::graph: a.graph = GraphRef(new Graph(graph(depth + 1))); break;
      case AttrKind::label: a.label = label(); break;
      case AttrKind::flag: {
        const std::string_view w = word();
        if (w != "true" && w != "false") fail(start, "'true' or 'false'");
        a.words.push_back(w == "true");
      }
    }
  }
  // `[name=value ...]`, in any order.
  Params attributes(const Prim& p, int depth) {
    std::vector<Attribute> given(std::size_t(p.attrs.size()));
    const bool bracket = take('[');
    while (bracket && peek() != ']') {
      const Cursor start = here();
      const std::string_view w = word();
      int k = 0;
      while (k < p.attrs.size() && p.attrs[k].name != w) ++k;
      if (k == p.attrs.size()) fail(start, attribute_names(p));
      Attribute& a = given[std::size_t(k)];
      if (a.given) error(start, "found the attribute " + quoted(w) + " a second time");
      a.given = true;
      expect('=', "'=' and the value of the attribute");
      value(a, p.attrs[k].kind, depth);
    }
    for (int k = 0; k < p.attrs.size(); ++k)
      if (!given[std::size_t(k)].given)
        fail(here(), "the attribute " + quoted(p.attrs[k].name) + " of " + quoted(p.name));
    if (bracket) take(']');
    return params(p, given);
  }
  static std::string attribute_names(const Prim& p) {
    if (p.attrs.empty()) return "']': " + quoted(p.name) + " has no attributes";
    std::string r = "']' or an attribute of " + quoted(p.name) + ":";
    for (int k = 0; k < p.attrs.size(); ++k) ((r += k ? ", " : " ") += p.attrs[k].name);
    return r;
  }
  static Params params(const Prim& p, const std::vector<Attribute>& given) {
    Params r;
    for (int k = 0; k < p.attrs.size(); ++k) {
      const Attribute& a = given[std::size_t(k)];
      if (p.attrs[k].kind == AttrKind::graph)
        r.graph(a.graph);
      else if (p.attrs[k].kind == AttrKind::label)
        r.label(a.label);
      else
        r.ints(a.words);
    }
    return r;
  }
  void equation(Scope& s, int depth) {
    Equation e;
    e.at = here();
    while (!take('=')) e.out.push_back(declaration("a result such as 'b:f32[2]', or '=', or 'in' and the outputs"));
    e.prim = primitive();
    e.params = attributes(*e.prim, depth);
    while (operand(s, e.in)) {}
    e.first = s.vars;
    for (const Result& r : e.out) define(s, r.name, r.at);
    s.eqns.push_back(std::move(e));
  }
  void outputs(Scope& s) {
    keyword("in");
    expect('(', "'('");
    while (!take(')')) {
      if (!operand(s, s.outs)) fail(here(), "a variable, a literal or ')'");
      if (!take(',') && peek() != ')') fail(pos_, "',' or ')'");
    }
  }
  Graph graph(int depth) {
    if (depth > most_nested) error(here(), "found graphs nested deeper than " + std::to_string(most_nested));
    Scope s;
    expect('{', "'{'");
    keyword("lambda");
    inputs(s, s.captured, ';', "an input such as 'a:f32[2]', or ';'");
    inputs(s, s.own, '.', "an input such as 'a:f32[2]', or '.'");
    keyword("let");
    while (!at_outputs()) equation(s, depth);
    outputs(s);
    expect('}', "'}'");
    return build(s);
  }

  // ---- binding ----

  static Val value_of(Builder& b, const std::vector<Val>& vals, const Operand& o) {
    return o.var < 0 ? b.literal(o.literal.dtype, o.literal.bits) : vals[std::size_t(o.var)];
  }
  // Variables in the order of Builder::finish: inputs, literals, results.
  Graph build(const Scope& s) {
    Builder b;
    std::vector<Val> vals(std::size_t(s.vars));
    for (std::size_t i = 0; i < s.own.size(); ++i) vals[s.captured.size() + i] = b.input(s.own[i]);
    for (std::size_t i = 0; i < s.captured.size(); ++i) vals[i] = b.input(s.captured[i]);
    for (const Equation& e : s.eqns)
      for (const Operand& o : e.in) value_of(b, vals, o);
    for (const Operand& o : s.outs) value_of(b, vals, o);
    for (const Equation& e : s.eqns) bind_checked(b, vals, e);
    for (const Operand& o : s.outs) b.g.outs.push_back(value_of(b, vals, o).id);
    b.g.captured = int(s.captured.size());
    return std::move(b.g);
  }
  void bind_checked(Builder& b, std::vector<Val>& vals, const Equation& e) {
    Vec<Val> in;
    for (const Operand& o : e.in) in.push_back(value_of(b, vals, o));
    b.loc = {"<text>", e.at.line};
    try {
      b.bind(*e.prim, in, e.params);
    } catch (const Error& what) { error(e.at, message_of(what)); }
    const Eqn& bound = b.g.eqns.back();
    if (bound.n_out != int(e.out.size()))
      error(e.at, "found " + std::to_string(e.out.size()) + " results, expected " + std::to_string(bound.n_out) +
                      " of " + quoted(e.prim->name));
    for (int j = 0; j < bound.n_out; ++j) {
      const Result& r = e.out[std::size_t(j)];
      const Type& computed = b.g.type(bound.out + j);
      if (!(r.type == computed))
        error(r.at, "found the type " + type_text(r.type) + ", expected " + type_text(computed) + ", which " +
                        quoted(e.prim->name) + " gives");
      vals[std::size_t(e.first + j)] = Val(&b, bound.out + j);
    }
  }
};

}  // namespace detail

FX_INLINE Graph parse(std::string_view text, Span<const Prim* const> extra, Loc loc) {
  return detail::GraphParser(text, extra, loc).run();
}

FX_INLINE void register_prim(const Prim& p) {
  detail::PrimRegistry& r = detail::prim_registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  for (const Prim* q : r.prims)
    if (*q == p) return;
  r.prims.push_back(&p);
}

#endif

}  // namespace fx::inline v0
