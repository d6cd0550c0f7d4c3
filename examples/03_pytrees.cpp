// 03_pytrees.cpp -- plain structs are arguments: gradients have the structure of what they belong to.
#include <cstdio>
#include <fx/fx.hpp>
using fx::Array;
namespace np = fx::numpy;

struct Layer {
  Array w, b;
};
struct Model {
  std::vector<Layer> layers;
  Array scale;
};

Array predict(const Model& m, Array x) {
  for (const Layer& l : m.layers) x = tanh(np::matmul(x, l.w) + l.b);
  return x * m.scale;
}
Array loss(const Model& m, const Array& x, const Array& y) {
  const Array e = predict(m, x) - y;
  return np::mean(e * e);
}

int main() {
  auto [k1, k2, k3] = fx::random::split<3>(fx::random::key(0));
  Model m{
      {{fx::random::normal(k1, {2, 16}), np::zeros({16})}, {fx::random::normal(k2, {16, 1}) * 0.3f, np::zeros({1})}},
      Array(1.0f)};
  const Array x = fx::random::uniform(k3, {64, 2}, {.min = -1, .max = 1});
  const Array y = np::sum(x * x, {.axis = 1, .keepdims = true}) * 0.5f;

  for (const std::string& path : fx::tree::paths(m)) std::printf("%s ", path.c_str());
  std::printf("\n");

  // Descent: the parameters are moved in, so their memory is reused for the new ones.
  auto step = fx::jit([](Model p, const Array& a, const Array& b) {
    auto [l, g] = fx::value_and_grad(loss)(p, a, b);
    return std::pair(fx::tree::map([](Array v, Array d) { return v - 0.1 * d; }, p, g), l);
  });
  double first = 0, last = 0;
  for (int i = 0; i < 300; ++i) {
    Array l;
    std::tie(m, l) = step(std::move(m), x, y);
    last = l.item<double>();
    if (i == 0) first = last;
  }
  std::printf("loss %.5f -> %.5f\n%s\n", first, last, step.explain().c_str());
  return last < 0.1 * first ? 0 : 1;
}
