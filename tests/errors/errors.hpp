// errors.hpp -- what the tests of mistakes share: one Error, at the user's line, with its complete text.
#pragma once
#include <doctest/doctest.h>

#include <fx/fx.hpp>
#include <string>

namespace errors {

using fx::Array;
using fx::ErrorCode;
namespace np = fx::numpy;

// Where the mistake of a test stands, marked by `HERE, x + y`.
inline fx::Loc expected_line;
#define HERE errors::expected_line = fx::Loc::here()
// The expression must throw an fx::Error of this code, at this line, that reads "fx: <text>\n  at <file>:<line>".
#define CHECK_ERROR(code, text, ...) errors::check_error(fx::ErrorCode::code, text, [&] { HERE, __VA_ARGS__; })

// The same of a function that marks the line itself.
template <class F>
void check_error(ErrorCode code, const std::string& text, F&& f) {
  expected_line = {};
  try {
    f();
  } catch (const fx::Error& e) {
    const std::string where = std::string(expected_line.file) + ":" + std::to_string(expected_line.line);
    CHECK(int(e.code) == int(code));
    CHECK(std::string(e.where.file) + ":" + std::to_string(e.where.line) == where);
    CHECK(std::string(e.what()) == "fx: " + text + "\n  at " + where);
    CHECK(fx::detail::current_trace() == nullptr);
    return;
  }
  FAIL_CHECK("no Error, expected: " << text);
}

inline Array vector(std::initializer_list<double> values) { return Array(std::vector<double>(values)); }
inline Array matrix(std::int64_t rows, std::int64_t columns) {
  return Array(std::vector<double>(std::size_t(rows * columns), 1.0), {rows, columns});
}

}  // namespace errors
