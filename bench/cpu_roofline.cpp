// cpu_roofline.cpp -- what one core reaches, and how long each kernel of a compiled function takes by itself.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <fx/backends/tiled/executable.hpp>
#include <fx/tile/cost.hpp>
#include <fx/tile/parse.hpp>
#include <fx/tile/target.hpp>
#include <sstream>

#include "rows.hpp"

namespace bench {
namespace {
namespace tile = fx::tile;

// ---- ceilings

constexpr int chains = 12;  // hide the latency of two units, and fit into 16 registers

// tile/measure.hpp knows f32; the same for f64: chains of multiply-adds that do not wait for each other.
template <class V>
[[gnu::always_inline]] inline double multiply_adds(long rounds) {
  V a[chains], x = V{} + 0.999, y = V{} + 0.001;
  for (int i = 0; i < chains; ++i) a[i] = V{} + double(i);
  for (long r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) a[i] = a[i] * x + y;
  double sum = 0;
  for (int i = 0; i < chains; ++i) sum += a[i][0];
  volatile double keep = sum;
  (void)keep;
  return double(rounds) * chains * double(sizeof(V) / sizeof(double)) * 2;
}
template <int bytes>
struct Vector {
  typedef double type __attribute__((vector_size(bytes)));
};
double f64_portable(long rounds) { return multiply_adds<Vector<16>::type>(rounds); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] double f64_avx2(long rounds) { return multiply_adds<Vector<32>::type>(rounds); }
[[gnu::target("avx2,fma,avx512f,avx512vl,avx512dq")]] double f64_avx512(long rounds) {
  return multiply_adds<Vector<64>::type>(rounds);
}
#endif

// The best of a few: what else runs on the machine only takes away.
template <class F>
double best_rate(F work) {
  double best = 0;
  for (int i = 0; i < 9; ++i) {
    const double start = seconds(), done = work();
    best = std::max(best, done / (seconds() - start));
  }
  return best;
}

double f64_peak() {
  double (*run)(long) = f64_portable;
#if defined(__x86_64__)
  if (tile::host().isa == "avx2") run = f64_avx2;
  if (tile::host().isa == "avx512") run = f64_avx512;
#endif
  return best_rate([&] { return run(200'000); });
}

// Bytes read and written by copies within a working set.
double copy_rate(std::int64_t working_set) {
  const std::size_t n = std::size_t(working_set / 2);
  std::vector<char> from(n, 1), to(n, 2);
  const long repeats = std::max(1L, (32L << 20) / working_set);
  return best_rate([&] {
    for (long i = 0; i < repeats; ++i) {
      std::memcpy(to.data(), from.data(), n);
      __asm__ volatile("" : : "r"(to.data()) : "memory");
    }
    return 2 * double(n) * double(repeats);
  });
}

// Bytes of a cache by its number in Linux's list (0: L1 of data, 3: L3), or 0. The C library's number for L3 can be
// that of all sockets.
std::int64_t cache_bytes(int index) {
  std::ifstream f("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  std::int64_t n = 0;
  char unit = 0;
  if (!(f >> n)) return 0;
  f >> unit;
  return unit == 'M' ? n << 20 : unit == 'K' ? n << 10 : n;
}

// ---- kernels

// A program of kernel k alone: what it reads are inputs, what it writes outputs.
fx::Ref<const tile::Program> alone(const tile::Kernel& k, const tile::Program& p) {
  auto* r = new tile::Program;
  fx::Ref<const tile::Program> owner(r);
  r->target = p.target;
  tile::Kernel own = k;
  auto add = [&](tile::Access& a, tile::BufferDecl::Place place, fx::Vec<int>& list) {
    tile::BufferDecl d = p.buffers[a.buffer];
    d.place = place;
    d.at = list.size();
    a.buffer = r->buffers.size();
    list.push_back(a.buffer);
    r->buffers.push_back(d);
  };
  for (tile::Access& a : own.in) add(a, tile::BufferDecl::input, r->ins);
  for (tile::Access& a : own.out) add(a, tile::BufferDecl::output, r->outs);
  r->kernels.push_back(std::move(own));
  return owner;
}

// Memory for one buffer: small numbers where they are floating, zeros (valid positions) where not.
fx::Ref<fx::Storage> memory_for(const fx::Type& t) {
  const std::int64_t n = fx::numel(t);
  fx::Ref<fx::Storage> s = fx::allocate(std::max<std::int64_t>(1, n * fx::size_of(t.dtype)));
  std::memset(s->data, 0, std::size_t(s->bytes));
  if (t.dtype != fx::f32 && t.dtype != fx::f64) return s;
  const std::vector<float> v = numbers(50, n, 1);
  if (t.dtype == fx::f32)
    std::copy(v.begin(), v.end(), static_cast<float*>(s->data));
  else
    std::copy(v.begin(), v.end(), static_cast<double*>(s->data));
  return s;
}

double median_seconds(const std::function<void()>& call) {
  std::vector<double> t;
  const double start = seconds();
  do {
    const double from = seconds();
    call();
    t.push_back(seconds() - from);
  } while (t.size() < 5 || (seconds() - start < 0.05 && t.size() < 10000));
  std::nth_element(t.begin(), t.begin() + std::ptrdiff_t(t.size() / 2), t.end());
  return t[t.size() / 2];
}

struct Measured {
  tile::Estimate cost;
  double working_set = 0, seconds = 0;
};
Measured measure(const fx::Ref<const tile::Program>& p) {
  Measured m;
  m.cost = tile::estimate(p->kernels[0], *p, tile::host());
  std::vector<fx::Ref<fx::Storage>> held;
  fx::Vec<fx::Buffer> in, out;
  for (const tile::BufferDecl& d : p->buffers) {
    held.push_back(memory_for(d.type));
    const fx::Buffer b{held.back()->data, held.back()->bytes};
    (d.place == tile::BufferDecl::input ? in : out).push_back(b);
    m.working_set += double(b.bytes);
  }
  const fx::tiled::TiledExecutable e({}, p);
  const fx::Ref<fx::Storage> work = fx::allocate(e.workspace() + 1);
  m.seconds = median_seconds([&] { e.run(in, out, work->data); });
  return m;
}
}  // namespace

std::string ceilings() {
  const fx::Target& host = tile::measured_host();
  std::ostringstream s;
  s << "f32 " << host.flops_f32 << " f64 " << f64_peak() << " memory " << host.bandwidth;
  const std::int64_t l1 = cache_bytes(0), l2 = host.on_chip, l3 = cache_bytes(3);
  if (l1 > 0) s << " L1 " << copy_rate(l1 / 2) << " L1_bytes " << l1;
  s << " L2 " << copy_rate(l2 / 2) << " L2_bytes " << l2;
  if (l3 > l2) s << " L3 " << copy_rate(std::max(2 * l2, l3 / 4)) << " L3_bytes " << l3;
  return s.str();
}

std::string kernel_times(const fx::Compiled& c) {
  const fx::Ref<const tile::Program> p = tile::parse_program(c.text("tile"));
  std::ostringstream s;
  for (const tile::Kernel& k : p->kernels) {
    const Measured m = measure(alone(k, *p));
    s << (s.tellp() > 0 ? " ; " : "") << tile::name(k.kind) << ' ' << fx::name(p->buffers[k.out[0].buffer].type.dtype)
      << ' ' << m.cost.flops << ' ' << m.cost.bytes << ' ' << m.working_set << ' ' << m.seconds;
  }
  return s.str();
}

}  // namespace bench
