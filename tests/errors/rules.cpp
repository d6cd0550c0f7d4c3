// errors/rules.cpp -- primitives that lack the rule a transform needs: the Error says what to write.
#include "errors.hpp"

using namespace errors;

namespace {

// Twice x, with a type rule and a value and nothing else.
struct Bare {
  static constexpr std::string_view name = "bare";
  static constexpr fx::Kind kind = fx::Kind::elementwise;
  static constexpr void type(fx::TypeCtx& c) { c.result(c.type(0)); }
  static constexpr void scalar(fx::ScalarCtx& c) { run<fx::detail::ScalarWorld>(c); }
  static void record(fx::RecordCtx& c) { run<fx::detail::RecordWorld>(c); }
  template <class World, class Ctx>
  static constexpr void run(Ctx& c) {
    auto x = World::template get<double>(c, 0);
    World::put(c, 0, x + x);
  }
};
// The same, with a jvp in terms of itself: grad then needs its transpose.
struct Forward : Bare {
  static constexpr std::string_view name = "forward";
  static constexpr void jvp(fx::JvpCtx& c) { c.dy[0] = fx::bind(fx::prim<Forward>, {c.t[0]}); }
};
template <class P>
Array apply(Array::Op x) {
  return fx::detail::unary_op(fx::prim<P>, x);
}

TEST_CASE("what needs no rule works") {
  CHECK(apply<Bare>(3.0).item<double>() == 6);
  CHECK(fx::jit([](Array a) { return apply<Bare>(a) + 1.0; })(3.0).item<double>() == 7);
  CHECK(
      fx::jvp([](Array a) { return apply<Forward>(a * a); }, std::tuple(3.0), std::tuple(1.0)).second.item<double>() ==
      12);
  CHECK(fx::grad([](Array a) { return a * apply<Bare>(stop_gradient(a)); })(3.0).item<double>() == 6);
}
TEST_CASE("no jvp rule") {
  const std::string text =
      "primitive 'bare' has no jvp rule; write `static constexpr void jvp(fx::JvpCtx&)` in its struct, or "
      "stop_gradient its operands";
  check_error(ErrorCode::rule, text, [&] { fx::grad([](Array a) { return HERE, apply<Bare>(a); })(1.0); });
  check_error(ErrorCode::rule, text,
              [&] { fx::jvp([](Array a) { return HERE, apply<Bare>(a); }, std::tuple(1.0), std::tuple(1.0)); });
  check_error(ErrorCode::rule, text,
              [&] { fx::jit(fx::grad(fx::jit([](Array a) { return HERE, apply<Bare>(a); })))(1.0); });
  auto body = [](Array c, Array t) { return std::pair((HERE, apply<Bare>(c)), t); };
  check_error(ErrorCode::rule, text, [&] {
    fx::grad([&](Array a) { return fx::scan(body, a, vector({1, 2})).first; })(1.0);
  });
}
TEST_CASE("no transpose rule") {
  const std::string text =
      "primitive 'forward' has no transpose rule; write `static constexpr void transpose(fx::TransposeCtx&)` in its "
      "struct if it is "
      "linear in an operand; else its jvp must use linear primitives only";
  check_error(ErrorCode::rule, text, [&] { fx::grad([](Array a) { return HERE, apply<Forward>(a); })(1.0); });
  check_error(ErrorCode::rule, text, [&] { fx::vjp([](Array a) { return HERE, apply<Forward>(a); }, 1.0); });
}
TEST_CASE("no batch rule") {
  const std::string text =
      "primitive 'bare' has no batch rule; write `static constexpr void batch(fx::BatchCtx&)` in its struct";
  const Array x = vector({1, 2, 3});
  check_error(ErrorCode::rule, text, [&] { fx::vmap([](Array a) { return HERE, apply<Bare>(a); })(x); });
  CHECK(fx::vmap([](Array a) { return a * apply<Bare>(2.0); })(x).to_vector<double>() == std::vector<double>{4, 8, 12});
}

}  // namespace
