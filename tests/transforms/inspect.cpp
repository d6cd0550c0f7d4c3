// transforms/inspect.cpp -- make_jaxpr and eval_shape: the text of functions and of their transforms, and types without
// values.
#include <map>

#include "transforms.hpp"

using namespace transforms;

namespace {

struct Layer {
  Array w, b;
};
std::string text(const fx::Jaxpr& j) { return std::string(j.text().view()); }

TEST_CASE("a function and its gradient as text") {
  auto f = [](Array x) { return x * sin(x); };
  CHECK(text(fx::make_jaxpr(f)(fx::type(fx::f64))) == R"({ lambda ; a:f64[]. let
    b:f64[] = sin a
    c:f64[] = mul a b
  in (c,) })");
  CHECK(text(fx::make_jaxpr(fx::grad(f))(fx::type(fx::f64))) == R"({ lambda ; a:f64[]. let
    b:f64[] = sin a
    c:f64[] = cos a
    d:f64[] = mul a c
    e:f64[] = add b d
  in (e,) })");
  CHECK(text(fx::make_jaxpr(fx::vmap(f))(fx::type(fx::f32, {3}))) == R"({ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[3] = mul a b
  in (c,) })");
  auto tangent = [&](Array x, Array t) { return fx::jvp(f, std::tuple(x), std::tuple(t)).second; };
  CHECK(text(fx::make_jaxpr(tangent)(fx::type(fx::f64), fx::type(fx::f64))) == R"({ lambda ; a:f64[] b:f64[]. let
    c:f64[] = sin a
    d:f64[] = cos a
    e:f64[] = mul b d
    f:f64[] = mul b c
    g:f64[] = mul e a
    h:f64[] = add f g
  in (h,) })");
}
TEST_CASE("symbolic sizes, captured Arrays, literals, unused and repeated values") {
  const Array k = vector({1, 2, 3});
  CHECK(text(fx::make_jaxpr([](Array x) { return np::sum(x * 2.0f); })(fx::type(fx::f32, {fx::dim("n"), 4}))) ==
        R"({ lambda ; a:f32[n,4]. let
    b:f32[n,4] = mul a 2.0:f32
    c:f32[] = reduce_sum[axes=(0,1)] b
  in (c,) })");
  auto mixed = [&](Array x, Array) {
    sin(x);
    return std::tuple(x + k, x, Array(1.5), x);
  };
  CHECK(text(fx::make_jaxpr(mixed)(vector({0, 0, 0}), fx::type(fx::i32))) ==
        R"({ lambda c:f64[3] ; a:f64[3] b:i32[]. let
    d:f64[3] = add a c
  in (d, a, 1.5:f64, a) })");
}
TEST_CASE("Arrays, numbers, specs, types and trees are arguments") {
  auto f = [](const Layer& l, Array x, Array n) { return std::pair(np::matmul(x, l.w) + l.b, n + 1); };
  const Layer spec{fx::spec(fx::type(fx::f32, {3, 2})), fx::spec(fx::type(fx::f32, {2}))};
  const std::string expect = R"({ lambda ; a:f32[3,2] b:f32[2] c:f32[4,3] d:i32[]. let
    e:f32[4,2] = dot_general[lhs_contract=(1) rhs_contract=(0) lhs_batch=() rhs_batch=()] c a
    f:f32[4,2] = broadcast_in_dim[shape=(4,2) dims=(1)] b
    g:f32[4,2] = add e f
    h:i32[] = add d 1:i32
  in (g, h) })";
  const auto once = [&](const fx::Jaxpr& j) { return text(j) == expect; };
  auto ordered = [&](const Layer& l, Array x, Array n) {
    const Array y = np::matmul(x, l.w) + l.b;
    return std::pair(y, n + 1);
  };
  CHECK(once(fx::make_jaxpr(ordered)(spec, fx::type(fx::f32, {4, 3}), 7)));
  CHECK(once(fx::make_jaxpr(ordered)(Layer{np::zeros({3, 2}), np::zeros({2})}, np::zeros({4, 3}),
                                     fx::spec(fx::type(fx::i32)))));
  const auto [y, n] = fx::eval_shape(f)(spec, fx::type(fx::f32, {4, 3}), 7);
  CHECK(y.type() == fx::type(fx::f32, {4, 2}));
  CHECK(n.type() == fx::type(fx::i32));
}
TEST_CASE("the text parses back to the same Graph, for every transform") {
  auto f = [](Array x, Array y) {
    auto [c, ys] = fx::scan([&](Array s, Array r) { return std::pair(tanh(s * r) + y, s); }, y, x);
    return np::sum(ys) + fx::jit([](Array a) { return np::sum(np::sort(a)); })(c + x);
  };
  const fx::Type x = fx::type(fx::f64, {4}), y = fx::type(fx::f64), xs = fx::type(fx::f64, {3, 4}),
                 ys = fx::type(fx::f64, {3});
  for (const fx::Jaxpr& j :
       {fx::make_jaxpr(f)(x, y), fx::make_jaxpr(fx::grad<0, 1>(f))(x, y), fx::make_jaxpr(fx::vmap(f))(xs, ys),
        fx::make_jaxpr(fx::vmap(fx::grad(f)))(xs, ys), fx::make_jaxpr(fx::jit(fx::value_and_grad(f)))(x, y)}) {
    const fx::Graph again = fx::parse(text(j));
    CHECK(fx::digest(again) == fx::digest(j.graph));
    CHECK(std::string(fx::text(again).view()) == text(j));
    CHECK(fx::verify(j.graph).empty());
  }
}
TEST_CASE("eval_shape keeps the structure and runs nothing") {
  auto f = [](Array x) {
    return std::map<std::string, std::vector<Array>>{{"a", {np::expand_dims(x, 1) * x, convert(x, fx::i32)}},
                                                     {"b", {np::sum(x)}}};
  };
  const auto r = fx::eval_shape(f)(fx::type(fx::f32, {fx::dim("n")}));
  CHECK(r.at("a")[0].type() == fx::type(fx::f32, {fx::dim("n"), fx::dim("n")}));
  CHECK(r.at("a")[1].type() == fx::type(fx::i32, {fx::dim("n")}));
  CHECK(r.at("b")[0].rank() == 0);
  const auto huge = fx::eval_shape([](Array x) { return x + 1.0f; })(fx::type(fx::f32, {std::int64_t(1) << 40}));
  CHECK(huge.size() == std::int64_t(1) << 40);
  const auto g = fx::eval_shape(fx::grad([](const Layer& l) { return np::sum(l.w) * np::sum(l.b); }))(
      Layer{fx::spec(fx::type(fx::f32, {3, 2})), fx::spec(fx::type(fx::f32, {2}))});
  CHECK(g.w.shape() == fx::Dims{3, 2});
}

}  // namespace
