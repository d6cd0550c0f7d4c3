// cpu_kernels.cpp -- the rows that time a compiled function: dispatch, kernels, a training step, loops.
#include "cpu_models.hpp"

namespace bench {
namespace {

Array normalised(const Array& x, const Array& gain, const Array& shift) {
  const Array centred = x - np::mean(x, {.axis = -1, .keepdims = true});
  const Array variance = np::mean(centred * centred, {.axis = -1, .keepdims = true});
  return centred * rsqrt(variance + 1e-5) * gain + shift;
}

template <class F>
Work on_layer_norm(F f) {
  const std::int64_t rows = 512, width = 1024;
  return jitted(f, filled(5, {rows, width}, 2), filled(6, {width}), filled(7, {width}));
}

Work layer_norm() { return on_layer_norm(normalised); }
Work layer_norm_grad() {
  auto loss = [](const Array& x, const Array& gain, const Array& shift) {
    const Array y = normalised(x, gain, shift);
    return np::sum(y * y);
  };
  return on_layer_norm(fx::grad<0, 1, 2>(loss));
}

Work dispatch() {
  return jitted([](const Array& x) { return (x + 1.0) * 2.0; }, filled(1, {8}));
}
Work eager_add() {
  const Array x = filled(1, {8}), y = filled(2, {8});
  return {[=](long n) {
            for (long i = 0; i < n; ++i) (void)(x + y);
          },
          [=] { return std::vector<Array>{x + y}; }};
}

Work product(std::int64_t m, std::int64_t n, std::int64_t k, fx::DType dtype) {
  return jitted([](const Array& a, const Array& b) { return np::matmul(a, b); }, filled(8, {m, k}, 1, dtype),
                filled(9, {k, n}, 1, dtype));
}

// Parameters are moved in and come back, as in training.
Work training_step() {
  auto step = fx::jit([](const Mlp& p, const Array& x, const Array& y) { return mlp_step(0.01, p, x, y); });
  const Array x = mlp_images(), y = mlp_labels();
  Mlp now = fresh_mlp();
  auto repeat = [=](long n) mutable {
    Array l;
    for (long i = 0; i < n; ++i) std::tie(now, l) = step(std::move(now), x, y);
  };
  return {repeat, [=] { return leaves(step(fresh_mlp(), x, y)); },
          [=] { return step.lower(fresh_mlp(), x, y).compile(); }};
}

// A dense orthogonal matrix (a reflection): h neither dies out nor becomes chaotic in a thousand steps, so that values
// can be compared.
Array reflection(int n) {
  std::vector<float> w;
  auto v = [](int i) { return double(1 + i * 7 % 4); };
  double square = 0;
  for (int i = 0; i < n; ++i) square += v(i) * v(i);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) w.push_back(float((i == j) - 2 * v(i) * v(j) / square));
  return Array(w, {n, n});
}
Array recur(const Array& h, const Array& w) {
  auto body = [&](Array now, fx::None) { return std::pair(tanh(np::matmul(w, now)), fx::none); };
  return fx::scan(body, h, fx::none, {.length = 1000}).first;
}
Work recurrence() { return jitted(recur, filled(10, {16}), reflection(16)); }
Work recurrence_grad() {
  auto end = [](const Array& h, const Array& w) { return np::sum(recur(h, w)); };
  return jitted(fx::grad(end), filled(10, {16}), reflection(16));
}

void add_products(Rows& rows) {
  struct Size {
    std::int64_t m, n, k;
  };
  for (fx::DType t : {fx::f32, fx::f64})
    for (Size s : {Size{128, 128, 128},
                   {512, 512, 512},
                   {1024, 1024, 1024},
                   {2048, 2048, 2048},
                   {64, 1024, 1024},
                   {1, 1024, 1024}}) {
      const std::string name = (t == fx::f32 ? "matmul_f32_" : "matmul_f64_") + std::to_string(s.m) + "x" +
                               std::to_string(s.n) + "x" + std::to_string(s.k);
      rows[name] = [=] { return product(s.m, s.n, s.k, t); };
    }
}
}  // namespace

void add_kernels(Rows& rows) {
  rows["jit_call"] = dispatch;
  rows["eager_add"] = eager_add;
  for (std::int64_t n : {1 << 16, 1 << 20, 1 << 24})
    rows["elementwise_" + std::to_string(n)] = [=] { return jitted(fused_elementwise, filled(3, {n}, 3)); };
  rows["softmax"] = [] {
    return jitted([](const Array& x) { return fx::nn::softmax(x); }, filled(4, {1024, 1024}, 4));
  };
  rows["layernorm"] = layer_norm;
  rows["layernorm_grad"] = layer_norm_grad;
  rows["mlp_step"] = training_step;
  rows["scan"] = recurrence;
  rows["scan_grad"] = recurrence_grad;
  add_products(rows);
}

}  // namespace bench
