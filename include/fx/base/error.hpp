// base/error.hpp -- fx::Error, the one exception of fx, and fx::Loc, the user's own line in it.
#pragma once
#include <exception>
#include <string>

#include "str.hpp"

namespace fx::inline v0 {

// A line of the user's source. Taken by default arguments, so it names the line of the call.
struct Loc {
  const char* file = "";
  int line = 0;
  constexpr Loc() = default;
  template <class S>
  requires std::is_same_v<S, const char*>  // {0, 1} is a shape and no Loc
  constexpr Loc(S f, int l) : file(f), line(l) {}
  static constexpr Loc here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
};

enum class ErrorCode {
  shape,        // shapes, ranks, axes or sizes that do not fit the operation
  dtype,        // element types that do not fit the operation or each other
  value,        // a value out of its domain: an index, a size that overflows, a bad option
  tree,         // pytrees whose structures differ
  trace,        // an operation that tracing cannot do: `if` on a traced value, reading or leaking a tracer
  state,        // an empty (default-constructed or moved-from) Array, an object used after its end
  rule,         // a primitive lacks the rule that a transform needs
  parse,        // text that is no IR
  memory,       // an allocation failed
  unsupported,  // valid, and this version does not do it
  internal      // a broken promise of fx itself: please report it
};

// Every failure of fx: what was given, what was expected, the user's file and line, what to do.
class Error : public std::exception {
  std::string text_;

 public:
  ErrorCode code;
  Loc where;
  Error(ErrorCode c, std::string_view message, Loc loc = {}) : code(c), where(loc) {
    text_ = "fx: ";
    text_ += message;
    if (loc.line) {
      text_ += "\n  at ";
      text_ += loc.file;
      text_ += ':';
      text_ += std::to_string(loc.line);
    }
  }
  const char* what() const noexcept override { return text_.c_str(); }
};

namespace detail {
// f(), whose Errors that name no line get this one.
template <class F>
constexpr decltype(auto) at_line(Loc where, F&& f) {
  if (FX_CONSTANT_EVALUATED()) return f();
  try {
    return f();
  } catch (const Error& e) {
    if (e.where.line) throw;
    throw Error(e.code, std::string_view(e.what()).substr(4), where);  // without "fx: "
  }
}
}  // namespace detail

// Throws at run time; in constant evaluation it is the compile error that names the call chain.
[[noreturn]] inline void fail(ErrorCode code, std::string_view message, Loc loc = {}) {
  throw Error(code, message, loc);
}

}  // namespace fx::inline v0
