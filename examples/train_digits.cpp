// train_digits.cpp -- trains an ensemble of 8 networks on real handwritten digits, all at once: vmap inside one jit.
//
//   train_digits [digits.csv] [--ir] [--svg FILE] [--epochs N]
//
// Test rows are those with i % 3 == 2 (mean of three seeds); a second training on rows 0..1197 is tested on the last
// third, which other people wrote. --ir prints the loss as fx sees it, its gradient, and the tile program of the
// training step.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fx/fx.hpp>

#include "plot.hpp"
using fx::Array;
namespace np = fx::numpy;

struct Net {
  Array w1, b1, w2, b2;
};
struct Adam {
  Net mean, square;
  Array time;
};
struct Data {
  std::vector<float> pixels;
  std::vector<int> labels;
};

constexpr int members = 8, inputs = 64, hidden = 128, classes = 10, batch = 128, default_epochs = 50;

Array logits(const Net& n, const Array& x) { return np::matmul(fx::nn::relu(np::matmul(x, n.w1) + n.b1), n.w2) + n.b2; }
Array loss(const Net& n, const Array& x, const Array& y) {
  return -np::mean(np::sum(fx::nn::log_softmax(logits(n, x)) * fx::nn::one_hot(y, classes), {.axis = -1}));
}
// The sum over the members: each one's gradient is its own.
Array ensemble_loss(const Net& all, const Array& x, const Array& y) {
  return np::sum(fx::vmap(loss, {.in = {0, 0, 0}})(all, x, y));
}

// One step of Adam (Kingma, Ba 2015) with decaying steps for all members, each on its own rows of the data.
auto train_step(Net net, Adam adam, const Array& x, const Array& y, const Array& rows, const Array& rate) {
  auto [l, g] = fx::value_and_grad(ensemble_loss)(net, x(rows), y(rows));
  auto blend = [](float keep) { return [=](Array old, Array now) { return keep * old + (1 - keep) * now; }; };
  adam.time = adam.time + 1;
  adam.mean = fx::tree::map(blend(0.9f), adam.mean, g);
  adam.square = fx::tree::map(blend(0.999f), adam.square, fx::tree::map([](Array d) { return d * d; }, g));
  Array c1 = 1.0 - pow(Array(0.9f), adam.time), c2 = 1.0 - pow(Array(0.999f), adam.time);
  auto update = [&](Array p, Array m, Array v) { return p - rate * (m / c1) / (sqrt(v / c2) + 1e-8); };
  net = fx::tree::map(update, net, adam.mean, adam.square);
  return std::tuple(net, adam, l / float(members));
}

Net fresh_net(fx::Key key) {
  auto [k1, k2] = fx::random::split<2>(key);
  return {fx::random::normal(k1, {members, inputs, hidden}) * 0.177f, np::zeros({members, hidden}),
          fx::random::normal(k2, {members, hidden, classes}) * 0.125f, np::zeros({members, classes})};
}

// The share of rows that the members, voting with their mean probability, get right.
Array accuracy(const Net& all, const Array& x, const Array& y) {
  Array p = np::mean(fx::nn::softmax(fx::vmap(logits, {.in = {0, fx::none}})(all, x)), {.axis = 0});
  return np::mean(fx::convert(np::argmax(p, {.axis = -1}) == y, fx::f32));
}

Data read_digits(const char* path) {
  Data d;
  std::FILE* f = std::fopen(path, "r");
  if (!f)
    throw fx::Error(fx::ErrorCode::value,
                    std::string("cannot read ") + path + "; run it in the project's root or give the path");
  for (int v, i = 0; std::fscanf(f, "%d,", &v) == 1; ++i)
    if (i % 65 < 64)
      d.pixels.push_back((float(v) - 5) / 6);  // 0..16, about standardised
    else
      d.labels.push_back(v);
  std::fclose(f);
  return d;
}
struct Split {
  Array x, y;
};
template <class Pick>
Split choose(const Data& d, Pick pick) {
  Data s;
  for (std::size_t i = 0; i < d.labels.size(); ++i)
    if (pick(i)) {
      s.pixels.insert(s.pixels.end(), &d.pixels[64 * i], &d.pixels[64 * i] + 64);
      s.labels.push_back(d.labels[i]);
    }
  const std::int64_t n = std::int64_t(s.labels.size());
  return {Array(s.pixels, {n, inputs}), Array(s.labels)};
}

auto step = fx::jit(train_step, {.name = "train_step"});
auto score = fx::jit(accuracy, {.name = "accuracy"});
double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Trains from a seed; returns the test accuracy in percent. Curves get one value per epoch.
double train(const char* name, int seed, const Split& tr, const Split& te, int epochs, plot::Line& losses,
             plot::Line& accuracies) {
  auto [key, order] = fx::random::split<2>(fx::random::key(seed));
  Net net = fresh_net(key);
  Net zero = fx::tree::map([](Array a) { return np::zeros(a.shape()); }, net);
  Adam adam{zero, zero, Array(0.0f)};
  const int n = int(tr.x.shape()[0]), steps = n / batch;
  double first = 0, start = seconds(), l = 0, acc = 0;
  for (int e = 0; e < epochs; ++e) {
    std::vector<Array> shuffles;  // each member sees its own order
    for (const fx::Key& k : fx::random::split(fx::random::fold_in(order, e), members))
      shuffles.push_back(fx::random::permutation(k, n));
    const Array rows = np::stack(shuffles);
    l = 0;
    for (int s = 0; s < steps; ++s) {
      const float rate = 0.004f * 0.5f * (1 + float(std::cos(3.14159265 * (e * steps + s) / (epochs * steps))));
      Array step_loss;
      std::tie(net, adam, step_loss) =
          step(std::move(net), std::move(adam), tr.x, tr.y, rows(fx::all, fx::slice(s * batch, (s + 1) * batch)), rate);
      l += step_loss.item<double>() / steps;
      if (e + s == 0) first = seconds() - start;
    }
    acc = 100 * score(net, te.x, te.y).item<double>();
    losses.y.push_back(l);
    accuracies.y.push_back(acc);
    const bool last = e + 1 == epochs;
    if (isatty(1))
      std::printf("\r%s seed %d [%-30.*s] loss %.4f accuracy %.2f %%%s", name, seed, 30 * (e + 1) / epochs,
                  "##############################", l, acc, last ? "\n" : "");
    else if (last || e % 10 == 0)
      std::printf("%s seed %d epoch %2d: loss %.4f accuracy %.2f %%\n", name, seed, e + 1, l, acc);
    std::fflush(stdout);
  }
  std::printf("  first step %.1f ms, then %.2f ms a step\n", 1e3 * first,
              1e3 * (seconds() - start - first) / (epochs * steps - 1));
  return acc;
}

int main(int argc, char** argv) try {
  const char *path = "examples/data/digits.csv", *svg = "digits.svg";
  bool ir = false;
  int epochs = default_epochs;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--ir"))
      ir = true;
    else if (!std::strcmp(argv[i], "--svg") && i + 1 < argc)
      svg = argv[++i];
    else if (!std::strcmp(argv[i], "--epochs") && i + 1 < argc)
      epochs = std::atoi(argv[++i]);
    else
      path = argv[i];
  }
  const Data digits = read_digits(path);
  if (ir) {
    const Net one{fx::spec(fx::type(fx::f32, {inputs, hidden})), fx::spec(fx::type(fx::f32, {hidden})),
                  fx::spec(fx::type(fx::f32, {hidden, classes})), fx::spec(fx::type(fx::f32, {classes}))};
    const fx::Type x = fx::type(fx::f32, {batch, inputs}), y = fx::type(fx::i32, {batch});
    std::printf("loss:\n%s\n\nits gradient:\n%s\n\n", fx::jit(loss).lower(one, x, y).text().c_str(),
                fx::jit(fx::grad(loss)).lower(one, x, y).text().c_str());
    const auto compiled = fx::jit(fx::grad(loss)).lower(one, x, y).compile();
    std::printf("tile program of the gradient:\n%s\n", compiled.text("tile").c_str());
    return 0;
  }
  const Split train_rows = choose(digits, [](std::size_t i) { return i % 3 != 2; }),
              test_rows = choose(digits, [](std::size_t i) { return i % 3 == 2; });
  const Split early = choose(digits, [](std::size_t i) { return i < 1198; }),
              late = choose(digits, [](std::size_t i) { return i >= 1198; });
  plot::Chart losses{"Training loss", "epoch", {}}, curves{"Test accuracy (%)", "epoch", {}};
  const char* colors[] = {"#1f77b4", "#2ca02c", "#ff7f0e", "#d62728"};
  double mean = 0, others = 0;
  for (int k = 0; k < 4; ++k) {
    const std::string name = k < 3 ? "seed " + std::to_string(k) : "other writers";
    plot::Line l{name, colors[k], {}}, a{name, colors[k], {}};
    if (k < 3)
      mean += train("digits", k, train_rows, test_rows, epochs, l, a) / 3;
    else
      others = train("other writers", 0, early, late, epochs, l, a);
    losses.lines.push_back(l);
    curves.lines.push_back(a);
  }
  std::printf("accuracy of the ensemble, mean of 3 seeds: %.2f %%\naccuracy on other writers: %.2f %%\n", mean, others);
  if (plot::write(svg, {losses, curves})) std::printf("curves: %s\n", svg);
  return mean >= 97.0 || epochs < default_epochs ? 0 : 1;
} catch (const fx::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
