// test_pytree.cpp -- fx::tree and the reflection under it, against a stand-in for Array or (without FX_PYTREE_MOCK) the
// real one.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>

#if !__has_include(<fx/fx.hpp>) && !defined(FX_PYTREE_MOCK)
#define FX_PYTREE_MOCK
#endif
#ifdef FX_PYTREE_MOCK
#undef FX_COMPILED
#define v0 v0_mock  // a namespace and bodies of its own: other files of this program know the real Array
#include <fx/base/error.hpp>
namespace fx::inline v0 {
// As greedy as the real Array: implicit from numbers and from braced lists, empty after a move.
class Array {
  double v_ = 0;
  bool full_ = false;

 public:
  constexpr Array() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Array(T v) : v_(double(v)), full_(true) {}
  constexpr Array(std::initializer_list<double> l) : v_(*l.begin()), full_(true) {}
  constexpr Array(std::initializer_list<std::initializer_list<double>> l) : v_(*l.begin()->begin()), full_(true) {}
  constexpr Array(const Array&) = default;
  constexpr Array(Array&& o) noexcept : v_(o.v_), full_(o.full_) { o.full_ = false; }
  constexpr Array& operator=(const Array&) = default;
  constexpr Array& operator=(Array&& o) noexcept {
    v_ = o.v_;
    full_ = o.full_;
    if (this != &o) o.full_ = false;
    return *this;
  }
  constexpr ~Array() {}
  constexpr bool empty() const { return !full_; }
  constexpr double value() const {
    if (!full_) fail(ErrorCode::state, "an empty Array");
    return v_;
  }
};
constexpr double value_of(const Array& a) { return a.value(); }
class Key {
  Array data_;

 public:
  constexpr explicit Key(int seed) : data_(seed) {}
  constexpr Array& data() { return data_; }
  constexpr const Array& data() const { return data_; }
};
}  // namespace fx::inline v0
#include <fx/pytree.hpp>
namespace fx::inline v0::detail {
constexpr Array& key_array(Key& k) { return k.data(); }
constexpr const Array& key_array(const Key& k) { return k.data(); }
}  // namespace fx::inline v0::detail
namespace {
fx::Key make_key(int seed) { return fx::Key(seed); }
}  // namespace
#else
#include <fx/fx.hpp>
namespace {
// Of a key: its low word, the seed.
double value_of(const fx::Array& a) {
  return a.size() == 1 ? a.item<double>() : double(a.to_vector<std::uint32_t>().back());
}
fx::Key make_key(int seed) { return fx::random::key(seed); }
}  // namespace
#endif

namespace {

using fx::Array;
using fx::Key;
using fx::Static;
namespace tree = fx::tree;
using Paths = std::vector<std::string>;

enum class Act { relu, tanh = 7, minus = -2 };
struct Layer {
  Array w, b;
};
struct Params {
  std::vector<Layer> layers;
};
struct Relu {};
struct Conf {
  Static<int> n;
  Static<bool> train;
  Static<double> rate;
  std::string name;
  Act act;
  Relu unit;
  std::monostate nothing;
};
struct Model {
  Conf conf;
  std::array<Layer, 2> pair;
  std::optional<Array> bias;
  std::map<std::string, std::vector<Layer>> heads;
  std::map<Act, Array> by_act;
  std::tuple<Array, std::pair<Array, Layer>> rest;
};
struct Twenty {
  Array a, b, c, d, e;
  std::array<Array, 2> f;
  Layer g;
  std::optional<Array> h;
  Static<int> i;
  std::vector<Array> j;
  Array k, l, m, n, o, p, q, r, s, last_one;
};
template <class T>
struct Quad {
  T a, b;
};
struct Greedy {
  Greedy() {}
  template <class T>
  Greedy(const T&) {}
};
struct Node {
  Array x;
  std::vector<Node> children;
};

Model model() {
  return {{{3}, {true}, {0.5}, "m", Act::tanh, {}, {}},
          {{{1, 2}, {3, 4}}},
          {},
          {{"b", {{5, 6}}}, {"a\"]", {{7, 8}, {9, 10}}}},
          {{Act::relu, 11}, {Act::minus, 12}},
          {13, {14, {15, 16}}}};
}

template <class T>
std::uint64_t hash(const T& t) {
  std::uint64_t h = 0;
  tree::structure_hash(t, h);
  return h;
}
template <class T>
std::vector<double> values(const T& t) {
  std::vector<double> r;
  tree::for_each_leaf(t, [&](const Array& a) { r.push_back(value_of(a)); });
  return r;
}
// Text and hash must agree on whether a and b have one structure.
template <class T>
bool same(const T& a, const T& b) {
  const bool texts = tree::structure_text(a) == tree::structure_text(b);
  CHECK(texts == (hash(a) == hash(b)));
  CHECK(texts == tree::same_structure(a, b));
  return texts;
}

}  // namespace

// A static type of the user's own.
namespace user {
struct Grid {
  int x, y;
};
void fx_key(fx::Str& out, const Grid& g) { (out.num(g.x) += 'x').num(g.y); }
struct Opaque {
  int x;
};
}  // namespace user

TEST_CASE("fields: counting is not fooled by conversions and brace elision") {
  using fx::detail::field_count;
  struct Containers {
    std::vector<double> a;
    std::optional<Array> b;
    std::optional<std::optional<Array>> c;
    std::array<Array, 7> d;
    std::array<std::array<Layer, 2>, 2> e;
    Array f;
    Layer g;
    std::tuple<Array> h;
    std::pair<Array, Array> i;
    std::map<std::string, Array> j;
    bool k;
    std::string l;
  };
  struct Keys {
    Key a;  // no default constructor
    Array b;
    Key c;
  };
  struct AllGreedy {
    Greedy a, b;
  };
  struct Base : Layer {
    Array c;
  };
  struct EmptyBase : Relu {
    Array c;
  };
  struct CArray {
    Array a, b[3], c;
  };
  static_assert(field_count<Containers> == 12 && field_count<Keys> == 3 && field_count<AllGreedy> == 2);
  static_assert(field_count<Twenty> == 20 && field_count<Relu> == 0 && field_count<Model> == 6);
  static_assert(fx::detail::has_base<Base> && fx::detail::has_base<EmptyBase> && !fx::detail::has_base<AllGreedy>);
  static_assert(fx::detail::has_c_array<CArray> && !fx::detail::has_c_array<Containers>);
  static_assert(!fx::detail::has_c_array<AllGreedy> && !fx::detail::has_c_array<Twenty>);
  Layer l{1, 2};
  auto refs = fx::detail::tie_fields(l);
  static_assert(std::is_same_v<decltype(refs), std::tuple<Array&, Array&>>);
  CHECK(&std::get<1>(refs) == &l.b);
}

TEST_CASE("fields: names at compile time, for local, unnamed-namespace and template types") {
  using fx::detail::field_names, fx::detail::type_name;
  struct Local {
    Array first;
    std::map<std::string, int> second_1;
    struct {
      int x;
    } größe;
  };
  static_assert(field_names<Layer>[0] == "w" && field_names<Layer>[1] == "b");
  static_assert(field_names<Local>[0] == "first" && field_names<Local>[1] == "second_1");
  static_assert(field_names<Local>[2] == "größe");
  static_assert(field_names<Model>[0] == "conf" && field_names<Model>[1] == "pair" && field_names<Model>[5] == "rest");
  static_assert(field_names<Twenty>[5] == "f" && field_names<Twenty>[19] == "last_one");
  static_assert(field_names<Quad<std::vector<int>>>[1] == "b" && field_names<Relu>.empty());
  static_assert(type_name<Local>() == "Local" && type_name<Quad<std::array<Array, 2>>>() == "Quad");
  static_assert(type_name<Model>() == "Model");
  const auto lambda = [] {};
  static_assert(type_name<std::remove_const_t<decltype(lambda)>>().empty());
}

TEST_CASE("tree: which types are pytrees") {
  using fx::Pytree;
  struct Number {
    double lr;
  };
  struct Outer {
    Array a;
    std::vector<std::optional<Number>> v;
  };
  struct Base : Layer {};
  struct CArray {
    Array a[2];
  };
  struct CArrayOfOne {
    Array a[1];
  };
  struct Pointer {
    Array* p;
  };
  struct Reference {
    Array& a;
  };
  struct Const {
    const Array a;
  };
  struct Constructed {
    Array a;
    Constructed() {}
  };
  struct Huge {
    Twenty a;
    Array b[100];
  };
  union Union {
    Act a;
    int b;
  };
  static_assert(Pytree<Array> && Pytree<Key> && Pytree<const Model&> && Pytree<Twenty> && Pytree<Node>);
  static_assert(Pytree<std::tuple<>> && Pytree<std::tuple<Array, Act, std::string>> && Pytree<Quad<Array>>);
  static_assert(Pytree<std::map<int, Key>> && Pytree<std::map<Act, Array>> &&
                Pytree<std::optional<std::array<Key, 2>>>);
  static_assert(Pytree<Static<user::Grid>> && !Pytree<Static<user::Opaque>> && !Pytree<Static<long double>>);
  static_assert(!Pytree<double> && !Pytree<bool> && !Pytree<std::vector<double>> && !Pytree<std::vector<bool>>);
  static_assert(!Pytree<Number> && !Pytree<Outer> && !Pytree<Base> && !Pytree<CArray> && !Pytree<CArrayOfOne>);
  static_assert(!Pytree<Pointer> && !Pytree<Reference> && !Pytree<Const> && !Pytree<Constructed> && !Pytree<Huge>);
  static_assert(!Pytree<Union> && !Pytree<const char*> && !Pytree<Array[2]> && !Pytree<std::variant<Array>>);
  static_assert(!Pytree<std::map<double, Array>> && !Pytree<std::map<Layer, Array>> && !Pytree<std::tuple<Array&>>);
  static_assert(!Pytree<Quad<double>> && Pytree<Quad<Static<double>>>);
  const auto captures = [x = Array(1)] { return x; };
  const auto none = [] {};
  static_assert(!Pytree<decltype(captures)> && Pytree<decltype(none)>);
}

TEST_CASE("tree: leaves in order, const and not") {
  Model m = model();
  const std::vector<double> in_order = {1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 12, 11, 13, 14, 15, 16};
  CHECK(values(m) == in_order);
  CHECK(tree::leaf_count(m) == 16);
  CHECK(tree::leaves(m).size() == 16);
  CHECK(value_of(tree::leaves(m)[4]) == 7);
  tree::for_each_leaf(m, [](Array& a) { a = Array(value_of(a) + 100); });
  CHECK(value_of(m.heads["b"][0].b) == 106);
  tree::for_each_leaf(std::as_const(m), [](auto& a) { static_assert(std::is_same_v<decltype(a), const Array&>); });
  m.bias = Array(1);
  CHECK(tree::leaf_count(m) == 17);
  CHECK(tree::leaf_count(Conf{}) == 0);
  CHECK(tree::leaf_count(std::tuple<>{}) == 0);
  CHECK(tree::leaf_count(std::vector<Layer>{}) == 0);
  CHECK(tree::leaf_count(Array(1)) == 1);
  CHECK(tree::leaf_count(std::pair(make_key(1), Array(2))) == 2);
  Twenty twenty = {};
  twenty.h = 1;
  twenty.j = {1, 2};
  CHECK(tree::leaf_count(twenty) == 15 + 2 + 2 + 1 + 2);
  CHECK(values(Node{1, {{2, {{3, {}}}}, {4, {}}}}) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("tree: structure text") {
  CHECK(tree::structure_text(std::tuple(Params{{{1, 2}, {3, 4}}}, Array(1))) ==
        "(Params{layers:[Layer{w:*,b:*},Layer{w:*,b:*}]}, *)");
  CHECK(tree::structure_text(model()) ==
        "Model{conf:Conf{n:Static(3),train:Static(true),rate:Static(0.5),name:\"m\",act:7,unit:Relu{},"
        "nothing:monostate{}},pair:[Layer{w:*,b:*},Layer{w:*,b:*}],bias:none,"
        "heads:{\"a\\\"]\":[Layer{w:*,b:*},Layer{w:*,b:*}],\"b\":[Layer{w:*,b:*}]},by_act:{-2:*,0:*},"
        "rest:(*, (*, Layer{w:*,b:*}))}");
  CHECK(tree::structure_text(Array(1)) == "*");
  CHECK(tree::structure_text(make_key(1)) == "key");
  CHECK(tree::structure_text(std::tuple<>()) == "()");
  CHECK(tree::structure_text(std::tuple(std::array<Array, 0>{}, std::vector<Array>(2))) == "([], [*,*])");
  CHECK(tree::structure_text(Static<user::Grid>{{3, 4}}) == "Static(\"3x4\")");
  CHECK(tree::structure_text(fx::static_("adam")) == "Static(\"adam\")");
  using Deep = std::optional<std::optional<Array>>;
  CHECK(tree::structure_text(std::tuple(Deep(), Deep(std::optional<Array>()), Deep(Array(1)))) ==
        "(none, some none, some *)");
}

TEST_CASE("tree: static numbers print so that they read back") {
  const auto text = [](auto v) { return tree::structure_text(fx::static_(v)); };
  CHECK(text(3.0) == "Static(3.0)");
  CHECK(text(-0.0) == "Static(-0.0)");
  CHECK(text(0.001) == "Static(0.001)");
  CHECK(text(1e-8) == "Static(1e-08)");
  CHECK(text(0.1f) == "Static(0.1)");
  CHECK(text(double(0.1f)) == "Static(0.10000000149011612)");
  CHECK(text(1.0 / 3) == "Static(0.3333333333333333)");
  CHECK(text(-1e300) == "Static(-1e+300)");
  CHECK(text(5e-324) == "Static(5e-324)");
  CHECK(text(std::numeric_limits<double>::infinity()) == "Static(inf)");
  CHECK(text(-std::nan("")) == "Static(nan)");
  CHECK(text(std::numeric_limits<std::int64_t>::min()) == "Static(-9223372036854775808)");
  CHECK(text(~std::uint64_t(0)) == "Static(18446744073709551615)");
  CHECK(text('a') == "Static(97)");
  CHECK(text(false) == "Static(false)");
  CHECK(same(fx::static_(std::nan("1")), fx::static_(-std::nan("2"))));
  CHECK(!same(fx::static_(0.0), fx::static_(-0.0)));
  CHECK(!same(fx::static_(0.1), fx::static_(std::nextafter(0.1, 1.0))));
}

TEST_CASE("tree: structures are equal when lengths, keys, presence and static values are") {
  const Model m = model();
  Model n = model();
  CHECK(same(m, n));
  n.rest = {0, {0, {0, 0}}};
  CHECK(same(m, n));
  const auto differs = [&](auto&& change) {
    Model c = model();
    change(c);
    return !same(m, c);
  };
  CHECK(differs([](Model& c) { c.conf.n.value = 4; }));
  CHECK(differs([](Model& c) { c.conf.train.value = false; }));
  CHECK(differs([](Model& c) { c.conf.rate.value = 0.25; }));
  CHECK(differs([](Model& c) { c.conf.name = "n"; }));
  CHECK(differs([](Model& c) { c.conf.name = ""; }));
  CHECK(differs([](Model& c) { c.conf.act = Act::minus; }));
  CHECK(differs([](Model& c) { c.bias = 1; }));
  CHECK(differs([](Model& c) { c.heads["b"].push_back({1, 2}); }));
  CHECK(differs([](Model& c) { c.heads["c"]; }));
  CHECK(differs([](Model& c) { c.by_act[Act::tanh] = 1; }));
  using Names = std::vector<std::string>;
  CHECK(!same(Names{"ab", "c"}, Names{"a", "bc"}));
  CHECK(!same(Names{"", "\",\""}, Names{"\",\"", ""}));
  CHECK(!same(Names{}, Names{""}));
  using Nested = std::vector<std::vector<Array>>;
  CHECK(!same(Nested{{1, 2}, {3}}, Nested{{1}, {2, 3}}));
  CHECK(!same(Nested{{}}, Nested{}));
  CHECK(!same(Static<user::Grid>{{1, 2}}, Static<user::Grid>{{2, 1}}));
  using Deep = std::optional<std::optional<Array>>;
  CHECK(!same(Deep(), Deep(std::optional<Array>())));
  // Across types the text alone counts; the hash tells types apart.
  CHECK(tree::same_structure(std::pair(Array(1), Array(2)), std::tuple(Array(1), Array(2))));
  CHECK(!tree::same_structure(Quad<Array>{1, 2}, Layer{1, 2}));
  CHECK(hash(Quad<Array>{1, 2}) != hash(Layer{1, 2}));
}

TEST_CASE("tree: paths") {
  CHECK(tree::paths(Array(1)) == Paths{""});
  CHECK(tree::paths(make_key(1)) == Paths{""});
  CHECK(tree::paths(std::optional<Array>(1)) == Paths{""});
  CHECK(tree::paths(std::tuple(Params{{{1, 2}, {3, 4}}}, Array(1))) ==
        Paths{"[0].layers[0].w", "[0].layers[0].b", "[0].layers[1].w", "[0].layers[1].b", "[1]"});
  Model m = model();
  m.bias = 0;
  CHECK(tree::paths(m) == Paths{"pair[0].w", "pair[0].b", "pair[1].w", "pair[1].b", "bias", "heads[\"a\\\"]\"][0].w",
                                "heads[\"a\\\"]\"][0].b", "heads[\"a\\\"]\"][1].w", "heads[\"a\\\"]\"][1].b",
                                "heads[\"b\"][0].w", "heads[\"b\"][0].b", "by_act[-2]", "by_act[0]", "rest[0]",
                                "rest[1][0]", "rest[1][1].w", "rest[1][1].b"});
  CHECK(tree::paths(std::map<int, std::pair<Array, Key>>{{3, {1, make_key(2)}}}) == Paths{"[3][0]", "[3][1]"});
  Paths more = {"x"};
  tree::leaf_paths(Layer{1, 2}, more);
  CHECK(more == Paths{"x", "w", "b"});
}

TEST_CASE("tree: a vector of structs of optionals of maps") {
  struct Item {
    std::optional<std::map<std::string, Array>> table;
    Static<int> n;
  };
  const std::vector<Item> v = {{{{{"b", 2}, {"a", 1}}}, {1}}, {{}, {2}}};
  CHECK(tree::structure_text(v) == "[Item{table:{\"a\":*,\"b\":*},n:Static(1)},Item{table:none,n:Static(2)}]");
  CHECK(tree::paths(v) == Paths{"[0].table[\"a\"]", "[0].table[\"b\"]"});
  CHECK(values(v) == std::vector<double>{1, 2});
}

TEST_CASE("tree: unflatten takes the structure of one tree and the leaves of another source") {
  double next = 0;
  const auto count = [&] { return Array(next += 1); };
  const Model m = tree::unflatten(model(), count);
  CHECK(same(m, model()));
  CHECK(values(m).front() == 1);
  CHECK(values(m).back() == 16);
  const std::vector<Layer> empty(2);  // leaves that hold nothing
  CHECK(values(tree::unflatten(empty, count)) == std::vector<double>{17, 18, 19, 20});
  Params moved{{{1, 2}}};
  Array taken = std::move(moved.layers[0].w);
  CHECK(value_of(taken) == 1);
  CHECK(values(tree::unflatten(std::move(moved), count)) == std::vector<double>{21, 22});
  auto [k, a] = tree::unflatten(std::pair(make_key(5), Array(6)), [] { return Array(7); });
  CHECK(value_of(fx::detail::key_array(k)) == 7);
  CHECK(value_of(a) == 7);
}

TEST_CASE("tree: map") {
  const auto sub = [](Array a, const Array& d) { return Array(value_of(a) - value_of(d)); };
  const Params p{{{1, 2}, {3, 4}}}, g{{{10, 20}, {30, 40}}};
  CHECK(values(tree::map(sub, p, g)) == std::vector<double>{-9, -18, -27, -36});
  CHECK(values(p) == std::vector<double>{1, 2, 3, 4});
  CHECK(values(tree::map([](const Array& a) { return value_of(a) * 2; }, p)) == std::vector<double>{2, 4, 6, 8});
  const auto sum = [](const auto&... a) { return Array((value_of(a) + ...)); };
  CHECK(values(tree::map(sum, p, g, p, g)) == std::vector<double>{22, 44, 66, 88});
  CHECK(values(tree::map(sum, p, g, p, g, p, g)) == std::vector<double>{33, 66, 99, 132});
  // A tuple and a pair are one structure; the result is of the first type.
  const auto r = tree::map(sum, std::tuple(Array(1), Array(2)), std::pair(Array(3), Array(4)));
  static_assert(std::is_same_v<decltype(r), const std::tuple<Array, Array>>);
  CHECK(values(r) == std::vector<double>{4, 6});
  // Keys are not numbers: they stay.
  const auto k = tree::map(sum, std::pair(make_key(5), Array(6)), std::pair(make_key(7), Array(8)));
  CHECK(tree::structure_text(k) == "(key, *)");
  CHECK(value_of(k.second) == 14);
  CHECK(value_of(fx::detail::key_array(k.first)) == value_of(fx::detail::key_array(make_key(5))));
  const Model m = tree::map([](const Array& a) { return Array(-value_of(a)); }, model());
  CHECK(same(m, model()));
  CHECK(values(m).back() == -16);
}

TEST_CASE("tree: map names the first difference, both structures and the line") {
  const auto f = [](const auto& a, const auto&...) { return Array(a); };
  const auto error = [](auto&& call) {
    try {
      call();
    } catch (const fx::Error& e) {
      CHECK(e.code == fx::ErrorCode::tree);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  int line = 0;
  const std::string lengths = error([&] {
    line = __LINE__ + 1;
    tree::map(f, Params{{{1, 2}, {3, 4}}}, Params{{{1, 2}, {3, 4}}}, Params{{{1, 2}, {3, 4}, {5, 6}}});
  });
  CHECK(
      lengths ==
      "fx: tree::map: the structure of tree 3 is not that of tree 1, first at layers, which is a sequence of 3 and not "
      "a sequence of 2\n"
      "  tree 1: Params{layers:[Layer{w:*,b:*},Layer{w:*,b:*}]}\n"
      "  tree 3: Params{layers:[Layer{w:*,b:*},Layer{w:*,b:*},Layer{w:*,b:*}]}\n"
      "  at " +
          std::string(__FILE__) + ":" + std::to_string(line));
  const auto has = [](const std::string& s, const char* part) { return s.find(part) != std::string::npos; };
  const auto presence = error([&] {
    Model m = model();
    m.bias = 1;
    tree::map(f, model(), m);
  });
  CHECK(has(presence, "first at bias, which is an Array and not nothing"));
  const auto long_one = error([&] { tree::map(f, std::vector<Layer>(100), std::vector<Layer>(101)); });
  CHECK(long_one.size() < 1200);  // both structures are cut
  CHECK(has(long_one, "first at the root, which is a sequence of 101 and not a sequence of 100"));
  using Map = std::map<std::string, Array>;
  CHECK(has(error([&] { tree::map(f, Map{{"a", 1}}, Map{{"b", 1}}); }), "first at [\"b\"], where tree 1 has [\"a\"]"));
  CHECK(has(error([&] { tree::map(f, Layer{1, 2}, Quad<Array>{1, 2}); }), "first at the root, which is a struct Quad"));
  CHECK(has(error([&] {
              tree::map(f, std::tuple(Layer{1, 2}), std::tuple(Array(1)));
            }),
            "first at [0], which is an Array and not a struct Layer"));
  CHECK(has(error([&] { tree::map(f, fx::static_(1), fx::static_(2)); }), "which is Static(2) and not Static(1)"));
  using Deep = std::optional<std::optional<Array>>;
  CHECK(
      has(error([&] { tree::map(f, Deep(), Deep(std::optional<Array>())); }), "which is an optional and not nothing"));
}

TEST_CASE("tree: path patterns") {
  using fx::detail::path_matches;
  static_assert(path_matches("*", "") && path_matches("*", "layers[0].w") && path_matches("", "layers"));
  static_assert(path_matches("layers", "layers[0].w") && path_matches("layers[0]", "layers[0].w"));
  static_assert(path_matches("layers[*].w", "layers[10].w") && path_matches("layers[*].w", "layers[\"a.]b\"].w"));
  static_assert(path_matches("layers[*].w", "layers[0].w[3].x") && path_matches("[*]", "[1].a"));
  static_assert(path_matches("[1][\"a\\\"]\"]", "[1][\"a\\\"]\"].w") && path_matches("*.w", "a.w"));
  static_assert(path_matches("a[*][*].c", "a[0][\"x\"].c"));
  static_assert(!path_matches("layers[*].w", "layers[0].b") && !path_matches("layers[*].w", "layers[0].wide"));
  static_assert(!path_matches("layer", "layers[0].w") && !path_matches("layers[1]", "layers[10].w"));
  static_assert(!path_matches("layers[*].w", "layers[0]") && !path_matches("layers[*]", "layers.w"));
  static_assert(!path_matches("[*]", "a") && !path_matches("w", "") && !path_matches("w", "layers.w"));
  static_assert(!path_matches("[\"a\"]", "[\"a]\"]") && !path_matches("[*].b", "[\"].b\"]"));
  CHECK(path_matches("layers[*", "layers[*"));  // malformed: itself only
}

#ifdef FX_PYTREE_MOCK
namespace {
struct Point {
  Array x;
  std::optional<Array> y;
  std::array<Layer, 2> l;
  Static<int> n;
  Act act;
};
constexpr double total() {
  std::tuple<Point, std::pair<Array, Key>> t{{1, 2, {{{3, 4}, {5, 6}}}, {7}, Act::tanh}, {8, Key(9)}};
  double s = 0;
  tree::for_each_leaf(t, [&](Array& a) { a = Array(a.value() * 2); });
  tree::for_each_leaf(std::as_const(t), [&](const Array& a) { s += a.value(); });
  return s;
}
static_assert(total() == 2 * (1 + 2 + 3 + 4 + 5 + 6 + 8 + 9));
static_assert(tree::leaf_count(Layer{1, 2}) == 2);
constexpr bool text() {
  fx::Str s;
  tree::structure(std::pair(Point{1, {}, {}, {7}, Act::tanh}, Static<double>{0.1}), s);
  return s == "(Point{x:*,y:none,l:[Layer{w:*,b:*},Layer{w:*,b:*}],n:Static(7),act:7}, Static(0.1))";
}
static_assert(text());
constexpr bool maps() {
  const Layer l =
      tree::map([](const Array& a, const Array& b) { return a.value() * b.value(); }, Layer{2, 3}, Layer{5, 7});
  double next = 0;
  const auto u = tree::unflatten(std::tuple(Layer{}, std::optional<Array>(Array())), [&] { return Array(next += 1); });
  return l.w.value() == 10 && l.b.value() == 21 && std::get<1>(u)->value() == 3 && std::get<0>(u).b.value() == 2;
}
static_assert(maps());
constexpr bool same_points(int n) {  // not in the assertion itself: g++ 12 trips over destroying the temporaries
  const Point a{1, {}, {}, {7}, Act::tanh}, b{2, {}, {}, {n}, Act::tanh};
  return tree::same_structure(a, b);
}
static_assert(same_points(7) && !same_points(8));
#ifndef __clang__  // std::vector in constant evaluation: libstdc++ 12 with clang takes it only in part
constexpr bool vectors() {
  std::vector<Layer> v(3, Layer{1, 2});
  return tree::leaf_count(v) == 6 && tree::same_structure(v, std::vector<Layer>(3, Layer{}));
}
static_assert(vectors());
#endif
}  // namespace
#endif
