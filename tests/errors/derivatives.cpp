// errors/derivatives.cpp -- grad, value_and_grad, jvp and vjp of functions and with arguments they do not take.
#include <array>

#include "errors.hpp"

using namespace errors;

namespace {

struct Pair {
  Array x, n;
};

TEST_CASE("the gradient of a function whose result is no scalar") {
  const Array x = vector({1, 2, 3});
  const std::string cure =
      "; reduce it with np::sum or np::mean, return extras through fx::aux, or use fx::jvp or fx::vjp";
  const std::string rule = "the function must return one floating-point scalar, got ";
  auto square = [](Array a) { return a * a; };
  CHECK_ERROR(shape, "grad: " + rule + "f64[3]" + cure, fx::grad(square)(x));
  CHECK_ERROR(shape, "value_and_grad: " + rule + "f64[3]" + cure, fx::value_and_grad(square)(x));
  CHECK_ERROR(shape, "grad: " + rule + "f64[3]" + cure, fx::grad([](Array a) { return fx::aux(a, a); })(x));
  CHECK_ERROR(shape, "grad: " + rule + "2 values" + cure,
              fx::grad([](Array a) { return std::pair(np::sum(a), np::sum(a)); })(x));
  CHECK_ERROR(shape, "grad: " + rule + "0 values" + cure, fx::grad([](Array) { return std::tuple(); })(x));
  CHECK_ERROR(dtype, "grad: " + rule + "i32[]" + cure, fx::grad([](Array a) { return np::argmax(a); })(x));
  CHECK_ERROR(dtype, "grad: " + rule + "i32[]" + cure, fx::grad([](Array) { return 1; })(x));
  // The inner one is at fault here, and its line is named.
  check_error(ErrorCode::shape, "grad: " + rule + "f64[3]" + cure,
              [&] { fx::grad([&](Array a) { return np::sum((HERE, fx::grad(square)(a))); })(x); });
}
TEST_CASE("the gradient with respect to integers") {
  const Array x = 2.0, n = 3;
  const std::string why = "; derivatives exist for floating-point values only: convert it, or ";
  auto f = [](Array a, Array b) { return a * convert(b, fx::f64); };
  CHECK_ERROR(dtype, "grad: argument 1 is i32[]" + why + "choose other argnums", fx::grad<1>(f)(x, n));
  CHECK_ERROR(dtype, "value_and_grad: argument 1 is i32[]" + why + "choose other argnums",
              fx::value_and_grad<0, 1>(f)(x, n));
  CHECK_ERROR(dtype, "grad: argument 0, n, is i32[]" + why + "choose other argnums",
              fx::grad([](Pair p) { return p.x; })(Pair{x, n}));
  CHECK_ERROR(dtype, "jvp: argument 1 is i32[]" + why + "capture it in the function",
              fx::jvp(f, std::tuple(x, n), std::tuple(x, n)));
  CHECK_ERROR(dtype, "vjp: argument 1 is bool[]" + why + "capture it in the function",
              fx::vjp(f, std::tuple(2.0, true)));
  CHECK(fx::grad(f)(x, n).item<double>() == 3);
}
TEST_CASE("tangents that are not like their primals") {
  auto f = [](auto a) { return a; };
  const Array x = vector({1, 2}), y = vector({1, 2, 3});
  CHECK_ERROR(shape, "jvp: the tangent of argument 0 is f64[3], expected f64[2]",
              fx::jvp(f, std::tuple(x), std::tuple(y)));
  CHECK_ERROR(dtype, "jvp: the tangent of argument 0 is f32[], expected f64[]",
              fx::jvp(f, std::tuple(1.0), std::tuple(1.0f)));
  CHECK_ERROR(dtype, "jvp: the tangent of argument 0 is i32[], expected f64[]",
              fx::jvp(f, std::tuple(1.0), std::tuple(1)));
  CHECK_ERROR(shape, "jvp: the tangent of argument 1, n, is f64[3], expected f64[2]",
              fx::jvp([](Array a, Pair) { return a; }, std::tuple(x, Pair{x, x}), std::tuple(x, Pair{x, y})));
  CHECK_ERROR(tree,
              "jvp: the tangent of argument 0: the structure of tree 2 is not that of tree 1, first at the root, which "
              "is a sequence of 1 and not a sequence of 2\n  tree 1: [*,*]\n  tree 2: [*]",
              fx::jvp(f, std::tuple(std::vector{x, x}), std::tuple(std::vector{x})));
  CHECK_ERROR(tree,
              "jvp: the tangent of argument 0: the structure of tree 2 is not that of tree 1, first at the root, which "
              "is a tuple of 2 and not a struct Pair\n  tree 1: Pair{x:*,n:*}\n  tree 2: (*, *)",
              fx::jvp(f, std::tuple(Pair{x, x}), std::tuple<std::pair<Array, Array>>({x, x})));
}
TEST_CASE("cotangents that are not like their results") {
  const Array x = vector({1, 2});
  const auto back = (HERE, fx::vjp([](Array a) { return Pair{np::sum(a), a}; }, x)).second;
  const fx::Loc applied = expected_line;
  const Array s = 1.0;
  const auto check = [&](ErrorCode code, auto&& wrong, const std::string& text) {
    check_error(code, text, [&] { expected_line = applied, wrong(); });
  };
  check(
      ErrorCode::shape,
      [&] {
        back(Pair{x, x});
      },
      "vjp: the cotangent of the result, x, is f64[2], expected f64[]");
  check(
      ErrorCode::dtype,
      [&] {
        back(Pair{1.0f, x});
      },
      "vjp: the cotangent of the result, x, is f32[], expected f64[]");
  check(
      ErrorCode::shape,
      [&] {
        back(Pair{s, s});
      },
      "vjp: the cotangent of the result, n, is f64[], expected f64[2]");
  check(
      ErrorCode::tree, [&] { back(s); },
      "vjp: the cotangent of the result: the structure of tree 2 is not that of tree 1, first at the root, which is an "
      "Array and not "
      "a struct Pair\n  tree 1: Pair{x:*,n:*}\n  tree 2: *");
  CHECK(back(Pair{s, x}).to_vector<double>() == std::vector<double>{2, 3});
}

}  // namespace
