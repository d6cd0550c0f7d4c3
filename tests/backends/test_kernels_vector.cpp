// VectorProgram against Scalar<T>: every instruction on every dtype, random programs, strides, tails, positions.
#include "test_kernels.hpp"

using namespace fx;
using namespace kernel_test;
using fx::detail::from_bits;
using fx::detail::Scalar;
using fx::detail::to_bits;
using fx::detail::with_type;

namespace {

template <class T>
constexpr bool is_real = std::is_floating_point_v<T>;

// One instruction on scalars; out[]: whether it exists.
template <class T>
bool step_as(const Instr& i, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& out) {
  using S = Scalar<T>;
  constexpr bool real = is_real<T>, number = !std::is_same_v<T, bool>;
  const S x = S::c(from_bits<T>(a)), y = S::c(from_bits<T>(b)), z = S::c(from_bits<T>(c));
  auto put = [&](auto v) {
    out = to_bits(v.v);
    return true;
  };
  switch (i.op) {
    case Instr::add:
      if constexpr (number) return put(x + y);
      return false;
    case Instr::sub:
      if constexpr (number) return put(x - y);
      return false;
    case Instr::mul:
      if constexpr (number) return put(x * y);
      return false;
    case Instr::div:
      if constexpr (real) return put(x / y);
      return false;
    case Instr::neg:
      if constexpr (number) return put(-x);
      return false;
    case Instr::abs:
      if constexpr (number) return put(abs(x));
      return false;
    case Instr::fma:
      if constexpr (real) return put(fma(x, y, z));
      return false;
    case Instr::sqrt:
      if constexpr (real) return put(sqrt(x));
      return false;
    case Instr::rint:
      if constexpr (real) return put(rint(x));
      return false;
    case Instr::floor:
      if constexpr (real) return put(floor(x));
      return false;
    case Instr::idiv:
      if constexpr (number && !real) return put(idiv(x, y));
      return false;
    case Instr::irem:
      if constexpr (real)
        return put(S{std::fmod(x.v, y.v)});
      else if constexpr (number)
        return put(irem(x, y));
      return false;
    case Instr::bit_and:
      if constexpr (!real) return put(x & y);
      return false;
    case Instr::bit_or:
      if constexpr (!real) return put(x | y);
      return false;
    case Instr::bit_xor:
      if constexpr (!real) return put(x ^ y);
      return false;
    case Instr::bit_not:
      if constexpr (!real) return put(~x);
      return false;
    case Instr::shl:
      if constexpr (number && !real) return put(shl(x, y));
      return false;
    case Instr::shr:
      if constexpr (number && !real) return put(shr(x, y));
      return false;
    case Instr::lt: return put(lt(x, y));
    case Instr::le: return put(le(x, y));
    case Instr::eq: return put(eq(x, y));
    case Instr::ne: return put(ne(x, y));
    case Instr::select: return put(select(Scalar<bool>{(a & 1) != 0}, y, z));
    case Instr::bitcast: out = a; return size_of(i.type) == size_of(i.to) && number && i.to != boolean;
    case Instr::convert:
      with_type<computed>(i.to, [&]<class U>() { put(fx::detail::convert<U>(x)); });
      return i.to != i.type;
    default: return false;
  }
}
bool step(const Instr& i, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& out) {
  bool ok = false;
  with_type<computed>(i.type, [&]<class T>() { ok = step_as<T>(i, a, b, c, out); });
  return ok;
}

int arity(Instr::Op op) {
  switch (op) {
    case Instr::fma:
    case Instr::select: return 3;
    case Instr::neg:
    case Instr::sqrt:
    case Instr::rint:
    case Instr::floor:
    case Instr::abs:
    case Instr::bit_not:
    case Instr::bitcast:
    case Instr::convert: return 1;
    default: return 2;
  }
}
bool compares(Instr::Op op) { return op >= Instr::lt && op <= Instr::ne; }
DType operand_dtype(const Instr& i, int k) { return i.op == Instr::select && k == 0 ? boolean : i.type; }

struct Recorded {
  Recorder r;
  std::vector<int> in, out;
  int input(DType d) {
    Instr i{Instr::input, d};
    i.a = int(in.size());
    in.push_back(r.push(i, d));
    return in.back();
  }
  tiled::VectorProgram make() const {
    return tiled::VectorProgram::make(r, Span<const int>(in.data(), int(in.size())),
                                      Span<const int>(out.data(), int(out.size())));
  }
};

// All registers of the program for element e, by Scalar<T>.
std::vector<std::uint64_t> evaluate(const Recorded& p, const std::vector<Array>& in, std::int64_t e) {
  std::vector<std::uint64_t> v(std::size_t(p.r.regs.size()));
  auto reg = [&](int k) { return k < 0 ? 0 : v[std::size_t(k)]; };
  for (const Instr& i : p.r.code) {
    std::uint64_t& out = v[std::size_t(i.dst)];
    if (i.op == Instr::input)
      out = in[std::size_t(i.a)][e];
    else if (i.op == Instr::constant)
      out = i.imm;
    else
      REQUIRE(step(i, reg(i.a), reg(i.b), reg(i.c), out));
  }
  return v;
}

void check(const Recorded& p, int n, std::uint64_t seed) {
  Random r(seed);
  std::vector<Array> in, out, want;
  for (int reg : p.in) in.emplace_back(p.r.regs[reg], n, r);
  for (int reg : p.out) out.emplace_back(p.r.regs[reg], n), want.emplace_back(p.r.regs[reg], n);
  for (int e = 0; e < n; ++e) {
    const auto v = evaluate(p, in, e);
    for (std::size_t j = 0; j < p.out.size(); ++j) want[j].set(e, v[std::size_t(p.out[j])]);
  }
  const tiled::VectorProgram program = p.make();
  Scratch s(program.scratch_bytes());
  program.prepare(s.p);
  std::vector<const void*> from;
  std::vector<void*> to;
  for (Array& a : in) from.push_back(a.data());
  for (Array& a : out) to.push_back(a.data());
  program.run(s.p, from.data(), to.data(), n);
  for (std::size_t j = 0; j < out.size(); ++j) {
    const std::int64_t at = difference(out[j], want[j]);
    CHECK_MESSAGE(at == -1, "output ", j, " of ", n, " differs at ", at);
  }
}

}  // namespace

TEST_CASE("each instruction on each dtype equals Scalar<T>") {
  at_levels(
      [] {
        for (int op = Instr::add; op <= Instr::convert; ++op)
          for (DType d : dtypes)
            for (DType to : dtypes) {
              const bool converts = op == Instr::convert || op == Instr::bitcast;
              Instr i{Instr::Op(op), d};
              i.to = converts ? to : compares(i.op) ? boolean : d;
              std::uint64_t out = 0;
              if ((!converts && to != d) || !step(i, 1, 1, 1, out)) continue;
              Recorded p;
              int* slot[] = {&i.a, &i.b, &i.c};
              for (int k = 0; k < arity(i.op); ++k) *slot[k] = p.input(operand_dtype(i, k));
              p.out.push_back(p.r.push(i, i.to));
              CAPTURE(op);
              CAPTURE(name(d));
              CAPTURE(name(i.to));
              for (int n : {1, 63, 64, 65, 1000, 1024}) check(p, n, std::uint64_t(n + op));
            }
      },
      true);
}

TEST_CASE("random programs equal Scalar<T>") {
  at_levels(
      [] {
        for (int seed = 0; seed < 300; ++seed) {
          Random r(std::uint64_t(seed) + 77);
          Recorded p;
          std::vector<int> of[fx::dtype_count];  // registers by dtype
          for (DType d : dtypes)
            for (int k = 0; k < 2; ++k) of[int(d)].push_back(p.input(d));
          for (DType d : dtypes) of[int(d)].push_back(p.r.constant(d, awkward(r, d)));
          for (int k = 0; k < 40; ++k) {
            Instr i{Instr::Op(Instr::add + r.below(Instr::convert - Instr::add + 1)), dtypes[r.below(7)]};
            i.to = i.op == Instr::convert || i.op == Instr::bitcast ? dtypes[r.below(7)]
                   : compares(i.op)                                 ? boolean
                                                                    : i.type;
            std::uint64_t out = 0;
            if (!step(i, 1, 1, 1, out)) continue;
            int* slot[] = {&i.a, &i.b, &i.c};
            for (int a = 0; a < arity(i.op); ++a) {
              const auto& list = of[int(operand_dtype(i, a))];
              *slot[a] = list[std::size_t(r.below(int(list.size())))];
            }
            of[int(i.to)].push_back(p.r.push(i, i.to));
          }
          for (int k = 0; k < 6; ++k) p.out.push_back(r.below(p.r.regs.size()));  // inputs and constants, too
          CAPTURE(seed);
          check(p, 1 + r.below(1024), std::uint64_t(seed));
        }
      },
      true);
}

TEST_CASE("results may lie on operands") {
  // out0 = a + b on a, out1 = a * b on b, out2 = a.
  Recorded p;
  const int a = p.input(f32), b = p.input(f32);
  Instr sum{Instr::add, f32}, product{Instr::mul, f32};
  sum.a = product.a = a, sum.b = product.b = b;
  p.out = {p.r.push(sum, f32), p.r.push(product, f32), a};
  const tiled::VectorProgram program = p.make();
  Scratch s(program.scratch_bytes());
  program.prepare(s.p);
  for (int n : {1, 64, 100, 1000}) {
    Random r(5);
    Array x(f32, n, r), y(f32, n, r), z(f32, n), x0 = x, y0 = y;
    const void* in[] = {x.data(), y.data()};
    void* out[] = {x.data(), y.data(), z.data()};
    program.run(s.p, in, out, n);
    for (int e = 0; e < n; ++e) {
      const float u = from_bits<float>(x0[e]), v = from_bits<float>(y0[e]);
      REQUIRE(same(f32, x[e], to_bits(u + v)));
      REQUIRE(same(f32, y[e], to_bits(u * v)));
      REQUIRE(same(f32, z[e], x0[e]));
    }
  }
}

TEST_CASE("blocks with strides") {
  Recorded p;
  const int a = p.input(f32), b = p.input(i32), c = p.input(f64), d = p.input(boolean);
  Instr sum{Instr::add, f64}, narrow{Instr::convert, f32}, whole{Instr::convert, i32}, pick{Instr::select, f64};
  narrow.a = a, whole.a = b;
  sum.a = p.r.push(narrow, f64), sum.b = p.r.push(whole, f64);
  pick.a = d, pick.b = p.r.push(sum, f64), pick.c = c;
  p.out = {p.r.push(pick, f64), d};
  const tiled::VectorProgram program = p.make();
  const int block = 300;
  Scratch s(program.scratch_bytes(block));
  program.prepare(s.p, block);
  Random r(9);
  Array x(f32, 32000, r), y(i32, 32000, r), z(f64, 32000, r), m(boolean, 32000, r);
  const int shapes[][2] = {{1, 1}, {1, 64}, {1, 300}, {300, 1}, {10, 30}, {3, 100}, {17, 5}, {64, 1}};
  const int strides[][2] = {{0, 0},   {0, 1}, {1, 0}, {1, 10}, {13, 1}, {30, 1},
                            {100, 1}, {2, 5}, {1, 0}, {5, 1},  {-3, 2}};
  for (auto [rows, cols] : shapes)
    for (int k = 0; k < int(std::size(strides)); ++k)
      for (int pitch : {cols, cols + 3}) {
        tiled::VectorInput in[4] = {{x.data()}, {y.data()}, {z.data()}, {m.data()}};
        std::int64_t row[4], col[4];
        for (int i = 0; i < 4; ++i) {
          const auto* st = strides[(k + 3 * i) % int(std::size(strides))];
          in[i].row = row[i] = st[0], in[i].col = col[i] = st[1];
          in[i].data = static_cast<const char*>(in[i].data) + 1000 * size_of(program.input_dtype(i));
        }
        Array o(f64, rows * pitch), keep(boolean, rows * pitch);
        for (std::int64_t e = 0; e < o.n; ++e) o.set(e, 7), keep.set(e, 9);
        const tiled::VectorOutput out[2] = {{o.data(), pitch}, {keep.data(), pitch}};
        program.run(s.p, in, out, rows, cols);
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < pitch; ++j) {
            if (j >= cols) {
              REQUIRE(o[i * pitch + j] == 7);
              REQUIRE(keep[i * pitch + j] == 9);
              continue;
            }
            auto at = [&](const Array& v, int q) { return v[1000 + i * row[q] + j * col[q]]; };
            const double want = at(m, 3) ? double(from_bits<float>(at(x, 0))) + double(from_bits<int>(at(y, 1)))
                                         : from_bits<double>(at(z, 2));
            REQUIRE(same(f64, o[i * pitch + j], to_bits(want)));
            REQUIRE(keep[i * pitch + j] == at(m, 3));
          }
      }
}

TEST_CASE("an entry of sixteen, by the index's low bits") {
  static constexpr float table[16] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -0.0f};
  at_levels(
      [] {
        Recorded p;
        Instr i{Instr::pick, u32};
        i.a = p.input(u32), i.b = 16, i.imm = reinterpret_cast<std::uint64_t>(table);
        p.out.push_back(p.r.push(i, f32));
        p.out.push_back(p.r.push({Instr::convert, u32, f64, -1, p.in[0]}, f64));  // half as many lanes
        const std::vector<int> both = p.out;
        for (int outputs : {1, 2}) {
          p.out.assign(both.begin(), both.begin() + outputs);
          const tiled::VectorProgram program = p.make();
          Scratch s(program.scratch_bytes());
          program.prepare(s.p);
          for (int n : {1, 7, 16, 63, 200}) {
            Random r{std::uint64_t(n)};
            Array from(u32, n), to(f32, n), other(f64, n);
            for (int k = 0; k < n; ++k) from.set(k, r.next());
            const void* in[] = {from.data()};
            void* out[] = {to.data(), other.data()};
            program.run(s.p, in, out, n);
            for (int k = 0; k < n; ++k) REQUIRE(to[k] == to_bits(table[from[k] % 16]));
          }
        }
      },
      true);
}

TEST_CASE("positions and tables") {
  static constexpr double table[] = {1.5, -2, 3};
  static constexpr unsigned small[] = {7};
  for (DType d : dtypes) {
    if (d == boolean) continue;
    Recorded p;
    for (int dim = 0; dim < 3; ++dim) {
      Instr i{Instr::index, d};
      i.a = dim;
      p.out.push_back(p.r.push(i, d));
    }
    const int x = p.input(i64), y = p.input(u32);
    Instr t{Instr::lookup, i64}, u{Instr::lookup, u32};
    t.a = x, t.b = 3, t.imm = reinterpret_cast<std::uint64_t>(table);
    u.a = y, u.b = 1, u.imm = reinterpret_cast<std::uint64_t>(small);
    p.out.push_back(p.r.push(t, f64));
    p.out.push_back(p.r.push(u, u32));
    const tiled::VectorProgram program = p.make();
    CHECK(program.uses_index());
    Scratch s(program.scratch_bytes());
    program.prepare(s.p);
    const std::int64_t sizes[] = {3, 5, 7};
    struct {
      int start, pitch, rows, cols;
    } blocks[] = {{0, 105, 1, 105}, {7, 7, 4, 7}, {37, 11, 5, 9}, {104, 1, 1, 1}, {0, 1, 70, 1}};
    for (auto b : blocks) {
      const int n = b.rows * b.cols;
      Random r(3);
      Array from(i64, n, r), from32(u32, n, r);
      std::vector<Array> out;
      for (int k = 0; k < 5; ++k) out.emplace_back(k < 3 ? d : k == 3 ? f64 : u32, n);
      tiled::VectorInput in[] = {{from.data(), b.cols, 1}, {from32.data(), b.cols, 1}};
      tiled::VectorOutput to[5];
      for (int k = 0; k < 5; ++k) to[k] = {out[std::size_t(k)].data(), b.cols};
      program.run(s.p, in, to, b.rows, b.cols, {sizes, 3, b.start, b.pitch});
      for (int e = 0; e < n; ++e) {
        const int flat = b.start + e / b.cols * b.pitch + e % b.cols;
        const int position[] = {flat / 35, flat / 7 % 5, flat % 7};
        for (int k = 0; k < 3; ++k)
          with_type<numbers & computed>(d,
                                        [&]<class T>() { REQUIRE(out[std::size_t(k)][e] == to_bits(T(position[k]))); });
        const auto i = std::int64_t(from[e]);
        REQUIRE(out[3][e] == to_bits(table[i < 0 ? 0 : i > 2 ? 2 : i]));
        REQUIRE(out[4][e] == 7);
      }
    }
  }
}

TEST_CASE("a program needs few registers") {
  Recorded p;
  int v = p.input(f32);
  for (int k = 0; k < 100; ++k) {
    Instr i{Instr::mul, f32};
    i.a = v, i.b = p.r.constant(f32, to_bits(float(k % 10)));
    v = p.r.push(i, f32);
  }
  Instr unused{Instr::neg, f32};
  unused.a = v;
  p.r.push(unused, f32);
  p.out = {v};
  const tiled::VectorProgram program = p.make();
  CHECK(program.steps() == 100);
  CHECK(program.scratch_bytes(1024) < 32 * 1024);
  CHECK(program.scratch_bytes(64) < 12 * 1024);
}
