// transforms/threads.cpp -- 16 threads that trace, transform and call at once get what one thread gets. Runs under
// ThreadSanitizer.
#include <atomic>
#include <mutex>
#include <thread>

#include "transforms.hpp"

using namespace transforms;

namespace {

constexpr int threads = 16, rounds = 6;

// work(thread, round) on all threads, which start together; what it throws is counted. 0 is expected.
int failures(const std::function<bool(int, int)>& work) {
  std::atomic<int> ready{0}, failed{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int round = 0; round < rounds; ++round) try {
          if (!work(t, round)) ++failed;
        } catch (...) { ++failed; }
    });
  for (std::thread& t : all) t.join();
  return failed;
}

struct Layer {
  Array w, b;
};
Array loss(const Layer& l, const Array& x) {
  const Array y = tanh(np::matmul(x, l.w) + l.b);
  return np::sum(y * y);
}
Layer layer(int n) { return {np::reshape(np::arange(0, n * 2, fx::f64), {n, 2}) * 0.1, vector({0.5, -0.5})}; }
Array rows(int n) { return np::reshape(np::arange(0, 3 * n, fx::f64), {3, n}) * 0.05 - 0.2; }
Array halved(const Array& x) { return x * 0.5; }

TEST_CASE("one jit object, several shapes, traced by whoever comes first") {
  auto step = fx::jit([](Layer l, const Array& x) {
    auto [v, g] = fx::value_and_grad(loss)(l, x);
    return std::pair(Layer{l.w - 0.1 * g.w, l.b - 0.1 * g.b}, v);
  });
  std::vector<std::pair<Layer, Array>> expect;
  for (int n = 1; n <= 4; ++n) {
    auto [v, g] = fx::value_and_grad(loss)(layer(n), rows(n));
    expect.push_back({Layer{layer(n).w - 0.1 * g.w, layer(n).b - 0.1 * g.b}, v});
  }
  CHECK(failures([&](int t, int round) {
          const int n = 1 + (t + round) % 4;
          const auto& [want, value] = expect[std::size_t(n - 1)];
          Layer l = layer(n);
          const auto [got, v] = t % 2 ? step(l, rows(n)) : step(std::move(l), rows(n));
          return close(got.w, want.w) && close(got.b, want.b) && close(v, value) && !step.explain().empty();
        }) == 0);
  CHECK(step.calls() == threads * rounds);
  CHECK(step.traces() >= 4);
  CHECK(step.traces() <= threads * 4);
}
TEST_CASE("functions that share a cache by type or address") {
  CHECK(failures([](int t, int round) {
          const double x = t + 0.1 * round;
          return close(fx::jit([](Array a) { return a * a + 1.0; })(x), x * x + 1) &&
                 close(fx::jit(halved)(x), x / 2) && close(fx::jit(halved)(vector({x, 1})), vector({x / 2, 0.5}));
        }) == 0);
}
TEST_CASE("transforms, nested, each traced anew") {
  const Array x = vector({0.3, -0.8, 1.1}), m = rows(3);
  auto f = [](Array a) { return np::sum(sin(a) * exp(a * 0.5)); };
  const Array g = fx::grad(f)(x), h = fx::jvp(fx::grad(f), std::tuple(x), std::tuple(x)).second,
              v = fx::vmap(fx::grad(f))(m), p = fx::vjp(f, x).second(2.0),
              n = fx::grad([&](Array a) { return a * fx::grad([&](Array b) { return a * b * b; })(a); })(1.5);
  CHECK(failures([&](int t, int) {
          switch (t % 5) {
            case 0: return close(fx::grad(f)(x), g);
            case 1: return close(fx::jvp(fx::grad(f), std::tuple(x), std::tuple(x)).second, h);
            case 2: return close(fx::jit(fx::vmap(fx::grad(f)))(m), v);
            case 3: return close(fx::vjp(f, x).second(2.0), p);
            default:
              return close(fx::grad([&](Array a) { return a * fx::grad([&](Array b) { return a * b * b; })(a); })(1.5),
                           n);
          }
        }) == 0);
}
TEST_CASE("eager operations and loops on shared Arrays, and memory that moves between threads") {
  Array shared = rows(4);
  const Array sum = np::sum(shared * 2.0), sorted = np::sort(shared);
  auto loop = [](const Array& rows) {
    return fx::scan([](Array s, Array r) { return std::pair(tanh(s + r), s); }, rows(0), rows);
  };
  const std::pair<Array, Array> looped = loop(shared);
  std::vector<Array> made(threads * rounds);
  CHECK(failures([&](int t, int round) {
          Array mine = shared;
          const auto [c, ys] = loop(mine);
          made[std::size_t(t * rounds + round)] = std::move(mine) + double(t);
          if (round == 3) fx::release_cached_memory();
          return close(np::sum(shared * 2.0), sum) && close(np::sort(shared), sorted) && close(c, looped.first) &&
                 close(ys, looped.second);
        }) == 0);
  for (int t = 0; t < threads; ++t) CHECK(close(made[std::size_t(t * rounds)], shared + double(t)));
}
TEST_CASE("eager operations and jitted calls of many types, found or made by whoever comes first") {
  auto f = fx::jit([](Array a) { return a * 2.0; });
  CHECK(failures([&](int t, int round) {
          for (int i = 0; i < 40; ++i) {
            const int n = 1 + (i * 7 + t + round) % 40;
            const Array x = np::arange(0, n, fx::f64), y = x + x;
            if (!close(y, f(x)) || !close(x + 1.0, np::arange(1, n + 1, fx::f64))) return false;
          }
          return true;
        }) == 0);
  CHECK(f.calls() == threads * rounds * 40);
}
TEST_CASE("a captured Array is reassigned while others call") {
  std::mutex mutex;
  Array w = vector({0, 0, 0});
  auto f = fx::jit([&](const Array& x) {
    Array now;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      now = w;
    }
    return x + now;
  });
  const Array ones = vector({1, 1, 1});
  CHECK(failures([&](int t, int round) {
          if (t % 8 == 0) {
            const Array next = vector({1, 1, 1}) * double(round + 1);
            const std::lock_guard<std::mutex> lock(mutex);
            w = next;
          }
          const std::vector<double> got = f(ones).to_vector<double>();
          return got[0] == got[2] && got[0] >= 1 && got[0] <= rounds + 1;
        }) == 0);
  CHECK(close(f(ones), ones * double(rounds + 1)));
}
TEST_CASE("random numbers depend on the key alone") {
  const fx::Key key = fx::random::key(42);
  std::vector<Array> expect;
  for (int i = 0; i < threads; ++i) expect.push_back(fx::random::normal(fx::random::fold_in(key, i), {5}));
  CHECK(failures([&](int t, int) {
          auto draw = fx::jit([](const fx::Key& k) { return fx::random::normal(k, {5}); });
          return close(fx::random::normal(fx::random::fold_in(key, t), {5}), expect[std::size_t(t)]) &&
                 close(draw(fx::random::fold_in(key, t)), expect[std::size_t(t)]);
        }) == 0);
}
TEST_CASE("Errors on some threads do not disturb others") {
  const Array x = vector({1, 2, 3}), y = vector({1, 2});
  auto f = fx::jit([](Array a, Array b) { return np::sum(a * b); });
  CHECK(failures([&](int t, int) {
          if (t % 2) return close(f(x, x), 14.0) && close(fx::grad([&](Array a) { return f(a, x); })(x), x);
          try {
            if (t % 4)
              f(x, y);
            else
              fx::vmap([&](Array a) -> Array { throw a; })(x);
          } catch (const fx::Error& e) {
            return e.code == fx::ErrorCode::shape && fx::detail::current_trace() == nullptr;
          } catch (const Array& thrown) { return thrown.rank() == 0 && fx::detail::current_trace() == nullptr; }
          return false;
        }) == 0);
}
TEST_CASE("inspection, text and symbolic sizes") {
  CHECK(failures([](int t, int) {
          const std::string name = "n" + std::to_string(t % 3);
          const fx::Jaxpr j =
              fx::make_jaxpr(fx::grad([](Array a) { return np::sum(a * a); }))(fx::type(fx::f32, {fx::dim(name), 2}));
          const std::string text(j.text().view());
          return text.find("a:f32[" + name + ",2]") != std::string::npos &&
                 fx::digest(fx::parse(text)) == fx::digest(j.graph) &&
                 fx::eval_shape([](Array a) { return np::sum(a, {.axis = 0}); })(fx::type(fx::f32, {4, 2})).shape() ==
                     fx::Dims{2};
        }) == 0);
}

}  // namespace
