// errors/operators.cpp -- shapes and dtypes that do not meet, numbers that do not fit, Arrays that cannot be read.
#include <cmath>

#include "errors.hpp"

using namespace errors;

namespace {

TEST_CASE("shapes that do not broadcast") {
  const Array x = vector({1, 2, 3}), y = vector({1, 2}), m = matrix(2, 3);
  const std::string rule = ": dimensions are aligned at the right, and must be equal or 1";
  CHECK_ERROR(shape, "add: shapes [3] and [2] do not broadcast" + rule, x + y);
  CHECK_ERROR(shape, "mul: shapes [2,3] and [2] do not broadcast" + rule, m * y);
  CHECK_ERROR(shape, "pow: shapes [3] and [2] do not broadcast" + rule, pow(x, y));
  CHECK_ERROR(shape, "select: shapes [3] and [2] do not broadcast" + rule, where(x > 0.0, x, y));
  check_error(ErrorCode::shape, "lt: shapes [3] and [2] do not broadcast" + rule,
              [&] { HERE, fx::jit([&](Array a) { return HERE, a < y; })(x); });
}
TEST_CASE("compound assignment names the user's line and leaves the left side as it was") {
  Array x = vector({1, 2, 3});
  const Array y = vector({1, 2});
  const std::string rule =
      "shapes [3] and [2] do not broadcast: dimensions are aligned at the right, and must be equal or 1";
  CHECK_ERROR(shape, "add: " + rule, x += y);
  CHECK_ERROR(shape, "sub: " + rule, x -= y);
  CHECK_ERROR(shape, "mul: " + rule, x *= y);
  CHECK_ERROR(shape, "div: " + rule, x /= y);
  CHECK(x.to_vector<double>() == std::vector<double>{1, 2, 3});
}

TEST_CASE("dtypes meet") {
  const Array d = 1.0, f = 1.0f, i = 1, b = true;
  const std::string cure = "; fx never promotes: convert one with fx::convert";
  CHECK_ERROR(dtype, "add: operands have dtypes f64 and f32" + cure, d + f);
  CHECK_ERROR(dtype, "mul: operands have dtypes i32 and f32" + cure, i * f);
  CHECK_ERROR(dtype, "eq: operands have dtypes f64 and i32" + cure, (void)(d == i));
  CHECK_ERROR(dtype, "select: operands have dtypes f64 and f32" + cure, where(b, d, f));
}
TEST_CASE("operations on dtypes they do not take") {
  const Array d = 1.0, i = 1, b = true;
  CHECK_ERROR(dtype, "add: takes numbers, got bool[]; use fx::convert", b + b);
  CHECK_ERROR(dtype, "sin: takes floating-point operands, got i32[]; use fx::convert", sin(i));
  CHECK_ERROR(dtype, "and: takes integers or booleans, got f64[]; use fx::convert", d & d);
  CHECK_ERROR(dtype, "shift_left: takes integers, got f64[]; use fx::convert", shift_left(d, d));
  CHECK_ERROR(dtype, "not: takes integers or booleans, got f64[]; use fx::convert", ~d);
}
TEST_CASE("dtypes without arithmetic in this version") {
  const Array small(std::vector<short>{1, 2});
  CHECK_ERROR(
      unsupported,
      "add: takes numbers, got i16[2] (arithmetic on this dtype comes in a later version; convert to f32 or i32)",
      small + small);
}

TEST_CASE("a literal that its partner's dtype does not hold") {
  const Array i = 1, u = 1u, l = std::int64_t(1);
  const std::string cure = ", the dtype of its partner; convert the Array with fx::convert";
  CHECK_ERROR(dtype, "the number 0.5 is not representable as i32" + cure, i * 0.5);
  CHECK_ERROR(dtype, "the number 0.5 is not representable as i32" + cure, 0.5f + i);
  CHECK_ERROR(dtype, "the number -1 is not representable as u32" + cure, u - (-1));
  CHECK_ERROR(dtype, "the number 3000000000 is not representable as i32" + cure, i + 3000000000);
  CHECK_ERROR(dtype, "the number 18446744073709551615 is not representable as i64" + cure, l + 18446744073709551615u);
  CHECK_ERROR(dtype, "the number 1e+300 is not representable as i32" + cure, i + 1e300);
  CHECK_ERROR(dtype, "the number nan is not representable as i32" + cure, i + std::nan(""));
  check_error(ErrorCode::dtype, "the number 0.5 is not representable as i32" + cure,
              [&] { HERE, fx::jit([](Array a) { return HERE, a * 0.5; })(1); });
}

TEST_CASE("bitcast between widths") {
  CHECK_ERROR(dtype, "bitcast: from f64 to i32: dtypes of equal size are expected", fx::bitcast(Array(1.0), fx::i32));
}

}  // namespace
