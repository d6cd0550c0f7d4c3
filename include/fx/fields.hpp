// fields.hpp -- reflection of plain aggregates without a macro: how many fields, the fields themselves, their names.
#pragma once
#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "config.hpp"

namespace fx::inline v0 {
namespace detail {

inline constexpr int max_fields = 32;

// Stands for an initializer of any type, so no brace elision happens (C arrays excepted: nothing converts to them).
// Never converts to the aggregate T itself, which would be a copy and not a field. `volatile` makes the conversion
// worse than the constructor of a member that takes everything, or the two would be ambiguous. Never called, but
// defined: the constructor of std::optional names it, and clang warns of undefined names.
template <class T>
struct AnyField {
  template <class M>
  requires(!std::is_same_v<M, T>) operator M() const volatile noexcept { __builtin_trap(); }
};
// Converts to base classes of T only; AnyNothing to nothing, which tells a greedy member from a base.
template <class T>
struct AnyBase {
  template <class M>
  requires(!std::is_same_v<M, T> && std::is_base_of_v<M, T>) operator M() const volatile noexcept { __builtin_trap(); }
};
template <class T>
struct AnyNothing {};

template <class T, std::size_t>
AnyField<T> any_field();

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{any_field<T, I>()...}; };
}
template <class T, class First, std::size_t... I>
constexpr bool takes_first(std::index_sequence<I...>) {
  return requires { T{First{}, any_field<T, I>()...}; };
}
template <class T, std::size_t... I, std::size_t... J>
constexpr bool takes_braces(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{any_field<T, I>()..., {}, any_field<T, J>()...}; };
}

// The number of initializers that T takes at most. From below, because a field that has no default constructor makes
// small numbers fail too; max_fields + 1 says too many, -1 that no number fits.
template <class T, int n = 0, bool found = false>
constexpr int count_initializers() {
  constexpr bool fits = takes<T>(std::make_index_sequence<std::size_t(n)>{});
  if constexpr (found && !fits)
    return n - 1;
  else if constexpr (n > max_fields)
    return fits ? n : -1;
  else
    return count_initializers<T, n + 1, fits>();
}

// The number of fields (and base classes) of the aggregate T, where has_c_array<T> is false.
template <class T>
inline constexpr int field_count = count_initializers<T>();

// A base class is the first element of an aggregate.
template <class T>
constexpr bool find_base() {
  if constexpr (field_count<T> < 1)
    return false;
  else {
    constexpr auto rest = std::make_index_sequence<std::size_t(field_count<T> - 1)>{};
    return takes_first<T, AnyBase<T>>(rest) && !takes_first<T, AnyNothing<T>>(rest);
  }
}
template <class T>
inline constexpr bool has_base = find_base<T>();

// {} initializes one whole field. If it stands at i and fewer initializers fit behind it than fit behind an AnyField,
// that field takes several AnyFields: a C array.
template <class T, std::size_t i, std::size_t rest, bool all = true>
constexpr bool is_c_array_at() {
  constexpr bool fits = takes_braces<T>(std::make_index_sequence<i>{}, std::make_index_sequence<rest>{});
  if constexpr (fits)
    return !all;
  else if constexpr (rest == 0)
    return false;
  else
    return is_c_array_at<T, i, rest - 1, false>();
}
template <class T, std::size_t... I>
constexpr bool find_c_array(std::index_sequence<I...>) {
  return (is_c_array_at<T, I, sizeof...(I) - 1 - I>() || ...);
}
// True if a field is a C array of two or more elements (one of one element is found by its type).
template <class T>
inline constexpr bool has_c_array =
    field_count<T> >= 2 &&
    find_c_array<T>(std::make_index_sequence<std::size_t(field_count<T> < 2 ? 0 : field_count<T>)>{});

// Whether apply_fields can take T apart.
template <class T>
constexpr bool can_reflect() {
  if constexpr (!std::is_aggregate_v<T> || std::is_union_v<T> || std::is_array_v<T>)
    return false;
  else if constexpr (field_count<T> < 0 || field_count<T> > max_fields)
    return false;
  else
    return !has_base<T> && !has_c_array<T>;
}

#define FX_M8 m0, m1, m2, m3, m4, m5, m6, m7
#define FX_M16 FX_M8, m8, m9, m10, m11, m12, m13, m14, m15
#define FX_M24 FX_M16, m16, m17, m18, m19, m20, m21, m22, m23
#define FX_FIELDS(n, ...)                   \
  else if constexpr (count == n) {          \
    auto& [__VA_ARGS__] = x;                \
    return std::forward<F>(f)(__VA_ARGS__); \
  }

// f(field, field, ...): what everything else here is made of. T may be const.
template <class T, class F>
constexpr decltype(auto) apply_fields(T& x, F&& f) {
  constexpr int count = field_count<std::remove_const_t<T>>;
  static_assert(count >= 0 && count <= max_fields, "fx: a struct with more than 32 fields");
  // clang-format off
  if constexpr (count == 0) return std::forward<F>(f)();
  FX_FIELDS(1, m0)
  FX_FIELDS(2, m0, m1)
  FX_FIELDS(3, m0, m1, m2)
  FX_FIELDS(4, m0, m1, m2, m3)
  FX_FIELDS(5, m0, m1, m2, m3, m4)
  FX_FIELDS(6, m0, m1, m2, m3, m4, m5)
  FX_FIELDS(7, m0, m1, m2, m3, m4, m5, m6)
  FX_FIELDS(8, FX_M8)
  FX_FIELDS(9, FX_M8, m8)
  FX_FIELDS(10, FX_M8, m8, m9)
  FX_FIELDS(11, FX_M8, m8, m9, m10)
  FX_FIELDS(12, FX_M8, m8, m9, m10, m11)
  FX_FIELDS(13, FX_M8, m8, m9, m10, m11, m12)
  FX_FIELDS(14, FX_M8, m8, m9, m10, m11, m12, m13)
  FX_FIELDS(15, FX_M8, m8, m9, m10, m11, m12, m13, m14)
  FX_FIELDS(16, FX_M16)
  FX_FIELDS(17, FX_M16, m16)
  FX_FIELDS(18, FX_M16, m16, m17)
  FX_FIELDS(19, FX_M16, m16, m17, m18)
  FX_FIELDS(20, FX_M16, m16, m17, m18, m19)
  FX_FIELDS(21, FX_M16, m16, m17, m18, m19, m20)
  FX_FIELDS(22, FX_M16, m16, m17, m18, m19, m20, m21)
  FX_FIELDS(23, FX_M16, m16, m17, m18, m19, m20, m21, m22)
  FX_FIELDS(24, FX_M24)
  FX_FIELDS(25, FX_M24, m24)
  FX_FIELDS(26, FX_M24, m24, m25)
  FX_FIELDS(27, FX_M24, m24, m25, m26)
  FX_FIELDS(28, FX_M24, m24, m25, m26, m27)
  FX_FIELDS(29, FX_M24, m24, m25, m26, m27, m28)
  FX_FIELDS(30, FX_M24, m24, m25, m26, m27, m28, m29)
  FX_FIELDS(31, FX_M24, m24, m25, m26, m27, m28, m29, m30)
  FX_FIELDS(32, FX_M24, m24, m25, m26, m27, m28, m29, m30, m31)
  // clang-format on
}
#undef FX_FIELDS
#undef FX_M24
#undef FX_M16
#undef FX_M8

// The fields as a tuple of references.
template <class T>
constexpr auto tie_fields(T& x) {
  return apply_fields(x, [](auto&... m) { return std::tie(m...); });
}

template <class... M>
struct TypeList {};
struct TypeListOf {
  template <class... M>
  constexpr TypeList<M...> operator()(M&...) const {
    return {};
  }
};
// TypeList<M...>: the types of the fields.
template <class T>
using field_types = decltype(apply_fields(std::declval<T&>(), TypeListOf{}));

// An object of type T that is never made, for the addresses of its fields: a name with an address is a template
// argument that the compiler prints. Not `extern const T`: types of functions and unnamed namespaces may not be
// declared so.
template <class T>
union Unmade {
  char none;
  T made;
  constexpr Unmade() : none() {}
  constexpr ~Unmade() {}
};
#ifdef __clang__  // clang 14: std::string and std::map are no literal types, so neither is this union
template <class T>
[[clang::no_destroy]] inline constinit const Unmade<T> unmade{};
#else
template <class T>
inline constexpr Unmade<T> unmade{};
#endif

template <class M>
struct FieldAt {  // clang before 18 takes no pointer to a subobject as template argument, but a struct that holds one
  const M* p;
};
template <int i>
struct PickField {
  template <class A, class... R>
  constexpr auto operator()(const A& a, const R&... r) const {
    if constexpr (i == 0)
      return FieldAt<A>{&a};
    else
      return PickField<i - 1>{}(r...);
  }
};

// The compiler's texts for a type and for a field. Not std::string_view: g++ then appends what that is an alias of.
template <class T>
constexpr const char* pretty_type() {
  return __PRETTY_FUNCTION__;
}
template <class P, P p>
constexpr const char* pretty_field() {
  return __PRETTY_FUNCTION__;
}

constexpr bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c < 0;
}
// The identifier that s ends with, maybe empty.
constexpr std::string_view last_identifier(std::string_view s) {
  std::size_t from = s.size();
  while (from > 0 && is_identifier(s[from - 1])) --from;
  return s.substr(from);
}
// "... P = FieldAt<M>{(& unmade<S>.Unmade<S>::made.S::field)}]" (g++), "... P = {&unmade.made.field}]" (clang).
constexpr std::string_view parse_field(std::string_view s) {
  while (!s.empty() && !is_identifier(s.back())) s.remove_suffix(1);
  return last_identifier(s);
}
// "... T = ns::Name<args>]": the name without namespaces and arguments; empty for a lambda.
constexpr std::string_view parse_type(std::string_view s) {
  s.remove_suffix(1);
  int depth = 0;
  while (!s.empty() && (depth > 0 || s.back() == '>' || s.back() == ' ')) {
    depth += s.back() == '>' ? 1 : s.back() == '<' ? -1 : 0;
    s.remove_suffix(1);
  }
  return last_identifier(s);
}

// A name of its own, so that the compiler's long text needs no place in the program.
template <std::size_t n>
struct FieldName {
  char c[n + 1]{};
  constexpr explicit FieldName(std::string_view s) {
    for (std::size_t i = 0; i < n; ++i) c[i] = s[i];
  }
  constexpr std::string_view view() const { return {c, n}; }
};
template <class T>
inline constexpr auto stored_type_name = FieldName<parse_type(pretty_type<T>()).size()>(parse_type(pretty_type<T>()));

// The name of T without namespaces and template arguments: for messages, it identifies nothing.
template <class T>
constexpr std::string_view type_name() {
  return stored_type_name<T>.view();
}

template <class T, int i>
constexpr auto store_field_name() {
  constexpr auto at = apply_fields(unmade<T>.made, PickField<i>{});
  constexpr std::string_view name = parse_field(pretty_field<std::remove_const_t<decltype(at)>, at>());
  return FieldName<name.size()>(name);
}
template <class T, int i>
inline constexpr auto stored_field_name = store_field_name<T, i>();

template <class T, int... I>
constexpr auto make_field_names(std::integer_sequence<int, I...>) {
  return std::array<std::string_view, sizeof...(I)>{stored_field_name<T, I>.view()...};
}
// The names of the fields of T, in order.
template <class T>
inline constexpr auto field_names = make_field_names<T>(std::make_integer_sequence<int, field_count<T>>{});

}  // namespace detail
}  // namespace fx::inline v0
