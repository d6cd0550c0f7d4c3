// cuda/ptx_instr.hpp -- InstrWriter: recorded instructions as PTX, each with the bits of Scalar<T> (ops/scalar.hpp).
#pragma once
#include <fx/ops/record.hpp>

#include "ptx_writer.hpp"

namespace fx::inline v0::cuda {

// The tables that a module's instructions look up: each once.
struct Tables {
  struct Table {
    std::uint64_t address = 0;
    int size = 0;
    DType dtype = DType::f32;
  };
  Vec<Table> all;
  int number(const Instr& i);
  // Their definitions.
  void put(Str& s) const;
};

class InstrWriter {
 public:
  InstrWriter(Writer& w, Tables& tables) : w_(w), tables_(tables) {}
  // The result of i on registers with its operands. Not for inputs and positions.
  Reg write(const Instr& i, Reg a, Reg b, Reg c);
  Reg constant(DType d, std::uint64_t bits);

 private:
  Writer& w_;
  Tables& tables_;

  // ptx_instr.hpp
  Reg simple(const Instr& i, std::string_view op, std::string_view type, std::initializer_list<Arg> args);
  Reg number(const Instr& i, Reg a, Reg b, Reg c);
  Reg logic(const Instr& i, Reg a, Reg b);
  Reg flag(const Instr& i, Reg a, Reg b);
  Reg shift(const Instr& i, Reg a, Reg b);
  Reg compare(const Instr& i, Reg a, Reg b);
  Reg select(const Instr& i, Reg m, Reg a, Reg b);
  Reg absolute(const Instr& i, Reg a);
  Reg scale(const Instr& i, Reg a, Reg n);
  // ptx_divide.hpp
  struct Magnitude {
    Reg value, sign;  // sign: all bits those of the sign
  };
  Magnitude magnitude(DType d, Reg a);
  Reg divide(const Instr& i, Reg a, Reg b);
  struct Parts {
    Reg exponent, mantissa;
  };
  Parts parts(DType d, Reg magnitude);
  Reg float_remainder(const Instr& i, Reg a, Reg b);
  Reg assemble(DType d, Parts p);
  // ptx_convert.hpp
  Reg convert(const Instr& i, Reg a);
  Reg from_flag(DType d, Reg a);
  Reg float_to_int(const Instr& i, Reg a);
  Reg int_to_int(const Instr& i, Reg a);
  Reg lookup(const Instr& i, Reg a);
};

// ".f32", ".s64": the type of arithmetic on d; ".b32": its bits, ".u32": those as a number.
constexpr std::string_view type_of_arithmetic(DType d) {
  switch (d) {
    case DType::i32: return ".s32";
    case DType::i64: return ".s64";
    case DType::u32: return ".u32";
    case DType::u64: return ".u64";
    case DType::f32: return ".f32";
    case DType::f64: return ".f64";
    default: return ".pred";
  }
}
constexpr std::string_view bits_type(DType d) { return d == boolean ? ".pred" : size_of(d) == 8 ? ".b64" : ".b32"; }
constexpr std::string_view unsigned_type(DType d) { return size_of(d) == 8 ? ".u64" : ".u32"; }

// An operation and its types in one piece.
struct Op {
  Str text;
  Op(std::string_view op, std::string_view a, std::string_view b = {}) : text(op) {
    text += a;
    text += b;
  }
  operator std::string_view() const { return text.view(); }
};

}  // namespace fx::inline v0::cuda

#if FX_BODIES
#include "ptx_convert.hpp"
#include "ptx_divide.hpp"

namespace fx::inline v0::cuda {

FX_INLINE Reg InstrWriter::constant(DType d, std::uint64_t bits) {
  if (d == boolean) return w_.make(Reg::pred, "setp.ne.u32", {std::int64_t(bits & 1), 0});
  return w_.make(class_of(d), Op("mov", bits_type(d)), {bits_of(size_of(d) == 4 ? bits & 0xffffffff : bits)});
}

FX_INLINE Reg InstrWriter::simple(const Instr& i, std::string_view op, std::string_view type,
                                  std::initializer_list<Arg> args) {
  return w_.make(class_of(i.to), Op(op, type), args);
}

FX_INLINE Reg InstrWriter::write(const Instr& i, Reg a, Reg b, Reg c) {
  switch (i.op) {
    case Instr::constant: return constant(i.type, i.imm);
    case Instr::bit_and:
    case Instr::bit_or:
    case Instr::bit_xor:
    case Instr::bit_not: return logic(i, a, b);
    case Instr::shl:
    case Instr::shr: return shift(i, a, b);
    case Instr::lt:
    case Instr::le:
    case Instr::eq:
    case Instr::ne: return i.type == boolean ? flag(i, a, b) : compare(i, a, b);
    case Instr::select: return select(i, a, b, c);
    case Instr::bitcast: return a;  // registers have no type
    case Instr::convert: return convert(i, a);
    case Instr::pick:
    case Instr::lookup: return lookup(i, a);
    default: return number(i, a, b, c);
  }
}

// Without .rn the assembler may contract a product and a sum.
FX_INLINE Reg InstrWriter::number(const Instr& i, Reg a, Reg b, Reg c) {
  const DType d = i.type;
  const bool real = is_float(d);
  const std::string_view t = type_of_arithmetic(d);
  switch (i.op) {
    case Instr::add: return simple(i, real ? "add.rn" : "add", t, {a, b});
    case Instr::sub: return simple(i, real ? "sub.rn" : "sub", t, {a, b});
    case Instr::mul: return simple(i, real ? "mul.rn" : "mul.lo", t, {a, b});
    case Instr::div: return simple(i, "div.rn", t, {a, b});
    case Instr::fma: return simple(i, "fma.rn", t, {a, b, c});
    case Instr::scale: return scale(i, a, b);
    case Instr::sqrt: return simple(i, "sqrt.rn", t, {a});
    case Instr::rint: return simple(i, "cvt.rni", Op(t, t), {a});
    case Instr::floor: return simple(i, "cvt.rmi", Op(t, t), {a});
    case Instr::neg:
      if (real) return simple(i, "xor", bits_type(d), {a, bits_of(std::uint64_t(1) << (8 * size_of(d) - 1))});
      return simple(i, "sub", t, {0, a});
    case Instr::abs: return absolute(i, a);
    case Instr::idiv: return divide(i, a, b);
    case Instr::irem: return real ? float_remainder(i, a, b) : divide(i, a, b);
    default: fail(ErrorCode::internal, "PTX: a recorded instruction that has no form");
  }
}

// |min| is min: written out, because abs says nothing of it.
FX_INLINE Reg InstrWriter::absolute(const Instr& i, Reg a) {
  const DType d = i.type;
  if (is_float(d)) return simple(i, "and", bits_type(d), {a, bits_of((std::uint64_t(1) << (8 * size_of(d) - 1)) - 1)});
  return in(d, unsigned_ints) ? a : magnitude(d, a).value;
}

// As fp::scale.
FX_INLINE Reg InstrWriter::scale(const Instr& i, Reg a, Reg n) {
  using fx::detail::fp::Format;
  const DType d = i.type;
  const bool single = size_of(d) == 4;
  const int mant = single ? Format<float>::mant : Format<double>::mant;
  const auto magic =
      single ? fx::detail::to_bits(Format<float>::scale_magic) : fx::detail::to_bits(Format<double>::scale_magic);
  const std::uint64_t exponent = single ? Format<float>::inf_bits : Format<double>::inf_bits;
  const std::string_view t = type_of_arithmetic(d), b = bits_type(d), u = unsigned_type(d);
  const Reg at = simple(i, "add.rn", t, {n, constant(d, magic)});
  const Reg half = simple(i, "and", b, {simple(i, "shl", b, {at, mant - 1}), bits_of(exponent)});
  const Reg rest = simple(i, "sub", u, {simple(i, "shl", b, {at, mant}), half});
  return simple(i, "mul.rn", t, {simple(i, "mul.rn", t, {a, half}), rest});
}

FX_INLINE Reg InstrWriter::logic(const Instr& i, Reg a, Reg b) {
  const std::string_view t = bits_type(i.type);
  switch (i.op) {
    case Instr::bit_and: return simple(i, "and", t, {a, b});
    case Instr::bit_or: return simple(i, "or", t, {a, b});
    case Instr::bit_xor: return simple(i, "xor", t, {a, b});
    default: return simple(i, "not", t, {a});
  }
}

// Comparisons of truth values; false is below true.
FX_INLINE Reg InstrWriter::flag(const Instr& i, Reg a, Reg b) {
  auto op = [&](std::string_view o, Reg x, Reg y) { return w_.make(Reg::pred, o, {x, y}); };
  auto opposite = [&](Reg x) { return w_.make(Reg::pred, "not.pred", {x}); };
  switch (i.op) {
    case Instr::lt: return op("and.pred", opposite(a), b);
    case Instr::le: return op("or.pred", opposite(a), b);
    case Instr::ne: return op("xor.pred", a, b);
    default: return opposite(op("xor.pred", a, b));
  }
}

// The machine takes counts of 32 bits, and clamps them to the width.
FX_INLINE Reg InstrWriter::shift(const Instr& i, Reg a, Reg b) {
  const DType d = i.type;
  if (size_of(d) == 8) {
    const Reg least = w_.make(Reg::quad, "min.u64", {b, 64});
    b = w_.make(Reg::word, "cvt.u32.u64", {least});
  }
  if (i.op == Instr::shl) return simple(i, "shl", bits_type(d), {a, b});
  return simple(i, "shr", type_of_arithmetic(d), {a, b});
}

// A NaN is unequal to everything, which is `neu`, and in no order.
FX_INLINE Reg InstrWriter::compare(const Instr& i, Reg a, Reg b) {
  const std::string_view t = type_of_arithmetic(i.type);
  switch (i.op) {
    case Instr::lt: return simple(i, "setp.lt", t, {a, b});
    case Instr::le: return simple(i, "setp.le", t, {a, b});
    case Instr::eq: return simple(i, "setp.eq", t, {a, b});
    default: return simple(i, is_float(i.type) ? "setp.neu" : "setp.ne", t, {a, b});
  }
}

FX_INLINE Reg InstrWriter::select(const Instr& i, Reg m, Reg a, Reg b) {
  if (i.type != boolean) return simple(i, "selp", bits_type(i.type), {a, b, m});
  const Reg x = w_.make(Reg::pred, "and.pred", {m, a}), no = w_.make(Reg::pred, "not.pred", {m});
  const Reg y = w_.make(Reg::pred, "and.pred", {no, b});
  return w_.make(Reg::pred, "or.pred", {x, y});
}

}  // namespace fx::inline v0::cuda
#endif
