// base/atom.hpp -- Atom: a static value (a number, an enum, a text) as canonical text and as part of a hash.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include "fp.hpp"
#include "fp_text.hpp"
#include "str.hpp"

namespace fx::inline v0 {
namespace detail {

// The user's way to make a type static: void fx_key(fx::Str&, const T&) appends all that tells two values apart.
template <class T>
concept HasFxKey = requires(Str& out, const T& v) {
  fx_key(out, v);
};
// What needs no fx_key.
template <class T>
inline constexpr bool is_atom = std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
                                std::is_same_v<T, float> || std::is_same_v<T, double>;

// The value, whatever its type.
struct Atom {
  enum class Is : char { signed_, unsigned_, boolean, real, text } is;
  bool fixed = false;      // came in a Static<T>
  std::uint64_t bits = 0;  // of the number; a float as a double
  std::string_view text = {};
  void (*put_real)(Str&, std::uint64_t) = nullptr;  // a pointer, so that only who has a real one compiles put_float
};
template <class T>
constexpr void put_real(Str& out, std::uint64_t bits) {
  fp::put_float(out, T(__builtin_bit_cast(double, bits)));
}

// room: for the text of a user's fx_key.
template <class T>
constexpr Atom atom_of(const T& v, [[maybe_unused]] Str& room) {
  if constexpr (std::is_enum_v<T>)
    return atom_of(static_cast<std::underlying_type_t<T>>(v), room);
  else if constexpr (std::is_same_v<T, bool>)
    return {.is = Atom::Is::boolean, .bits = v};
  else if constexpr (std::is_integral_v<T>)
    return {.is = std::is_signed_v<T> ? Atom::Is::signed_ : Atom::Is::unsigned_, .bits = std::uint64_t(v)};
  else if constexpr (std::is_floating_point_v<T>)
    return {.is = Atom::Is::real,
            .bits = fp::bits(v == v ? double(v) : fp::Format<double>::nan()),  // all NaNs are one
            .put_real = put_real<T>};
  else if constexpr (std::is_same_v<T, std::string>)
    return {.is = Atom::Is::text, .text = v};
  else {
    fx_key(room, v);
    return {.is = Atom::Is::text, .text = room.view()};
  }
}

constexpr void print_quoted(Str& out, std::string_view s) {
  out += '"';
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}
constexpr void print_atom(Str& out, const Atom& a) {
  if (a.fixed) out += "Static(";
  switch (a.is) {
    case Atom::Is::signed_: out.num(std::int64_t(a.bits)); break;
    case Atom::Is::unsigned_: out.num_u(a.bits); break;
    case Atom::Is::boolean: out += a.bits ? "true" : "false"; break;
    case Atom::Is::real: a.put_real(out, a.bits); break;
    case Atom::Is::text: print_quoted(out, a.text); break;
  }
  if (a.fixed) out += ')';
}

constexpr void mix_hash(std::uint64_t& h, std::uint64_t x) {
  h = (h ^ x) * 0x9e37'79b9'7f4a'7c15;
  h ^= h >> 32;
}
constexpr void mix_hash_text(std::uint64_t& h, std::string_view s) {
  mix_hash(h, s.size());
  for (char c : s) h = (h ^ std::uint8_t(c)) * 0x100'0000'01b3;
  h ^= h >> 32;
}
constexpr void mix_hash_atom(std::uint64_t& h, const Atom& a) {
  if (a.is == Atom::Is::text)
    mix_hash_text(h, a.text);
  else
    mix_hash(h, a.bits);
}

}  // namespace detail
}  // namespace fx::inline v0
