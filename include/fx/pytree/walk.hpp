// pytree/walk.hpp -- the one walk over a pytree, and the visitors that see its leaves.
#pragma once
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../base/vec.hpp"
#include "type.hpp"

// For what only messages need: small code instead of fast code.
#define FX_COLD [[gnu::cold]]

namespace fx::inline v0 {
namespace detail {

// What a container or struct looks like to a visitor.
struct TreeGroup {
  char open, close;
  int n;                 // elements
  bool counted = false;  // n is no part of the type
  bool is_struct = false;
  std::string_view name = {};  // of the struct
};

// A visitor that ignores everything but leaves. The others derive from it and say what they want: `names` of types and
// fields, `values` of static members and map keys. Each costs compile time.
struct TreeVisitor {
  static constexpr bool names = false, values = false;
  constexpr void open(const TreeGroup&) {}
  constexpr void index(const TreeGroup&, int) {}  // before the element of a tuple or sequence
  constexpr void field(const TreeGroup&, std::string_view) {}
  constexpr void entry(const TreeGroup&, const Atom&) {}  // before the value of a map
  constexpr void close(const TreeGroup&) {}
  constexpr void present(bool /*nested*/) {}  // nested: an optional in an optional
  constexpr void absent() {}
  constexpr void atom(const Atom&) {}
};

template <class T, class V>
constexpr void walk_tree(T& t, V& v);

template <class T, class V, std::size_t... I>
constexpr void walk_tuple(T& t, V& v, std::index_sequence<I...>) {
  constexpr TreeGroup g{'(', ')', int(sizeof...(I))};
  v.open(g);
  ((v.index(g, int(I)), walk_tree(std::get<I>(t), v)), ...);
  v.close(g);
}
template <class T, class V>
constexpr void walk_sequence(T& t, V& v, bool counted) {
  const TreeGroup g{'[', ']', int(t.size()), counted};
  v.open(g);
  int i = 0;
  for (auto& x : t) {
    v.index(g, i++);
    walk_tree(x, v);
  }
  v.close(g);
}
template <class T, class V>
constexpr void walk_map(T& t, V& v) {
  const TreeGroup g{'{', '}', int(t.size()), true};
  v.open(g);
  for ([[maybe_unused]] auto& [key, value] : t) {
    if constexpr (V::values) {
      Str room;
      v.entry(g, atom_of(key, room));
    }
    walk_tree(value, v);
  }
  v.close(g);
}
template <class T, class V>
constexpr void walk_optional(T& t, V& v) {
  if (!t.has_value()) return v.absent();
  v.present(tree_kind<typename T::value_type> == TreeKind::optional);
  walk_tree(*t, v);
}
template <class T, class V, class M>
constexpr void walk_field(M& m, V& v, const TreeGroup& g, [[maybe_unused]] int i) {
  if constexpr (V::names) v.field(g, field_names<T>[std::size_t(i)]);
  walk_tree(m, v);
}
template <class T, class V>
constexpr void walk_aggregate(T& t, V& v) {
  using U = std::remove_const_t<T>;
  TreeGroup g{'{', '}', field_count<U>, false, true};
  if constexpr (V::names) g.name = type_name<U>();
  v.open(g);
  apply_fields(t, [&]([[maybe_unused]] auto&... m) {
    [[maybe_unused]] int i = 0;
    (walk_field<U>(m, v, g, i++), ...);
  });
  v.close(g);
}
template <class T, class V>
constexpr void walk_atom(const T& t, V& v) {
  Str room;
  if constexpr (tree_kind<T> == TreeKind::fixed) {
    Atom a = atom_of(t.value, room);
    a.fixed = true;
    v.atom(a);
  } else
    v.atom(atom_of(t, room));
}

// Shows v all of t in a fixed order. T may be const; then the leaves are.
template <class T, class V>
constexpr void walk_tree(T& t, V& v) {
  using U = std::remove_const_t<T>;
  constexpr TreeKind k = tree_kind<U>;
  if constexpr (k == TreeKind::array)
    v.leaf(t);
  else if constexpr (k == TreeKind::key)
    v.key(key_array(t));
  else if constexpr (k == TreeKind::tuple)
    walk_tuple(t, v, std::make_index_sequence<std::tuple_size_v<U>>{});
  else if constexpr (k == TreeKind::sequence)
    walk_sequence(t, v, !std::is_aggregate_v<U>);
  else if constexpr (k == TreeKind::map)
    walk_map(t, v);
  else if constexpr (k == TreeKind::optional)
    walk_optional(t, v);
  else if constexpr (k == TreeKind::aggregate)
    walk_aggregate(t, v);
  else if constexpr (k == TreeKind::adapted)
    TreeAdapter<U>::walk(t, v);
  else if constexpr (k == TreeKind::empty) {
    if constexpr (V::names) {
      const TreeGroup g{'{', '}', 0, false, true, type_name<U>()};
      v.open(g);
      v.close(g);
    }
  } else if constexpr (V::values)
    walk_atom(t, v);
}

// The door: says what is wrong with T instead of pages of template errors.
template <class T, class V>
constexpr void visit_tree(T& t, V&& v) {
  check_tree<T>();
  if constexpr (Pytree<T>) walk_tree(t, v);
}

template <class F>
struct VisitLeaves : TreeVisitor {
  F& f;
  constexpr explicit VisitLeaves(F& fn) : f(fn) {}
  template <class A>
  constexpr void leaf(A& a) {
    f(a);
  }
  template <class A>
  constexpr void key(A& a) {
    f(a);
  }
};

// Addresses of the leaves; a Key counts as one, or as a null where `skip_keys`.
template <class A>
struct GatherLeaves : TreeVisitor {
  Vec<A*> leaves;
  bool skip_keys = false;
  constexpr void leaf(A& a) { leaves.push_back(&a); }
  constexpr void key(A& a) { leaves.push_back(skip_keys ? nullptr : &a); }
};

template <class A, class T>
constexpr Vec<A*> gather_leaves(T& t, bool skip_keys = false) {
  GatherLeaves<A> g;
  g.skip_keys = skip_keys;
  visit_tree(t, g);
  return std::move(g.leaves);
}

struct CountLeaves : TreeVisitor {
  int n = 0;
  constexpr void leaf(const Array&) { ++n; }
  constexpr void key(const Array&) { ++n; }
};

}  // namespace detail
}  // namespace fx::inline v0
