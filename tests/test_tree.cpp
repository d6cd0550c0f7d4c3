// test_tree.cpp -- fx::tree on real Arrays: map, leaves, and ravel with its way back.
#include <doctest/doctest.h>

#include <fx/fx.hpp>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace {

using fx::Array;
namespace np = fx::numpy;

struct Layer {
  Array w, b;
};
struct Params {
  std::vector<Layer> layers;
  Array scale;
};

Params params() {
  return {{{np::reshape(np::arange(4, fx::f64), {2, 2}), np::array({4.0, 5.0})},
           {np::array({{6.0}, {7.0}}), np::array({8.0})}},
          Array(9.0)};
}
std::string str(const Array& x) { return fx::to_string(x); }
fx::Error last(fx::ErrorCode::internal, "");
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const fx::Error& e) {
    last = e;
    const std::string s = e.what();
    return s.substr(4, s.find('\n') - 4);
  }
  return "no error";
}

}  // namespace

TEST_CASE("ravel: all leaves as one vector, and back") {
  const auto [flat, unravel] = fx::tree::ravel(params());
  CHECK(str(flat) == "[0. 1. 2. 3. 4. 5. 6. 7. 8. 9.]");
  const Params back = unravel(flat * 10.0);
  CHECK(str(back.layers[0].w) == "[[ 0. 10.]\n [20. 30.]]");
  CHECK(str(back.layers[1].b) == "[80.]");
  CHECK(str(back.scale) == "90.0");
  CHECK(back.scale.rank() == 0);
  const Params same = std::get<1>(fx::tree::ravel(back))(flat);
  CHECK(str(std::get<0>(fx::tree::ravel(same))) == str(flat));
  CHECK(str(std::get<0>(fx::tree::ravel(std::tuple()))) == "[]");
  CHECK(str(std::get<0>(fx::tree::ravel(np::ones({2, 0})))) == "[]");
}

TEST_CASE("ravel under transforms") {
  const Params p = params();
  const auto loss = [](const Params& q) {
    return np::sum(np::square(q.layers[0].w)) + np::sum(q.layers[1].w) * q.scale;
  };
  const auto [flat, unravel] = fx::tree::ravel(p);
  const Array of_flat = fx::grad([&, back = unravel](const Array& v) { return loss(back(v)); })(flat);
  CHECK(str(of_flat) == "[ 0.  2.  4.  6.  0.  0.  9.  9.  0. 13.]");
  CHECK(str(std::get<0>(fx::tree::ravel(fx::grad(loss)(p)))) == str(of_flat));
  // Raveling inside a traced function.
  const Array norm =
      fx::grad([](const Params& q) { return np::sum(np::square(std::get<0>(fx::tree::ravel(q)))); })(p).scale;
  CHECK(str(norm) == "18.0");
  const auto rows =
      fx::vmap([&, back = unravel](const Array& v) { return back(v).layers[0].b; })(np::stack({flat, flat * 2.0}));
  CHECK(str(rows) == "[[ 4.  5.]\n [ 8. 10.]]");
}

TEST_CASE("ravel: errors") {
  CHECK(error_of([] {
          fx::tree::ravel(Layer{np::ones({2}), np::arange(2)});
        }) == "tree::ravel: leaf 1 (b) is i32[2]; only floating-point leaves can be raveled");
  CHECK(last.code == fx::ErrorCode::dtype);
  error_of([] { fx::tree::ravel(np::arange(2)); });
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([] {
          fx::tree::ravel(Layer{np::ones({2}), np::ones({2}, fx::f64)});
        }) == "tree::ravel: leaf 1 (b) is f64[2], and the first leaf has another dtype; convert them to one");
  CHECK(error_of([] { fx::tree::ravel(std::pair(np::ones({2}), fx::random::key(0))); }) ==
        "tree::ravel: leaf 1 ([1]) is u32[2]; only floating-point leaves can be raveled");
  const auto back = std::get<1>(fx::tree::ravel(params()));
  CHECK(error_of([&] { back(np::ones({9}, fx::f64)); }) == "tree::ravel: unravel takes f64[10], got f64[9]");
  CHECK(last.code == fx::ErrorCode::shape);
  CHECK(error_of([&] { back(np::ones({10})); }) == "tree::ravel: unravel takes f64[10], got f32[10]");
  CHECK(error_of([] { fx::tree::ravel(Layer{}); }) == "this Array is empty: it was moved from, or never given a value");
}

TEST_CASE("map and leaves") {
  const Params p = params(), g = fx::tree::map([](const Array&a) { return a * 0.0 + 1.0; }, p);
  const Params next = fx::tree::map([](const Array& a, const Array& d) { return a - 0.5 * d; }, p, g);
  CHECK(str(next.layers[0].b) == "[3.5 4.5]");
  CHECK(fx::tree::leaves(p).size() == 5);
  CHECK(fx::tree::paths(p) ==
        std::vector<std::string>{"layers[0].w", "layers[0].b", "layers[1].w", "layers[1].b", "scale"});
  const std::map<std::string, Array> named = {{"a", Array(1.0)}, {"b", np::ones({2}, fx::f64)}};
  CHECK(str(std::get<0>(fx::tree::ravel(named))) == "[1. 1. 1.]");
}

namespace {
constexpr bool constant_ravel() {
  const auto [flat, back] = fx::tree::ravel(std::pair(np::array({1.0, 2.0}), Array(3.0)));
  const auto tree = back(flat * 2.0);
  return np::all(flat == np::array({1.0, 2.0, 3.0})).item<bool>() && tree.second.item<double>() == 6;
}
static_assert(constant_ravel());
}  // namespace
