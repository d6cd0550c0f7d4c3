// base/str.hpp -- Str: append-only text, usable in constant evaluation (std::string is not, on clang with libstdc++
// 12).
#pragma once
#include <cstdint>
#include <string_view>

#include "vec.hpp"

namespace fx::inline v0 {

class Str {
  Vec<char> c_;

 public:
  constexpr Str() = default;
  constexpr Str(std::string_view s) { *this += s; }
  constexpr Str(const char* s) { *this += std::string_view(s); }

  constexpr Str& operator+=(std::string_view s) {
    c_.append(Span<const char>(s.data(), int(s.size())));
    return *this;
  }
  constexpr Str& operator+=(const Str& s) { return *this += s.view(); }
  constexpr Str& operator+=(const char* s) { return *this += std::string_view(s); }
  constexpr Str& operator+=(char c) {
    c_.push_back(c);
    return *this;
  }
  // Decimal text of an integer.
  constexpr Str& num(std::int64_t v) {
    if (v < 0) c_.push_back('-');
    return num_u(v < 0 ? ~std::uint64_t(v) + 1 : std::uint64_t(v));
  }
  constexpr Str& num_u(std::uint64_t v) {
    char b[20]{};
    int k = 0;
    do b[k++] = char('0' + v % 10);
    while (v /= 10);
    while (k) c_.push_back(b[--k]);
    return *this;
  }
  // Lower-case hexadecimal text without prefix, at least `width` digits.
  constexpr Str& hex(std::uint64_t v, int width = 1) {
    int digits = 1;
    while (digits < 16 && v >> (4 * digits)) ++digits;
    for (int i = (digits > width ? digits : width) - 1; i >= 0; --i)
      c_.push_back("0123456789abcdef"[i < 16 ? (v >> (4 * i)) & 15 : 0]);
    return *this;
  }
  constexpr int size() const { return c_.size(); }
  constexpr bool empty() const { return c_.empty(); }
  constexpr void clear() { c_.clear(); }
  constexpr const char* data() const { return c_.data(); }
  constexpr std::string_view view() const { return {c_.data(), std::size_t(c_.size())}; }
  constexpr operator std::string_view() const { return view(); }
  friend constexpr bool operator==(const Str& a, const Str& b) { return a.view() == b.view(); }
  friend constexpr bool operator==(const Str& a, std::string_view b) { return a.view() == b; }
  friend constexpr bool operator==(const Str& a, const char* b) { return a.view() == std::string_view(b); }
};

// True in constant evaluation: the core takes the constexpr body there, the FX_INLINE one at run time.
#define FX_CONSTANT_EVALUATED() __builtin_is_constant_evaluated()

}  // namespace fx::inline v0
