// xtensor.hpp -- Arrays from xtensor's expressions, and back as its containers and views: an optional border, not in
// fx.hpp, to which xtensor adds about 0.7 seconds a file.
//
//   fx::Array a = fx::from_xtensor(xt::transpose(m) * 2.0);
//   xt::xtensor<double, 2> t = fx::to_xtensor<double, 2>(a);
//   double s = xt::sum(fx::xview<double>(a))();
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#if __has_include(<xtensor/containers/xarray.hpp>)  // since xtensor 0.26
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xbuffer_adaptor.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>
#include <xtensor/xtensor.hpp>
#endif

#include "operators.hpp"

namespace fx::inline v0 {
namespace detail {

// A shape as xtensor has it, for containers and views of static rank, or of any rank for -1.
template <int rank>
struct XtensorKind {
  using Shape = std::array<std::size_t, std::size_t(rank)>;
  template <class T>
  using Container = xt::xtensor<T, std::size_t(rank), xt::layout_type::row_major>;
  template <class Data>
  using View = xt::xtensor_adaptor<Data, std::size_t(rank), xt::layout_type::row_major>;
};
template <>
struct XtensorKind<-1> {
  using Shape = xt::dynamic_shape<std::size_t>;
  template <class T>
  using Container = xt::xarray<T, xt::layout_type::row_major>;
  template <class Data>
  using View = xt::xarray_adaptor<Data, xt::layout_type::row_major, Shape>;
};

[[noreturn]] inline void fail_rank(std::string_view who, const Type& t, int rank, Loc where) {
  Str s(who);
  s += ": the Array is ";
  put(s, t);
  s += ", of rank ";
  s.num(t.rank()) += ", and rank ";
  s.num(rank) += " is asked for";
  fail(ErrorCode::shape, s, where);
}
template <int rank>
auto xtensor_shape(std::string_view who, const Type& t, Loc where) {
  typename XtensorKind<rank>::Shape r{};
  if constexpr (rank < 0)
    r.resize(std::size_t(t.rank()));
  else if (rank != t.rank())
    fail_rank(who, t, rank, where);
  std::copy(t.dims.begin(), t.dims.end(), r.begin());
  return r;
}

template <class Shape>
Type type_of_xtensor(DType d, const Shape& shape, Loc where) {
  if (shape.size() > std::size_t(max_rank)) {
    Str s("from_xtensor: the expression has ");
    s.num(std::int64_t(shape.size())) += " dimensions, and an Array at most ";
    s.num(max_rank) += "; merge some with xt::reshape_view";
    fail(ErrorCode::shape, s, where);
  }
  Type t{d, {}};
  for (std::size_t i = 0; i < shape.size(); ++i) t.dims.push_back(std::int64_t(shape[i]));
  return t;
}

// What a view holds beside the pointer; xtensor keeps in this place whatever can be called.
struct KeepArray {
  Array kept;
  void operator()() const {}
};

}  // namespace detail

// The value of an expression, container or view of any layout as an Array of its own, with the dtype of its value_type
// (a compile error for others than bool, integers, float and double). Under a trace it is a constant, as every Array
// from outside. Errors (shape): more than 8 dimensions.
template <class E>
Array from_xtensor(const xt::xexpression<E>& expression, Loc where = Loc::here()) {
  using T = std::remove_cv_t<typename E::value_type>;
  static_assert(Element<T>,
                "fx: from_xtensor takes bool, integers of 8 to 64 bits (not char), float and double: use xt::cast");
  if constexpr (Element<T>) {
    using Data = xt::xbuffer_adaptor<T*>;
    const E& e = expression.derived_cast();
    const Type t = detail::type_of_xtensor(dtype_of<T>, e.shape(), where);
    detail::NodeRef n = detail::concrete_node(t, nullptr, where);
    const std::int64_t size = numel(t);
    if (size > 0) {
      typename detail::XtensorKind<-1>::View<Data> to(Data(static_cast<T*>(n->storage->data), std::size_t(size)),
                                                      detail::xtensor_shape<-1>("", t, where));
      to.assign(e);
    }
    return Array(std::move(n));
  }
}

// A copy as xt::xarray<T>, or with a rank as xt::xtensor<T, rank>; row-major. Errors: T is not the dtype (dtype),
// traced (trace), empty or a spec (state), another rank (shape).
template <Element T, int rank = -1>
auto to_xtensor(const Array& a, Loc where = Loc::here()) {
  const std::span<const T> from = a.view<T>(where);
  typename detail::XtensorKind<rank>::template Container<T> r(
      detail::xtensor_shape<rank>("to_xtensor", a.type(where), where));
  std::copy(from.begin(), from.end(), r.data());
  return r;
}

// The Array as an xtensor expression to read, without a copy: the adaptor that xt::adapt makes of a pointer to const,
// for any rank or with the static one. It keeps the memory alive and unchanged, also after the Array itself is gone,
// and its copies do; but an expression made of a named view holds it by reference, as it would an xt::xarray. Errors as
// to_xtensor.
template <Element T, int rank = -1>
auto xview(const Array& a, Loc where = Loc::here()) {
  using Data = xt::xbuffer_adaptor<const T*, xt::smart_ownership, detail::KeepArray>;
  const std::span<const T> from = a.view<T>(where);
  return typename detail::XtensorKind<rank>::template View<Data>(
      Data(from.data(), from.size(), detail::KeepArray{a}), detail::xtensor_shape<rank>("xview", a.type(where), where));
}

}  // namespace fx::inline v0
