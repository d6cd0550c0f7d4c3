// array.hpp -- Array, the one value type of users: a buffer, or a variable of the function being traced.
#pragma once
#include <span>
#include <vector>

#include "array_subscript.hpp"

namespace fx::inline v0 {

class Array;
class At;

namespace detail {
// An operand of an operation: an Array or a C++ scalar, with the user's line.
struct Operand {
  const Array* array = nullptr;
  bool scalar = false;
  DType dtype = DType::f64;  // of a scalar
  std::uint64_t bits = 0;
  Loc loc;
  constexpr Operand(const Array& a, Loc l = Loc::here()) : array(&a), loc(l) {}
  template <Element T>
  constexpr Operand(T v, Loc l = Loc::here()) : scalar(true), dtype(dtype_of<T>), bits(to_bits(v)), loc(l) {}
  constexpr bool is_scalar() const { return scalar; }
};
constexpr const Node& node(const Array& a, Loc loc = {});
}  // namespace detail

// An n-dimensional array of one dtype, or what stands for it while a function is traced. A value: copies share memory
// and never change each other. An Array that was moved from, or default-constructed, is empty: using it is an Error
// (state).
class Array {
 public:
  constexpr Array() = default;
  // A scalar: f64 of a double, i32 of an int, ... (dtype_of<T>).
  template <Element T>
  constexpr Array(T value, Loc loc = Loc::here());
  // A vector of the elements.
  template <Element T>
  Array(const std::vector<T>& values, Loc loc = Loc::here());
  template <class T, std::size_t N>
  requires Element<std::remove_const_t<T>>
  explicit Array(std::span<T, N> values, Loc loc = Loc::here());
  // The elements in row-major order under a shape. Errors (shape): another number of elements.
  template <Element T>
  Array(const std::vector<T>& values, const Dims& shape, Loc loc = Loc::here());

  constexpr explicit Array(detail::NodeRef n) : node_(std::move(n)) {}

  constexpr bool empty() const { return !node_; }
  constexpr const Type& type(Loc loc = Loc::here()) const { return detail::node(*this, loc).type; }
  constexpr DType dtype(Loc loc = Loc::here()) const { return type(loc).dtype; }
  constexpr const Dims& shape(Loc loc = Loc::here()) const { return type(loc).dims; }
  constexpr int rank(Loc loc = Loc::here()) const { return type(loc).rank(); }
  // Number of elements. Errors (shape): a symbolic dimension.
  constexpr std::int64_t size(Loc loc = Loc::here()) const;

  // The value of a one-element Array as T. Errors: more elements (shape), traced (trace), empty (state).
  template <Element T>
  constexpr T item(Loc loc = Loc::here()) const;
  // All elements in row-major order. Errors: T is not the dtype (dtype), traced (trace), empty (state).
  template <Element T>
  std::vector<T> to_vector(Loc loc = Loc::here()) const;
  // The same memory, valid while this Array (or a copy) lives. Errors as to_vector. Not for bool of std::vector.
  template <Element T>
  std::span<const T> view(Loc loc = Loc::here()) const;

  // Reads a boolean scalar, so `if (x > 0)` works on concrete Arrays. Errors (trace): under a trace, where it names the
  // line that made the value and offers fx::where, fx::select and control flow.
  constexpr explicit operator bool() const;

  using Sub = const detail::Subscript&;
  // Reads: x(3), x(fx::slice(1, -1), fx::all), x(fx::ellipsis, fx::newaxis), x(indices). See numpy/indexing.hpp.
  constexpr Array operator()(Sub a, Sub b = detail::no_subscript, Sub c = detail::no_subscript,
                             Sub d = detail::no_subscript, Sub e = detail::no_subscript, Sub f = detail::no_subscript,
                             Sub g = detail::no_subscript, Sub h = detail::no_subscript,
                             Sub i = detail::no_subscript) const;
  // Writes: x.at(0, 3).set(1.0) is a new Array; in place for std::move(x).at(...) when nobody else holds x.
  constexpr At at(Sub a, Sub b = detail::no_subscript, Sub c = detail::no_subscript, Sub d = detail::no_subscript,
                  Sub e = detail::no_subscript, Sub f = detail::no_subscript, Sub g = detail::no_subscript,
                  Sub h = detail::no_subscript, Sub i = detail::no_subscript) const&;
  constexpr At at(Sub a, Sub b = detail::no_subscript, Sub c = detail::no_subscript, Sub d = detail::no_subscript,
                  Sub e = detail::no_subscript, Sub f = detail::no_subscript, Sub g = detail::no_subscript,
                  Sub h = detail::no_subscript, Sub i = detail::no_subscript) &&;

  using Op = const detail::Operand&;
  constexpr Array& operator+=(Op o);
  constexpr Array& operator-=(Op o);
  constexpr Array& operator*=(Op o);
  constexpr Array& operator/=(Op o);

  // Elementwise with NumPy's broadcasting. Dtypes must agree; a C++ scalar takes its partner's dtype.
  friend constexpr Array operator+(Op a, Op b);
  friend constexpr Array operator-(Op a, Op b);
  friend constexpr Array operator*(Op a, Op b);
  friend constexpr Array operator/(Op a, Op b);
  friend constexpr Array operator%(Op a, Op b);
  friend constexpr Array operator==(Op a, Op b);
  friend constexpr Array operator!=(Op a, Op b);
  friend constexpr Array operator<(Op a, Op b);
  friend constexpr Array operator<=(Op a, Op b);
  friend constexpr Array operator>(Op a, Op b);
  friend constexpr Array operator>=(Op a, Op b);
  friend constexpr Array operator&(Op a, Op b);
  friend constexpr Array operator|(Op a, Op b);
  friend constexpr Array operator^(Op a, Op b);
  // `&&` and `||` of Arrays would evaluate both sides: use & and |.
  friend Array operator&&(const Array&, const Array&) = delete;
  friend Array operator||(const Array&, const Array&) = delete;
  friend constexpr Array operator-(Op a);
  friend constexpr Array operator~(Op a);

 private:
  friend constexpr const detail::Node& detail::node(const Array& a, Loc loc);
  friend constexpr const detail::NodeRef& node_ref(const Array& a, Loc loc);
  detail::NodeRef node_;
};

constexpr const detail::NodeRef& node_ref(const Array& a, Loc loc = {}) {
  detail::node(a, loc);
  return a.node_;
}

namespace detail {
constexpr Subscript::Subscript(const Array& indices, Loc l) : kind(array), node(node_ref(indices, l)), loc(l) {}

constexpr const Node& node(const Array& a, Loc loc) {
  if (!a.node_) fail(ErrorCode::state, "this Array is empty: it was moved from, or never given a value", loc);
  return *a.node_;
}

// The bytes of a concrete node. Errors: traced or only a type.
const void* bytes(const Node& n, Loc loc);
// Element 0 of a node that can be read, as bits.
constexpr std::uint64_t first_element(const Node& n, Loc loc);
[[noreturn]] void fail_traced(const Node& n, std::string_view what, Loc loc);
[[noreturn]] void fail_leaked(const Node& n, Loc loc);
NodeRef concrete_node(const Type& t, const void* elements, Loc loc);
// The size of a static type. Errors (memory): it exceeds 2^62.
std::int64_t bytes_of(const Type& t, Loc loc);
// Turns a boolean or number into T.
template <Element T>
constexpr T element_as(DType d, std::uint64_t bits) {
  const int unused = 64 - 8 * size_of(d);
  if (in(d, only(i8) | only(i16))) return fp::convert<T>(std::int64_t(bits << unused) >> unused);
  if (in(d, only(u8) | only(u16))) return fp::convert<T>(bits);
  T r{};
  with_type<computed>(d, [&]<class U>() { r = fp::convert<T>(from_bits<U>(bits)); });
  return r;
}
// A concrete scalar.
constexpr NodeRef scalar_node(DType d, std::uint64_t bits, Loc loc) {
  if (!FX_CONSTANT_EVALUATED()) return concrete_node(Type{d, {}}, &bits, loc);  // little-endian
  NodeRef n = make_node(Node::concrete, Type{d, {}}, loc);
  n->elements.push_back(bits);
  return n;
}
}  // namespace detail

template <Element T>
constexpr Array::Array(T value, Loc loc) : node_(detail::scalar_node(dtype_of<T>, detail::to_bits(value), loc)) {}

template <Element T>
Array::Array(const std::vector<T>& values, const Dims& shape, Loc loc) {
  if (numel(shape) != std::int64_t(values.size())) {
    Str s("");
    s.num(std::int64_t(values.size())) += " elements do not fill the shape ";
    put(s, shape);
    fail(ErrorCode::shape, s, loc);
  }
  if constexpr (__is_same(T, bool)) {
    Vec<std::uint8_t> plain;
    for (bool b : values) plain.push_back(b);
    node_ = detail::concrete_node({boolean, shape}, plain.data(), loc);
  } else {
    node_ = detail::concrete_node({dtype_of<T>, shape}, values.data(), loc);
  }
}
template <Element T>
Array::Array(const std::vector<T>& values, Loc loc) : Array(values, Dims{std::int64_t(values.size())}, loc) {}
template <class T, std::size_t N>
requires Element<std::remove_const_t<T>> Array::Array(std::span<T, N> values, Loc loc)
    : node_(detail::concrete_node({dtype_of<std::remove_const_t<T>>, Dims{std::int64_t(values.size())}}, values.data(),
                                  loc)) {}

constexpr std::int64_t Array::size(Loc loc) const {
  const Type& t = type(loc);
  if (!t.is_static()) {
    Str s("size(): ");
    put(s, t);
    s += " has a symbolic dimension";
    fail(ErrorCode::shape, s, loc);
  }
  return numel(t);
}

template <Element T>
constexpr T Array::item(Loc loc) const {
  const detail::Node& n = detail::node(*this, loc);
  if (n.kind != detail::Node::concrete) detail::fail_traced(n, "item()", loc);
  if (numel(n.type) != 1) {
    Str s("item() reads Arrays of one element, got ");
    put(s, n.type);
    fail(ErrorCode::shape, s, loc);
  }
  return detail::element_as<T>(n.type.dtype, detail::first_element(n, loc));
}

template <Element T>
std::span<const T> Array::view(Loc loc) const {
  const detail::Node& n = detail::node(*this, loc);
  const void* p = detail::bytes(n, loc);
  if (n.type.dtype != dtype_of<T>) {
    Str s("this Array has dtype ");
    s += name(n.type.dtype);
    s += " and is read as ";
    s += name(dtype_of<T>);
    s += "; use fx::convert first";
    fail(ErrorCode::dtype, s, loc);
  }
  return {static_cast<const T*>(p), std::size_t(numel(n.type))};
}
template <Element T>
std::vector<T> Array::to_vector(Loc loc) const {
  const std::span<const T> v = view<T>(loc);
  return std::vector<T>(v.begin(), v.end());
}

constexpr Array::operator bool() const {
  const detail::Node& n = detail::node(*this);
  if (n.kind != detail::Node::concrete) detail::fail_traced(n, "if", n.where);
  if (numel(n.type) != 1) {
    Str s("an Array used as a condition needs one element, got ");
    put(s, n.type);
    s += "; reduce it with np::all or np::any";
    fail(ErrorCode::shape, s, n.where);
  }
  return detail::element_as<bool>(n.type.dtype, detail::first_element(n, n.where));
}

// An Array of which only the type is known: for make_jaxpr, eval_shape and lower.
// Errors (shape): a negative size.
constexpr Array spec(const Type& t, Loc loc = Loc::here()) {
  for (int i = 0; i < t.rank(); ++i) {
    if (!t.dims.dim(i).is_negative()) continue;
    Str s("size ");
    (s.num(t.dims[i]) += " of axis ").num(i) += " of a spec is negative";
    fail(ErrorCode::shape, s, loc);
  }
  return Array(detail::make_node(detail::Node::spec, t, loc));
}

namespace detail {
constexpr std::uint64_t first_element(const Node& n, Loc loc) {
  if (FX_CONSTANT_EVALUATED()) return n.elements[0];
  const void* p = bytes(n, loc);
  std::uint64_t r = 0;
  __builtin_memcpy(&r, p, std::size_t(size_of(n.type.dtype)));
  return r;
}

#if FX_BODIES
FX_INLINE void fail_leaked(const Node& n, Loc loc) {
  Str s("a traced value (");
  put(s, n.type);
  s += ") left the function it was traced in (";
  s += n.token->where.file;
  s += ':';
  s.num(n.token->where.line) += "); return it from that function instead of storing it outside";
  fail(ErrorCode::trace, s, loc);
}
FX_INLINE void fail_traced(const Node& n, std::string_view what, Loc loc) {
  if (n.kind == Node::traced && !n.token->open) fail_leaked(n, loc);
  Str s(what);
  if (n.kind == Node::spec) {
    s += ": this Array is only a type (";
    put(s, n.type);
    s += "), it has no value";
    fail(ErrorCode::state, s, loc);
  }
  s += ": the value is traced (";
  put(s, n.type);
  s += "), it exists only when the traced function runs. ";
  if (what == "if")
    s += "Use fx::where for elements, fx::cond or fx::while_loop for control flow, or make the condition a static "
         "argument";
  else
    s += "Return it from the function and read it outside";
  fail(ErrorCode::trace, s, loc);
}
FX_INLINE const void* bytes(const Node& n, Loc loc) {
  if (n.kind != Node::concrete) fail_traced(n, "reading a value", loc);
  return n.storage ? n.storage->data : nullptr;
}
FX_INLINE std::int64_t bytes_of(const Type& t, Loc loc) {
  const std::int64_t count = numel(t), size = count < 0 ? count : checked_mul(count, size_of(t.dtype));
  if (size >= 0) return size;
  Str s("an Array of type ");
  put(s, t);
  s += " is too large";
  fail(ErrorCode::memory, s, loc);
}
FX_INLINE NodeRef concrete_node(const Type& t, const void* elements, Loc loc) {
  const std::int64_t size = bytes_of(t, loc);
  NodeRef n = make_node(Node::concrete, t, loc);
  n->storage = at_line(loc, [&] { return allocate(size); });
  if (size && elements) __builtin_memcpy(n->storage->data, elements, std::size_t(size));
  return n;
}
#endif
}  // namespace detail

}  // namespace fx::inline v0
