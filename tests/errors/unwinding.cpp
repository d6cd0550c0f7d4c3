// errors/unwinding.cpp -- exceptions out of user functions while they are traced: nothing stays open, nothing aborts.
#include <functional>
#include <stdexcept>

#include "errors.hpp"

using namespace errors;

namespace {

struct Mine : std::runtime_error {
  Mine() : std::runtime_error("mine") {}
};

// f must throw Mine, leave no trace open, and not disturb what comes after.
void check_unwinds(const std::function<void()>& f) {
  const Array x = vector({1, 2, 3});
  CHECK_THROWS_AS(f(), Mine);
  CHECK(fx::detail::current_trace() == nullptr);
  CHECK((x + 1.0).to_vector<double>() == std::vector<double>{2, 3, 4});
  CHECK(fx::grad([](Array a) { return np::sum(a * a); })(x).to_vector<double>() == std::vector<double>{2, 4, 6});
}

TEST_CASE("a function that throws while it is traced") {
  const Array x = vector({1, 2, 3});
  auto bad = [](Array a) -> Array {
    a * 2.0;
    throw Mine();
  };
  check_unwinds([&] { fx::jit(bad)(x); });
  check_unwinds([&] { fx::grad(bad)(x); });
  check_unwinds([&] { fx::value_and_grad(bad)(x); });
  check_unwinds([&] { fx::vmap(bad)(x); });
  check_unwinds([&] { fx::jvp(bad, std::tuple(x), std::tuple(x)); });
  check_unwinds([&] { fx::vjp(bad, x); });
  check_unwinds([&] { fx::make_jaxpr(bad)(x); });
  check_unwinds([&] { fx::eval_shape(bad)(x); });
  check_unwinds([&] { fx::jit(bad).lower(x); });
  check_unwinds([&] { fx::scan([&](Array c, Array r) { return std::pair(bad(c), r); }, 0.0, x); });
  check_unwinds([&] { fx::jit(fx::vmap(fx::grad(bad)))(x); });
  check_unwinds([&] {
    fx::jit(fx::grad(
        [&](Array a) { return fx::scan([&](Array c, Array r) { return std::pair(bad(c), r); }, a, x).first; }))(1.0);
  });
}
TEST_CASE("a jit object that failed once works when its function does") {
  bool broken = true;
  auto f = fx::jit([&](Array a) {
    if (broken) throw Mine();
    return a * 2.0;
  });
  CHECK_THROWS_AS(f(3.0), Mine);
  CHECK_THROWS_AS(f(3.0), Mine);
  CHECK(f.traces() == 0);
  broken = false;
  CHECK(f(3.0).item<double>() == 6);
  CHECK(f(4.0).item<double>() == 8);
  CHECK(f.traces() == 1);
  CHECK(f.explain().find("4 calls, 1 traces, 1 hits") != std::string::npos);
}
TEST_CASE("a user function may catch what an inner transform throws, and go on") {
  const Array x = vector({1, 2, 3}), y = vector({1, 2});
  auto f = [&](Array a) {
    try {
      fx::grad([&](Array b) { return np::sum(b + y); })(a);
    } catch (const fx::Error& e) { CHECK(e.code == ErrorCode::shape); }
    try {
      fx::vmap([](Array) -> Array { throw Mine(); })(a);
    } catch (const Mine&) {}
    return a * 2.0;
  };
  CHECK(fx::jit(f)(x).to_vector<double>() == std::vector<double>{2, 4, 6});
  CHECK(fx::jit([&](Array a) {
          return fx::scan([&](Array c, Array r) { return std::pair(c, f(r * a)); }, 0.0, matrix(2, 3)).second;
        })(x)(1)
            .to_vector<double>() == std::vector<double>{2, 4, 6});
}
TEST_CASE("Errors of the values themselves are Errors of the caller's line") {
  const Array x = vector({1, 2, 3}), y = vector({1, 2});
  auto add = fx::jit([](Array a, Array b) { return HERE, a + b; });
  const std::string text =
      "add: shapes [3] and [2] do not broadcast: dimensions are aligned at the right, and must be equal or 1";
  for (int i = 0; i < 3; ++i) check_error(ErrorCode::shape, text, [&] { add(x, y); });
  CHECK(add(x, x).to_vector<double>() == std::vector<double>{2, 4, 6});
  check_error(ErrorCode::shape, text,
              [&] { fx::jit(fx::vmap(fx::grad([&](Array a) { return np::sum((HERE, a + y)); })))(matrix(2, 3)); });
}
TEST_CASE("an Error is a std::exception, copies, and can be thrown while another is handled") {
  const Array x = vector({1, 2, 3}), y = vector({1, 2});
  try {
    try {
      x + y;
    } catch (const std::exception& first) {
      CHECK(std::string(first.what()).find("fx: add: shapes") == 0);
      try {
        x* y;
      } catch (const fx::Error& second) {
        const fx::Error copy = second;
        CHECK(std::string(copy.what()) == second.what());
        CHECK(copy.where.line == second.where.line);
      }
      throw;
    }
  } catch (const fx::Error& e) { CHECK(e.code == ErrorCode::shape); }
}

}  // namespace
