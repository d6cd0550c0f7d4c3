// bench_cpu.cpp -- fx and OpenBLAS as a server that times one row at a time; bench/compare.py drives it.
//
// A request and its answer are one line each:
//   check ROW         ok COUNT SUM ABSOLUTE_SUM V V V V V ; ...      one group for each array of the result
//   run ROW SAMPLES   ok SECONDS                                     for a call, the median of at most SAMPLES
//   kernels ROW       ok KIND DTYPE FLOPS BYTES WORKING_SET SECONDS ; ...
//   ceilings          ok NAME VALUE ...
//   trace ROW FILE    ok                                             a trace file of the row, run three times
// "error TEXT" says that there is no such row, or why it failed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "rows.hpp"

namespace bench {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<float> numbers(std::uint32_t seed, std::int64_t n, float scale) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::uint32_t i = 0; i < v.size(); ++i) {
    std::uint32_t h = i * 0x9E3779B1u + seed * 0x85EBCA77u;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h ^= h >> 13;
    v[i] = (float(h >> 8) * 0x1p-23f - 1) * scale;
  }
  return v;
}
Array filled(std::uint32_t seed, const fx::Dims& shape, float scale, fx::DType dtype) {
  return fx::convert(Array(numbers(seed, fx::numel(shape), scale), shape), dtype);
}

namespace {

constexpr double sample_seconds = 5e-3, round_seconds = 0.3;

double timed(const Work& w, long calls) {
  const double start = seconds();
  w.repeat(calls);
  return seconds() - start;
}

// So many calls that a sample is longer than what the clock and the scheduler blur.
long calls_for(const Work& w) {
  long n = 1;
  if (w.single) return n;
  for (double t = timed(w, n); t < sample_seconds && n < 1L << 30; t = timed(w, n))
    n = t < sample_seconds / 100 ? 10 * n : long(double(n) * 1.2 * sample_seconds / t) + 1;
  return n;
}

// The sums and five elements tell arrays apart; a sum of rounded values is compared by the size of its terms.
void put_values(std::ostream& out, const Array& a) {
  const std::vector<double> v = fx::convert(a, fx::f64).to_vector<double>();
  double sum = 0, size = 0;
  for (double x : v) sum += x, size += std::abs(x);
  out << v.size() << ' ' << sum << ' ' << size;
  for (std::size_t k = 0; k < 5 && !v.empty(); ++k) out << ' ' << v[k * (v.size() - 1) / 4];
}

class Server {
  Rows rows_;
  std::string name_;
  Work work_;
  long calls_ = 0;

  const Work& work(const std::string& name) {
    if (name == name_) return work_;
    const auto found = rows_.find(name);
    if (found == rows_.end()) throw std::runtime_error("no row " + name);
    work_ = {};
    work_ = found->second();
    name_ = name;
    calls_ = 0;
    return work_;
  }
  double run(const std::string& name, int samples) {
    const Work& w = work(name);
    if (calls_ == 0) calls_ = calls_for(w);
    std::vector<double> t;
    const double start = seconds();
    do t.push_back(timed(w, calls_) / double(calls_));
    while (int(t.size()) < samples && seconds() - start < round_seconds);
    std::nth_element(t.begin(), t.begin() + std::ptrdiff_t(t.size() / 2), t.end());
    return t[t.size() / 2];
  }
  void check(std::ostream& out, const std::string& name) {
    const char* between = "";
    for (const Array& a : work(name).results()) {
      out << between;
      put_values(out, a);
      between = " ; ";
    }
  }

 public:
  Server() {
    add_kernels(rows_);
    add_compiles(rows_);
    add_blas(rows_);
  }
  std::string answer(const std::string& line) {
    std::istringstream in(line);
    std::ostringstream out;
    out.precision(12);
    std::string what, name;
    int samples = 1;
    in >> what >> name;
    if (what == "trace") {
      std::string file;
      in >> file;
      const Work& w = work(name);
      fx::profile::start(file);
      w.results();
      w.repeat(2);
      fx::profile::stop();
      return {};
    }
    in >> samples;
    if (what == "run")
      out << run(name, samples);
    else if (what == "check")
      check(out, name);
    else if (what == "kernels")
      out << (work(name).compiled ? kernel_times(work(name).compiled()) : "");
    else if (what == "ceilings")
      out << ceilings();
    else
      throw std::runtime_error("no request " + what);
    return out.str();
  }
};
}  // namespace
}  // namespace bench

int main() {
  bench::Server server;
  for (std::string line; std::getline(std::cin, line);) try {
      const std::string text = server.answer(line);
      std::cout << "ok " << text << std::endl;
    } catch (const std::exception& e) {
      std::string text = e.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::cout << "error " << text << std::endl;
    }
}
