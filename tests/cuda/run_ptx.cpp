// run_ptx.cpp -- runs what fx prints as PTX on an NVIDIA GPU and compares its bits with those of the processor: the
// kernels of the training step of examples/train_digits.cpp, and programs that use every instruction.
//
//   run_ptx                runs; exit status 77: there is no GPU
//   run_ptx --write DIR    writes the modules of the training step to DIR instead
//   run_ptx --machine      runs the training step on the machine of ptx_machine.hpp instead, within a minute or two
#include "ptx_driver.hpp"
#include "ptx_emulated.hpp"

#define main train_digits_main
#include "../../examples/train_digits.cpp"
#undef main

namespace {
using namespace ptx_test;

// The training step as a Graph, and the bytes of its inputs after a few steps, so that no moment of Adam is zero.
struct TrainingStep {
  Graph graph;
  std::vector<std::vector<char>> inputs;
};

std::vector<char> bytes_of(const Array& a) {
  auto copy = [](const auto& values) {
    const char* p = reinterpret_cast<const char*>(values.data());
    return std::vector<char>(p, p + values.size_bytes());
  };
  if (a.dtype() == fx::f32) return copy(a.view<float>());
  if (a.dtype() == fx::i32) return copy(a.view<int>());
  throw std::runtime_error("an input of a dtype that this test does not know");
}

TrainingStep training_step() {
  const Data digits = read_digits("examples/data/digits.csv");
  const Split rows = choose(digits, [](std::size_t i) { return i % 3 != 2; });
  auto [key, order] = fx::random::split<2>(fx::random::key(0));
  Net net = fresh_net(key);
  Net zero = fx::tree::map([](Array a) { return np::zeros(a.shape()); }, net);
  Adam adam{zero, zero, Array(0.0f)};
  std::vector<Array> shuffles;
  for (const fx::Key& k : fx::random::split(order, members))
    shuffles.push_back(fx::random::permutation(k, rows.x.shape()[0])(fx::slice(0, batch)));
  const Array picked = np::stack(shuffles), rate(0.004f);
  Array step_loss;
  for (int i = 0; i < 3; ++i) std::tie(net, adam, step_loss) = step(net, adam, rows.x, rows.y, picked, rate);
  TrainingStep t{step.lower(net, adam, rows.x, rows.y, picked, rate).graph, {}};
  for (const Array& a : fx::tree::leaves(net)) t.inputs.push_back(bytes_of(a));
  for (const Array& a : fx::tree::leaves(adam)) t.inputs.push_back(bytes_of(a));
  for (const Array& a : {rows.x, rows.y, picked, rate}) t.inputs.push_back(bytes_of(a));
  if (int(t.inputs.size()) != t.graph.ins.size()) throw std::runtime_error("the training step has other inputs");
  return t;
}

int write_modules(const std::string& folder) {
  const TrainingStep t = training_step();
  for (const fx::cuda::PtxTarget& target : {fx::cuda::sm_80, fx::cuda::sm_90})
    for (const fx::Target& tiles : {fx::tile::host(), fx::tile::h200}) {
      const auto e = compile(t.graph, tiles);
      const auto m = fx::cuda::ptx_module(e->program(), kernels_with_ptx(e->program()), target);
      const std::string path = folder + "/digits_" + std::string(tiles.name) + "." + std::string(target.name) + ".ptx";
      std::FILE* f = std::fopen(path.c_str(), "w");
      if (!f || std::fputs(m.text.c_str(), f) < 0 || std::fclose(f) != 0)
        throw std::runtime_error("cannot write " + path);
      std::printf("%s: %d entries\n", path.c_str(), m.entries.size());
    }
  return 0;
}

template <class Device>
Tally run_training_step(Device& device) {
  const TrainingStep t = training_step();
  Tally all;
  for (const fx::cuda::PtxTarget& target : {fx::cuda::sm_80, fx::cuda::sm_90})
    for (const fx::Target& tiles : {fx::tile::host(), fx::tile::h200}) {
      device.set_target(target);
      std::printf("digits step, tiles for %s, PTX for %s\n", std::string(tiles.name).c_str(),
                  std::string(target.name).c_str());
      all += Walk<Device>(device, compile(t.graph, tiles), true).run(t.inputs);
    }
  return all;
}

Tally run_cases(Driver& gpu) {
  Tally all;
  gpu.set_target(fx::cuda::sm_90);
  for (const Case& c : cases()) {
    const Tally t = run_case(gpu, c);
    std::printf("%s: %d kernels, %lld values, %d wrong\n", c.name.c_str(), t.checked, static_cast<long long>(t.values),
                t.wrong);
    all += t;
  }
  return all;
}

int report(const Tally& all) {
  std::printf("%d of %d kernels ran as PTX: %lld values, %d kernels wrong\n", all.checked, all.kernels,
              static_cast<long long>(all.values), all.wrong);
  return all.wrong == 0 && all.checked > 0 ? 0 : 1;
}
int run_on_gpu() {
  Driver gpu(fx::cuda::sm_80);
  if (!gpu.there()) {
    std::printf("no GPU: %s\n", gpu.missing().c_str());
    return 77;
  }
  std::printf("%s\n", gpu.name().c_str());
  Tally all = run_training_step(gpu);
  all += run_cases(gpu);
  return report(all);
}
int run_on_machine() {
  Emulated machine;
  return report(run_training_step(machine));
}
}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc == 3 && !std::strcmp(argv[1], "--write")) return write_modules(argv[2]);
  if (argc == 2 && !std::strcmp(argv[1], "--machine")) return run_on_machine();
  return run_on_gpu();
} catch (const std::exception& e) {
  std::printf("FAILED: %s\n", e.what());
  return 1;
}
