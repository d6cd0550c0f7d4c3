// cuda/ptx_convert.hpp -- InstrWriter: from one dtype to another, and tables.
#pragma once
#include "ptx_instr.hpp"

#if FX_BODIES
#include <cstring>

namespace fx::inline v0::cuda {

FX_INLINE Reg InstrWriter::convert(const Instr& i, Reg a) {
  const DType from = i.type, to = i.to;
  if (from == to) return a;
  if (from == boolean) return from_flag(to, a);
  const std::string_view source = type_of_arithmetic(from), result = type_of_arithmetic(to);
  if (to == boolean)
    return w_.make(Reg::pred, Op(is_float(from) ? "setp.neu" : "setp.ne", source), {a, constant(from, 0)});
  if (is_float(from) && is_float(to))
    return w_.make(class_of(to), Op(size_of(to) == 8 ? "cvt" : "cvt.rn", result, source), {a});
  if (is_float(from)) return float_to_int(i, a);
  if (is_float(to)) return w_.make(class_of(to), Op("cvt.rn", result, source), {a});
  return int_to_int(i, a);
}

FX_INLINE Reg InstrWriter::from_flag(DType d, Reg a) {
  std::uint64_t one = 1;
  if (d == f32) one = 0x3f800000;
  if (d == f64) one = 0x3ff0000000000000;
  return w_.make(class_of(d), Op("selp", bits_type(d)), {bits_of(one), bits_of(0), a});
}

// The machine truncates and clamps; what a NaN gives depends on the types, so that is said.
FX_INLINE Reg InstrWriter::float_to_int(const Instr& i, Reg a) {
  const std::string_view from = type_of_arithmetic(i.type), to = type_of_arithmetic(i.to);
  const Reg clamped = w_.make(class_of(i.to), Op("cvt.rzi", to, from), {a});
  const Reg is_nan = w_.make(Reg::pred, Op("setp.nan", from), {a, a});
  return w_.make(class_of(i.to), Op("selp", bits_type(i.to)), {bits_of(0), clamped, is_nan});
}

FX_INLINE Reg InstrWriter::int_to_int(const Instr& i, Reg a) {
  if (size_of(i.type) == size_of(i.to)) return a;
  if (size_of(i.to) == 4) return w_.make(Reg::word, "cvt.u32.u64", {a});
  return w_.make(Reg::quad, in(i.type, unsigned_ints) ? "cvt.u64.u32" : "cvt.s64.s32", {a});
}

FX_INLINE Reg InstrWriter::lookup(const Instr& i, Reg a) {
  const std::string_view t = type_of_arithmetic(i.type);
  const bool wide = size_of(i.type) == 8;
  if (i.op == Instr::pick)
    a = w_.make(Reg::word, "and.b32", {a, 15});
  else if (in(i.type, signed_ints))
    a = w_.make(class_of(i.type), Op("max", t), {a, 0});
  if (i.op == Instr::lookup) a = w_.make(class_of(i.type), Op("min", t), {a, i.b - 1});
  if (!wide) a = w_.make(Reg::quad, "cvt.u64.u32", {a});
  Str name("table");
  name.num(tables_.number(i));
  const Reg base = w_.make(Reg::quad, "mov.u64", {name.view()});
  const Reg address = w_.make(Reg::quad, "mad.lo.s64", {a, size_of(i.to), base});
  return w_.make(class_of(i.to), Op("ld.global", bits_type(i.to)), {at(address)});
}

FX_INLINE int Tables::number(const Instr& i) {
  for (int k = 0; k < all.size(); ++k)
    if (all[k].address == i.imm && all[k].size == i.b && all[k].dtype == i.to) return k;
  all.push_back({i.imm, i.b, i.to});
  return all.size() - 1;
}

FX_INLINE void Tables::put(Str& s) const {
  for (int k = 0; k < all.size(); ++k) {
    const int size = size_of(all[k].dtype);
    const char* data = reinterpret_cast<const char*>(all[k].address);
    s += size == 8 ? ".global .align 8 .b64 table" : ".global .align 4 .b32 table";
    (s.num(k) += '[').num(all[k].size) += "] = {";
    for (int j = 0; j < all[k].size; ++j) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, data + j * size, std::size_t(size));
      (s += j == 0 ? "0x" : ", 0x").hex(bits);
    }
    s += "};\n";
  }
}

}  // namespace fx::inline v0::cuda
#endif
