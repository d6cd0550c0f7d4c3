// numpy/list.hpp -- np::array: an Array from nested lists of numbers, in their own dtype.
#pragma once
#include "axes.hpp"

namespace fx::inline v0 {

namespace detail {
template <class T>
constexpr NodeRef list_node(const Dims& shape, const Vec<T>& elements, Loc loc) {
  if (!FX_CONSTANT_EVALUATED()) return concrete_node({dtype_of<T>, shape}, elements.data(), loc);
  NodeRef n = make_node(Node::concrete, {dtype_of<T>, shape}, loc);
  for (const T& v : elements) n->elements.push_back(to_bits(v));
  return n;
}

// Collects the numbers of nested lists and their shape. Errors (shape): lists of different lengths.
template <class T>
struct ListReader {
  Loc loc;
  Vec<T> elements = {};
  Dims shape = {};

  constexpr void length(int depth, std::size_t n) {
    if (shape.n == depth) shape.push_back(std::int64_t(n));
    if (shape[depth] == std::int64_t(n)) return;
    Str s("np::array: lists of ");
    s.num(shape[depth]) += " and ";
    s.num(std::int64_t(n)) += " elements side by side; rows must have one length";
    fail(ErrorCode::shape, s, loc);
  }
  constexpr void read(int, T v) { elements.push_back(v); }
  template <class L>
  constexpr void read(int depth, std::initializer_list<L> list) {
    length(depth, list.size());
    for (const L& v : list) read(depth + 1, v);
  }
  constexpr Array result(const MaybeDType& d) const {
    Array a(list_node(shape, elements, loc));
    if (!d.given || d.d == dtype_of<T>) return a;
    return convert(Operand(a, loc), d.d);
  }
};
template <class T, class L>
constexpr Array from_list(std::initializer_list<L> list, const MaybeDType& d, Loc loc) {
  ListReader<T> r{loc};
  r.read(0, list);
  return r.result(d);
}
}  // namespace detail

namespace numpy {

// array({1.0, 2.0}) is f64, array({{1, 2}, {3, 4}}) i32, array({true}) bool: the dtype of the numbers, unless said.
// Errors (shape): rows of different lengths.
template <Element T>
constexpr Array array(std::initializer_list<T> list, detail::MaybeDType dtype = {}, Loc where = Loc::here()) {
  return detail::from_list<T>(list, dtype, where);
}
template <Element T>
constexpr Array array(std::initializer_list<std::initializer_list<T>> list, detail::MaybeDType dtype = {},
                      Loc where = Loc::here()) {
  return detail::from_list<T>(list, dtype, where);
}
template <Element T>
constexpr Array array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> list,
                      detail::MaybeDType dtype = {}, Loc where = Loc::here()) {
  return detail::from_list<T>(list, dtype, where);
}

}  // namespace numpy
}  // namespace fx::inline v0
