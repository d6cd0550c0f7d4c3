// pytree.hpp -- fx::tree: leaves, paths and structure of nested containers and structs of Arrays, and map over them.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/str.hpp"
#include "base/vec.hpp"
#include "pytree/outline.hpp"
#include "pytree/path.hpp"
#include "pytree/structure.hpp"
#include "pytree/type.hpp"
#include "pytree/walk.hpp"

namespace fx::inline v0 {
namespace tree {

// f(Array&) for each leaf in order; const Array& if t is const. The Array of a Key is a leaf.
template <class T, class F>
constexpr void for_each_leaf(T& t, F&& f) {
  detail::visit_tree(t, detail::VisitLeaves<std::remove_reference_t<F>>(f));
}
template <class T>
constexpr int leaf_count(const T& t) {
  detail::CountLeaves c;
  detail::visit_tree(t, c);
  return c.n;
}
// A copy of the structure of `like` with the Arrays that next() returns as leaves; those of `like` may be empty.
template <class T, class Next>
constexpr T unflatten(T like, Next&& next) {
  for_each_leaf(like, [&next](auto& leaf) { leaf = next(); });
  return like;
}
// A is a parameter because Array may be incomplete here.
template <class T, class A = Array>
std::vector<A> leaves(const T& t) {
  std::vector<A> r;
  for_each_leaf(t, [&r](const auto& leaf) { r.push_back(leaf); });
  return r;
}

// Appends the canonical text of the structure: equal texts, equal structures.
template <class T>
constexpr void structure(const T& t, Str& out) {
  detail::visit_tree(t, detail::StructureText(out));
}
template <class T>
std::string structure_text(const T& t) {
  Str s;
  structure(t, s);
  return std::string(s.view());
}
// Mixes the same, and the type, into h, without an allocation (but for a user's fx_key). Types enter by the compiler's
// text: local types of one name are one to clang.
template <class T>
constexpr void structure_hash(const T& t, std::uint64_t& h) {
  detail::mix_hash(h, detail::type_text_hash<std::remove_const_t<T>>);
  detail::visit_tree(t, detail::StructureHash(h));
}
template <class A, class B>
constexpr bool same_structure(const A& a, const B& b) {
  if constexpr (std::is_same_v<A, B>) {
    std::uint64_t x = 0, y = 0;
    structure_hash(a, x);
    structure_hash(b, y);
    return x == y;
  } else {
    Str x, y;
    structure(a, x);
    structure(b, y);
    return x == y;
  }
}

// Appends the path of each leaf: layers[0].w, [1]["key"]; a root leaf has the path "".
template <class T>
void leaf_paths(const T& t, std::vector<std::string>& out) {
  detail::TreeOutline o;
  detail::visit_tree(t, o);
  detail::append_leaf_paths(o, out);
}
template <class T>
std::vector<std::string> paths(const T& t) {
  std::vector<std::string> r;
  leaf_paths(t, r);
  return r;
}

}  // namespace tree

namespace detail {

// Apart from the check, because its locals are no literal types.
template <class A, class B>
[[noreturn]] void throw_structure(std::string_view who, const A& a, int number, const B& b, Loc where) {
  TreeOutline x, y;
  Str s, t;
  visit_tree(a, x);
  visit_tree(b, y);
  tree::structure(a, s);
  tree::structure(b, t);
  fail_structure(who, number, x, y, s, t, where);
}
// Throws ErrorCode::tree unless b, the tree `number` of `who`, has the structure of a, its tree 1.
template <class A, class B>
constexpr void require_same_structure(std::string_view who, const A& a, int number, const B& b, Loc where) {
  if (!tree::same_structure(a, b)) throw_structure(who, a, number, b, where);
}

template <class F, class... P>
constexpr void map_leaves(F& f, const Vec<Array*>& out, const P&... rest) {
  for (int i = 0; i < out.size(); ++i)
    if (out[i]) *out[i] = f(std::move(*out[i]), *rest[i]...);
}
template <class F, class T, class... R>
constexpr T map_trees([[maybe_unused]] Loc where, F& f, T t, const R&... rest) {
  [[maybe_unused]] int number = 1;
  (require_same_structure("tree::map", t, ++number, rest, where), ...);
  map_leaves(f, gather_leaves<Array>(t, true), gather_leaves<const Array>(rest)...);
  return t;
}
}  // namespace detail

namespace tree {

// The tree of f(Array, Array...) over the leaves of t and of others of the same structure; Keys stay as they are in t.
template <class F, class T>
constexpr T map(F&& f, T t, Loc where = Loc::here()) {
  return detail::map_trees(where, f, std::move(t));
}
template <class F, class T, class A>
constexpr T map(F&& f, T t, const A& a, Loc where = Loc::here()) {
  return detail::map_trees(where, f, std::move(t), a);
}
template <class F, class T, class A, class B>
constexpr T map(F&& f, T t, const A& a, const B& b, Loc where = Loc::here()) {
  return detail::map_trees(where, f, std::move(t), a, b);
}
template <class F, class T, class A, class B, class C>
constexpr T map(F&& f, T t, const A& a, const B& b, const C& c, Loc where = Loc::here()) {
  return detail::map_trees(where, f, std::move(t), a, b, c);
}
// More trees: a pack leaves no room for the line of the call.
template <class F, class T, class... R>
requires(sizeof...(R) > 3) constexpr T map(F&& f, T t, const R&... rest) {
  return detail::map_trees(Loc{}, f, std::move(t), rest...);
}

}  // namespace tree
}  // namespace fx::inline v0
