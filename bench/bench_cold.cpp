// bench_cold.cpp -- what a process pays for a function that it has never seen: without the cache on disk, with an empty
// one, and with what an earlier process left. Each time a process of its own, in turns; medians are printed.
//
//   bench_cold [ROUNDS]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cpu_models.hpp"

namespace bench {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
Array filled(std::uint32_t, const fx::Dims& shape, float scale, fx::DType) { return np::full(shape, scale); }

namespace {

struct Times {
  double trace = 0, compile = 0, run = 0;
};

template <class F, class... A>
Times first(F f, const A&... args) {
  const double a = seconds();
  const auto lowered = fx::jit(f).lower(args...);
  const double b = seconds();
  const fx::ExecutableRef e = fx::executable_for(lowered.graph);
  const double c = seconds();
  fx::jit(f)(args...);  // traces again, and finds what was compiled
  return {b - a, c - b, seconds() - c};
}
Times measure(const std::string& row) {
  if (row == "elementwise") return first(&fused_elementwise, filled(3, {1 << 16}, 3));
  auto step = [](const Mlp& p, const Array& x, const Array& y) { return mlp_step(0.01, p, x, y); };
  return first(step, fresh_mlp(), mlp_images(), mlp_labels());
}

// In a process of its own, which prints the times.
Times child(const std::string& program, const std::string& row, const std::string& cache) {
  const std::string command =
      (cache.empty() ? "env -u FX_CACHE_DIR " : "FX_CACHE_DIR='" + cache + "' ") + program + " --child " + row;
  FILE* out = popen(command.c_str(), "r");
  Times t;
  if (!out || std::fscanf(out, "%lf %lf %lf", &t.trace, &t.compile, &t.run) != 3) std::exit(1);
  pclose(out);
  return t;
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void table(const std::string& program, const std::string& row, int rounds) {
  const std::string name = (std::filesystem::temp_directory_path() / "fx_bench_cold").string();
  const std::string warm = name + "_warm", empty = name + "_empty";
  child(program, row, warm);
  const char* labels[] = {"no cache on disk", "empty cache", "hit"};
  std::vector<double> trace[3], compile[3], run[3];
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < 3; ++k) {
      std::filesystem::remove_all(empty);
      const Times t = child(program, row, k == 0 ? "" : k == 1 ? empty : warm);
      trace[k].push_back(t.trace);
      compile[k].push_back(t.compile);
      run[k].push_back(t.run);
    }
  for (int k = 0; k < 3; ++k)
    std::printf("%-12s %-18s %8.3f %8.3f %8.3f\n", row.c_str(), labels[k], 1e3 * median(trace[k]),
                1e3 * median(compile[k]), 1e3 * median(run[k]));
  std::filesystem::remove_all(empty);
  std::filesystem::remove_all(warm);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--child") {
    const bench::Times t = bench::measure(argv[2]);
    std::printf("%.9f %.9f %.9f\n", t.trace, t.compile, t.run);
    return 0;
  }
  std::printf("%-12s %-18s %8s %8s %8s   (ms, medians)\n", "", "", "trace", "compile", "call");
  for (const char* row : {"elementwise", "mlp"}) bench::table(argv[0], row, argc > 1 ? std::atoi(argv[1]) : 21);
}
