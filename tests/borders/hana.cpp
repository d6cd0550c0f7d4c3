// Boost.Hana's containers and adapted structs as pytrees, alone and under the transforms.
#include <doctest/doctest.h>

#include <boost/hana/adapt_adt.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/optional.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/tuple.hpp>
#include <fx/fx.hpp>
#include <fx/hana.hpp>
#include <map>

namespace hana = boost::hana;
namespace tree = fx::tree;
using fx::Array;
using Strings = std::vector<std::string>;

namespace shapes {

enum class Act { relu = 1, tanh = 7 };

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Array, w), (Array, b));
};

// Reflection of plain aggregates takes none of the following.
struct Named {
  std::string name = "none";
};
struct Model : Named {  // a base class that is no part of the tree, constructors, a static and a hidden member
  BOOST_HANA_DEFINE_STRUCT(Model, (std::vector<Layer>, layers), (fx::Static<int>, steps), (Act, act));
  int hidden = 42;
  Model() : steps{1}, act(Act::tanh) {}
  Model(std::vector<Layer> l, int s) : layers(std::move(l)), steps{s}, act(Act::tanh) {}
  virtual ~Model() = default;
};

struct Base {
  Array x;
};
struct Derived : Base {  // adapted from outside, with the member of its base
  Array y;
  Derived() = default;
  Derived(Array a, Array b) : Base{std::move(a)}, y(std::move(b)) {}
};

class Getters {  // private members behind getters that return references
  Array gain_, bias_;

 public:
  Getters(Array g, Array b) : gain_(std::move(g)), bias_(std::move(b)) {}
  Array& gain() { return gain_; }
  const Array& gain() const { return gain_; }
  Array& bias() { return bias_; }
  const Array& bias() const { return bias_; }
};

class Hidden {  // private members, adapted by hand
  Array v_;

 public:
  explicit Hidden(Array v) : v_(std::move(v)) {}
  const Array& v() const { return v_; }
  struct hana_accessors_impl {
    static constexpr auto apply() {
      return hana::make_tuple(hana::make_pair(
          BOOST_HANA_STRING("v"), [](auto&& h) -> auto& { return h.v_; }));
    }
  };
};

template <class T>
struct Twice {
  BOOST_HANA_DEFINE_STRUCT(Twice, (T, first), (T, second));
};
struct Node {
  BOOST_HANA_DEFINE_STRUCT(Node, (Array, value), (std::vector<Node>, children));
};
struct Nothing {
  BOOST_HANA_DEFINE_STRUCT(Nothing);
};

// No trees: one has the list of its base only, one hands out copies.
struct Inherits : Layer {
  Array own;
};
class Copies {
  Array x_;

 public:
  Array x() const { return x_; }
};

}  // namespace shapes

BOOST_HANA_ADAPT_STRUCT(shapes::Derived, x, y);
BOOST_HANA_ADAPT_ADT(shapes::Getters,
                     (
                         gain, [](auto&& g) -> auto& { return g.gain(); }),
                     (
                         bias, [](auto&& g) -> auto& { return g.bias(); }));
BOOST_HANA_ADAPT_ADT(shapes::Copies, (x, [](auto&& c) { return c.x(); }));

namespace {

using namespace shapes;

double number(const Array& a) { return a.item<double>(); }
Model two_layers(int steps = 2) { return Model({{1.0, 2.0}, {3.0, 4.0}}, steps); }

// Flattens t, changes each leaf to its own number, and sees the same in the copy.
template <class T>
void round_trip(const T& t, const std::string& structure, const Strings& paths) {
  CHECK(tree::structure_text(t) == structure);
  CHECK(tree::paths(t) == paths);
  CHECK(tree::leaf_count(t) == int(paths.size()));
  int n = 0;
  const T copy = tree::unflatten(t, [&] { return Array(double(n++)); });
  CHECK(tree::same_structure(t, copy));
  n = 0;
  for (const Array& leaf : tree::leaves(copy)) CHECK(number(leaf) == n++);
  CHECK(n == int(paths.size()));
}

}  // namespace

TEST_CASE("hana: tuples, pairs and optionals are trees") {
  const Array a(1.0);
  round_trip(hana::make_tuple(a, a), "(*, *)", {"[0]", "[1]"});
  round_trip(hana::tuple<Array>(a), "(*)", {"[0]"});
  round_trip(hana::tuple<>(), "()", {});
  round_trip(hana::make_pair(a, hana::make_tuple(a, a)), "(*, (*, *))", {"[0]", "[1][0]", "[1][1]"});
  round_trip(hana::just(a), "*", {""});
  round_trip(hana::optional<>(), "none", {});
  round_trip(hana::make_tuple(a, hana::nothing, hana::just(a)), "(*, none, *)", {"[0]", "[2]"});
  round_trip(hana::just(std::optional<Array>(a)), "some *", {""});
}

TEST_CASE("hana: inside the containers of the standard library, and around them") {
  const Array a(1.0);
  using Pair = hana::pair<Array, std::vector<Array>>;
  const std::map<std::string, Pair> m{{"k", Pair(a, std::vector<Array>{a, a})}};
  round_trip(std::tuple(hana::make_tuple(a, m), a), "((*, {\"k\":(*, [*,*])}), *)",
             {"[0][0]", "[0][1][\"k\"][0]", "[0][1][\"k\"][1][0]", "[0][1][\"k\"][1][1]", "[1]"});
  // Static parts, and numbers that are types.
  round_trip(hana::make_tuple(fx::static_(3), a, Act::relu, hana::int_c<3>), "(Static(3), *, 1, integral_constant{})",
             {"[1]"});
  CHECK(!tree::same_structure(hana::make_tuple(fx::static_(3), a), hana::make_tuple(fx::static_(4), a)));
}

TEST_CASE("hana: adapted structs are trees with their field names") {
  const Array a(1.0);
  round_trip(Layer{a, a}, "Layer{w:*,b:*}", {"w", "b"});
  round_trip(two_layers(), "Model{layers:[Layer{w:*,b:*},Layer{w:*,b:*}],steps:Static(2),act:7}",
             {"layers[0].w", "layers[0].b", "layers[1].w", "layers[1].b"});
  round_trip(Derived(a, a), "Derived{x:*,y:*}", {"x", "y"});
  round_trip(Getters(a, a), "Getters{gain:*,bias:*}", {"gain", "bias"});
  round_trip(Hidden(a), "Hidden{v:*}", {"v"});
  round_trip(Twice<Twice<Array>>{{a, a}, {a, a}}, "Twice{first:Twice{first:*,second:*},second:Twice{first:*,second:*}}",
             {"first.first", "first.second", "second.first", "second.second"});
  round_trip(Node{a, {Node{a, {}}, Node{a, {}}}},
             "Node{value:*,children:[Node{value:*,children:[]},Node{value:*,children:[]}]}",
             {"value", "children[0].value", "children[1].value"});
  round_trip(Nothing{}, "Nothing{}", {});
  round_trip(hana::make_tuple(Layer{a, a}, std::vector<Derived>{Derived(a, a)}), "(Layer{w:*,b:*}, [Derived{x:*,y:*}])",
             {"[0].w", "[0].b", "[1][0].x", "[1][0].y"});
}

// The door that hana.hpp uses is open to every container.
namespace shapes {
template <class T>
class List {
  std::vector<T> items_;

 public:
  void add(T v) { items_.push_back(std::move(v)); }
  std::size_t size() const { return items_.size(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
};
}  // namespace shapes
template <class T>
struct fx::TreeAdapter<shapes::List<T>> {
  using elements = fx::detail::TypeList<T>;
  template <class C, class V>
  static constexpr void walk(C& c, V& v) {
    fx::detail::walk_sequence(c, v, true);
  }
};

TEST_CASE("TreeAdapter: a container of one's own") {
  List<hana::tuple<Array>> l;
  round_trip(l, "[]", {});
  l.add(hana::tuple<Array>(2.0));
  l.add(hana::tuple<Array>(3.0));
  round_trip(l, "[(*),(*)]", {"[0][0]", "[1][0]"});
  const auto g = fx::grad([](const auto& x) {
    Array r(1.0);
    for (const auto& t : x) r *= t[hana::size_c<0>];
    return r;
  })(l);
  CHECK(number((*g.begin())[hana::size_c<0>]) == 3);
  static_assert(!fx::Pytree<List<double>>);
}

TEST_CASE("hana: what is no tree") {
  static_assert(fx::Pytree<Model> && fx::Pytree<Node> && fx::Pytree<hana::tuple<Model, Getters>>);
  static_assert(!fx::Pytree<hana::tuple<Array, double>> && !fx::Pytree<Twice<float>> &&
                !fx::Pytree<hana::optional<int*>>);
  static_assert(!fx::Pytree<hana::tuple<Array&>> && !fx::Pytree<Twice<const Array>> && !fx::Pytree<Base*>);
  static_assert(!fx::Pytree<Inherits> && !fx::Pytree<Copies>);
}

TEST_CASE("hana: map over trees; the members that are not listed come along") {
  Model m = two_layers();
  m.name = "mine";
  m.hidden = 43;
  const Model sum = tree::map([](Array a, Array b) { return a + 10.0 * b; }, m, two_layers());
  CHECK(number(sum.layers[1].b) == 44);
  CHECK(sum.name == "mine");
  CHECK(sum.hidden == 43);
  const auto t = tree::map([](Array a) { return -a; }, hana::make_tuple(Array(1.0), hana::just(Array(2.0))));
  CHECK(number(t[hana::size_c<1>].value()) == -2);
  try {
    tree::map([](Array a, Array b) { return a + b; }, m, Model({{1.0, 2.0}}, 2));
    FAIL("two structures are one");
  } catch (const fx::Error& e) {
    CHECK(e.code == fx::ErrorCode::tree);
    CHECK(e.where.line == __LINE__ - 4);
    CHECK(std::string(e.what()).find("first at layers, which is a sequence of 1") != std::string::npos);
  }
}

TEST_CASE("hana: gradients with respect to adapted structs and tuples") {
  auto loss = [](const Model& m, Array x) {
    for (const Layer& l : m.layers) x = x * l.w + l.b;
    return x * x;
  };
  // y = ((x w0 + b0) w1 + b1) is 19 at x = 3
  const auto [value, g] = fx::value_and_grad(loss)(two_layers(), 3.0);
  CHECK(number(value) == 361);
  CHECK(number(g.layers[0].w) == 2 * 19 * 3 * 3);
  CHECK(number(g.layers[0].b) == 2 * 19 * 3);
  CHECK(number(g.layers[1].w) == 2 * 19 * 5);
  CHECK(number(g.layers[1].b) == 2 * 19);
  CHECK(g.steps.value == 2);
  CHECK(g.hidden == 42);

  const Derived d = fx::grad([](const Derived& p) { return p.x * p.x * p.y; })(Derived(3.0, 5.0));
  CHECK(number(d.x) == 30);
  CHECK(number(d.y) == 9);
  const Getters e = fx::grad([](const Getters& p) { return p.gain() * p.gain() + p.bias(); })(Getters(4.0, 1.0));
  CHECK(number(e.gain()) == 8);
  CHECK(number(e.bias()) == 1);
  const Hidden h = fx::grad([](const Hidden& p) { return p.v() * p.v(); })(Hidden(3.0));
  CHECK(number(h.v()) == 6);

  using Two = hana::tuple<Array, hana::pair<Array, Array>>;
  const Two t = fx::grad([](const Two& p) {
    const auto& [a, b] = std::pair(p[hana::size_c<0>], p[hana::size_c<1>]);
    return a * hana::first(b) * hana::second(b);
  })(Two(Array(2.0), hana::make_pair(Array(3.0), Array(5.0))));
  CHECK(number(t[hana::size_c<0>]) == 15);
  CHECK(number(hana::second(t[hana::size_c<1>])) == 6);
}

TEST_CASE("hana: arguments and results of jit, and what is part of its key") {
  auto step = fx::jit([](const Model& m, hana::tuple<Array, Array> xy) {
    Model r = m;
    for (Layer& l : r.layers) l.w = l.w * double(m.steps.value);
    return hana::make_pair(r, xy[hana::size_c<0>] + xy[hana::size_c<1>]);
  });
  for (int i = 0; i < 3; ++i) {
    const auto r = step(two_layers(), hana::make_tuple(Array(1.0 + i), Array(2.0)));
    CHECK(number(hana::first(r).layers[1].w) == 6);
    CHECK(hana::first(r).steps.value == 2);
    CHECK(number(hana::second(r)) == 3 + i);
  }
  CHECK(step.traces() == 1);
  CHECK(number(hana::first(step(two_layers(5), hana::make_tuple(Array(1.0), Array(2.0)))).layers[1].w) == 15);
  CHECK(step.traces() == 2);
  step(Model({{1.0, 2.0}}, 2), hana::make_tuple(Array(1.0), Array(2.0)));
  CHECK(step.traces() == 3);
}

TEST_CASE("hana: vmap takes axes by path, and maps results") {
  const Array rows(std::vector<double>{1, 2, 3, 4, 5, 6}, {3, 2}), one(std::vector<double>{10, 20});
  auto f = [](const Derived& d, const Array& s) { return hana::make_tuple(d.x * d.y + s, Derived(d.y, d.x)); };
  const auto r = fx::vmap(f, {.in = {{{"x", 0}, {"y", fx::none}}, fx::none}})(Derived(rows, one), Array(1.0));
  CHECK(r[hana::size_c<0>].to_vector<double>() == std::vector<double>{11, 41, 31, 81, 51, 121});
  CHECK(r[hana::size_c<1>].x.shape() == fx::Dims{3, 2});
  const auto by_index = fx::vmap([](hana::tuple<Array, Array> t) { return t[hana::size_c<0>] * t[hana::size_c<1>]; },
                                 {.in = {{{"[0]", 0}, {"[1]", fx::none}}}});
  CHECK(by_index(hana::make_tuple(one, Array(2.0))).to_vector<double>() == std::vector<double>{20, 40});
}

TEST_CASE("hana: carries of scan, tangents of jvp") {
  const auto [c, ys] = fx::scan(
      [](const Derived& d, const Array& t) { return std::pair(Derived(d.x + t, d.y * t), hana::make_tuple(d.x, d.y)); },
      Derived(0.0, 1.0), Array(std::vector<double>{1, 2, 3, 4}));
  CHECK(number(c.x) == 10);
  CHECK(number(c.y) == 24);
  CHECK(ys[hana::size_c<0>].to_vector<double>() == std::vector<double>{0, 1, 3, 6});
  const auto [y, dy] = fx::jvp([](const Derived& d) { return hana::make_tuple(d.x * d.y); },
                               std::tuple(Derived(3.0, 5.0)), std::tuple(Derived(1.0, 2.0)));
  CHECK(number(y[hana::size_c<0>]) == 15);
  CHECK(number(dy[hana::size_c<0>]) == 11);
}

// In constant evaluation too.
namespace {
constexpr double slope() {
  const auto t = fx::grad([](const hana::tuple<Array, Array>& p) { return p[hana::size_c<0>] * p[hana::size_c<1>]; })(
      hana::make_tuple(Array(3.0), Array(5.0)));
  return t[hana::size_c<0>].item<double>();
}
static_assert(slope() == 5);
constexpr double struct_slope() {
  return fx::grad([](const Layer& l) { return l.w * l.w + l.b; })(Layer{3.0, 5.0}).w.item<double>();
}
static_assert(struct_slope() == 6);
}  // namespace
