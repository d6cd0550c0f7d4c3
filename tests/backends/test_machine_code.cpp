// Machine code against the portable tier, bit for bit: many values alive, many ports, all small shapes, memory that
// ends where the operands do; and the memory that the code itself lies in.
#include <fstream>
#include <fx/backends/tiled/backend.hpp>
#include <fx/ops/all.hpp>
#include <memory>
#include <string>

#include "test_kernels.hpp"
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace fx;
using namespace kernel_test;
using tiled::Level;
using tiled::VectorInput;
using tiled::VectorOutput;
using tiled::VectorProgram;
using tiled::code::Column;

namespace {

constexpr Level levels[] = {Level::baseline, Level::avx2, Level::avx512};

// Elements right before a page that may not be touched (`front`: right after one).
class Guarded {
 public:
  char* data = nullptr;
  Guarded(std::int64_t bytes, bool front) {
#if defined(__linux__)
    const std::int64_t page = 4096, body = (bytes + page - 1) / page * page;
    size_ = body + 2 * page;
    void* p = mmap(nullptr, std::size_t(size_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    all_ = static_cast<char*>(p);
    if (body) REQUIRE(mprotect(all_ + page, std::size_t(body), PROT_READ | PROT_WRITE) == 0);
    data = all_ + page + (front ? 0 : body - bytes);
#else
    (void)front;
    all_ = data = new char[std::size_t(bytes)];
#endif
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() {
#if defined(__linux__)
    munmap(all_, std::size_t(size_));
#else
    delete[] all_;
#endif
  }

 private:
  char* all_ = nullptr;
  std::int64_t size_ = 0;
};

struct Body {
  Recorder r;
  std::vector<int> in, out;
  std::vector<Column> columns;
  bool index = false;

  int input(DType d, Column c = Column::each) {
    Instr i{Instr::input, d};
    in.push_back(r.push(i, d));
    columns.push_back(c);
    return in.back();
  }
  int op(Instr::Op o, DType type, DType to, int a, int b = -1, int c = -1) {
    Instr i{o, type};
    i.a = a, i.b = b, i.c = c;
    return r.push(i, to);
  }
  int op(Instr::Op o, DType type, int a, int b = -1, int c = -1) { return op(o, type, type, a, b, c); }
  int position(DType d, int dim) {
    index = true;
    return op(Instr::index, d, d, dim);
  }
};

// The program on each tier that this machine has; with code on all but the first.
struct Tiers {
  std::vector<VectorProgram> programs;
  std::vector<std::unique_ptr<Scratch>> scratch;
  explicit Tiers(const Body& b, int block = VectorProgram::max_block) {
    for (Level l : levels) {
      tiled::cap_level(l);
      if (tiled::level() != l) continue;
      programs.push_back(VectorProgram::make(b.r, Span<const int>(b.in.data(), int(b.in.size())),
                                             Span<const int>(b.out.data(), int(b.out.size())),
                                             Span<const Column>(b.columns.data(), int(b.columns.size()))));
      CHECK(programs.back().machine_code().empty() == (l == Level::baseline || !tiled::code::executable_memory()));
    }
    tiled::cap_level(Level::avx512);
    for (const VectorProgram& p : programs) {
      scratch.push_back(std::make_unique<Scratch>(p.scratch_bytes(block)));
      p.prepare(scratch.back()->p, block);
    }
  }
};

// How a block lies in memory.
struct Shape {
  int rows = 1, cols = 1;
  int gap = 0;              // between the rows of every port
  bool backward = false;    // rows of the inputs lie in descending order
  bool front = false;       // Guarded
  bool still_rows = false;  // row stride 0 of inputs with one column
};

// All tiers on the same values; the first tier is the truth.
void compare(const Body& b, const Tiers& t, const Shape& s, std::uint64_t seed) {
  std::vector<std::vector<char>> want;
  static const std::int64_t sizes[] = {3, 5, 7, 11};
  for (std::size_t tier = 0; tier < t.programs.size(); ++tier) {
    const VectorProgram& p = t.programs[tier];
    Random r(seed);
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<VectorInput> in;
    std::vector<VectorOutput> out;
    std::vector<std::int64_t> spans;
    for (int k = 0; k < p.inputs(); ++k) {
      const DType d = p.input_dtype(k);
      const bool one = b.columns[std::size_t(k)] == Column::one;
      const std::int64_t width = one ? 1 : s.cols, row = one && s.still_rows ? 0 : width + s.gap,
                         span = (s.rows - 1) * row + width, size = size_of(d);
      memory.push_back(std::make_unique<Guarded>(span * size, s.front));
      char* data = memory.back()->data;
      for (std::int64_t e = 0; e < span; ++e) {
        const std::uint64_t v = awkward(r, d);
        std::memcpy(data + e * size, &v, std::size_t(size));
      }
      if (s.backward) data += (s.rows - 1) * row * size;
      in.push_back({data, s.backward ? -row : row, one ? 0 : 1});
    }
    for (int j = 0; j < p.outputs(); ++j) {
      const std::int64_t row = s.cols + s.gap, span = (s.rows - 1) * row + s.cols, size = size_of(p.output_dtype(j));
      memory.push_back(std::make_unique<Guarded>(span * size, s.front));
      std::memset(memory.back()->data, 0x5a, std::size_t(span * size));
      out.push_back({memory.back()->data, row});
      spans.push_back(span);
    }
    p.run(t.scratch[tier]->p, in.data(), out.data(), s.rows, s.cols, {sizes, 4, 13, s.cols + 2});
    for (int j = 0; j < p.outputs(); ++j) {
      const DType d = p.output_dtype(j);
      const std::int64_t bytes = spans[std::size_t(j)] * size_of(d);
      const auto* got = static_cast<const char*>(out[std::size_t(j)].data);
      if (tier == 0) {
        want.emplace_back(got, got + bytes);
        continue;
      }
      if (std::memcmp(got, want[std::size_t(j)].data(), std::size_t(bytes)) == 0) continue;
      for (std::int64_t e = 0; e < spans[std::size_t(j)]; ++e) {
        std::uint64_t x = 0, y = 0;
        std::memcpy(&x, want[std::size_t(j)].data() + e * size_of(d), std::size_t(size_of(d)));
        std::memcpy(&y, got + e * size_of(d), std::size_t(size_of(d)));
        if (same(d, x, y)) continue;
        FAIL_CHECK("tier " << tier << ", output " << j << " (" << name(d) << ") of " << s.rows << " x " << s.cols
                           << " differs at " << e << ": " << y << ", not " << x);
        return;
      }
    }
  }
}
void compare_lengths(const Body& b, std::uint64_t seed) {
  const Tiers t(b);
  for (int n : {1, 3, 8, 37, 64, 101}) {
    CAPTURE(n);
    compare(b, t, {1, n}, seed + std::uint64_t(n));
  }
  compare(b, t, {4, 19, 2}, seed);
}

bool compares(Instr::Op op) { return op >= Instr::lt && op <= Instr::ne; }
// Which dtypes an instruction has. No bits of a NaN may be seen as an integer: two NaNs are one value.
bool exists(Instr::Op op, DType d, DType to) {
  const bool real = is_float(d), flag = d == boolean;
  if (op == Instr::convert) return true;
  if (op == Instr::bitcast) return size_of(d) == size_of(to) && !real && !flag && to != boolean;
  if (to != (compares(op) ? boolean : d)) return false;
  switch (op) {
    case Instr::add:
    case Instr::sub:
    case Instr::mul:
    case Instr::neg:
    case Instr::abs: return !flag;
    case Instr::div:
    case Instr::fma:
    case Instr::sqrt:
    case Instr::rint:
    case Instr::floor: return real;
    case Instr::idiv: return !real && !flag;
    case Instr::irem: return !flag;
    case Instr::bit_and:
    case Instr::bit_or:
    case Instr::bit_xor:
    case Instr::bit_not: return !real;
    case Instr::shl:
    case Instr::shr: return !real && !flag;
    case Instr::select: return true;
    default: return compares(op);
  }
}
int arity(Instr::Op op) {
  if (op == Instr::fma || op == Instr::select) return 3;
  return op == Instr::neg || op == Instr::sqrt || op == Instr::rint || op == Instr::floor || op == Instr::abs ||
                 op == Instr::bit_not || op == Instr::bitcast || op == Instr::convert
             ? 1
             : 2;
}

constexpr double doubles[] = {1.5, -2, 3, 0.25, 1e300};
constexpr std::int32_t ints[] = {7, -9, 1 << 30};
constexpr float floats_[] = {4.5f};
constexpr std::uint64_t longs[] = {1, ~0ull, 3, 4, 5, 6, 7, 8, 9};

// Random instructions on random operands.
struct Maker {
  Body b;
  Random r;
  std::vector<int> of[dtype_count];
  std::vector<DType> used;

  Maker(std::uint64_t seed, std::vector<DType> d) : r(seed), used(std::move(d)) {}
  void keep(int reg) { of[int(b.r.regs[reg])].push_back(reg); }
  DType any() { return used[std::size_t(r.below(int(used.size())))]; }
  int pick(DType d) {
    auto& list = of[int(d)];
    if (list.empty()) list.push_back(b.r.constant(d, awkward(r, d)));
    return list[std::size_t(r.below(int(list.size())))];
  }
  void inputs(int n, bool uniform) {
    for (int k = 0; k < n; ++k)
      keep(b.input(used[std::size_t(k) % used.size()], uniform && r.below(3) == 0 ? Column::one : Column::each));
  }
  void constants(int n) {
    for (int k = 0; k < n; ++k) {
      const DType d = any();
      keep(b.r.constant(d, awkward(r, d)));
    }
  }
  void step(Instr::Op op, DType d, DType to) {
    int operand[3] = {-1, -1, -1};
    for (int k = 0; k < arity(op); ++k) operand[k] = pick(op == Instr::select && k == 0 ? boolean : d);
    keep(b.op(op, d, to, operand[0], operand[1], operand[2]));
  }
  void lookup() {
    static const DType index_dtypes[] = {i32, u32, i64, u64};
    const DType d = index_dtypes[r.below(4)];
    Instr i{Instr::lookup, d};
    i.a = pick(d);
    auto put = [&](auto& table, DType to) {
      i.b = int(std::size(table)), i.imm = reinterpret_cast<std::uint64_t>(table);
      keep(b.r.push(i, to));
    };
    switch (r.below(4)) {
      case 0: return put(doubles, f64);
      case 1: return put(ints, i32);
      case 2: return put(floats_, f32);
      default: return put(longs, u64);
    }
  }
  // `called`: many of the operations that are calls.
  void steps(int n, bool called) {
    while (n > 0) {
      Instr::Op op = Instr::Op(Instr::add + r.below(Instr::convert - Instr::add + 1));
      if (called && r.below(3) == 0) {
        static const Instr::Op calls[] = {Instr::idiv, Instr::irem, Instr::convert, Instr::shr};
        op = calls[r.below(4)];
      }
      const bool free = op == Instr::convert || op == Instr::bitcast;
      const DType d = any(), to = free ? any() : compares(op) ? boolean : d;
      if (!exists(op, d, to)) continue;
      step(op, d, to);
      --n;
    }
  }
  // Everything that there is goes into three results, the oldest last: all of it is alive at once.
  void join() {
    int sum[3] = {b.r.constant(boolean, 0), b.r.constant(u32, 1), b.r.constant(u64, 2)};
    for (int reg = b.r.regs.size() - 1; reg >= 0; --reg) {
      const DType d = b.r.regs[reg];
      int v = reg;
      if (is_float(d)) v = b.op(Instr::select, d, b.op(Instr::eq, d, boolean, v, v), v, b.r.constant(d, 0));
      const int which = d == boolean ? 0 : size_of(d) == 4 ? 1 : 2;
      const DType bits = which == 0 ? boolean : which == 1 ? u32 : u64;
      if (d != bits) v = b.op(Instr::bitcast, d, bits, v);
      if (which) sum[which] = b.op(Instr::mul, bits, sum[which], b.r.constant(bits, 3));
      sum[which] = b.op(Instr::bit_xor, bits, sum[which], v);
    }
    for (int s : sum) b.out.push_back(s);
  }
  void outputs(int n) {
    for (int k = 0; k < n; ++k) b.out.push_back(r.below(b.r.regs.size()));
  }
};

const std::vector<DType> all = {boolean, i32, i64, u32, u64, f32, f64};

}  // namespace

TEST_CASE("many values alive at once") {
  const std::vector<DType> sets[] = {all, {f32}, {f64}, {f32, i32, boolean}, {i64, u64}, {u32, boolean}};
  for (int seed = 0; seed < 60; ++seed) {
    Maker m(std::uint64_t(seed) + 1, sets[seed % 6]);
    m.inputs(6, seed % 2);
    m.constants(5);
    m.steps(60 + 70 * (seed % 3), seed % 4 == 3);
    m.join();
    m.outputs(2);
    CAPTURE(seed);
    compare_lengths(m.b, std::uint64_t(seed));
  }
}

TEST_CASE("many ports") {
  for (int seed = 0; seed < 20; ++seed) {
    Maker m(std::uint64_t(seed) + 500, all);
    m.inputs(20, seed % 2);
    m.steps(40, seed % 3 == 2);
    m.join();
    m.outputs(7);
    CAPTURE(seed);
    compare_lengths(m.b, std::uint64_t(seed));
  }
}

TEST_CASE("many bools alive at once") {
  for (int seed = 0; seed < 24; ++seed) {
    Maker m(std::uint64_t(seed) + 900,
            seed % 2 ? std::vector<DType>{boolean} : std::vector<DType>{boolean, seed % 4 ? f64 : f32});
    m.inputs(12, seed % 3 == 1);
    for (int k = 0; k < 25; ++k) {
      static const Instr::Op ops[] = {Instr::bit_and, Instr::bit_or, Instr::bit_xor, Instr::bit_not, Instr::lt,
                                      Instr::le,      Instr::eq,     Instr::ne,      Instr::select};
      const Instr::Op op = ops[m.r.below(9)];
      m.step(op, boolean, boolean);
    }
    m.steps(25, false);
    m.join();
    m.outputs(3);
    CAPTURE(seed);
    compare_lengths(m.b, std::uint64_t(seed));
  }
}

TEST_CASE("calls with much alive across them") {
  for (int seed = 0; seed < 24; ++seed) {
    const std::vector<DType> sets[] = {all, {f32, i32, boolean}, {f64, i64, boolean}, {f32, i64, u32}};
    Maker m(std::uint64_t(seed) + 1300, sets[seed % 4]);
    m.inputs(12, seed % 2);
    m.constants(3);
    m.steps(40, true);
    m.join();
    m.outputs(2);
    CAPTURE(seed);
    compare_lengths(m.b, std::uint64_t(seed));
  }
}

TEST_CASE("every small shape, one element a row of every dtype") {
  // Each dtype once along the columns and once standing still; results of three kinds of width.
  Body mixed, narrow, calls;
  auto fill = [](Body& b, std::vector<DType> dtypes_) {
    for (DType d : dtypes_) {
      const int still = b.input(d, Column::one), each = b.input(d);
      if (d == boolean) {
        b.out.push_back(b.op(Instr::bit_xor, d, still, each));
        b.out.push_back(b.op(Instr::lt, d, boolean, still, each));
      } else {
        b.out.push_back(b.op(Instr::sub, d, still, each));
        b.out.push_back(b.op(Instr::select, d, b.op(Instr::le, d, boolean, each, still), each, still));
      }
    }
  };
  fill(mixed, all);
  fill(narrow, {boolean, i32, f32});
  fill(calls, {boolean, i32, f32});
  calls.out.push_back(calls.op(Instr::irem, f32, calls.in[5], calls.in[4]));
  calls.out.push_back(calls.op(Instr::idiv, i32, calls.in[2], calls.in[3]));
  for (const Body* b : {&mixed, &narrow, &calls}) {
    const Tiers t(*b);
    for (int rows = 1; rows <= 5; ++rows)
      for (int cols = 0; cols <= 70; ++cols) {
        const int k = rows + cols;
        if (cols == 0) {
          for (std::size_t i = 0; i < t.programs.size(); ++i)
            t.programs[i].run(t.scratch[i]->p, nullptr, nullptr, rows, 0);
          continue;
        }
        compare(*b, t, {rows, cols, 0, false, k % 2 == 0, k % 3 == 0}, std::uint64_t(k));
        compare(*b, t, {rows, cols, 1 + k % 9, k % 4 == 1, k % 2 == 1, false}, std::uint64_t(k));
        compare(*b, t, {rows, cols, k % 3, true, k % 2 == 1, k % 5 == 0}, std::uint64_t(k));
      }
  }
}

template <class T>
std::uint64_t scaled_by(std::uint64_t a, std::uint64_t n) {
  using namespace fx::detail;
  return to_bits(std::ldexp(from_bits<T>(a), int(from_bits<T>(n))));
}
TEST_CASE("scaling by powers of two: every exponent, results that are subnormal, 0 or infinite") {
  for (DType d : {f32, f64}) {
    const DType bits = d == f32 ? u32 : u64;
    const std::uint64_t mant = d == f32 ? 23 : 52, bias = d == f32 ? 127 : 1023, one = bias << mant;
    const std::uint64_t keep = (std::uint64_t(1) << mant) - 1 + (std::uint64_t(1) << (mant + (d == f32 ? 8 : 11)));
    Body b;
    auto constant = [&](DType t, std::uint64_t v) { return b.r.constant(t, v); };
    auto number = [&](int v) { return d == f32 ? fx::detail::to_bits(float(v)) : fx::detail::to_bits(double(v)); };
    const int x = b.input(bits), y = b.input(bits), is_number = b.input(boolean);
    const int field =
        b.op(Instr::bit_or, bits, b.op(Instr::bit_and, bits, x, constant(bits, keep)), constant(bits, one));
    const int a = b.op(Instr::bitcast, bits, d, field);  // 1 <= |a| < 2
    const int whole = b.op(Instr::bit_and, bits, y, constant(bits, 4 * bias + 3));
    const int power = b.op(Instr::sub, d, b.op(Instr::convert, bits, d, whole), constant(d, number(int(2 * bias) - 1)));
    const int last = constant(d, number(int(2 * bias) - 1));
    const int within = b.op(Instr::select, d, b.op(Instr::lt, d, boolean, last, power), last, power);
    const int nan = constant(d, fx::detail::to_bits(0.0) | (d == f32 ? 0x7fc00000 : 0x7ff8000000000000));
    const int scaled = b.op(Instr::scale, d, a, within);
    b.out = {scaled, b.op(Instr::scale, d, b.op(Instr::select, d, is_number, a, nan), within),
             b.op(Instr::scale, d, constant(d, one), within), a, within};
    CAPTURE(name(d));
    compare_lengths(b, 9);
    // Against the C library.
    const Tiers t(b);
    constexpr int n = VectorProgram::max_block;
    for (std::size_t tier = 0; tier < t.programs.size(); ++tier)
      for (int first = 0; first < 4096; first += n) {
        Array in[] = {Array(bits, n), Array(bits, n), Array(boolean, n)};
        std::vector<Array> out;
        for (int reg : b.out) out.emplace_back(b.r.regs[reg], n);
        Random r{std::uint64_t(first)};
        for (int k = 0; k < n; ++k) in[0].set(k, r.next()), in[1].set(k, std::uint64_t(first + k)), in[2].set(k, 1);
        const void* from[] = {in[0].data(), in[1].data(), in[2].data()};
        void* to[] = {out[0].data(), out[1].data(), out[2].data(), out[3].data(), out[4].data()};
        t.programs[tier].run(t.scratch[tier]->p, from, to, n);
        int wrong = 0;
        for (int k = 0; k < n; ++k)
          wrong += out[0][k] !=
                   (d == f32 ? scaled_by<float>(out[3][k], out[4][k]) : scaled_by<double>(out[3][k], out[4][k]));
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("results are inputs, constants, and one value several times") {
  for (DType d : all) {
    Body b;
    const int x = b.input(d), still = b.input(d, Column::one), c = b.r.constant(d, 1), y = b.input(boolean);
    const int v = b.op(d == boolean ? Instr::bit_xor : Instr::add, d, x, still);
    const int yes = b.r.constant(boolean, 1), no = b.r.constant(boolean, 0);
    b.out = {x, still, c, v, v, x, c, yes, no, y, still, v};
    CAPTURE(name(d));
    compare_lengths(b, 3);
    Body only;  // no instruction at all
    const int in = only.input(d), one = only.input(d, Column::one);
    only.out = {in, one, in, only.r.constant(d, 0)};
    compare_lengths(only, 4);
    Body constants;
    constants.out = {constants.r.constant(d, 1), constants.r.constant(boolean, 1)};
    compare_lengths(constants, 5);
  }
}

TEST_CASE("conversions between all dtypes, to the same one too") {
  for (DType from : all) {
    Body b;
    const int x = b.input(from), still = b.input(from, Column::one);
    for (DType to : all) {
      b.out.push_back(b.op(Instr::convert, from, to, x));
      b.out.push_back(b.op(Instr::convert, from, to, still));
    }
    CAPTURE(name(from));
    for (std::uint64_t seed = 0; seed < 5; ++seed) compare_lengths(b, 10 * seed);
    for (DType to : all) {  // one by one: the number of lanes depends on the dtypes
      Body c;
      const int y = c.input(from);
      c.out = {c.op(Instr::convert, from, to, y)};
      compare_lengths(c, 8);
    }
  }
}

TEST_CASE("a comparison and a choice of its operands, alone and with other readers") {
  for (DType d : {f32, f64, i32})
    for (bool swapped : {false, true})
      for (bool read_twice : {false, true}) {
        Body b;
        const int x = b.input(d), y = b.input(d), test = b.op(Instr::lt, d, boolean, x, y);
        b.out.push_back(b.op(Instr::select, d, test, swapped ? y : x, swapped ? x : y));
        if (read_twice) b.out.push_back(test);
        compare_lengths(b, 5);
      }
}

TEST_CASE("shifts by constants: counts below the width, the width, beyond it and negative ones, read elsewhere too") {
  for (DType d : {i32, i64, u32, u64})
    for (int count : {0, 1, 23, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 30, -1, -64})
      for (bool read_twice : {false, true}) {
        Body b;
        const int x = b.input(d), bits = b.r.constant(d, size_of(d) == 4 ? std::uint32_t(count) : std::uint64_t(count));
        const int n = count == 31 ? b.op(Instr::bitcast, d, size_of(d) == 4 ? u32 : u64, bits) : bits;
        b.out = {b.op(Instr::shl, d, x, n), b.op(Instr::shr, d, x, n), b.op(Instr::shl, d, n, x)};
        if (read_twice) b.out.push_back(n);
        CAPTURE(name(d));
        CAPTURE(count);
        compare_lengths(b, 5);
      }
}

TEST_CASE("results on operands") {
  // out[k] = in[k] op in[k + 1], on in[k]; and the inputs exchanged.
  for (DType d : {f32, i64, boolean})
    for (int n : {1, 7, 16, 33, 100, 1000}) {
      Body b;
      for (int k = 0; k < 12; ++k) b.input(d);
      for (int k = 0; k < 10; ++k)
        b.out.push_back(
            b.op(d == boolean ? Instr::bit_and : Instr::mul, d, b.in[std::size_t(k)], b.in[std::size_t(k + 1)]));
      b.out.push_back(b.in[11]), b.out.push_back(b.in[10]);
      const Tiers t(b);
      std::vector<Array> want;
      for (std::size_t tier = 0; tier < t.programs.size(); ++tier) {
        Random r{std::uint64_t(n)};
        std::vector<Array> x;
        std::vector<const void*> in;
        std::vector<void*> out;
        for (int k = 0; k < 12; ++k) x.emplace_back(d, n, r);
        for (Array& a : x) in.push_back(a.data()), out.push_back(a.data());
        t.programs[tier].run(t.scratch[tier]->p, in.data(), out.data(), n);
        if (tier == 0) want = x;
        for (std::size_t k = 0; k < 12; ++k) CHECK(difference(x[k], want[k]) == -1);
      }
    }
}

TEST_CASE("positions and tables of all dtypes") {
  for (int seed = 0; seed < 24; ++seed) {
    Maker m(std::uint64_t(seed) + 3000, all);
    m.inputs(5, seed % 2);
    if (seed % 3)
      for (DType d : {i32, i64, u32, u64, f32, f64}) m.keep(m.b.position(d, seed % 4));
    for (int k = 0; k < 12; ++k) m.lookup();
    m.steps(15, seed % 4 == 0);
    for (int k = 0; k < 12; ++k) m.lookup();
    m.join();
    m.outputs(4);
    CAPTURE(seed);
    compare_lengths(m.b, std::uint64_t(seed));
  }
}

TEST_CASE("very long blocks, and columns longer than the scratch was made for") {
  Body b;
  const int x = b.input(f32), y = b.input(i32), z = b.input(boolean), still = b.input(f32, Column::one);
  const int s = b.op(Instr::fma, f32, x, b.op(Instr::convert, i32, f32, y), still);
  b.out = {b.op(Instr::select, f32, z, s, x), b.op(Instr::lt, f32, boolean, s, x)};
  const Tiers small(b, 256);
  const Tiers large(b, 1 << 20);
  for (std::size_t tier = 1; tier < small.programs.size(); ++tier) {
    const VectorProgram &p = small.programs[tier], &portable = large.programs[0];
    CHECK(p.any_length());
    if (!p.any_length()) continue;
    for (int row : {0, 1, 3})  // 0: a row; else a column whose elements are so far apart
      for (int n : {(1 << 20), 5000, 257}) {
        if (row > 1 && n > 5000) continue;
        Random r(7);
        const std::int64_t step = row ? row : 1;
        Array a(f32, n * step, r), c(i32, n * step, r), d(boolean, n * step, r), e(f32, 1, r);
        Array out[2][2] = {{Array(f32, n * step), Array(boolean, n * step)},
                           {Array(f32, n * step), Array(boolean, n * step)}};
        for (int which : {0, 1}) {
          const VectorInput in[] = {{a.data(), step, 1}, {c.data(), step, 1}, {d.data(), step, 1}, {e.data(), 0, 0}};
          const VectorOutput to[] = {{out[which][0].data(), step}, {out[which][1].data(), step}};
          (which ? p : portable)
              .run((which ? small.scratch[tier] : large.scratch[0])->p, in, to, row ? n : 1, row ? 1 : n);
        }
        CAPTURE(row);
        CAPTURE(n);
        CHECK(difference(out[0][0], out[1][0]) == -1);
        CHECK(difference(out[0][1], out[1][1]) == -1);
      }
  }
}

namespace {
VectorProgram small_program(int k) {
  Body b;
  const int x = b.input(k % 2 ? f32 : f64);
  const DType d = k % 2 ? f32 : f64;
  int v = x;
  for (int i = 0; i <= k % 17; ++i) v = b.op(Instr::add, d, v, b.r.constant(d, fx::detail::to_bits(float(i))));
  b.out = {v};
  return VectorProgram::make(b.r, Span<const int>(b.in.data(), 1), Span<const int>(b.out.data(), 1));
}
#if defined(__linux__)
struct Maps {
  int code_writable = 0, code_executable = 0, both = 0;
  long resident = 0;  // of the code's memory, in KiB
};
Maps read_maps() {
  Maps m;
  std::ifstream file("/proc/self/smaps");
  bool code = false;
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    if (space != line.npos && line.find('-') < space && line.find(':') > space) {
      const std::string rights = line.substr(space + 1, 4);
      const bool w = rights[1] == 'w', x = rights[2] == 'x';
      code = line.find("fx code") != line.npos;
      m.both += w && x;
      m.code_writable += code && w;
      m.code_executable += code && x;
    } else if (code && line.compare(0, 4, "Rss:") == 0) {
      m.resident += std::stol(line.substr(4));
    }
  }
  return m;
}
#endif
// What the program makes of five twos.
std::vector<std::uint64_t> results(const VectorProgram& p) {
  Scratch s(p.scratch_bytes());
  p.prepare(s.p);
  const DType d = p.input_dtype(0);
  Array x(d, 5), y(d, 5);
  for (int e = 0; e < 5; ++e) x.set(e, d == f32 ? fx::detail::to_bits(2.0f) : fx::detail::to_bits(2.0));
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  p.run(s.p, in, out, 5);
  std::vector<std::uint64_t> r;
  for (int e = 0; e < 5; ++e) r.push_back(y[e]);
  return r;
}
}  // namespace

TEST_CASE("executable memory: never writable, used again") {
  if (!tiled::code::executable_memory()) {
    MESSAGE("skipped: no executable memory here");
    return;
  }
  std::vector<VectorProgram> kept;
  for (int k = 0; k < 60; ++k) kept.push_back(small_program(k));
#if defined(__linux__)
  const Maps before = read_maps();
  CHECK(before.both == 0);
  CHECK(before.code_writable == 1);
  CHECK(before.code_executable == 1);
#endif
  Random r(1);
  for (int k = 0; k < 10000; ++k) kept[std::size_t(r.below(60))] = small_program(k);
#if defined(__linux__)
  const Maps after = read_maps();
  CHECK(after.both == 0);
  MESSAGE("KiB of code before and after: " << before.resident << ", " << after.resident);
  CHECK(after.resident <= 2 * before.resident + 64);
#endif
  for (const VectorProgram& p : kept) {  // what is there still runs
    const auto y = results(p);
    CHECK(y[0] == y[4]);
  }
}

#if defined(__linux__)
TEST_CASE("after a fork parent and child make and drop code of their own") {
  std::vector<VectorProgram> kept;
  for (int k = 0; k < 20; ++k) kept.push_back(small_program(k));
  std::vector<std::vector<std::uint64_t>> expect;
  for (const VectorProgram& p : kept) expect.push_back(results(p));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  Random r(child ? 1 : 2);
  bool same = true;
  for (int k = 0; k < 2000; ++k) {
    const std::size_t at = std::size_t(r.below(20));
    if (at % 2) kept[at] = small_program(int(at));  // the others stay as they are
    if (k % 100 == 0)
      for (std::size_t i = 0; i < kept.size(); ++i) same = same && results(kept[i]) == expect[i];
  }
  if (!child) _exit(same ? 0 : 1);
  CHECK(same);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif

namespace {
ExecutableRef product() {
  Builder b;
  Val x = b.input({f32, {40, 30}}), y = b.input({f32, {40, 30}});
  return tiled::TiledBackend().compile(b.finish(Vec<Val>{x * y}));
}
}  // namespace

TEST_CASE("without executable memory programs are portable, and say so") {
  tiled::code::forbid_executable_memory(true);
  CHECK_FALSE(tiled::code::executable_memory());
  CHECK(small_program(3).machine_code().empty());
  const std::string without = product()->text("asm");
  tiled::code::forbid_executable_memory(false);
  const std::string with = product()->text("asm");
  const std::string note = "no executable memory here: all kernels run on the portable tier\n";
  CHECK(with.find(note) == with.npos);
  if (tiled::level() == Level::baseline) return;
  CHECK(without == note + "map: portable\n");
  if (!tiled::code::executable_memory()) return;
  CHECK(with.find("map: ") == 0);
  CHECK(with.find(" bytes\n  00000  53 55 41 54") != with.npos);  // push rbx, rbp, r12
  tiled::cap_level(Level::baseline);
  CHECK(product()->text("asm") == "map: portable\n");
  tiled::cap_level(Level::avx512);
}
