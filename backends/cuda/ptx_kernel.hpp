// cuda/ptx_kernel.hpp -- KernelWriter: a map or reduce kernel as loops that threads share.
#pragma once
#include <fx/ops/layout.hpp>
#include <fx/tile/record_body.hpp>

#include "ptx_instr.hpp"

namespace fx::inline v0::cuda {

// Where an access begins: a register with the address of its first element, in a state space.
struct Place {
  Reg address;
  std::string_view space = ".global";
  DType dtype = DType::f32;
};

// The threads that work on a kernel: the number of this one and how many there are, a multiple of 32.
struct Threads {
  Reg number, count;
};

class KernelWriter {
 public:
  // places: of the kernel's operands, then its results.
  KernelWriter(Writer& w, Tables& tables, const tile::Kernel& k, Vec<Place> places, Threads threads)
      : w_(w), tables_(tables), k_(k), places_(std::move(places)), threads_(threads) {}
  void write() {
    if (k_.kind == tile::KernelKind::map)
      map();
    else
      reduce();
  }
  // Threads for which there is work.
  static std::int64_t wanted(const tile::Kernel& k);

 private:
  // Neighbouring dimensions that all accesses walk as one.
  struct Digit {
    int dim = 0;
    std::int64_t size = 1;
    Vec<std::int64_t> bytes;  // of each access, from position to position
  };
  struct Digits {
    Vec<Digit> digits;
    std::int64_t count = 1;
  };
  struct Fold {
    tile::RecordedBody fold, identity;
    bool arg = false;
    DType dtype = DType::f32, to = DType::f32;
    int lanes = 1;
    bool empty_is_identity = true;
  };

  Writer& w_;
  Tables& tables_;
  const tile::Kernel& k_;
  const Vec<Place> places_;
  const Threads threads_;
  tile::RecordedBody body_;
  bool uses_index_ = false;
  Vec<Reg> position_;  // along each dimension, where the body asks for it

  int operands() const { return k_.in.size(); }
  const tile::Access& access(int a) const { return a < operands() ? k_.in[a] : k_.out[a - operands()]; }

  // ptx_kernel.hpp
  void record();
  Digits digits(const Dims& dims) const;
  void advance(Vec<Reg>& at, Reg number, const Digits& along);
  Reg load(int a, Reg address);
  void store(int a, Reg address, Reg value, const Reg* if_set = nullptr);
  Vec<Reg> addresses() const;
  Vec<Reg> evaluate(Span<const Reg> at);
  Vec<Reg> run(const tile::RecordedBody& b, Span<const Reg> in);
  Reg position(const Instr& i);
  template <class F>
  void loop(Reg from, Arg to, Arg step, F&& f);
  void map();

  // ptx_reduce.hpp
  Fold fold() const;
  void reduce();
  void store_empty(const Fold& f, const Digits& kept);
  Reg fold_row(const Fold& f, Span<const Reg> at, const Digits& reduced, Reg lane);
  Reg arg_row(const Fold& f, Span<const Reg> at, const Digits& reduced);
  Reg next(Span<const Reg> at, const Digits& reduced, Reg number);
  void fold_lanes(const Fold& f, Reg acc);
  Reg from_lane_above(Reg v, int distance, int lanes);
};

}  // namespace fx::inline v0::cuda

#if FX_BODIES
namespace fx::inline v0::cuda {

FX_INLINE void KernelWriter::record() {
  Dims own;
  for (int d = 0; d < k_.space.n; ++d) own.push_back(d);
  body_ = tile::record_body(*k_.body, own);
  for (const Instr& i : body_.r.code) uses_index_ = uses_index_ || i.op == Instr::index;
  if (uses_index_) position_ = Vec<Reg>(k_.space.n, w_.make(Reg::quad, "mov.b64", {0}));  // of dimensions of size 1
}

FX_INLINE KernelWriter::Digits KernelWriter::digits(const Dims& dims) const {
  Digits r;
  for (std::int64_t dim : dims) {
    const int d = int(dim);
    r.count *= k_.space[d];
    if (k_.space[d] == 1) continue;
    Digit g{d, k_.space[d], {}};
    for (int a = 0; a < places_.size(); ++a) g.bytes.push_back(access(a).stride[d] * size_of(places_[a].dtype));
    bool joins = !uses_index_ && !r.digits.empty();
    for (int a = 0; joins && a < places_.size(); ++a) joins = r.digits.back().bytes[a] == g.bytes[a] * g.size;
    if (joins) g.size *= r.digits.back().size, r.digits.pop_back();
    r.digits.push_back(std::move(g));
  }
  return r;
}

// Moves the addresses to element `number` along these digits. Numbers of 32 bits are divided as such: much faster.
FX_INLINE void KernelWriter::advance(Vec<Reg>& to, Reg number, const Digits& along) {
  const bool narrow = along.count <= std::int64_t(1) << 31;
  Reg left = number;
  for (int j = along.digits.size() - 1; j >= 0; --j) {
    const Digit& g = along.digits[j];
    Reg here = left;
    if (j > 0 && narrow) {
      if (left.cls == Reg::quad) left = w_.make(Reg::word, "cvt.u32.u64", {left});
      here = w_.make(Reg::word, "rem.u32", {left, g.size});
      left = w_.make(Reg::word, "div.u32", {left, g.size});
    } else if (j > 0) {
      here = w_.make(Reg::quad, "rem.u64", {left, g.size});
      left = w_.make(Reg::quad, "div.u64", {left, g.size});
    }
    if (here.cls == Reg::word) here = w_.make(Reg::quad, "cvt.u64.u32", {here});
    if (uses_index_) position_[g.dim] = here;
    for (int a = 0; a < to.size(); ++a)
      if (g.bytes[a] != 0) to[a] = w_.make(Reg::quad, "mad.lo.s64", {here, g.bytes[a], to[a]});
  }
}

FX_INLINE Reg KernelWriter::load(int a, Reg address) {
  const Place& p = places_[a];
  if (p.dtype != boolean) return w_.make(class_of(p.dtype), Op("ld", p.space, bits_type(p.dtype)), {at(address)});
  const Reg byte = w_.make(Reg::word, Op("ld", p.space, ".u8"), {at(address)});
  return w_.make(Reg::pred, "setp.ne.u32", {byte, 0});
}
FX_INLINE void KernelWriter::store(int a, Reg address, Reg value, const Reg* if_set) {
  const Place& p = places_[a];
  if (p.dtype == boolean) value = w_.make(Reg::word, "selp.b32", {1, 0, value});
  const Op op("st", p.space, p.dtype == boolean ? ".u8" : bits_type(p.dtype));
  if (if_set)
    w_.guarded(*if_set, false, op, {at(address), value});
  else
    w_.line(op, {at(address), value});
}
FX_INLINE Vec<Reg> KernelWriter::addresses() const {
  Vec<Reg> r;
  for (const Place& p : places_) r.push_back(p.address);
  return r;
}

// The results of the body, whose operands lie at these addresses. All is read before anything is written.
FX_INLINE Vec<Reg> KernelWriter::evaluate(Span<const Reg> at) {
  Vec<Reg> in;
  for (int a = 0; a < operands(); ++a) in.push_back(load(a, at[a]));
  return run(body_, in);
}

FX_INLINE Vec<Reg> KernelWriter::run(const tile::RecordedBody& b, Span<const Reg> in) {
  const Vec<Instr>& code = b.r.code;
  Vec<char> wanted(b.r.regs.size(), char(0));
  auto each_operand = [](const Instr& i, auto&& f) {
    if (i.op == Instr::constant || i.op == Instr::input || i.op == Instr::index) return;
    f(i.a);
    if (!i.has_table() && i.b >= 0) f(i.b);
    if (!i.has_table() && i.c >= 0) f(i.c);
  };
  for (int reg : b.outs) wanted[reg] = 1;
  for (int k = code.size() - 1; k >= 0; --k)
    if (wanted[code[k].dst]) each_operand(code[k], [&](int reg) { wanted[reg] = 1; });
  Vec<Reg> value(b.r.regs.size());
  InstrWriter writer(w_, tables_);
  for (const Instr& i : code) {
    if (!wanted[i.dst]) continue;
    Reg operand[3];
    int n = 0;
    each_operand(i, [&](int reg) { operand[n++] = value[reg]; });
    value[i.dst] = i.op == Instr::input   ? in[i.a]
                   : i.op == Instr::index ? position(i)
                                          : writer.write(i, operand[0], operand[1], operand[2]);
  }
  Vec<Reg> result;
  for (int reg : b.outs) result.push_back(value[reg]);
  return result;
}

FX_INLINE Reg KernelWriter::position(const Instr& i) {
  const Reg p = position_[i.a];
  if (is_float(i.type)) return w_.make(class_of(i.type), Op("cvt.rn", type_of_arithmetic(i.type), ".s64"), {p});
  return size_of(i.type) == 8 ? p : w_.make(Reg::word, "cvt.u32.u64", {p});
}

// for (n = from; n < to; n += step) f(n)
template <class F>
void KernelWriter::loop(Reg from, Arg to, Arg step, F&& f) {
  const Reg n = w_.fresh(Reg::quad);
  const Label next = w_.label(), done = w_.label();
  w_.move(n, from);
  w_.place(next);
  w_.jump_if(w_.make(Reg::pred, "setp.ge.s64", {n, to}), done);
  f(n);
  w_.line("add.s64", {n, n, step});
  w_.jump(next);
  w_.place(done);
}

FX_INLINE void KernelWriter::map() {
  record();
  Dims all;
  for (int d = 0; d < k_.space.n; ++d) all.push_back(d);
  const Digits whole = digits(all);
  if (whole.count == 0) return;
  loop(threads_.number, whole.count, threads_.count, [&](Reg n) {
    Vec<Reg> to = addresses();
    advance(to, n, whole);
    const Vec<Reg> out = evaluate(to);
    for (int j = 0; j < out.size(); ++j) store(operands() + j, to[operands() + j], out[j]);
  });
}

}  // namespace fx::inline v0::cuda
#include "ptx_reduce.hpp"
#endif
