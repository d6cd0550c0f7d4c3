// pytree/type.hpp -- which types are pytrees, Static<T>, and the compile errors for those that are none.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../base/atom.hpp"
#include "../fields.hpp"

namespace fx::inline v0 {

class Array;
class Key;  // a random key: one leaf

// A member of a pytree that is part of the structure and not of the data: a jit specializes on its value.
template <class T>
struct Static {
  T value;
  constexpr operator const T&() const { return value; }
  friend constexpr bool operator==(const Static&, const Static&) = default;
};
template <class T>
Static(T) -> Static<T>;
template <class T>
constexpr Static<T> static_(T v) {
  return {std::move(v)};
}
inline Static<std::string> static_(const char* v) { return {v}; }

// The door for containers and structs of other libraries. A specialisation makes its T a pytree:
//   using elements = detail::TypeList<...>;                               what is inside; each must be a pytree
//   template <class C, class V> static constexpr void walk(C& c, V& v);   C is T or const T
// walk shows v the elements of c in a fixed order, as the walks of walk.hpp do, which it may call: for a container like
// std::vector, detail::walk_sequence(c, v, true). Specialise beside the type: a tree must look the same in each file.
template <class T>
struct TreeAdapter {};

namespace detail {

// The Array of a Key; random/ defines both.
constexpr Array& key_array(Key& k);
constexpr const Array& key_array(const Key& k);

enum class TreeKind {
  array,
  key,
  fixed,
  constant,
  string,
  tuple,
  sequence,
  map,
  optional,
  empty,
  aggregate,
  adapted,
  none
};

template <class T>
constexpr TreeKind plain_tree_kind() {
  if constexpr (requires { typename TreeAdapter<T>::elements; })
    return TreeKind::adapted;
  else if constexpr (std::is_enum_v<T>)
    return TreeKind::constant;
  else if constexpr (!std::is_class_v<T>)
    return TreeKind::none;
  else if constexpr (std::is_empty_v<T>)
    return TreeKind::empty;
  else
    return std::is_aggregate_v<T> ? TreeKind::aggregate : TreeKind::none;
}
template <class T>
inline constexpr TreeKind tree_kind = plain_tree_kind<T>();
template <>
inline constexpr TreeKind tree_kind<Array> = TreeKind::array;
template <>
inline constexpr TreeKind tree_kind<Key> = TreeKind::key;
template <>
inline constexpr TreeKind tree_kind<std::string> = TreeKind::string;
template <class T>
inline constexpr TreeKind tree_kind<Static<T>> = TreeKind::fixed;
template <class... T>
inline constexpr TreeKind tree_kind<std::tuple<T...>> = TreeKind::tuple;
template <class A, class B>
inline constexpr TreeKind tree_kind<std::pair<A, B>> = TreeKind::tuple;
template <class T, std::size_t n>
inline constexpr TreeKind tree_kind<std::array<T, n>> = TreeKind::sequence;
template <class T, class A>
inline constexpr TreeKind tree_kind<std::vector<T, A>> = TreeKind::sequence;
template <class K, class T, class C, class A>
inline constexpr TreeKind tree_kind<std::map<K, T, C, A>> = TreeKind::map;
template <class T>
inline constexpr TreeKind tree_kind<std::optional<T>> = TreeKind::optional;

// The types inside a container.
template <class... T>
TypeList<T...> elements_of(const std::tuple<T...>*);
template <class A, class B>
TypeList<A, B> elements_of(const std::pair<A, B>*);
template <class T, std::size_t n>
TypeList<T> elements_of(const std::array<T, n>*);
template <class T, class A>
TypeList<T> elements_of(const std::vector<T, A>*);
template <class K, class T, class C, class A>
TypeList<T> elements_of(const std::map<K, T, C, A>*);
template <class T>
TypeList<T> elements_of(const std::optional<T>*);

template <class T>
inline constexpr bool is_static_ok = true;
template <class T>
inline constexpr bool is_static_ok<Static<T>> = is_atom<T> || HasFxKey<T>;
template <class T>
inline constexpr bool is_map_ok = true;
template <class K, class T, class C, class A>
inline constexpr bool is_map_ok<std::map<K, T, C, A>> = is_atom<K> && !std::is_floating_point_v<K>;

enum class TreeFault { none, arithmetic, base, c_array, fields, map_key, fx_key, type };

// The first fault of a tree as a type, so that the compiler names the struct (Owner) and the culprit T in it.
template <class Owner, class T, TreeFault fault>
struct FoundFault {};
using NoFault = FoundFault<void, void, TreeFault::none>;
template <class O, class T, TreeFault fault, class Next>
constexpr auto operator|(FoundFault<O, T, fault> f, Next next) {
  if constexpr (fault != TreeFault::none)
    return f;
  else
    return next;
}

// Open: the structs around T, so that a struct that holds a vector of itself comes to an end.
template <class Owner, class Open, class T>
constexpr auto find_fault();

template <class Owner, class Open, class... M>
constexpr auto find_fault_in(TypeList<M...>) {
  return (find_fault<Owner, Open, M>() | ... | NoFault{});
}
template <class T, class... Open>
constexpr auto find_fault_of_struct(TypeList<Open...>) {
  if constexpr ((std::is_same_v<T, Open> || ...))
    return NoFault{};
  else if constexpr (tree_kind<T> == TreeKind::adapted)
    return find_fault_in<T, TypeList<T, Open...>>(typename TreeAdapter<T>::elements{});
  else if constexpr (has_base<T>)
    return FoundFault<T, T, TreeFault::base>{};
  else if constexpr (has_c_array<T>)
    return FoundFault<T, T, TreeFault::c_array>{};
  else if constexpr (field_count<T> > max_fields)
    return FoundFault<T, T, TreeFault::fields>{};
  else if constexpr (field_count<T> < 0)
    return FoundFault<T, T, TreeFault::type>{};
  else
    return find_fault_in<T, TypeList<T, Open...>>(field_types<T>{});
}
template <class Owner, class Open, class T>
constexpr auto find_fault() {
  constexpr TreeKind k = tree_kind<T>;
  if constexpr (std::is_arithmetic_v<T>)
    return FoundFault<Owner, T, TreeFault::arithmetic>{};
  else if constexpr (std::is_array_v<T>)
    return FoundFault<Owner, T, TreeFault::c_array>{};
  else if constexpr (std::is_const_v<T> || k == TreeKind::none)
    return FoundFault<Owner, T, TreeFault::type>{};
  else if constexpr (!is_static_ok<T>)
    return FoundFault<Owner, T, TreeFault::fx_key>{};
  else if constexpr (!is_map_ok<T>)
    return FoundFault<Owner, T, TreeFault::map_key>{};
  else if constexpr (k == TreeKind::aggregate || k == TreeKind::adapted)
    return find_fault_of_struct<T>(Open{});
  else if constexpr (k == TreeKind::tuple || k == TreeKind::sequence || k == TreeKind::map || k == TreeKind::optional)
    return find_fault_in<Owner, Open>(decltype(elements_of(static_cast<const T*>(nullptr))){});
  else
    return NoFault{};
}
template <class T>
using fault_of = decltype(find_fault<void, TypeList<>, std::remove_cvref_t<T>>());

template <class Owner, class T, TreeFault fault>
constexpr void report_fault(FoundFault<Owner, T, fault>) {
  static_assert(
      fault != TreeFault::arithmetic,
      "fx: a floating-point or integer member of a pytree must be fx::Array (traced), a template parameter, or "
      "fx::Static<T> (part of the key)");
  static_assert(fault != TreeFault::base,
                "fx: a pytree aggregate may not have base classes; make the base a member, or see fx/hana.hpp");
  static_assert(fault != TreeFault::c_array, "fx: C-array members are not supported in pytrees; use std::array");
  static_assert(fault != TreeFault::fields,
                "fx: a pytree aggregate may have at most 32 members; group some in a struct");
  static_assert(fault != TreeFault::map_key,
                "fx: the keys of a std::map in a pytree must be std::string, integers or enums");
  static_assert(fault != TreeFault::fx_key,
                "fx: fx::Static<T> of this T needs a function void fx_key(fx::Str&, const T&) beside T, which appends "
                "all that tells two values apart");
  static_assert(fault != TreeFault::type,
                "fx: no part of a pytree: use fx::Array, fx::Key, std::tuple, pair, array, vector, optional or map of "
                "them, a struct without constructors, private, const or reference members, an enum, std::string or "
                "fx::Static<T>; fx/hana.hpp takes classes that list their members");
}

}  // namespace detail

// Arrays and Keys in containers and plain structs, with static members between them.
template <class T>
concept Pytree = std::is_same_v<detail::fault_of<T>, detail::NoFault>;

// A compile error that says what to change, where T is no pytree.
template <class T>
constexpr void check_tree() {
  detail::report_fault(detail::fault_of<T>{});
}

}  // namespace fx::inline v0
