// cuda/ptx_divide.hpp -- InstrWriter: quotients and remainders of integers, and the exact remainder of floats.
#pragma once
#include "ptx_instr.hpp"

#if FX_BODIES
namespace fx::inline v0::cuda {

FX_INLINE InstrWriter::Magnitude InstrWriter::magnitude(DType d, Reg a) {
  const std::string_view t = type_of_arithmetic(d);
  const Reg sign = w_.make(class_of(d), Op("shr", t), {a, 8 * size_of(d) - 1});
  const Reg flipped = w_.make(class_of(d), Op("xor", bits_type(d)), {a, sign});
  return {w_.make(class_of(d), Op("sub", t), {flipped, sign}), sign};
}

// On magnitudes, with nothing left to the machine: x / 0 is all ones, x % 0 is x, min / -1 is min.
FX_INLINE Reg InstrWriter::divide(const Instr& i, Reg a, Reg b) {
  const DType d = i.type;
  const Reg::Class c = class_of(d);
  const std::string_view u = unsigned_type(d), bits = bits_type(d);
  const bool sign = in(d, signed_ints), quotient = i.op == Instr::idiv;
  const Magnitude x = sign ? magnitude(d, a) : Magnitude{a, {}}, y = sign ? magnitude(d, b) : Magnitude{b, {}};
  const Reg by_zero = w_.make(Reg::pred, Op("setp.eq", u), {b, 0});
  const Reg divisor = w_.make(c, Op("selp", bits), {1, y.value, by_zero});
  Reg r = w_.make(c, Op(quotient ? "div" : "rem", u), {x.value, divisor});
  if (sign) {
    const Reg s = quotient ? w_.make(c, Op("xor", bits), {x.sign, y.sign}) : x.sign;
    const Reg flipped = w_.make(c, Op("xor", bits), {r, s});
    r = w_.make(c, Op("sub", u), {flipped, s});
  }
  return w_.make(c, Op("selp", bits), {quotient ? Arg(-1) : Arg(a), r, by_zero});
}

// A finite number that is not 0 as mantissa * 2^exponent, with the highest bit of the mantissa set.
FX_INLINE InstrWriter::Parts InstrWriter::parts(DType d, Reg magnitude) {
  const Reg::Class c = class_of(d);
  const bool wide = size_of(d) == 8;
  const int mantissa = wide ? 52 : 23, spare = wide ? 11 : 8;
  const std::string_view u = unsigned_type(d), bits = bits_type(d);
  Reg e = w_.make(c, Op("shr", u), {magnitude, mantissa});
  if (wide) e = w_.make(Reg::word, "cvt.u32.u64", {e});
  const Reg below = w_.make(c, Op("and", bits), {magnitude, bits_of((std::uint64_t(1) << mantissa) - 1)});
  const Reg normal = w_.make(c, Op("or", bits), {below, bits_of(std::uint64_t(1) << mantissa)});
  const Reg zeros = w_.make(Reg::word, Op("clz", bits), {magnitude}),
            up = w_.make(Reg::word, "sub.s32", {zeros, spare});
  const Reg raised = w_.make(c, Op("shl", bits), {below, up}), low = w_.make(Reg::word, "sub.s32", {1, up});
  const Reg subnormal = w_.make(Reg::pred, "setp.eq.s32", {e, 0});
  return {w_.make(Reg::word, "selp.b32", {low, e, subnormal}),
          w_.make(c, Op("selp", bits), {raised, normal, subnormal})};
}

// The bits of mantissa * 2^exponent: normalised, or subnormal. 0 stays 0.
FX_INLINE Reg InstrWriter::assemble(DType d, Parts p) {
  const Reg::Class c = class_of(d);
  const bool wide = size_of(d) == 8;
  const int mantissa = wide ? 52 : 23, spare = wide ? 11 : 8;
  const std::string_view u = unsigned_type(d), bits = bits_type(d);
  const Reg zeros = w_.make(Reg::word, Op("clz", bits), {p.mantissa}),
            up = w_.make(Reg::word, "sub.s32", {zeros, spare});
  const Reg raised = w_.make(c, Op("shl", bits), {p.mantissa, up});
  const Reg exponent = w_.make(Reg::word, "sub.s32", {p.exponent, up});
  // The highest bit adds one to the exponent's field, so that holds one less.
  const Reg field = w_.make(Reg::word, "sub.s32", {exponent, 1});
  Reg shifted = field;
  if (wide) shifted = w_.make(c, "cvt.s64.s32", {field});
  const Reg high = w_.make(c, Op("shl", bits), {shifted, mantissa}), normal = w_.make(c, Op("add", u), {raised, high});
  const Reg down = w_.make(Reg::word, "sub.s32", {1, exponent}), low = w_.make(c, Op("shr", u), {raised, down});
  const Reg is_normal = w_.make(Reg::pred, "setp.gt.s32", {exponent, 0});
  return w_.make(c, Op("selp", bits), {normal, low, is_normal});
}

// C's fmod by long division: one bit of the quotient in each round, as many as the exponents differ.
FX_INLINE Reg InstrWriter::float_remainder(const Instr& i, Reg a, Reg b) {
  const DType d = i.type;
  const Reg::Class c = class_of(d);
  const std::string_view u = unsigned_type(d), bits = bits_type(d), t = type_of_arithmetic(d);
  const bool wide = size_of(d) == 8;
  const std::uint64_t top = std::uint64_t(1) << (8 * size_of(d) - 1), infinity = wide ? 0x7ffull << 52 : 0xffull << 23;
  auto and_bits = [&](Reg v, std::uint64_t m) { return w_.make(c, Op("and", bits), {v, bits_of(m)}); };
  const Reg x = and_bits(a, top - 1), y = and_bits(b, top - 1), sign = and_bits(a, top);
  const Parts px = parts(d, x), py = parts(d, y);
  const Reg rest = w_.fresh(c), more = w_.make(Reg::word, "sub.s32", {px.exponent, py.exponent});
  w_.move(rest, px.mantissa);
  const Label next = w_.label(), done = w_.label();
  auto subtract = [&] {
    const Reg fits = w_.make(Reg::pred, Op("setp.ge", u), {rest, py.mantissa});
    w_.guarded(fits, false, Op("sub", u), {rest, rest, py.mantissa});
  };
  w_.place(next);
  const Reg last = w_.make(Reg::pred, "setp.le.s32", {more, 0});
  w_.jump_if(last, done);
  subtract();
  w_.line(Op("shl", bits), {rest, rest, 1});
  w_.line("sub.s32", {more, more, 1});
  w_.jump(next);
  w_.place(done);
  subtract();
  const Reg zero = w_.make(Reg::pred, Op("setp.eq", u), {rest, 0});
  const Reg number = assemble(d, {py.exponent, rest}), value = w_.make(c, Op("selp", bits), {0, number, zero});
  const Reg smaller = w_.make(Reg::pred, Op("setp.lt", u), {x, y});
  const Reg signed_value = w_.make(c, Op("or", bits), {value, sign});
  const Reg r = w_.make(c, Op("selp", bits), {a, signed_value, smaller});
  const Reg no_x = w_.make(Reg::pred, Op("setp.ge", u), {x, bits_of(infinity)});
  const Reg no_y = w_.make(Reg::pred, Op("setp.gt", u), {y, bits_of(infinity)});
  const Reg no_divisor = w_.make(Reg::pred, Op("setp.eq", t), {b, constant(d, 0)});
  const Reg either = w_.make(Reg::pred, "or.pred", {no_x, no_y}),
            none = w_.make(Reg::pred, "or.pred", {either, no_divisor});
  return w_.make(c, Op("selp", bits), {bits_of(infinity | infinity >> 1 | 1), r, none});
}

}  // namespace fx::inline v0::cuda
#endif
