// cpu_models.hpp -- the functions that more than one row times.
#pragma once
#include "rows.hpp"

namespace bench {
namespace np = fx::numpy;

inline Array fused_elementwise(const Array& x) { return tanh(2.0 * x + 1.0) * exp(-x * x) + where(x > 0.0, x, 0.3); }

struct Layer {
  Array w, b;
};
struct Mlp {
  std::vector<Layer> layers;
};

inline Array mlp_loss(const Mlp& p, const Array& x, const Array& y) {
  Array h = x;
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    h = np::matmul(h, p.layers[i].w) + p.layers[i].b;
    if (i + 1 < p.layers.size()) h = fx::nn::relu(h);
  }
  return -np::mean(np::sum(fx::nn::log_softmax(h) * y, {.axis = -1}));
}
// One step of gradient descent; `rate` is a constant of the trace.
inline auto mlp_step(double rate, const Mlp& p, const Array& x, const Array& y) {
  auto [l, g] = fx::value_and_grad(mlp_loss)(p, x, y);
  return std::pair(fx::tree::map([=](Array v, Array d) { return v - rate * d; }, p, g), l);
}

constexpr int mlp_batch = 128;
inline Mlp fresh_mlp() {
  Mlp p;
  const std::int64_t sizes[] = {784, 512, 512, 10};
  for (std::uint32_t i = 0; i < 3; ++i)
    p.layers.push_back({filled(20 + i, {sizes[i], sizes[i + 1]}, 0.08f), np::zeros({sizes[i + 1]})});
  return p;
}
inline Array mlp_images() { return filled(30, {mlp_batch, 784}); }
inline Array mlp_labels() {
  std::vector<int> digit(mlp_batch);
  for (int i = 0; i < mlp_batch; ++i) digit[std::size_t(i)] = i % 10;
  return fx::nn::one_hot(Array(digit), 10);
}

}  // namespace bench
