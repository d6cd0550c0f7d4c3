// errors/traced.cpp -- values that do not exist while a function is traced, and traced values outside their function.
#include <thread>

#include "errors.hpp"

using namespace errors;

namespace {

const std::string no_value = "it exists only when the traced function runs. ";
const std::string control =
    "Use fx::where for elements, fx::cond or fx::while_loop for control flow, or make the condition a static argument";

TEST_CASE("if on a traced value names the line of the comparison") {
  auto f = [](Array a) {
    const Array positive = (HERE, a > 0.0);
    if (positive) return a;
    return -a;
  };
  const std::string text = "if: the value is traced (bool[]), " + no_value + control;
  check_error(ErrorCode::trace, text, [&] { fx::jit(f)(1.0); });
  check_error(ErrorCode::trace, text, [&] { fx::grad(f)(1.0); });
  check_error(ErrorCode::trace, text, [&] { fx::make_jaxpr(f)(fx::type(fx::f64)); });
  check_error(ErrorCode::trace, text,
              [&] { fx::scan([&](Array c, Array x) { return std::pair(f(c), x); }, 1.0, vector({1})); });
  check_error(ErrorCode::trace, text, [&] { fx::vmap(f)(vector({1, 2})); });
}
TEST_CASE("a concrete value is no condition either while a trace is open, for its comparison is recorded") {
  const Array k = 3.0;
  auto f = [&](Array a) {
    const Array small = (HERE, k < 4.0);
    return small ? a : -a;
  };
  CHECK(bool(k < 4.0));
  check_error(ErrorCode::trace, "if: the value is traced (bool[]), " + no_value + control, [&] { fx::jit(f)(1.0); });
}
TEST_CASE("a condition of several elements") {
  const Array x = vector({1, 2});
  check_error(ErrorCode::shape,
              "an Array used as a condition needs one element, got bool[2]; reduce it with np::all or np::any", [&] {
                if (HERE, x > 0.0) return;
              });
}

TEST_CASE("reading a traced value") {
  const std::string cure = no_value + "Return it from the function and read it outside";
  check_error(ErrorCode::trace, "item(): the value is traced (f64[]), " + cure,
              [&] { fx::jit([](Array a) { return a * (HERE, a.item<double>()); })(1.0); });
  check_error(ErrorCode::trace, "reading a value: the value is traced (f64[1]), " + cure,
              [&] { fx::jit([](Array a) { return HERE, a.to_vector<double>(), a; })(vector({1})); });
  check_error(ErrorCode::trace, "reading a value: the value is traced (f64[1]), " + cure,
              [&] { fx::jit([](Array a) { return HERE, a.view<double>(), a; })(vector({1})); });
}
TEST_CASE("reading a spec") {
  const Array s = fx::spec(fx::type(fx::f32, {2, 3})), one = fx::spec(fx::type(fx::f32));
  CHECK_ERROR(state, "reading a value: this Array is only a type (f32[2,3]), it has no value", s.to_vector<float>());
  CHECK_ERROR(state, "item(): this Array is only a type (f32[]), it has no value", one.item<float>());
  CHECK_ERROR(state, "reading a value: this Array is only a type (f32[2,3]), it has no value", s + s);
  CHECK_ERROR(state, "reading a value: this Array is only a type (f32[2,3]), it has no value",
              fx::jit([](Array a) { return a; })(s));
  check_error(ErrorCode::state, "if: this Array is only a type (bool[]), it has no value", [&] {
    if (HERE, fx::spec(fx::type(fx::boolean))) return;
  });
}
TEST_CASE("reading in another type or number of elements") {
  const Array x = vector({1, 2});
  CHECK_ERROR(shape, "item() reads Arrays of one element, got f64[2]", x.item<double>());
  CHECK_ERROR(dtype, "this Array has dtype f64 and is read as f32; use fx::convert first", x.to_vector<float>());
  CHECK_ERROR(dtype, "this Array has dtype f64 and is read as i64; use fx::convert first", x.view<std::int64_t>());
  CHECK_ERROR(shape, "size(): f32[n] has a symbolic dimension", fx::spec(fx::type(fx::f32, {fx::dim("n")})).size());
}

// The text of a value that left the function traced in line `line` of this file.
std::string left(const std::string& type, int line) {
  return "a traced value (" + type + ") left the function it was traced in (" + __FILE__ + ":" + std::to_string(line) +
         "); return it from that function instead of storing it outside";
}
TEST_CASE("a traced value that left its function") {
  Array leak;
  const int line = __LINE__ + 1;
  fx::jit([&](Array a) { return leak = a * 2.0; })(vector({1, 2}));
  CHECK_ERROR(trace, left("f64[2]", line), leak + 1.0);
  CHECK_ERROR(trace, left("f64[2]", line), np::sum(leak));
  check_error(ErrorCode::trace, left("f64[2]", line), [&] {
    fx::jit([&](Array a) { return HERE, a + leak; })(vector({1, 2}));
  });
  CHECK_ERROR(trace, left("f64[2]", line), fx::jit([&](Array) { return leak; })(1.0));
  CHECK_ERROR(trace, left("f64[2]", line), fx::jit([](Array a) { return a; })(leak));
  CHECK_ERROR(trace, left("f64[2]", line), fx::grad([](Array a) { return np::sum(a); })(leak));
  CHECK_ERROR(trace, left("f64[2]", line), fx::vmap([](Array a) { return a; })(leak));
  CHECK_ERROR(trace, left("f64[2]", line), leak.to_vector<double>());
  CHECK_ERROR(trace, left("f64[2]", line), leak(0).item<double>());
  CHECK(leak.shape() == fx::Dims{2});
}
TEST_CASE("a value of an inner trace used in the outer one") {
  int line = 0;
  auto f = [&](Array x) {
    Array inner;
    line = __LINE__ + 1;
    fx::grad([&](Array y) { return inner = x * y; })(x);
    return HERE, inner + x;
  };
  std::string text;
  try {
    fx::jit(f)(1.0);
  } catch (const fx::Error& e) {
    CHECK(e.code == ErrorCode::trace);
    CHECK(e.where.line == expected_line.line);
    CHECK(std::string(e.what()) ==
          "fx: " + left("f64[]", line) + "\n  at " + __FILE__ + ":" + std::to_string(e.where.line));
    return;
  }
  FAIL_CHECK("no Error");
}
TEST_CASE("a traced value on another thread") {
  const std::string text =
      "a traced value is used on another thread, or in a trace that does not enclose this one; trace and use values on "
      "one thread";
  auto elsewhere = [](Array a, auto use) {
    fx::Error seen(ErrorCode::internal, "none");
    std::thread([&] {
      try {
        use(a);
      } catch (const fx::Error& e) { seen = e; }
    }).join();
    throw seen;
    return a;
  };
  check_error(ErrorCode::trace, text,
              [&] { fx::jit([&](Array a) { return elsewhere(a, [](Array b) { HERE, b + 1.0; }); })(1.0); });

  check_error(ErrorCode::trace, text, [&] {
    fx::jit([&](Array a) {
      return elsewhere(a, [](Array b) { fx::grad([&](Array c) { return HERE, b + c; })(1.0); });
    })(1.0);
  });
}

}  // namespace
