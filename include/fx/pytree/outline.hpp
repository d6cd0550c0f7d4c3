// pytree/outline.hpp -- the nodes of a pytree with their paths, and the error that says where two structures differ.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "../base/error.hpp"
#include "walk.hpp"

namespace fx::inline v0 {
namespace detail {

// Every node with its path, at run time: for paths, and to say where two structures differ.
struct TreeOutline : TreeVisitor {
  static constexpr bool names = true, values = true;
  struct Node {
    std::string path, what;
    bool leaf;
  };
  std::vector<Node> nodes;
  std::string path;
  std::vector<std::size_t> marks;  // lengths of the paths of the open groups
  FX_COLD void leaf(const Array&) { add("an Array", true); }
  FX_COLD void key(const Array&) { add("a Key", true); }
  FX_COLD void open(const TreeGroup& g);
  FX_COLD void index(const TreeGroup&, int i);
  FX_COLD void field(const TreeGroup&, std::string_view name);
  FX_COLD void entry(const TreeGroup&, const Atom& key);
  FX_COLD void close(const TreeGroup&);
  FX_COLD void present(bool nested);
  FX_COLD void absent() { add("nothing"); }
  FX_COLD void atom(const Atom& a);
  FX_COLD void add(std::string_view what, bool is_leaf = false);
  FX_COLD void step(std::string_view label);
};

FX_INLINE void append_leaf_paths(const TreeOutline& o, std::vector<std::string>& out);
[[noreturn]] FX_INLINE void fail_structure(std::string_view who, int number, const TreeOutline& a, const TreeOutline& b,
                                           std::string_view text_a, std::string_view text_b, Loc where);

#if FX_BODIES

FX_INLINE void TreeOutline::add(std::string_view what, bool is_leaf) {
  nodes.push_back({path, std::string(what), is_leaf});
}
// The label of the next element in place of the one before.
FX_INLINE void TreeOutline::step(std::string_view label) {
  path.resize(marks.back());
  path += label;
}
FX_INLINE void TreeOutline::open(const TreeGroup& g) {
  Str what;
  if (g.is_struct) {
    what += "a struct ";
    what += g.name;
  } else {
    what += g.open == '(' ? "a tuple of " : g.open == '[' ? "a sequence of " : "a map of ";
    what.num(g.n);
  }
  add(what);
  marks.push_back(path.size());
}
FX_INLINE void TreeOutline::index(const TreeGroup&, int i) {
  Str label("[");
  label.num(i) += ']';
  step(label);
}
FX_INLINE void TreeOutline::field(const TreeGroup&, std::string_view name) {
  Str label(marks.back() ? "." : "");
  label += name;
  step(label);
}
FX_INLINE void TreeOutline::entry(const TreeGroup&, const Atom& key) {
  Str label("[");
  print_atom(label, key);
  label += ']';
  step(label);
}
FX_INLINE void TreeOutline::close(const TreeGroup&) {
  path.resize(marks.back());
  marks.pop_back();
}
FX_INLINE void TreeOutline::present(bool nested) {
  if (nested) add("an optional");
}
FX_INLINE void TreeOutline::atom(const Atom& a) {
  Str what;
  print_atom(what, a);
  add(what);
}

FX_INLINE void append_leaf_paths(const TreeOutline& o, std::vector<std::string>& out) {
  for (const TreeOutline::Node& n : o.nodes)
    if (n.leaf) out.push_back(n.path);
}

// "tree 2: Params{...}", cut where it would fill the screen.
FX_INLINE void append_structure(std::string& out, int number, std::string_view text) {
  constexpr std::size_t limit = 400;
  out += "\n  tree " + std::to_string(number) + ": ";
  out += text.substr(0, limit);
  if (text.size() > limit) out += "...";
}
FX_INLINE void fail_structure(std::string_view who, int number, const TreeOutline& a, const TreeOutline& b,
                              std::string_view text_a, std::string_view text_b, Loc where) {
  const auto name = [](const TreeOutline::Node& n) { return n.path.empty() ? std::string("the root") : n.path; };
  std::size_t i = 0;
  while (i + 1 < a.nodes.size() && i + 1 < b.nodes.size() && a.nodes[i].path == b.nodes[i].path &&
         a.nodes[i].what == b.nodes[i].what)
    ++i;
  const TreeOutline::Node &x = a.nodes[i], &y = b.nodes[i];
  std::string m(who);
  m += ": the structure of tree " + std::to_string(number) + " is not that of tree 1, first at " + name(y);
  if (x.path != y.path)
    m += ", where tree 1 has " + name(x);
  else
    m += ", which is " + y.what + " and not " + x.what;
  append_structure(m, 1, text_a);
  append_structure(m, number, text_b);
  fail(ErrorCode::tree, m, where);
}

#endif

}  // namespace detail
}  // namespace fx::inline v0
