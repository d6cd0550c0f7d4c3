// test_print.cpp -- the text of Graphs: its exact form, in constant evaluation too; that parse reads it back; its
// Errors.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <fx/parse.hpp>
#include <fx/passes/batch.hpp>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace fx;

namespace {

// The Graph of f(builder, inputs) -> outputs.
template <class F>
constexpr Graph make(std::initializer_list<Type> types, F&& f) {
  Builder b(true);
  Vec<Val> x;
  for (const Type& t : types) x.push_back(b.input(t));
  return b.finish(f(b, x));
}
constexpr GraphRef shared(Graph g) { return GraphRef(new Graph(std::move(g))); }
constexpr Graph gradient(const Graph& g) { return value_and_grad(g, Vec<char>(g.ins.size(), 1)); }

std::string str(const Graph& g) { return std::string(text(g).view()); }

// ---- constant evaluation ----

constexpr Graph product() {
  return make({type(f64)}, [](Builder&, const Vec<Val>& x) { return Vec<Val>{sin(x[0]) * x[0]}; });
}
static_assert(text(product()) == R"({ lambda ; a:f64[]. let
    b:f64[] = sin a
    c:f64[] = mul b a
  in (c,) })");

static_assert(text(gradient(product())) == R"({ lambda ; a:f64[]. let
    b:f64[] = sin a
    c:f64[] = cos a
    d:f64[] = mul b a
    e:f64[] = mul a c
    f:f64[] = add b e
  in (d, f) })");

// s += x, from the last row on if `reverse`; the sums and the last one come out.
constexpr Graph running_sum(Dim n, bool reverse = false) {
  const GraphRef body = shared(make({type(f32), type(f32)}, [](Builder&, const Vec<Val>& x) {
    const Val s = x[0] + x[1];
    return Vec<Val>{s, s};
  }));
  return make({type(f32), type(f32, {n})}, [&](Builder& b, const Vec<Val>& x) {
    const Val s = b.bind(prim<Scan>, x, Scan::params({n, reverse, 0, 1, body}));
    return Vec<Val>{s, Val(&b, s.id + 1)};
  });
}
static_assert(text(running_sum(3)) == R"({ lambda ; a:f32[] b:f32[3]. let
    c:f32[] d:f32[3] = scan[length=(3) reverse=false consts=0 carry=1 body={ lambda ; a:f32[] b:f32[]. let
        c:f32[] = add a b
      in (c, c) }] a b
  in (c, d) })");

constexpr Graph no_equation() {
  return make({}, [](Builder& b, const Vec<Val>&) {
    return Vec<Val>{b.literal(f64, detail::encode(f64, 2)), b.literal(i32, 3), b.literal(boolean, 1)};
  });
}
static_assert(text(no_equation()) == R"({ lambda ; . let
  in (2.0:f64, 3:i32, true:bool) })");

// A captured input, an unused result, an unused input, no output.
constexpr Str captured_text() {
  Builder outer(true), b(true, 1);
  const Val c = outer.input(type(f32, {3})), x = b.input(type(f32, {3}));
  b.input(type(i32));
  const Val sorted[] = {x * c, c};
  const Val s = bind(prim<Sort>, Span<const Val>(sorted), Params().integer(0).integer(1));
  Str r = text(b.finish(Vec<Val>{Val(&b, s.id + 1)}));
  put(r += "\n", Builder().finish(Vec<Val>()));
  return r;
}
static_assert(captured_text() == R"({ lambda c:f32[3] ; a:f32[3] b:i32[]. let
    d:f32[3] = mul a c
    _:f32[3] e:f32[3] = sort[dim=0 num_keys=1] d c
  in (e,) }
{ lambda ; . let
  in () })");

// ---- reading back ----

std::string respaced(std::string_view text, bool wide) {
  std::string r;
  for (char c : text) {
    if (c == '\n') c = ' ';
    if (c == ' ' && !wide && !r.empty() && r.back() == ' ') continue;
    const bool mark = std::string_view(":;,={}[]").find(c) != std::string_view::npos;
    if (wide && (mark || c == ' '))
      (((r += "\n\t") += c) += " \r\n");
    else
      r += c;
  }
  return r;
}

// The names of the primitives in g, at every depth.
void add_prims(const Graph& g, std::set<std::string>& seen) {
  for (const Eqn& e : g.eqns) seen.emplace(e.prim->name);
  for (const GraphRef& sub : g.subs) add_prims(*sub, seen);
}

void check_round_trip(const Graph& g, Span<const Prim* const> extra = {}) {
  const std::string t = str(g);
  CAPTURE(t);
  const Graph r = parse(t, extra);
  CHECK(str(r) == t);
  CHECK(digest(r) == digest(g));
  CHECK(r.captured == g.captured);
  if (t.find('"') != t.npos) return;  // there, white space counts
  CHECK(digest(parse(respaced(t, true), extra)) == digest(g));
  CHECK(digest(parse(respaced(t, false), extra)) == digest(g));
}

Graph unary_operations() {
  return make({type(f64, {2})}, [](Builder&, const Vec<Val>& x) {
    const Val a = x[0];
    return Vec<Val>{-a,     abs(a), sign(a), floor(a), exp(a),      log(a),     log1p(a),         tanh(a),
                    sin(a), cos(a), sqrt(a), rsqrt(a), logistic(a), erf_inv(a), stop_gradient(a), integer_pow(a, -7)};
  });
}
Graph binary_operations() {
  return make({type(f32, {2}), type(f32, {2})}, [](Builder&, const Vec<Val>& x) {
    const Val a = x[0], b = x[1];
    return Vec<Val>{a + b,         a - b,         a * b,     a / b,    rem(a, b),
                    maximum(a, b), minimum(a, b), pow(a, b), eq(a, b), ne(a, b),
                    lt(a, b),      le(a, b),      gt(a, b),  ge(a, b), select(lt(a, b), a, 0.5)};
  });
}
Graph bit_operations() {
  return make({type(i32, {2}), type(i32, {2}), type(u32, {2})}, [](Builder& builder, const Vec<Val>& x) {
    const Val a = x[0], b = x[1];
    const Bits2x32 bits = threefry2x32(x[2], builder.literal(u32, 7), x[2], x[2]);
    return Vec<Val>{bit_and(a, b),
                    bit_or(a, b),
                    bit_xor(a, -1),
                    logical_not(a),
                    shift_left(a, 3),
                    shift_right_arithmetic(a, b),
                    shift_right_logical(a, b),
                    convert(a, boolean),
                    bitcast(a, f32),
                    bits.hi,
                    bits.lo};
  });
}
Graph reductions() {
  return make({type(f32, {2, 3, 4})}, [](Builder&, const Vec<Val>& x) {
    const Val a = x[0];
    return Vec<Val>{reduce_sum(a, {0, 2}), reduce_prod(a, {1}), reduce_max(a, {0, 1, 2}),
                    reduce_min(a, {2}),    argmax(a, 1),        argmin(a, 0, u64),
                    cumsum(a, 2),          cumsum(a, 0, true)};
  });
}
Graph layouts() {
  return make({type(f32, {2, 3}), type(f32, {2, 1})}, [](Builder& b, const Vec<Val>& x) {
    const Val a = x[0], parts[] = {a, x[1], a};
    return Vec<Val>{broadcast_in_dim(x[1], {5, 2, 4}, {1, 2}),
                    reshape(a, {6}),
                    transpose(a, {1, 0}),
                    rev(a, {0, 1}),
                    slice(a, {0, 1}, {2, 3}, {1, 2}),
                    pad(a, -0.0, {1, -1}, {0, 2}, {0, 3}),
                    concatenate(Span<const Val>(parts), 1),
                    iota(b, i64, {4, 2}, 1)};
  });
}
Graph reads_and_writes() {
  return make({type(f32, {5, 3}), type(i32, {4, 1}), type(f32, {4, 3}), type(i32), type(f32, {2, 2})},
              [](Builder& b, const Vec<Val>& x) {
                const IndexDims rows{{1}, {0}, {0}, {1, 3}, {}, {}, true}, strict{{1}, {0}, {0}, {1, 3}, {}, {}, false};
                const Val starts[] = {x[3], b.literal(i32, 1)};
                return Vec<Val>{gather(x[0], x[1], rows), scatter(x[0], x[1], x[2], strict),
                                scatter_add(x[0], x[1], x[2], rows),
                                dynamic_slice(x[0], Span<const Val>(starts), {2, 2}),
                                dynamic_update_slice(x[0], x[4], Span<const Val>(starts))};
              });
}
Graph dots_and_sorts() {
  return make({type(f64, {2, 3, 4}), type(f64, {2, 4, 5}), type(i32, {2, 3, 4})}, [](Builder& b, const Vec<Val>& x) {
    const Val keys[] = {x[0], x[2]};
    const Val s = bind(prim<Sort>, Span<const Val>(keys), Params().integer(2).integer(2));
    return Vec<Val>{dot_general(x[0], x[1], {{2}, {1}, {0}, {0}}), s, Val(&b, s.id + 1)};
  });
}
Graph call(std::string_view label) {
  return make({type(f64)}, [&](Builder& b, const Vec<Val>& x) {
    return Vec<Val>{b.bind(prim<Jit>, {x[0] + 1.0}, Params().label(label).graph(shared(product())))};
  });
}

TEST_CASE("every primitive is printed and read back") {
  CHECK(name_id("sin") == find_prim("sin")->id);
  CHECK(find_prim("sine") == nullptr);
  std::set<std::string> seen, all;
  for (const Graph& g : {unary_operations(), binary_operations(), bit_operations(), reductions(), layouts(),
                         reads_and_writes(), dots_and_sorts(), call("f"), running_sum(3), running_sum(7, true)}) {
    check_round_trip(g);
    add_prims(g, seen);
  }
  for (const Prim* p : builtin_prims)
    CHECK_MESSAGE(all.emplace(p->name).second, "listed twice: ", std::string(p->name));
  CHECK(seen == all);
}

TEST_CASE("literals of every dtype are exact") {
  const std::pair<DType, std::vector<std::uint64_t>> bits_of[] = {
      {boolean, {0, 1}},
      {i8, {0, 1, 0x7f, 0x80, 0xff}},
      {i16, {0, 0x7fff, 0x8000, 0xffff}},
      {i32, {0, 0x7fffffff, 0x80000000, 0xffffffff}},
      {i64, {0, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff}},
      {u8, {0, 0xff}},
      {u16, {0, 0xffff}},
      {u32, {0, 0xffffffff}},
      {u64, {0, 0x8000000000000000, 0xffffffffffffffff}},
      {f16, {0, 0x3c00, 0x8000, 0x7c00, 0x7e01}},
      {bf16, {0, 0x3f80, 0xff80, 0x7fc0, 1}},
      {f32,
       {0, 0x80000000, 1, 0x007fffff, 0x00800000, 0x3dcccccd, 0x3f800001, 0x7f7fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0xffc00000, 0x7fc00001, 0x7f800001, 0x4b800000, 0xcb800001}},
      {f64,
       {0, 0x8000000000000000, 1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x3fb999999999999a,
        0x3ff0000000000001, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
        0xfff8000000000000, 0x7ff8000000000001, 0xfff0000000000001, 0x4340000000000000, 0x44b52d02c7e14af6}},
      {c64, {0, 0x3f80000040000000}},
      {c128, {0, 0x3ff0000000000000}}};
  CHECK(std::size(bits_of) == dtype_count);
  for (const auto& [dtype, all] : bits_of) {
    Builder b;
    Vec<Val> outs;
    for (std::uint64_t bits : all) outs.push_back(b.literal(dtype, bits));
    const Graph g = b.finish(outs);
    check_round_trip(g);
    const Graph r = parse(str(g));
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(r.literal(r.outs[int(i)]) == all[i]);
  }
  auto shown = [](DType d, std::uint64_t bits) {
    Str s;
    detail::put_literal(s, d, bits);
    return std::string(s.view());
  };
  CHECK(shown(f64, 0x3ff8000000000000) == "1.5:f64");
  CHECK(shown(f64, 1) == "5e-324:f64");
  CHECK(shown(f32, 0x80000000) == "-0.0:f32");
  CHECK(shown(f32, 0xff800000) == "-inf:f32");
  CHECK(shown(f64, 0x7ff8000000000000) == "nan:f64");
  CHECK(shown(f32, 0x7fc00001) == "nan(0x7fc00001):f32");
  CHECK(shown(i64, 0x8000000000000000) == "-9223372036854775808:i64");
  CHECK(shown(u64, ~std::uint64_t(0)) == "18446744073709551615:u64");
  CHECK(shown(i8, 0x80) == "-128:i8");
  CHECK(shown(boolean, 0) == "false:bool");
  CHECK(shown(f16, 0x3c00) == "0x3c00:f16");
}

TEST_CASE("literals are operands beside variables of any name") {
  const Graph g = parse(
      "{ lambda ; in:f32[] let:f32[] true:f32[] nan:f32[] inf:f32[]. let lambda:f32[] = add in let\n"
      "_:f32[] = add nan nan:f32 _:f32[] = add -inf:f32 inf x:f32[] = add inf nan(0x7fc00001):f32 _:bool[] = eq in\n"
      "inf:f32 y:f32[] = add true in in (in, lambda, nan, inf, inf:f32, true:bool, x, y) }");
  CHECK(str(g) == R"({ lambda ; a:f32[] b:f32[] c:f32[] d:f32[] e:f32[]. let
    f:f32[] = add a b
    _:f32[] = add d nan:f32
    _:f32[] = add -inf:f32 e
    g:f32[] = add e nan(0x7fc00001):f32
    _:bool[] = eq a inf:f32
    h:f32[] = add c a
  in (a, f, d, e, inf:f32, true:bool, g, h) })");
  check_round_trip(g);
  // So many results that printed names come to be `in`, `let`, `inf` and `nan`.
  Builder b;
  Val v = b.input(type(f64));
  for (int i = 0; i < 12000; ++i)
    v = i % 3 ? v * b.literal(f64, i % 3 == 1 ? 0x7ff0000000000000 : 0x7ff8000000000000) : v + v;
  const Graph long_one = b.finish(Vec<Val>{v});
  const std::string t = str(long_one);
  for (const char* name : {"in", "let", "inf", "nan"})
    CHECK(t.find("\n    " + std::string(name) + ":f64[] = ") != t.npos);
  check_round_trip(long_one);
}

TEST_CASE("names") {
  auto name = [](int n) {
    Str s;
    detail::put_name(s, n);
    return std::string(s.view());
  };
  CHECK(name(0) == "a");
  CHECK(name(25) == "z");
  CHECK(name(26) == "aa");
  CHECK(name(51) == "az");
  CHECK(name(52) == "ba");
  CHECK(name(26 + 26 * 26 - 1) == "zz");
  CHECK(name(26 + 26 * 26) == "aaa");
}

TEST_CASE("symbolic dimensions") {
  const Dim n = dim("n"), m = dim("m");
  const Type t = type(f32, {n, 2 * n + 1, n * m, 3});
  check_round_trip(make({t}, [&](Builder& b, const Vec<Val>& x) {
    return Vec<Val>{exp(x[0]), broadcast_to(b.literal(f32, 0), {n - 1, m * m - 2 * n, 4}),
                    reshape(x[0], {3 * n * n * (2 * n + 1), m})};
  }));
  check_round_trip(running_sum(n));
  auto input = [](const char* dims) {
    const Graph g = parse("{ lambda ; a:f32[" + std::string(dims) + "]. let in () }");
    return g.type(g.ins[0]).dims;
  };
  CHECK(input("2 * n+1, n*2 , m*n - m*n + 7, 3-n-2+n*2").d[0] == (n * 2 + 1).v);
  CHECK(input("2 * n+1, n*2 , m*n - m*n + 7, 3-n-2+n*2") == Dims{1 + n + n, 2 * n, 7, n + 1});
  CHECK(input("4-n") == Dims{4 - n});
  CHECK(input("-n+4") == Dims{4 - n});
  CHECK(input("0,9223372036854775807") == Dims{0, INT64_MAX});
}

TEST_CASE("labels") {
  for (const char* label : {"f", "loss_1", "1", "", "a b", "say \"hi\" \\ no", "line\nbreak\t\x01\x7f",
                            "Gr\xc3\xb6\xc3\x9f"
                            "e",
                            "]", "true"}) {
    const Graph g = call(label), r = parse(str(g));
    CHECK(str(r) == str(g));
    CHECK(attrs(r, r.eqns[1]).label(0) == label);
    CHECK(digest(r) == digest(call("other")));
  }
  CHECK(str(call("a\n\"b\"")).find(R"(jit[name="a\n\"b\"" graph={)") != std::string::npos);
  CHECK(str(call("f_2")).find("jit[name=f_2 graph={") != std::string::npos);
}

TEST_CASE("equal digests and equal texts go together") {
  auto difference = [](bool swap) {
    return make({type(f32), type(f32)}, [=](Builder&, const Vec<Val>& x) { return Vec<Val>{x[swap] - x[!swap]}; });
  };
  // The inputs in another order, in place: the same equations, another function.
  Graph reordered = difference(false);
  std::swap(reordered.ins[0], reordered.ins[1]);
  CHECK(digest(reordered) != digest(difference(false)));
  CHECK(digest(reordered) == digest(difference(true)));
  CHECK(str(reordered) == str(difference(true)));
  check_round_trip(reordered);
  // Literals in the order of making or of use.
  auto two = [](bool early) {
    return make({type(f32)}, [=](Builder& b, const Vec<Val>& x) {
      const Val late = early ? b.literal(f32, 1) : Val();
      const Val first = x[0] * b.literal(f32, 2);
      return Vec<Val>{first + (early ? late : b.literal(f32, 1))};
    });
  };
  CHECK(digest(two(true)) == digest(two(false)));
  CHECK(str(two(true)) == str(two(false)));
  Graph captured = difference(false);
  captured.captured = 1;
  CHECK(digest(captured) != digest(difference(false)));
  check_round_trip(captured);
}

TEST_CASE("equations that are dead or give nothing are kept") {
  const std::string nothing = str(make({type(i32)}, [](Builder&, const Vec<Val>&) { return Vec<Val>(); }));
  const std::string t = "{ lambda ; a:i32[]. let\n    _:i32[] = add a a\n    = jit[name=f graph=" + nothing +
                        "] a\n    b:i32[] = neg a\n    _:i32[] = neg b\n  in () }";
  const Graph g = parse(t);
  CHECK(g.eqns.size() == 4);
  CHECK(g.eqns[1].n_out == 0);
  CHECK(digest(parse(str(g))) == digest(g));
}

// ---- user primitives ----

struct Triple : Unary<Triple> {
  static constexpr std::string_view name = "user.triple-it";
  static constexpr DTypes takes = numbers;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V x) {
    return x + x + x;
  }
};
struct Quad : Unary<Quad> {
  static constexpr std::string_view name = "quad";
  static constexpr DTypes takes = numbers;
  static constexpr bool flat = true;
  template <class V>
  static constexpr V emit(V x) {
    return x + x + x + x;
  }
};

TEST_CASE("user primitives are passed or registered") {
  const Graph g = make({type(f32)}, [](Builder&, const Vec<Val>& x) { return Vec<Val>{bind(prim<Triple>, {x[0]})}; });
  const Prim* const extra[] = {&prim<Triple>};
  check_round_trip(g, Span<const Prim* const>(extra));
  CHECK_THROWS_AS(parse(str(g)), Error);
  Prim second = prim<Triple>;
  register_prim(prim<Triple>);
  register_prim(prim<Quad>);
  register_prim(second);  // the name is taken: `second` may go
  check_round_trip(g);
  CHECK(parse(str(g)).eqns[0].prim == &prim<Triple>);
}

// ---- mistakes ----

std::string mistake(const std::string& text) {
  try {
    parse(text, {}, Loc{"user.cpp", 7});
  } catch (const Error& e) {
    const std::string what = e.what(), tail = "\n  at user.cpp:7";
    CHECK(e.code == ErrorCode::parse);
    CHECK(e.where.line == 7);
    REQUIRE(what.size() > tail.size());
    CHECK(what.substr(what.size() - tail.size()) == tail);
    CHECK(what.substr(0, 11) == "fx: parse: ");
    return what.substr(11, what.size() - tail.size() - 11);
  }
  return "no Error";
}
// The same for one equation, and for the type of one input.
std::string in_equation(const std::string& equation) {
  return mistake("{ lambda ; a:f32[2] i:i32[]. let\n" + equation + "\nin (a,) }");
}
std::string in_type(const std::string& type) { return mistake("{ lambda ; a:" + type + ". let in () }"); }

TEST_CASE("errors: what is no graph") {
  CHECK(mistake("") == "1:1: found the end of the text, expected '{'");
  CHECK(mistake(" \n\n  hello") == "3:3: found 'hello', expected '{'");
  CHECK(mistake("{ lamda ; . let in () }") == "1:3: found 'lamda', expected 'lambda'");
  CHECK(mistake("{ lambda ; . in () }") == "1:14: found 'in', expected 'let'");
  CHECK(mistake("{ lambda a:f32[]. let in () }") == "1:17: found '.', expected an input such as 'a:f32[2]', or ';'");
  CHECK(mistake("{ lambda ; a:f32[] let in () }") == "1:24: found 'in', expected ':' and a type");
  CHECK(mistake("{ lambda ; a:f32[] a:f32[]. let in () }") ==
        "1:20: found 'a', expected a new name: 'a' is defined already");
  CHECK(mistake("{ lambda ; . let ") ==
        "1:18: found the end of the text, expected a result such as 'b:f32[2]', or '=', or 'in' and the outputs");
  CHECK(mistake("{ lambda ; . let in (b,) }") == "1:22: found 'b', expected a variable that is defined above");
  CHECK(mistake("{ lambda ; a:f32[]. let in (a b) }") == "1:31: found 'b', expected ',' or ')'");
  CHECK(mistake("{ lambda ; . let in (;) }") == "1:22: found ';', expected a variable, a literal or ')'");
  CHECK(mistake("{ lambda ; . let in ()") == "1:23: found the end of the text, expected '}'");
  CHECK(mistake("{ lambda ; . let in () } }") == "1:26: found '}', expected the end of the text");
  CHECK(mistake("{ lambda ; . let in () }\n\x01") == "2:1: found byte 0x01, expected the end of the text");
  CHECK(mistake(std::string("{ lambda ; . let in () }\0", 25)) ==
        "1:25: found byte 0x00, expected the end of the text");
}

TEST_CASE("errors: types and dimensions") {
  CHECK(in_type("f33[]") ==
        "1:14: found 'f33', expected a dtype: bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, "
        "f32, f64, c64, c128");
  CHECK(in_type("f32") == "1:17: found '.', expected '['");
  CHECK(in_type("f32[2") == "1:18: found '2.', expected an integer of 64 bits");
  CHECK(in_type("f32[2;3]") == "1:19: found ';', expected ',' or ']'");
  CHECK(in_type("f32[2,]") == "1:20: found ']', expected a dimension such as '3', 'n' or '2*n+1'");
  CHECK(in_type("f32[-3]") == "1:18: a dimension became negative: -3");
  CHECK(in_type("f32[n-n-3]") == "1:18: a dimension became negative: -3");
  CHECK(in_type("f32[9223372036854775808]") == "1:18: found '9223372036854775808', expected an integer of 64 bits");
  CHECK(in_type("f32[4294967296*4294967296]") == "1:18: a dimension exceeds 64 bits");
  CHECK(in_type("f32[n*4294967296*4294967296]") == "1:18: a dimension exceeds 64 bits");
  CHECK(in_type("f32[1,1,1,1,1,1,1,1,1]") == "1:17: found 9 dimensions, expected at most 8");
}

TEST_CASE("errors: equations") {
  CHECK(in_equation("b:f32[2] = sine a") == "2:12: found 'sine', expected the name of a primitive; close ones: sin");
  CHECK(in_equation("b:f32[2] = redce_sum[axes=(0)] a") ==
        "2:12: found 'redce_sum', expected the name of a primitive; close ones: reduce_sum");
  CHECK(in_equation("b:f32[2] = dot a a") ==
        "2:12: found 'dot', expected the name of a primitive; close ones: not, dot_general");
  CHECK(in_equation("b:f32[2] = xyzzy_plugh a") == "2:12: found 'xyzzy_plugh', expected the name of a primitive");
  CHECK(in_equation("b:f32[2] = [") == "2:12: found '[', expected the name of a primitive");
  CHECK(in_equation("b:f32[2] = sin q") == "2:16: found 'q', expected a variable that is defined above");
  CHECK(in_equation("b:f32[2] = sin b") == "2:16: found 'b', expected a variable that is defined above");
  CHECK(in_equation("b:f32[2] = sin _") == "2:16: found '_', expected a variable that is defined above");
  CHECK(in_equation("a:f32[2] = sin a") == "2:1: found 'a', expected a new name: 'a' is defined already");
  CHECK(in_equation("b:f32[3] = sin a") == "2:1: found the type f32[3], expected f32[2], which 'sin' gives");
  CHECK(in_equation("b:f64[2] = sin a") == "2:1: found the type f64[2], expected f32[2], which 'sin' gives");
  CHECK(in_equation("b:f32[2] c:f32[2] = sin a") == "2:1: found 2 results, expected 1 of 'sin'");
  CHECK(in_equation("b:f32[2] = add a i") ==
        "2:1: add: operands have dtypes f32 and i32; fx never promotes: convert one with "
        "fx::convert");
  CHECK(in_equation("b:f32[2] = add a") == "2:1: add: takes 2 operands, got 1");
  CHECK(in_equation("b:f32[1,2] = reshape[shape=(1,2)] a a") == "2:1: reshape: takes 1 operands, got 2");
  CHECK(in_equation("b:f32[2] = sort[dim=0 num_keys=1]") == "2:1: sort: has only 0 operands");
  CHECK(in_equation("b:f32[2] = cos\n  a\n  c:f32[5] = sin\na") ==
        "4:3: found the type f32[5], expected f32[2], which 'sin' gives");
  CHECK(in_equation("b = sin a") == "2:3: found '=', expected ':' and a type");
  CHECK(in_equation("b:f32[2] = sin a )") ==
        "2:18: found ')', expected a result such as 'b:f32[2]', or '=', or 'in' and the outputs");
}

TEST_CASE("errors: literals") {
  CHECK(in_equation("b:f32[2] = add a 1.5:f33") ==
        "2:22: found 'f33', expected a dtype: bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, "
        "c128");
  CHECK(in_equation("b:f32[2] = add a 1.5") == "3:1: found 'in', expected ':' and the dtype of the literal");
  CHECK(in_equation("b:f32[2] = add a 1.5.2:f32") == "2:18: found '1.5.2', expected a value of f32");
  CHECK(in_equation("b:f32[2] = add a yes:bool") == "2:18: found 'yes', expected a value of bool");
  CHECK(in_equation("b:f32[2] = add a 128:i8") == "2:18: found '128', expected a value of i8");
  CHECK(in_equation("b:f32[2] = add a -129:i8") == "2:18: found '-129', expected a value of i8");
  CHECK(in_equation("b:f32[2] = add a -1:u32") == "2:18: found '-1', expected a value of u32");
  CHECK(in_equation("b:f32[2] = add a 1.0:i32") == "2:18: found '1.0', expected a value of i32");
  CHECK(in_equation("b:f32[2] = add a 18446744073709551616:u64") ==
        "2:18: found '18446744073709551616', expected a value of u64");
  CHECK(in_equation("b:f32[2] = add a -9223372036854775809:i64") ==
        "2:18: found '-9223372036854775809', expected a value of i64");
  CHECK(in_equation("b:f32[2] = add a 1.0:f16") == "2:18: found '1.0', expected a value of f16");
  CHECK(in_equation("b:f32[2] = add a 0x10000:f16") == "2:18: found '0x10000', expected a value of f16");
  CHECK(in_equation("b:f32[2] = add a nan(0x7ff8000000000000):f32") ==
        "2:18: found 'nan(0x7ff8000000000000)', expected a value of f32");
  CHECK(in_equation("b:f32[2] = add a -:f32") == "2:18: found '-', expected a value of f32");
}

TEST_CASE("errors: attributes") {
  CHECK(in_equation("b:f32[2] = cumsum[axis=0] a") == "2:25: found ']', expected the attribute 'reverse' of 'cumsum'");
  CHECK(in_equation("b:f32[2] = cumsum a") == "2:19: found 'a', expected the attribute 'axis' of 'cumsum'");
  CHECK(in_equation("b:f32[2] = cumsum[axis=0 revers=true] a") ==
        "2:26: found 'revers', expected ']' or an attribute of 'cumsum': axis, reverse");
  CHECK(in_equation("b:f32[2] = sin[axis=0] a") == "2:16: found 'axis', expected ']': 'sin' has no attributes");
  CHECK(in_equation("b:f32[2] = cumsum[axis=0 axis=0] a") == "2:26: found the attribute 'axis' a second time");
  CHECK(in_equation("b:f32[2] = cumsum[axis:0 reverse=true] a") ==
        "2:23: found ':', expected '=' and the value of the attribute");
  CHECK(in_equation("b:f32[2] = cumsum[axis=x reverse=true] a") == "2:24: found 'x', expected an integer of 64 bits");
  CHECK(in_equation("b:f32[2] = cumsum[axis=0 reverse=1] a") == "2:34: found '1', expected 'true' or 'false'");
  CHECK(in_equation("b:f32[2] = cumsum[axis=0 reverse=true a") ==
        "2:39: found 'a', expected ']' or an attribute of 'cumsum': axis, reverse");
  CHECK(in_equation("b:f32[] = reduce_sum[axes=0] a") == "2:27: found '0', expected '('");
  CHECK(in_equation("b:f32[] = reduce_sum[axes=(0] a") == "2:29: found ']', expected ',' or ')'");
  CHECK(in_equation("b:f32[] = reduce_sum[axes=(n)] a") == "2:28: found 'n', expected an integer of 64 bits");
  CHECK(in_equation("b:f32[] = reduce_sum[axes=(9223372036854775808)] a") ==
        "2:28: found '9223372036854775808', expected an integer of 64 bits");
  CHECK(in_equation("b:f64[2] = convert[dtype=f65] a") ==
        "2:26: found 'f65', expected a dtype: bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, "
        "c128");
  CHECK(in_equation("b:f32[2] = jit[name=f graph=0] a") == "2:29: found '0', expected '{'");
  CHECK(in_equation("b:f32[2] = jit[name=) graph=0] a") ==
        "2:21: found ')', expected a label: one word, or text in '\"'");
  CHECK(in_equation("b:f32[2] = jit[name=\"f\ngraph=0] a") == "2:21: found a label without its closing '\"'");
  CHECK(in_equation("b:f32[2] = jit[name=\"\\q\" graph=0] a") == "2:22: found '\\', expected \\\" \\\\ \\n or \\xHH");
  CHECK(in_equation("b:f32[2] = reduce_sum[axes=(7)] a") ==
        "2:1: reduce_sum: axes [7] are not distinct dimensions of f32[2]");
  CHECK(in_equation("b:f32[1,1,1,1,1,1,1,1,1] = reshape[shape=(1,1,1,1,1,1,1,1,1)] a") ==
        "2:6: found 9 dimensions, expected at most 8");
  CHECK(in_equation("b:f32[2] = reshape[shape=(1,1,1,1,1,1,1,1,1)] a") ==
        "2:1: an Array has at most 8 dimensions; merge some with reshape");
  // A nested graph does not see the variables outside.
  CHECK(in_equation("b:f32[2] = jit[name=f graph={ lambda ; . let in (a,) }]") ==
        "2:50: found 'a', expected a variable that is defined above");
  CHECK(in_equation(
            "b:f32[2] = scan[length=(2,2) reverse=true consts=0 carry=1 body={ lambda ; a:f32[2]. let in (a,) }] a") ==
        "2:1: scan: length, consts and carry do not fit the body");
  CHECK(in_equation(
            "b:f32[2] = scan[length=() reverse=true consts=0 carry=1 body={ lambda ; a:f32[2]. let in (a,) }] a") ==
        "2:1: scan: length, consts and carry do not fit the body");
  CHECK(in_equation(
            "b:f32[2] = scan[length=(2) reverse=true consts=2 carry=-1 body={ lambda ; a:f32[2]. let in (a,) }] a") ==
        "2:1: scan: length, consts and carry do not fit the body");
}

// ---- size ----

std::string nested(int depth) {
  std::string t = "{ lambda ; a:f32[]. let in (a,) }";
  for (int i = 0; i < depth; ++i) t = "{ lambda ; a:f32[]. let b:f32[] = jit[name=f graph=" + t + "] a in (b,) }";
  return t;
}

TEST_CASE("nesting has a limit, length has none") {
  const Graph g = parse(nested(100));
  CHECK(digest(parse(str(g))) == digest(g));
  CHECK(mistake(nested(101)).find("found graphs nested deeper than 100") != std::string::npos);
  std::string open;
  for (int i = 0; i < 200000; ++i) open += "{ lambda ; . let b:f32[] = jit[graph=";
  CHECK(mistake(open) == "1:3738: found graphs nested deeper than 100");
  CHECK(mistake("{ lambda ; a:f32[" + std::string(200000, '-')) ==
        "1:19: found '-', expected a dimension such as '3', 'n' or '2*n+1'");

  Builder b;
  Val v = b.input(type(f32));
  for (unsigned i = 0; i < 100000; ++i) v = i % 2 ? sin(v) : v + b.literal(f32, i);
  const Graph chain = b.finish(Vec<Val>{v});
  const std::string t = str(chain);
  CHECK(digest(parse(t)) == digest(chain));
}

TEST_CASE("damaged text gives a Graph or an Error, never worse") {
  std::vector<std::string> texts;
  for (const Graph& g : {layouts(), reads_and_writes(), dots_and_sorts(), reductions(), call("a \"b\""), running_sum(3),
                         gradient(product()), binary_operations(), running_sum(dim("n"))})
    texts.push_back(str(g));
  const std::string_view pieces[] = {"0",
                                     "9",
                                     "-",
                                     "(",
                                     ")",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ",",
                                     ":",
                                     "=",
                                     " ",
                                     "a",
                                     "in",
                                     "nan(",
                                     "_",
                                     "\"",
                                     "\\",
                                     ".",
                                     "9223372036854775807",
                                     "4611686018427387904",
                                     "f32[]",
                                     "n",
                                     "*n",
                                     "true:bool",
                                     "-1",
                                     "\x80"};
  std::mt19937 random(1);
  int read = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string t = texts[random() % texts.size()];
    for (auto k = random() % 3 + 1; k; --k) {
      const std::size_t at = random() % t.size(), n = random() % 3;
      t.replace(at, n, random() % 4 ? pieces[random() % std::size(pieces)] : std::string_view());
    }
    std::string printed;
    try {
      printed = str(parse(t));
      ++read;
    } catch (const Error& e) {
      if (e.code != ErrorCode::parse) FAIL_CHECK(std::string(e.what()) << "\n" << t);
      ++refused;
    }
    if (!printed.empty()) CHECK(str(parse(printed)) == printed);
  }
  CHECK(read > 100);
  CHECK(refused > 1000);
}

// ---- golden files ----

Graph dot_chain() {
  return make({type(f32, {8, 4}), type(f32, {4, 16}), type(f32, {16, 3})}, [](Builder&, const Vec<Val>& x) {
    const DotDims matrices{{1}, {0}, {}, {}};
    const Val y = dot_general(tanh(dot_general(x[0], x[1], matrices)), x[2], matrices);
    return Vec<Val>{sum_all(y * y)};
  });
}
// h = tanh(w h + x), y = h^2.
Graph recurrence() {
  const Type h = type(f32, {4});
  const GraphRef body = shared(make({type(f32, {4, 4}), h, h}, [](Builder&, const Vec<Val>& x) {
    const Val next = tanh(dot_general(x[0], x[1], {{1}, {0}, {}, {}}) + x[2]);
    return Vec<Val>{next, next * next};
  }));
  return make({type(f32, {4, 4}), h, type(f32, {10, 4})}, [&](Builder& b, const Vec<Val>& x) {
    const Val s = b.bind(prim<Scan>, x, Scan::params({10, false, 1, 1, body}));
    return Vec<Val>{s, Val(&b, s.id + 1)};
  });
}
Graph recurrence_loss() {
  return make({type(f32, {4, 4}), type(f32, {4}), type(f32, {10, 4})},
              [](Builder& b, const Vec<Val>& x) { return Vec<Val>{sum_all(inline_graph(b, recurrence(), x)[1])}; });
}
Graph batched(const Graph& g, std::initializer_list<char> mapped, Dim size) {
  Vec<char> out(g.outs.size(), 1);
  return *detail::batch(g, Vec<char>(mapped), size, out);
}
Graph row_loss() {
  return make({type(f32, {10, 3}), type(i32, {4, 1})}, [](Builder&, const Vec<Val>& x) {
    const Val rows = gather(x[0], x[1], {{1}, {0}, {0}, {1, 3}, {}, {}, true});
    return Vec<Val>{sum_all(rows * rows)};
  });
}
Graph sorted() {
  return make({type(f32, {2, 5})}, [](Builder&, const Vec<Val>& x) {
    return Vec<Val>{bind(prim<Sort>, {x[0]}, Params().integer(1).integer(1))};
  });
}
Graph power() {
  return make({type(f64), type(f64)}, [](Builder&, const Vec<Val>& x) { return Vec<Val>{pow(x[0], x[1])}; });
}
Graph softmax(Dim rows) {
  const Type t = type(f32, {rows, 10});
  return make({t}, [&](Builder&, const Vec<Val>& x) {
    const Val largest = stop_gradient(reduce_max(x[0], {1}));
    const Val e = exp(x[0] - broadcast_in_dim(largest, t.dims, {0}));
    return Vec<Val>{e / broadcast_in_dim(reduce_sum(e, {1}), t.dims, {0})};
  });
}
// 2n uniform numbers in [0, 1), as fx::random makes them: counters 0 ... 2n-1 in two halves.
Graph uniform() {
  return make({type(u32), type(u32)}, [](Builder& b, const Vec<Val>& key) {
    const Dims half{4};
    const Val count = iota(b, u32, half, 0);
    const Val key0 = broadcast_to(key[0], half), key1 = broadcast_to(key[1], half);
    const Bits2x32 bits = threefry2x32(key0, key1, count, count + 4);
    const Val both[] = {bits.hi, bits.lo};
    const Val mantissa = shift_right_logical(concatenate(Span<const Val>(both), 0), 9);
    return Vec<Val>{bitcast(bit_or(mantissa, double(0x3f800000)), f32) - 1.0};
  });
}
Graph select_and_call() {
  const char wrt[] = {1, 1};
  const GraphRef relu = shared(
      make({type(f32, {3})}, [](Builder&, const Vec<Val>& x) { return Vec<Val>{maximum(x[0], like(x[0], 0.0))}; }));
  const Graph g = make({type(f32, {3}), type(f32, {3})}, [&](Builder& b, const Vec<Val>& x) {
    return Vec<Val>{sum_all(b.bind(prim<Jit>, {x[0] * x[1]}, Params().label("relu").graph(relu)))};
  });
  return value_and_grad(g, Span<const char>(wrt));
}

std::string read_file(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> r;
  std::stringstream s(text);
  for (std::string line; std::getline(s, line);) r.push_back(line);
  return r;
}
// The lines of both texts in one list, by the longest common subsequence: "- " was expected, "+ " was printed.
std::string diff(const std::string& expected, const std::string& printed) {
  const std::vector<std::string> a = lines(expected), b = lines(printed);
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string r;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j])
      r += "  " + a[i++] + "\n", ++j;
    else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]))
      r += "- " + a[i++] + "\n";
    else
      r += "+ " + b[j++] + "\n";
  }
  return r;
}

// Compares with tests/golden/NAME.txt, or writes it if FX_UPDATE_GOLDEN=1: then read it before keeping it.
void check_golden(const std::string& name, const Graph& g) {
  const std::string path = "tests/golden/" + name + ".txt", printed = str(g) + "\n";
  const char* update = std::getenv("FX_UPDATE_GOLDEN");
  if (update && std::string_view(update) == "1") std::ofstream(path, std::ios::binary) << printed;
  const std::string expected = read_file(path);
  CHECK_MESSAGE(expected == printed, path,
                expected.empty() ? " is empty or missing" : " differs (- expected, + printed)",
                "; FX_UPDATE_GOLDEN=1 writes it:\n", diff(expected, printed));
  if (expected != printed) return;
  CHECK(digest(parse(expected)) == digest(g));
  check_round_trip(g);
}

TEST_CASE("golden files") {
  check_golden("dot_chain_grad", gradient(dot_chain()));
  check_golden("scan", recurrence());
  check_golden("scan_grad", gradient(recurrence_loss()));
  check_golden("scan_vmap", batched(recurrence(), {0, 0, 1}, 7));
  const char first[] = {1, 0}, all[] = {1};
  check_golden("gather_grad", value_and_grad(row_loss(), Span<const char>(first)));
  check_golden("sort_jvp", jvp(sorted(), Span<const char>(all)));
  check_golden("pow_grad", gradient(power()));
  check_golden("softmax", softmax(dim("n")));
  check_golden("softmax_jvp", jvp(softmax(2), Span<const char>(all)));
  check_golden("threefry", uniform());
  check_golden("call_grad", select_and_call());
}

}  // namespace
