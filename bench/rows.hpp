// rows.hpp -- what the files of bench_cpu share: a piece of work that is timed, its inputs, and tables of them by name.
#pragma once
#include <cstdint>
#include <functional>
#include <fx/fx.hpp>
#include <map>
#include <string>
#include <vector>

namespace bench {
using fx::Array;

struct Work {
  std::function<void(long)> repeat;             // does it that many times
  std::function<std::vector<Array>()> results;  // of the first call, for the comparison of values
  std::function<fx::Compiled()> compiled{};     // what the roofline takes apart; empty: nothing
  bool single = false;                          // each call is a sample of its own, however short
};
// Made when first asked for, for the inputs of all rows together would not fit into small machines.
using Rows = std::map<std::string, std::function<Work()>>;

void add_kernels(Rows& rows);
void add_compiles(Rows& rows);
void add_blas(Rows& rows);
// The kernels of a compiled function, each timed alone: "KIND DTYPE FLOPS BYTES WORKING_SET SECONDS; ...".
std::string kernel_times(const fx::Compiled& c);
// What one core reaches: "NAME VALUE ...", in operations and bytes per second.
std::string ceilings();

double seconds();

// Numbers in [-scale, scale) that a hash makes of their positions: peers compute the same without sharing a generator.
std::vector<float> numbers(std::uint32_t seed, std::int64_t n, float scale);
Array filled(std::uint32_t seed, const fx::Dims& shape, float scale = 1, fx::DType dtype = fx::f32);

template <class Tree>
std::vector<Array> leaves(const Tree& t) {
  std::vector<Array> r;
  fx::tree::for_each_leaf(t, [&](const Array& a) { r.push_back(a); });
  return r;
}

// f under jit, on the same arguments each time.
template <class F, class... A>
Work jitted(F f, A... args) {
  auto call = fx::jit(f);
  return {[=](long n) {
            for (long i = 0; i < n; ++i) (void)call(args...);
          },
          [=] { return leaves(call(args...)); }, [=] { return call.lower(args...).compile(); }};
}

}  // namespace bench
