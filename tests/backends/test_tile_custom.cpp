// Primitives of a user's own: the backend knows kinds only.
#include <fx/tile/parse.hpp>

#include "backends/tile_util.hpp"
using namespace tile_test;

namespace {
struct Cube : Unary<Cube> {
  static constexpr std::string_view name = "test_cube";
  static constexpr bool flat = true;
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V x) {
    return x * x * x;
  }
};
// Position along the first dimension times the operand: a body that looks at where it is.
struct Ramp : Unary<Ramp> {
  static constexpr std::string_view name = "test_ramp";
  static constexpr bool flat = true;
  static constexpr DTypes takes = floats;
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    World::put(c, 0, World::template get<T>(c, 0) * World::template position<T>(c, 0));
  }
};
// Two results.
struct SumAndProduct : Binary<SumAndProduct> {
  static constexpr std::string_view name = "test_sum_and_product";
  static constexpr bool flat = true;
  static constexpr DTypes takes = numbers;
  static constexpr void type(TypeCtx& c) {
    Binary<SumAndProduct>::type(c);
    if (!c.failed()) c.result(Type(c.out[0]));
  }
  template <class World, class T, class Ctx>
  static constexpr void body(Ctx& c) {
    World::put(c, 0, World::template get<T>(c, 0) + World::template get<T>(c, 1));
    World::put(c, 1, World::template get<T>(c, 0) * World::template get<T>(c, 1));
  }
};
// a + b + a b, an associative fold with identity 0.
struct ReduceMix : Reduce<ReduceMix> {
  static constexpr std::string_view name = "test_reduce_mix";
  static constexpr DTypes takes = numbers;
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class V>
  static constexpr V emit(V a, V b) {
    return a + b + a * b;
  }
};
// Every second element, as strides.
struct EverySecond : Layout<EverySecond> {
  static constexpr std::string_view name = "test_every_second";
  static constexpr void type(TypeCtx& c) {
    Type t = c.type(0);
    t.dims[0] = (t.dims[0] + 1) / 2;
    c.result(t);
  }
  static constexpr void pieces(LayoutCtx& c) {
    Piece p{0, c.out_type().dims, strides_of(c.type(0).dims), strides_of(c.out_type().dims)};
    p.in_stride[0] *= 2;
    c.pieces.push_back(p);
  }
};

Graph sample_graph() {
  Builder b;
  Val x = b.input({f32, {9, 20}}), y = b.input({f32, {9, 20}});
  Val z = bind(prim<Cube>, {x}) + 1.0;
  Val both = bind(prim<SumAndProduct>, {z, bind(prim<Ramp>, {y})});
  Val product(&b, both.id + 1);
  Val half = bind(prim<EverySecond>, {x});
  Val mixed = b.bind(prim<ReduceMix>, {bind(prim<Ramp>, {x}) * 0.01}, Params().dims({0}));
  Val rows = b.bind(prim<ReduceMix>, {half * 0.1}, Params().dims({1}));
  return b.finish(Vec<Val>{both, product, bind(prim<Ramp>, {transpose(half, {1, 0})}), mixed, rows});
}
}  // namespace

TEST_CASE("tile: primitives defined by a user") { check(sample_graph()); }

TEST_CASE("tile: text with primitives defined by a user") {
  const Graph g = sample_graph();
  auto e = compile(g);
  const Prim* const own[] = {&prim<Cube>, &prim<Ramp>, &prim<SumAndProduct>, &prim<ReduceMix>};
  const tiled::TiledExecutable again({}, tile::parse_program(e->text("tile"), own));
  const Vec<Elements> in = samples(g);
  check_same(g, run_bits(*e, g, in).out, run_bits(again, g, in).out);
}

TEST_CASE("tile: image with primitives defined by a user") {
  const Graph g = sample_graph();
  const auto again = reloaded(g);
  const Vec<Elements> in = samples(g);
  if (again) check_same(g, run_bits(*compile(g), g, in).out, run_bits(*again, g, in).out);
}

namespace {
struct Mystery {
  static constexpr std::string_view name = "test_mystery";
  static constexpr Kind kind = Kind::collective;
  static constexpr void type(TypeCtx& c) { c.result(c.type(0)); }
};
struct Bodiless {
  static constexpr std::string_view name = "test_bodiless";
  static constexpr Kind kind = Kind::elementwise;
  static constexpr void type(TypeCtx& c) { c.result(c.type(0)); }
};
void check_refused(const Graph& g, ErrorCode code, std::string_view part) {
  try {
    compile(g);
    FAIL("no Error");
  } catch (const Error& e) {
    CHECK(e.code == code);
    INFO(e.what());
    CHECK(std::string(e.what()).find(part) != std::string::npos);
  }
}
}  // namespace

TEST_CASE("tile: what cannot be lowered is an Error that names it") {
  Builder b;
  check_refused(b.finish(Vec<Val>{b.bind(prim<Mystery>, {b.input({f32, {2}})})}), ErrorCode::unsupported,
                "test_mystery");
  Builder c;
  check_refused(c.finish(Vec<Val>{c.bind(prim<Bodiless>, {c.input({f32, {2}})})}), ErrorCode::rule, "test_bodiless");
  Builder d;
  check_refused(d.finish(Vec<Val>{d.input({f16, {2}})}), ErrorCode::unsupported, "f16[2]");
  Builder s;
  check_refused(s.finish(Vec<Val>{s.input({f32, {dim("n")}})}), ErrorCode::unsupported, "f32[n]");
  const tiled::TiledBackend cpu;
  const Type t{f32, {3}}, u{c64, {3}};
  CHECK(cpu.supports(prim<Cube>, {&t, 1}));
  CHECK(!cpu.supports(prim<Cube>, {&u, 1}));
  CHECK(!cpu.supports(prim<Mystery>, {&t, 1}));
}
