// hana.hpp -- Boost.Hana's tuples, pairs, optionals and adapted structs as pytrees: an optional border, not in fx.hpp.
//
//   struct Model : Base {  // what plain reflection does not take: base classes, constructors, private members
//     BOOST_HANA_DEFINE_STRUCT(Model, (fx::Array, w), (fx::Array, b));
//     explicit Model(int width);
//   };
//   Model gradient = fx::grad(loss)(model, x);  // the leaves have the paths "w" and "b"
//
// A struct adapted by BOOST_HANA_DEFINE_STRUCT, BOOST_HANA_ADAPT_STRUCT, BOOST_HANA_ADAPT_ADT (with getters that return
// references) or by hand is a pytree of the members it lists, in that order. Those of a base count if they are listed;
// a struct that has only the list of its base is no pytree. What is not listed is copied along, and no jit sees it
// change. Include this header where the struct is adapted, so that it is one tree in every file. Of Hana it takes
// little more than names: include what you use.
#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/fwd/at.hpp>
#include <boost/hana/fwd/first.hpp>
#include <boost/hana/fwd/optional.hpp>
#include <boost/hana/fwd/pair.hpp>
#include <boost/hana/fwd/second.hpp>
#include <boost/hana/fwd/tuple.hpp>

#include "pytree.hpp"

namespace fx::inline v0 {
namespace detail {
namespace hana = boost::hana;

// Whether T has no list of members of its own, but that of its base class B.
template <class B, class T>
concept ListsFor =
    !std::is_same_v<T, B> && std::is_same_v<typename T::hana_accessors_impl, typename B::hana_accessors_impl>;
// Whether the accessor A of T is from such a list.
template <class T, class A>
inline constexpr bool is_inherited = false;
template <class T, template <class P, P> class Member, class M, ListsFor<T> B, M B::*p>
inline constexpr bool is_inherited<T, Member<M B::*, p>> = true;

// Whether the accessor A leads to a member of T itself, and not to a copy of it.
template <class T, class A>
inline constexpr bool is_member =
    !is_inherited<T, A> && std::is_lvalue_reference_v<decltype(A{}(std::declval<T&>()))> &&
    std::is_lvalue_reference_v<decltype(A{}(std::declval<const T&>()))>;

// The pairs of name and accessor that Hana has of T.
template <class T>
using HanaPairs = decltype(hana::accessors<hana::tag_of_t<T>>());
template <class T, class Pairs>
struct HanaMembers;
template <class T, class... Name, class... Get>
struct HanaMembers<T, hana::tuple<hana::pair<Name, Get>...>> {
  static constexpr bool usable = (is_member<T, Get> && ...);
  using elements = TypeList<std::remove_reference_t<decltype(Get{}(std::declval<T&>()))>...>;

  template <class C, class V>
  static constexpr void walk([[maybe_unused]] C& c, V& v) {
    TreeGroup g{'{', '}', int(sizeof...(Get)), false, true};
    if constexpr (V::names) g.name = type_name<T>();
    v.open(g);
    (walk_member<Name>(Get{}(c), v, g), ...);
    v.close(g);
  }
  template <class N, class M, class V>
  static constexpr void walk_member(M& m, V& v, [[maybe_unused]] const TreeGroup& g) {
    if constexpr (V::names) v.field(g, N::c_str());
    walk_tree(m, v);
  }
};
template <class T>
concept HanaStruct = hana::Struct<T>::value && HanaMembers<T, HanaPairs<T>>::usable;

// The elements of a tuple or pair, each found by at(index).
template <class V, class At, std::size_t... I>
constexpr void walk_product(V& v, [[maybe_unused]] At at, std::index_sequence<I...>) {
  constexpr TreeGroup g{'(', ')', int(sizeof...(I))};
  v.open(g);
  ((v.index(g, int(I)), walk_tree(at(std::integral_constant<std::size_t, I>{}), v)), ...);
  v.close(g);
}
}  // namespace detail

template <detail::HanaStruct T>
struct TreeAdapter<T> : detail::HanaMembers<T, detail::HanaPairs<T>> {};

// (*, *), with the paths [0], [1], as of a std::tuple.
template <class... T>
struct TreeAdapter<boost::hana::tuple<T...>> {
  using elements = detail::TypeList<T...>;
  template <class C, class V>
  static constexpr void walk(C& c, V& v) {
    using Tag = boost::hana::tag_of_t<C>;
    const auto at = [&c](auto i) -> auto& { return boost::hana::at_impl<Tag>::apply(c, i); };
    detail::walk_product(v, at, std::index_sequence_for<T...>{});
  }
};
template <class A, class B>
struct TreeAdapter<boost::hana::pair<A, B>> {
  using elements = detail::TypeList<A, B>;
  template <class C, class V>
  static constexpr void walk(C& c, V& v) {
    using Tag = boost::hana::tag_of_t<C>;
    const auto at = [&c](auto i) -> auto& {
      if constexpr (i == 0)
        return boost::hana::first_impl<Tag>::apply(c);
      else
        return boost::hana::second_impl<Tag>::apply(c);
    };
    detail::walk_product(v, at, std::make_index_sequence<2>{});
  }
};

// As a std::optional, but whether it holds something is part of the type.
template <class... T>
struct TreeAdapter<boost::hana::optional<T...>> {
  using elements = detail::TypeList<T...>;
  static constexpr bool nested = ((detail::tree_kind<T> == detail::TreeKind::optional) || ...);
  template <class C, class V>
  static constexpr void walk([[maybe_unused]] C& c, V& v) {
    if constexpr (sizeof...(T) == 0)
      v.absent();
    else {
      v.present(nested);
      detail::walk_tree(c.value(), v);
    }
  }
};

}  // namespace fx::inline v0
