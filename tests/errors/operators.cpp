// errors/operators.cpp -- shapes and dtypes that do not meet, numbers that do not fit, Arrays that cannot be read.
#include <cmath>

#include "errors.hpp"

using namespace errors;

namespace {

TEST_CASE("shapes that do not broadcast") {
  const Array x = vector({1, 2, 3}), y = vector({1, 2}), m = matrix(2, 3);
  const std::string rule = ": dimensions are aligned at the right, and must be equal or 1";
  check_error(ErrorCode::shape, [&] { HERE, x + y; }, "add: shapes [3] and [2] do not broadcast" + rule);
  check_error(ErrorCode::shape, [&] { HERE, m* y; }, "mul: shapes [2,3] and [2] do not broadcast" + rule);
  check_error(ErrorCode::shape, [&] { HERE, pow(x, y); }, "pow: shapes [3] and [2] do not broadcast" + rule);
  check_error(ErrorCode::shape, [&] { HERE, where(x > 0.0, x, y); }, "select: shapes [3] and [2] do not broadcast" + rule);
  check_error(ErrorCode::shape, [&] { HERE, fx::jit([&](Array a) { return HERE, a < y; })(x); },
              "lt: shapes [3] and [2] do not broadcast" + rule);
}
TEST_CASE("compound assignment names the user's line and leaves the left side as it was") {
  Array x = vector({1, 2, 3});
  const Array y = vector({1, 2});
  const std::string rule = "shapes [3] and [2] do not broadcast: dimensions are aligned at the right, and must be equal or 1";
  check_error(ErrorCode::shape, [&] { HERE, x += y; }, "add: " + rule);
  check_error(ErrorCode::shape, [&] { HERE, x -= y; }, "sub: " + rule);
  check_error(ErrorCode::shape, [&] { HERE, x *= y; }, "mul: " + rule);
  check_error(ErrorCode::shape, [&] { HERE, x /= y; }, "div: " + rule);
  CHECK(x.to_vector<double>() == std::vector<double>{1, 2, 3});
}

TEST_CASE("dtypes meet") {
  const Array d = 1.0, f = 1.0f, i = 1, b = true;
  const std::string cure = "; fx never promotes: convert one with fx::convert";
  check_error(ErrorCode::dtype, [&] { HERE, d + f; }, "add: operands have dtypes f64 and f32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, i* f; }, "mul: operands have dtypes i32 and f32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, (void)(d == i); }, "eq: operands have dtypes f64 and i32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, where(b, d, f); }, "select: operands have dtypes f64 and f32" + cure);
}
TEST_CASE("operations on dtypes they do not take") {
  const Array d = 1.0, i = 1, b = true;
  check_error(ErrorCode::dtype, [&] { HERE, b + b; }, "add: takes numbers, got bool[]; use fx::convert");
  check_error(ErrorCode::dtype, [&] { HERE, sin(i); }, "sin: takes floating-point operands, got i32[]; use fx::convert");
  check_error(ErrorCode::dtype, [&] { HERE, d& d; }, "and: takes integers or booleans, got f64[]; use fx::convert");
  check_error(ErrorCode::dtype, [&] { HERE, shift_left(d, d); }, "shift_left: takes integers, got f64[]; use fx::convert");
  check_error(ErrorCode::dtype, [&] { HERE, ~d; }, "not: takes integers or booleans, got f64[]; use fx::convert");
}
TEST_CASE("dtypes without arithmetic in this version") {
  const Array small(std::vector<short>{1, 2});
  check_error(ErrorCode::unsupported, [&] { HERE, small + small; },
              "add: takes numbers, got i16[2] (arithmetic on this dtype comes in a later version; convert to f32 or i32)");
}

TEST_CASE("a literal that its partner's dtype does not hold") {
  const Array i = 1, u = 1u, l = std::int64_t(1);
  const std::string cure = ", the dtype of its partner; convert the Array with fx::convert";
  check_error(ErrorCode::dtype, [&] { HERE, i * 0.5; }, "the number 0.5 is not representable as i32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, 0.5f + i; }, "the number 0.5 is not representable as i32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, u - (-1); }, "the number -1 is not representable as u32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, i + 3000000000; }, "the number 3000000000 is not representable as i32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, l + 18446744073709551615u; },
              "the number 18446744073709551615 is not representable as i64" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, i + 1e300; }, "the number 1e+300 is not representable as i32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, i + std::nan(""); }, "the number nan is not representable as i32" + cure);
  check_error(ErrorCode::dtype, [&] { HERE, fx::jit([](Array a) { return HERE, a * 0.5; })(1); },
              "the number 0.5 is not representable as i32" + cure);
}

TEST_CASE("bitcast between widths") {
  check_error(ErrorCode::dtype, [&] { HERE, fx::bitcast(Array(1.0), fx::i32); },
              "bitcast: from f64 to i32: dtypes of equal size are expected");
}

}  // namespace
