// print.hpp -- the text of a Graph, in the manner of JAX's jaxprs: exact, the same in every process, read back by
// parse.hpp.
//
//   { lambda ; a:f64[]. let
//       b:f64[] = sin a
//       c:f64[] = mul b 2.0:f64
//     in (c,) }
#pragma once
#include "base/fp_text.hpp"
#include "prim.hpp"

namespace fx::inline v0 {

// The text of g; its lines but the first are indented by `indent` more.
constexpr void put(Str& s, const Graph& g, int indent = 0);

namespace detail {

constexpr void new_line(Str& s, int indent) {
  s += '\n';
  for (int i = 0; i < indent; ++i) s += ' ';
}

// a, b, ..., z, aa, ab, ...
constexpr void put_name(Str& s, int number) {
  char c[8]{};
  int k = 0;
  for (int n = number + 1; n > 0; n = (n - 1) / 26) c[k++] = char('a' + (n - 1) % 26);
  while (k) s += c[--k];
}

// Each variable's place in the order of names: inputs, then the results that are used; -1 where there is no name.
constexpr Vec<int> name_numbers(const Graph& g) {
  Vec<char> used(g.vars.size(), 0);
  for (const Eqn& e : g.eqns)
    for (int v : g.in(e)) used[v] = 1;
  for (int v : g.outs) used[v] = 1;
  Vec<int> number(g.vars.size(), -1);
  int n = 0;
  for (int v : g.ins) number[v] = n++;
  for (const Eqn& e : g.eqns)
    for (int v = e.out; v < e.out + e.n_out; ++v)
      if (used[v]) number[v] = n++;
  return number;
}

// dtypes without arithmetic, whose literals are written as their bits.
inline constexpr DTypes raw_literals = only(f16) | only(bf16) | complexes;

constexpr std::int64_t sign_extended(std::uint64_t bits, int bytes) {
  const int unused = 64 - 8 * bytes;
  return std::int64_t(bits << unused) >> unused;
}

// `2.0:f64`, `-3:i32`, `true:bool`.
constexpr void put_literal(Str& s, DType d, std::uint64_t bits) {
  if (d == boolean)
    s += bits ? "true" : "false";
  else if (in(d, signed_ints))
    s.num(sign_extended(bits, size_of(d)));
  else if (in(d, unsigned_ints))
    s.num_u(bits);
  else if (d == f32)
    fp::put_float(s, fp::from_bits<float>(std::uint32_t(bits)));
  else if (d == f64)
    fp::put_float(s, fp::from_bits<double>(bits));
  else
    (s += "0x").hex(bits);
  (s += ':') += name(d);
}

constexpr bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A label as it is where it is one word, else in quotes with the escapes \" \\ \n \xHH.
constexpr void put_label(Str& s, std::string_view label) {
  bool plain = !label.empty();
  for (char c : label) plain = plain && is_word_char(c);
  if (!plain) s += '"';
  for (char c : label) {
    const bool control = std::uint8_t(c) < 0x20 || c == 0x7f;
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";
    else if (control)
      (s += "\\x").hex(std::uint8_t(c), 2);
    else
      s += c;
  }
  if (!plain) s += '"';
}

constexpr void put_list(Str& s, Span<const std::int64_t> list, bool symbolic) {
  s += '(';
  for (int i = 0; i < list.size(); ++i) {
    if (i) s += ',';
    if (symbolic)
      put(s, Dim(list[i]));
    else
      s.num(list[i]);
  }
  s += ')';
}

constexpr void put_attr(Str& s, const Graph& g, AttrKind kind, Span<const std::int64_t> words, int indent) {
  switch (kind) {
    case AttrKind::ints: return put_list(s, words, false);
    case AttrKind::integer: return void(s.num(words[0]));
    case AttrKind::flag: return void(s += words[0] ? "true" : "false");
    case AttrKind::dtype: return void(s += name(DType(words[0])));
    case AttrKind::dims: return put_list(s, words, true);
    case AttrKind::graph: return put(s, *g.subs[int(words[0])], indent);
    case AttrKind::label: return put_label(s, g.labels[int(words[0])].view());
  }
}

// The parts of one Graph, with the names of its variables.
struct GraphPrinter {
  Str& s;
  const Graph& g;
  int indent;
  Vec<int> number;

  constexpr void declare(int v) {
    if (number[v] < 0)
      s += '_';
    else
      put_name(s, number[v]);
    s += ':';
    put(s, g.type(v));
  }
  constexpr void use(int v) {
    if (g.is_literal(v))
      put_literal(s, g.type(v).dtype, g.literal(v));
    else
      put_name(s, number[v]);
  }
  // `{ lambda c:f32[] ; a:f32[] b:i32[2]. let`: captured inputs stand before the others.
  constexpr void head() {
    const int own = g.ins.size() - g.captured;
    s += "{ lambda ";
    for (int i = own; i < g.ins.size(); ++i) {
      declare(g.ins[i]);
      s += ' ';
    }
    s += "; ";
    for (int i = 0; i < own; ++i) {
      if (i) s += ' ';
      declare(g.ins[i]);
    }
    s += ". let";
  }
  constexpr void attributes(const Eqn& e) {
    const Attrs a = attrs(g, e);
    for (int k = 0; k < e.prim->attrs.size(); ++k) {
      s += k ? ' ' : '[';
      s += e.prim->attrs[k].name;
      s += '=';
      put_attr(s, g, e.prim->attrs[k].kind, a.list(k), indent + 4);
    }
    if (!e.prim->attrs.empty()) s += ']';
  }
  constexpr void equation(const Eqn& e) {
    new_line(s, indent + 4);
    for (int j = 0; j < e.n_out; ++j) {
      declare(e.out + j);
      s += ' ';
    }
    s += "= ";
    s += e.prim->name;
    attributes(e);
    for (int v : g.in(e)) {
      s += ' ';
      use(v);
    }
  }
  // `in (a, b) }`; one output is `(a,)`.
  constexpr void outputs() {
    new_line(s, indent + 2);
    s += "in (";
    for (int j = 0; j < g.outs.size(); ++j) {
      if (j) s += ", ";
      use(g.outs[j]);
    }
    if (g.outs.size() == 1) s += ',';
    s += ") }";
  }
};

}  // namespace detail

constexpr void put(Str& s, const Graph& g, int indent) {
  detail::GraphPrinter p{s, g, indent, detail::name_numbers(g)};
  p.head();
  for (const Eqn& e : g.eqns) p.equation(e);
  p.outputs();
}

constexpr Str text(const Graph& g) {
  Str s;
  put(s, g);
  return s;
}

}  // namespace fx::inline v0
