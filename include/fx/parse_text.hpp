// parse_text.hpp -- the words of a Graph's text, for parse.hpp: numbers, dimensions, types, literals, labels; and
// Errors.
#pragma once
#include <algorithm>
#include <string>

#include "print.hpp"

namespace fx::inline v0 {
namespace detail {

// Optional '-' and decimal digits.
FX_INLINE bool read_integer(std::string_view t, bool& negative, std::uint64_t& size) {
  negative = !t.empty() && t[0] == '-';
  if (negative) t.remove_prefix(1);
  size = 0;
  for (char c : t)
    if (c < '0' || c > '9' || __builtin_mul_overflow(size, 10u, &size) || __builtin_add_overflow(size, c - '0', &size))
      return false;
  return !t.empty();
}
FX_INLINE bool read_bits(std::string_view t, std::uint64_t& bits) {
  bits = 0;
  if (t.size() < 3 || t.size() > 18 || t.substr(0, 2) != "0x") return false;
  for (char c : t.substr(2)) {
    const int v = fp::digit_of(c, 16);
    if (v < 0) return false;
    bits = 16 * bits + unsigned(v);
  }
  return true;
}
template <fp::Real T>
bool read_float(std::string_view t, std::uint64_t& bits) {
  T v = 0;
  if (!fp::parse_float(t, v)) return false;
  bits = fp::bits(v);
  return true;
}

// The bits of a literal of dtype d; the inverse of put_literal.
FX_INLINE bool read_literal(std::string_view t, DType d, std::uint64_t& bits) {
  if (d == boolean) {
    bits = t == "true";
    return t == "true" || t == "false";
  }
  if (d == f32) return read_float<float>(t, bits);
  if (d == f64) return read_float<double>(t, bits);
  const int width = 8 * std::min(size_of(d), 8);
  const std::uint64_t largest = ~std::uint64_t(0) >> (64 - width), half = largest / 2;
  if (!is_integer(d)) return read_bits(t, bits) && bits <= largest;
  bool negative = false;
  std::uint64_t size = 0;
  if (!read_integer(t, negative, size)) return false;
  bits = (negative ? ~size + 1 : size) & largest;
  return in(d, signed_ints) ? size <= half + negative : !negative && size <= largest;
}

// A place in a text, and what stands there.
class TextScanner {
 protected:
  struct Cursor {
    std::size_t at = 0, line_start = 0;
    int line = 1;
  };
  std::string_view text_;
  Loc loc_;  // of the caller
  Cursor pos_;

  TextScanner(std::string_view text, Loc loc) : text_(text), loc_(loc) {}

  // ---- errors ----

  [[noreturn]] void error(const Cursor& at, const std::string& what) const {
    const std::size_t column = at.at - at.line_start + 1;
    throw Error(ErrorCode::parse, "parse: " + std::to_string(at.line) + ":" + std::to_string(column) + ": " + what,
                loc_);
  }
  [[noreturn]] void fail(Cursor at, const std::string& expected) {  // by value: at may be pos_, which moves
    error(at, "found " + found(at) + ", expected " + expected);
  }
  static std::string quoted(std::string_view s) { return "'" + std::string(s) + "'"; }
  static std::string type_text(const Type& t) { return std::string(fx::text(t).view()); }

  // What stands at `at`: a word or number, or one character.
  std::string found(const Cursor& at) {
    if (at.at >= text_.size()) return "the end of the text";
    pos_ = at;
    std::string_view t = token();
    if (t.empty()) t = text_.substr(at.at, 1);
    const auto first = std::uint8_t(t[0]);
    if (first < 0x20 || first >= 0x7f) return std::string(Str("byte 0x").hex(first, 2).view());
    return quoted(t.substr(0, 40));
  }
  // The message of an Error without what its constructor adds.
  static std::string message_of(const Error& e) {
    std::string_view t = e.what();
    if (t.substr(0, 4) == "fx: ") t.remove_prefix(4);
    if (e.where.line) t = t.substr(0, t.rfind("\n  at "));
    return std::string(t);
  }

  // ---- characters and words ----

  // The place of the next character that is no white space.
  const Cursor& here() {
    for (; pos_.at < text_.size(); ++pos_.at) {
      const char c = text_[pos_.at];
      if (c == '\n') {
        ++pos_.line;
        pos_.line_start = pos_.at + 1;
      } else if (c != ' ' && (c < '\t' || c > '\r')) {
        break;
      }
    }
    return pos_;
  }
  char peek() { return here().at < text_.size() ? text_[pos_.at] : '\0'; }
  bool take(char c) {
    if (peek() != c || pos_.at == text_.size()) return false;
    ++pos_.at;
    return true;
  }
  void expect(char c, const char* expected) {
    if (!take(c)) fail(pos_, expected);
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // The word here, empty if there is none.
  std::string_view word() {
    const std::size_t from = here().at;
    if (is_digit(peek())) return {};
    while (pos_.at < text_.size() && is_word_char(text_[pos_.at])) ++pos_.at;
    return text_.substr(from, pos_.at - from);
  }
  void keyword(std::string_view w) {
    const Cursor start = here();
    if (word() != w) fail(start, quoted(w));
  }
  // The number or word here: -3, 1e+30, 0x1p-3, -inf, nan(0x7ff8000000000001).
  std::string_view token() {
    const std::size_t from = here().at;
    take('-');
    const bool hex = text_.substr(pos_.at, 2) == "0x";
    for (char before = 0; pos_.at < text_.size(); ++pos_.at) {
      const char c = text_[pos_.at];
      const bool exponent = (before | 32) == 'p' || (!hex && (before | 32) == 'e');
      if (!is_word_char(c) && c != '.' && !((c == '+' || c == '-') && exponent)) break;
      before = c;
    }
    if (text_.substr(from, pos_.at - from) == "nan" && text_.substr(pos_.at, 1) == "(") {
      const std::size_t end = text_.find(')', pos_.at);
      if (end != text_.npos) pos_.at = end + 1;
    }
    return text_.substr(from, pos_.at - from);
  }

  // ---- numbers, dimensions, types ----

  std::int64_t integer() {
    const Cursor start = here();
    bool negative = false;
    std::uint64_t size = 0;
    const bool ok = read_integer(token(), negative, size) && size <= std::uint64_t(INT64_MAX) + negative;
    if (!ok) fail(start, "an integer of 64 bits");
    return std::int64_t(negative ? ~size + 1 : size);
  }
  Dim factor() {
    if (is_digit(peek())) return Dim(integer());
    const Cursor start = here();
    const std::string_view name = word();
    if (name.empty()) fail(start, "a dimension such as '3', 'n' or '2*n+1'");
    return dim(name);
  }
  Dim term() {
    Dim r = factor();
    while (take('*')) r = r * factor();
    return r;
  }
  // Positive and negative terms apart: only the whole must not be negative.
  Dim dimension() {
    const Cursor start = here();
    try {
      Dim sum[2] = {0, 0};
      bool negative = take('-');
      do {
        sum[negative] = sum[negative] + term();
        negative = peek() == '-';
      } while (take('+') || take('-'));
      return sum[0] - sum[1];
    } catch (const Error& e) {
      if (e.code == ErrorCode::parse) throw;
      error(start, message_of(e));
    }
  }
  // `(0,1)`, or `[2,n]` where a type stands.
  Vec<std::int64_t> list(char open, char close, bool symbolic) {
    if (!take(open)) fail(pos_, std::string("'") + open + "'");
    Vec<std::int64_t> r;
    if (take(close)) return r;
    do r.push_back(symbolic ? dimension().v : integer());
    while (take(','));
    if (!take(close)) fail(pos_, std::string("',' or '") + close + "'");
    return r;
  }
  DType dtype() {
    const Cursor start = here();
    const std::string_view w = word();
    std::string all;
    for (int d = 0; d < dtype_count; ++d) {
      if (w == name(DType(d))) return DType(d);
      (all += d ? ", " : "") += name(DType(d));
    }
    fail(start, "a dtype: " + all);
  }
  Type type() {
    Type t;
    t.dtype = dtype();
    const Cursor start = here();
    const Vec<std::int64_t> dims = list('[', ']', true);
    if (dims.size() > max_rank)
      error(start,
            "found " + std::to_string(dims.size()) + " dimensions, expected at most " + std::to_string(max_rank));
    t.dims = Dims(dims);
    return t;
  }
  // `-3:i32`: the bits of a literal and its dtype.
  struct Literal {
    DType dtype = DType::f32;
    std::uint64_t bits = 0;
  };
  Literal literal() {
    const Cursor start = here();
    const std::string_view t = token();
    expect(':', "':' and the dtype of the literal");
    Literal r;
    r.dtype = dtype();
    if (!read_literal(t, r.dtype, r.bits)) fail(start, "a value of " + std::string(name(r.dtype)));
    return r;
  }

  // ---- labels ----

  Str label() {
    const Cursor start = here();
    if (!take('"')) {
      const std::size_t from = pos_.at;
      while (pos_.at < text_.size() && is_word_char(text_[pos_.at])) ++pos_.at;
      if (pos_.at == from) fail(start, "a label: one word, or text in '\"'");
      return Str(text_.substr(from, pos_.at - from));
    }
    Str r;
    for (; pos_.at < text_.size() && text_[pos_.at] != '\n'; ++pos_.at) {
      char c = text_[pos_.at];
      if (c == '"') {
        ++pos_.at;
        return r;
      }
      if (c == '\\') c = escape();
      r += c;
    }
    error(start, "found a label without its closing '\"'");
  }
  // The character that \" \\ \n or \xHH stands for; the last one of it is left to be passed.
  char escape() {
    const Cursor start = pos_;
    const char c = ++pos_.at < text_.size() ? text_[pos_.at] : '\0';
    if (c == '"' || c == '\\') return c;
    if (c == 'n') return '\n';
    std::uint64_t bits = 0;
    std::string hex = "0" + std::string(text_.substr(pos_.at, 3));
    if (c != 'x' || hex.size() != 4 || !read_bits(hex, bits))
      error(start, "found '\\', expected \\\" \\\\ \\n or \\xHH");
    pos_.at += 2;
    return char(bits);
  }
};

}  // namespace detail
}  // namespace fx::inline v0
