// ops/record.hpp -- Recorder: the world in which an elementwise body becomes a linear program of vector instructions.
//
// Every operation of the value concept (ops/scalar.hpp) on a Rec<T> appends one instruction. The interpreter and the
// code generators execute exactly these, so all tiers give the same bits.
#pragma once
#include "../prim.hpp"
#include "scalar.hpp"

namespace fx::inline v0 {

// One vector instruction: `dst = op a b c`, on elements of `type` (`to`: the result's, where it differs).
struct Instr {
  enum Op : std::uint8_t {
    constant,
    input,
    index,  // imm: bits; a: operand number; a: output dimension
    add,
    sub,
    mul,
    div,
    neg,
    fma,
    scale,
    sqrt,
    rint,
    floor,
    abs,
    idiv,
    irem,
    bit_and,
    bit_or,
    bit_xor,
    bit_not,
    shl,
    shr,
    lt,
    le,
    eq,
    ne,
    select,
    bitcast,
    convert,
    pick,   // table[a mod 16]
    lookup  // table[clamp(a)]
  };
  // Tables: imm is the address, b the size.
  bool has_table() const { return op == pick || op == lookup; }
  Op op = constant;
  DType type = DType::f32, to = DType::f32;
  int dst = 0, a = -1, b = -1, c = -1;
  std::uint64_t imm = 0;
};

struct Recorder {
  Vec<Instr> code;
  Vec<DType> regs;  // dtype of each register; an instruction's dst is new (single assignment)

  int push(Instr i, DType result) {
    i.dst = regs.size();
    i.to = result;
    regs.push_back(result);
    code.push_back(i);
    return i.dst;
  }
  int constant(DType t, std::uint64_t bits) {
    for (const Instr& i : code)
      if (i.op == Instr::constant && i.type == t && i.imm == bits) return i.dst;
    Instr i{Instr::constant, t};
    i.imm = bits;
    return push(i, t);
  }
};

// The value type of this world.
template <class T>
struct Rec {
  using type = T;
  template <class U>
  using rebind = Rec<U>;
  Recorder* r = nullptr;
  int reg = -1;
  std::uint64_t lit = 0;  // bits, while r is null: a constant that no instruction has needed yet

  static Rec c(T v) { return {nullptr, -1, detail::to_bits(v)}; }
  int in(Recorder& rec) const { return r ? reg : rec.constant(dtype_of<T>, lit); }
};

namespace detail {
template <class R, class T, class... A>
Rec<R> record(Instr::Op op, const Rec<T>& a, const A&... rest) {
  Recorder* r = a.r;
  ((r = r ? r : rest.r), ...);
  if (!r) fail(ErrorCode::internal, "an operation on constants alone was recorded");
  Instr i{op, dtype_of<T>};
  [[maybe_unused]] int* slot[] = {&i.b, &i.c};
  [[maybe_unused]] int k = 0;
  i.a = a.in(*r);
  ((*slot[k++] = rest.in(*r)), ...);
  return {r, r->push(i, dtype_of<R>)};
}
}  // namespace detail

#define FX_REC_BINARY(name, op, R)             \
  template <class T>                           \
  Rec<R> name(Rec<T> a, Rec<T> b) {            \
    return detail::record<R>(Instr::op, a, b); \
  }
#define FX_REC_UNARY(name, op)              \
  template <class T>                        \
  Rec<T> name(Rec<T> a) {                   \
    return detail::record<T>(Instr::op, a); \
  }
FX_REC_BINARY(operator+, add, T)
FX_REC_BINARY(operator-, sub, T)
FX_REC_BINARY(operator*, mul, T)
FX_REC_BINARY(operator/, div, T)
FX_REC_BINARY(scale, scale, T)
FX_REC_BINARY(idiv, idiv, T)
FX_REC_BINARY(irem, irem, T)
FX_REC_BINARY(operator&, bit_and, T)
FX_REC_BINARY(operator|, bit_or, T)
FX_REC_BINARY(operator^, bit_xor, T)
FX_REC_BINARY(shl, shl, T)
FX_REC_BINARY(shr, shr, T)
FX_REC_BINARY(lt, lt, bool)
FX_REC_BINARY(le, le, bool)
FX_REC_BINARY(eq, eq, bool)
FX_REC_BINARY(ne, ne, bool)
FX_REC_UNARY(operator-, neg)
FX_REC_UNARY(sqrt, sqrt)
FX_REC_UNARY(rint, rint)
FX_REC_UNARY(floor, floor)
FX_REC_UNARY(abs, abs)
FX_REC_UNARY(operator~, bit_not)
#undef FX_REC_BINARY
#undef FX_REC_UNARY

template <class T>
Rec<T> fma(Rec<T> a, Rec<T> b, Rec<T> c) {
  return detail::record<T>(Instr::fma, a, b, c);
}
template <class T>
Rec<T> select(Rec<bool> m, Rec<T> a, Rec<T> b) {
  Recorder* r = m.r ? m.r : a.r ? a.r : b.r;
  if (!r) return m.lit ? a : b;
  Instr i{Instr::select, dtype_of<T>};
  i.a = m.in(*r), i.b = a.in(*r), i.c = b.in(*r);
  return {r, r->push(i, dtype_of<T>)};
}
template <class U, class T>
Rec<U> bitcast(Rec<T> a) {
  return detail::record<U>(Instr::bitcast, a);
}
template <class U, class T>
Rec<U> convert(Rec<T> a) {
  return detail::record<U>(Instr::convert, a);
}
// table[index], index clamped to [0, size); the table must have static storage.
template <class T, class I>
Rec<T> lookup(const T* table, int size, Rec<I> index) {
  Instr i{Instr::lookup, dtype_of<I>};
  if (!index.r) fail(ErrorCode::internal, "an operation on constants alone was recorded");
  i.a = index.in(*index.r);
  i.b = size;
  i.imm = reinterpret_cast<std::uint64_t>(table);
  return {index.r, index.r->push(i, dtype_of<T>)};
}

// table[index mod 16]; the table must have static storage.
inline Rec<float> pick(const float (&table)[16], Rec<std::uint32_t> index) {
  Instr i{Instr::pick, DType::u32};
  if (!index.r) fail(ErrorCode::internal, "an operation on constants alone was recorded");
  i.a = index.in(*index.r);
  i.b = 16;
  i.imm = reinterpret_cast<std::uint64_t>(table);
  return {index.r, index.r->push(i, DType::f32)};
}

// What a primitive's body reads and writes while it is recorded.
struct RecordCtx {
  Recorder& r;
  Span<const DType> dtypes;  // of the operands
  Span<const int> regs;      // registers of the operands
  Span<const DType> out_dtypes;
  Attrs attrs;
  int out[4]{};
};

}  // namespace fx::inline v0
