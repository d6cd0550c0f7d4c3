// transforms/donation.cpp -- memory of moved arguments becomes memory of results; copies elsewhere never change. And
// ahead of time: lower, compile, text, call_into.
#include <memory>
#include <random>

#include "transforms.hpp"

using namespace transforms;

namespace {

struct Params {
  Array w, b;
};
const double* data(const Array& x) { return x.view<double>().data(); }
Array filled(double v, std::int64_t n = 1000) { return np::full({n}, v, fx::f64); }

TEST_CASE("the memory of a moved Array is reused, and the Array is empty") {
  auto f = fx::jit([](Array a, Array b) { return a + b; });
  Array x = filled(1), y = filled(2);
  const double *px = data(x), *py = data(y);
  x = f(std::move(x), y);
  CHECK(data(x) == px);
  CHECK(data(y) == py);
  CHECK(doubles(x) == Doubles(1000, 3.0));
  CHECK(doubles(y) == Doubles(1000, 2.0));
  const Array z = f(std::move(x), y);
  CHECK(x.empty());  // NOLINT: that is the test
  CHECK(data(z) == px);
  CHECK(doubles(z) == Doubles(1000, 5.0));
}
TEST_CASE("copies elsewhere are untouched, then nothing is reused") {
  auto f = fx::jit([](Array a) { return a * 2.0; });
  Array x = filled(1);
  const Array copy = x;
  const double* p = data(copy);
  const Array y = f(std::move(x));
  CHECK(data(y) != p);
  CHECK(doubles(copy) == Doubles(1000, 1.0));
  CHECK(doubles(y) == Doubles(1000, 2.0));
  Array z = filled(1);
  const std::vector<Array> list{z, z};
  const Array w = f(std::move(z));
  CHECK(doubles(list[0]) == Doubles(1000, 1.0));
  CHECK(doubles(w) == Doubles(1000, 2.0));
}
TEST_CASE("an argument passed as it is stays") {
  auto f = fx::jit([](Array a) { return a * 2.0; });
  const Array x = filled(3);
  const Array y = f(x), z = f(x);
  CHECK(data(y) != data(x));
  CHECK(data(z) != data(y));
  CHECK(doubles(x) == Doubles(1000, 3.0));
}
TEST_CASE("a whole struct moves in, and a training loop runs in the same memory") {
  auto step = fx::jit([](Params p, Array x) { return Params{p.w - 0.5 * p.w * x, p.b + 1.0}; });
  Params p{filled(1), filled(0)};
  const double *pw = data(p.w), *pb = data(p.b);
  const std::int64_t held = fx::memory_stats().allocated;
  for (int i = 0; i < 5; ++i) p = step(std::move(p), 0.5);
  CHECK(fx::memory_stats().allocated == held);
  CHECK(((data(p.w) == pw && data(p.b) == pb) || (data(p.w) == pb && data(p.b) == pw)));
  CHECK(doubles(p.w) == Doubles(1000, std::pow(0.75, 5)));
  CHECK(doubles(p.b) == Doubles(1000, 5.0));
}
TEST_CASE("temporaries are donated too; a captured Array and one given twice never are") {
  auto f = fx::jit([](Array a) { return a + 1.0; }, {.name = "inc"});
  CHECK(doubles(f(filled(1))) == Doubles(1000, 2.0));
  CHECK(f.explain().find("1 buffers donated") != std::string::npos);
  Array k = filled(5);
  auto g = fx::jit([&](Array a) { return a + k; });
  g(filled(1));
  Array moved = k;
  CHECK(doubles(g(std::move(moved))) == Doubles(1000, 10.0));
  CHECK(doubles(k) == Doubles(1000, 5.0));
  auto h = fx::jit([](Array a, Array b) { return std::pair(a + b, a - b); });
  Array x = filled(7), same = x;
  const auto [sum, difference] = h(std::move(x), std::move(same));
  CHECK(doubles(sum) == Doubles(1000, 14.0));
  CHECK(doubles(difference) == Doubles(1000, 0.0));
}
TEST_CASE("a result that is an argument, or the same value twice") {
  auto f = fx::jit([](Array a, Array b) { return std::tuple(b, a, a, a * b); });
  Array x = filled(2), y = filled(3);
  const auto [p, q, r, s] = f(std::move(x), std::move(y));
  CHECK(doubles(p) == Doubles(1000, 3.0));
  CHECK(doubles(q) == Doubles(1000, 2.0));
  CHECK(doubles(r) == Doubles(1000, 2.0));
  CHECK(doubles(s) == Doubles(1000, 6.0));
  auto one = fx::jit([](Array a) { return a * 5.0; });
  const Array q2 = one(q);
  CHECK(doubles(r) == Doubles(1000, 2.0));
  CHECK(doubles(q2) == Doubles(1000, 10.0));
}
TEST_CASE("an input read after the output that could take its memory") {
  // b = reversed a + a: element i is needed for output n-1-i.
  auto f = fx::jit([](Array a) { return np::flip(a) + a; });
  Doubles v, expect;
  for (int i = 0; i < 1000; ++i) v.push_back(i), expect.push_back(999);
  CHECK(doubles(f(vector(v))) == expect);
  auto g = fx::jit([](Array a) {
    const Array s = np::cumsum(a);
    return std::pair(s, np::flip(s) * a);
  });
  const Array x = vector(v), kept = x + 0.0;
  const auto [s, t] = g(x);
  const auto [s2, t2] = g(vector(v));
  CHECK(close(s, s2));
  CHECK(close(t, t2));
}

TEST_CASE("random programs give the same bits with donated and with kept arguments") {
  std::mt19937 random(1);
  auto below = [&](int n) { return int(random() % unsigned(n)); };
  for (int program = 0; program < 150; ++program) {
    const unsigned seed = unsigned(random());
    auto f = [seed](std::vector<Array> v) {
      std::mt19937 choose(seed);
      auto pick = [&] { return v[choose() % v.size()]; };
      for (std::uint64_t i = 3 + choose() % 10; i > 0; --i) {
        const Array a = pick(), b = pick();
        switch (choose() % 8) {
          case 0: v.push_back(a + b); break;
          case 1: v.push_back(a * b - 0.5); break;
          case 2: v.push_back(np::flip(a)); break;
          case 3: v.push_back(np::cumsum(a, {.axis = 0}) * 0.1); break;
          case 4: v.push_back(a - np::mean(b, {.axis = 1, .keepdims = true})); break;
          case 5: v.push_back(np::matmul(a, b) * 0.05); break;
          case 6: v.push_back(np::transpose(a)); break;
          default: v.push_back(np::sort(a));
        }
      }
      return std::vector<Array>{pick(), v.back(), pick(), pick()};
    };
    INFO(program);
    std::vector<Array> kept;
    for (int i = 0; i < 3; ++i) {
      Doubles e;
      for (int k = 0; k < 24 * 24; ++k) e.push_back(0.01 * below(200) - 1);
      kept.push_back(matrix(24, 24, e));
    }
    auto jitted = fx::jit(f);
    const std::vector<Array> expect = jitted(kept);
    std::vector<Array> given;
    for (const Array& a : kept) given.push_back(matrix(24, 24, doubles(a)));
    const std::vector<Array> got = jitted(std::move(given));
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(doubles(got[i]) == doubles(expect[i]));
    CHECK(jitted.traces() == 1);
  }
}
TEST_CASE("a captured Array as result is a copy of it") {
  Array w = filled(4);
  auto f = fx::jit([&](Array a) { return std::pair(w, a + w); });
  auto [same, sum] = f(filled(1));
  CHECK(data(same) != data(w));
  same = fx::jit([](Array a) { return a * 0.0; })(std::move(same));
  CHECK(doubles(w) == Doubles(1000, 4.0));
  CHECK(doubles(f(filled(2)).first) == Doubles(1000, 4.0));
}

TEST_CASE("lower, compile, text, call_into") {
  const Array w = vector({10, 20, 30});
  auto f = fx::jit(
      [&](const Params& p, Array x) {
        return std::pair{np::sum(p.w * x + p.b), w * x};
      },
      {.name = "layer"});
  const fx::Type t = fx::type(fx::f64, {3});
  const fx::Lowered l = f.lower(Params{fx::spec(t), fx::spec(fx::type(fx::f64))}, t);
  CHECK(f.traces() == 0);
  CHECK(l.text() == R"({ lambda d:f64[3] ; a:f64[3] b:f64[] c:f64[3]. let
    e:f64[3] = mul a c
    f:f64[3] = broadcast_in_dim[shape=(3) dims=()] b
    g:f64[3] = add e f
    h:f64[] = reduce_sum[axes=(0)] g
    i:f64[3] = mul d c
  in (h, i) })");
  const fx::Compiled c = l.compile();
  CHECK(fx::digest(fx::parse(l.text())) == fx::digest(l.graph));
  CHECK(fx::parse(c.text("ir")).outs.size() == 2);
  CHECK_FALSE(c.text("tile").empty());
  std::vector<char> room(std::size_t(c.workspace()) + 64);
  void* work = room.data();
  std::size_t space = room.size();
  work = std::align(64, std::size_t(c.workspace()), work, space);
  REQUIRE(work != nullptr);
  alignas(64) double b64[8] = {0.5}, k64[8] = {10, 20, 30}, w64[8] = {1, 2, 3}, x64[8] = {4, 5, 6}, s64[8], p64[8];
  const fx::Buffer in[] = {{w64, 24}, {b64, 8}, {x64, 24}, {k64, 24}}, out[] = {{s64, 8}, {p64, 24}};
  const std::int64_t held = fx::memory_stats().allocated;
  for (int i = 0; i < 3; ++i) {
    x64[0] = 4 + i;
    c.call_into(in, out, work);
    CHECK(s64[0] == 1 * x64[0] + 2 * 5 + 3 * 6 + 1.5);
    CHECK(p64[0] == 10 * x64[0]);
    CHECK(p64[2] == 180);
  }
  CHECK(fx::memory_stats().allocated == held);
}

}  // namespace
