// cpu_compile.cpp -- the rows that time trace, compile and first run together: a function never seen before each time.
#include "cpu_models.hpp"
// The training step that the example runs is the one that is timed; its main is of no use here.
#define main train_digits_main
#include "../examples/train_digits.cpp"
#undef main

namespace bench {
namespace {

// f(c, args...) with a constant c that no earlier call had, so that no cache knows the function. c is 1 at first.
template <class F, class... A>
Work compiling(F f, A... args) {
  auto fresh = [=](double c) { return fx::jit([=](const auto&... a) { return f(c, a...); })(args...); };
  auto repeat = [=, step = 0](long n) mutable {
    for (long i = 0; i < n; ++i) (void)fresh(1 + 0x1p-20 * ++step);
  };
  return {repeat, [=] { return leaves(fresh(1)); }, {}, true};
}

Work elementwise() {
  return compiling([](double c, const Array& x) { return fused_elementwise(c * x); }, filled(3, {1 << 16}, 3));
}
Work mlp() {
  auto step = [](double c, const Mlp& p, const Array& x, const Array& y) { return mlp_step(0.01 * c, p, x, y); };
  return compiling(step, fresh_mlp(), mlp_images(), mlp_labels());
}

Net numbered_net(std::uint32_t seed) {
  return {filled(seed, {members, inputs, hidden}, 0.3f), np::zeros({members, hidden}),
          filled(seed + 1, {members, hidden, classes}, 0.2f), np::zeros({members, classes})};
}
Work digits() {
  const int images = 1198;
  std::vector<int> labels, rows;
  for (int i = 0; i < images; ++i) labels.push_back(i % classes);
  for (int i = 0; i < members * batch; ++i) rows.push_back((i * 37 + 11) % images);
  const Net net = numbered_net(40), zero = fx::tree::map([](Array a) { return np::zeros(a.shape()); }, net);
  auto step = [](double c, const Net& n, const Adam& a, const Array& x, const Array& y, const Array& r,
                 const Array& rate) { return train_step(n, a, x, y, r, c * rate); };
  return compiling(step, net, Adam{zero, zero, Array(0.0f)}, filled(42, {images, inputs}), Array(labels),
                   Array(rows, {members, batch}), Array(0.004f));
}
}  // namespace

void add_compiles(Rows& rows) {
  rows["compile_elementwise"] = elementwise;
  rows["compile_mlp"] = mlp;
  rows["compile_digits"] = digits;
}

}  // namespace bench
