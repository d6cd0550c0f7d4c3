// errors/memory.cpp -- each allocation of an operation, a jit call and a gradient fails in turn: always one clean
// Error.
#include "errors.hpp"

using namespace errors;

namespace {

struct NoFailure {
  ~NoFailure() { fx::detail::fail_allocation_after(-1); }
};

// Lets allocation 1, 2, ... of f fail, until f succeeds: each time an Error (memory) at `line`, no leak, and f works
// after it. Returns how many allocations f makes.
template <class F>
int fail_each_allocation(const std::string& what, F&& f) {
  NoFailure reset;
  INFO(what);
  f();  // compiles
  const std::int64_t before = fx::memory_stats().allocated;
  for (int n = 1;; ++n) {
    REQUIRE(n < 200);
    fx::detail::fail_allocation_after(n);
    bool failed = false;
    try {
      f();
    } catch (const fx::Error& e) {
      failed = true;
      CHECK(e.code == ErrorCode::memory);
      CHECK(std::string(e.where.file) == __FILE__);
      CHECK(e.where.line == expected_line.line);
      CHECK(std::string(e.what()).find("fx: no memory is left for ") == 0);
    }
    fx::detail::fail_allocation_after(-1);
    CHECK(fx::detail::current_trace() == nullptr);
    CHECK(fx::memory_stats().allocated == before);
    f();
    CHECK(fx::memory_stats().allocated == before);
    if (!failed) return n - 1;
  }
}

TEST_CASE("allocation failures") {
  const Array x = matrix(20, 30), y = matrix(30, 10), v = vector({1, 2, 3}), rows = matrix(5, 3), x100 = matrix(1, 100);
  const std::vector<double> raw(100, 1.0);
  auto f = fx::jit([](Array a, Array b) { return np::sum(tanh(np::matmul(a, b))); });
  auto g = fx::jit(fx::grad<0, 1>([](Array a, Array b) { return np::sum(tanh(np::matmul(a, b))); }));
  auto eager_gradient = fx::value_and_grad([](Array a, Array b) { return np::sum(exp(np::matmul(a, b) * 0.01)); });
  const fx::Loc eager_line(__FILE__, __LINE__ - 1), f_line(__FILE__, __LINE__ - 3), g_line(__FILE__, __LINE__ - 2);

  CHECK(fail_each_allocation("a scalar", [&] { HERE, Array(1.0); }) == 1);
  CHECK(fail_each_allocation("a vector", [&] { HERE, Array(raw); }) == 1);
  CHECK(fail_each_allocation("a vector with a shape", [&] { HERE, Array(raw, {10, 10}); }) == 1);
  CHECK(fail_each_allocation("a vector of bool", [&] { HERE, Array(std::vector<bool>(10)); }) == 1);
  CHECK(fail_each_allocation("an operation", [&] { HERE, x + x; }) >= 1);
  CHECK(fail_each_allocation("an operation with a number", [&] { HERE, x * 2.0; }) >= 2);
  CHECK(fail_each_allocation("a reduction", [&] { HERE, np::sum(x, {.axis = 1}); }) >= 1);
  CHECK(fail_each_allocation("a matrix product", [&] { HERE, np::matmul(x, y); }) >= 1);
  CHECK(fail_each_allocation("a compound assignment", [&] {
          Array z = v;
          z += (HERE, 2.0);
        }) >= 1);
  CHECK(fail_each_allocation("a jit call", [&] { expected_line = f_line, f(x, y); }) >= 1);
  CHECK(fail_each_allocation("a jitted gradient", [&] { expected_line = g_line, g(x, y); }) >= 2);
  CHECK(fail_each_allocation("a gradient", [&] { expected_line = eager_line, eager_gradient(x, y); }) >= 3);
  CHECK(fail_each_allocation("vmap", [&] { HERE, fx::vmap([](Array a) { return a * a; })(x); }) >= 1);
  CHECK(fail_each_allocation(
            "a loop", [&] { HERE, fx::scan([](Array c, Array r) { return std::pair(c + r, c * r); }, v, rows); }) >= 2);
  CHECK(fail_each_allocation("random numbers", [&] { HERE, fx::random::normal(fx::random::key(0), {3}); }) >= 1);
  CHECK(fail_each_allocation("tracing", [&] { HERE, fx::jit([&](Array a) { return a + Array(raw); })(x100); }) >= 2);
  CHECK(fail_each_allocation("an element", [&] { HERE, x(1, 2); }) >= 1);
}
TEST_CASE("a donated Array is gone after a failed call, a kept one is not") {
  NoFailure reset;
  auto f = fx::jit([](Array a, Array b) { return std::pair(np::concatenate({a, b}), np::concatenate({a, a, b})); });
  Array a = matrix(4, 3), b = matrix(2, 3), kept = b;
  const std::int64_t held = fx::memory_stats().allocated;
  fx::detail::fail_allocation_after(1);
  CHECK_THROWS_AS(f(std::move(a), b), fx::Error);
  CHECK(a.empty());  // NOLINT: that is the test
  CHECK(fx::memory_stats().allocated == held - 4 * 3 * 8);
  CHECK(kept.to_vector<double>() == std::vector<double>(6, 1.0));
}

}  // namespace
