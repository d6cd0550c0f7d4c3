// code/generator_registers.hpp -- Generator: which register holds which part of which value.
#pragma once
#include "generator_plan.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE int Generator::next_use(int v) {
  Value& x = values_[v];
  while (x.next < x.first + x.count && uses_[x.next] < pos_) ++x.next;
  return x.next < x.first + x.count ? uses_[x.next] : 1 << 30;
}
// Whether the item being emitted is the last that reads it.
FX_INLINE bool Generator::dies(int v, int u) {
  const Value& x = values_[v];
  if (x.fixed >= 0 || (x.shared() && u + 1 < active_)) return false;
  return x.count == 0 || uses_[x.first + x.count - 1] <= pos_;
}

FX_INLINE void Generator::spill(int v, int u) {
  Part& p = part(v, u);
  if (!reloadable(v) && p.spill < 0) {
    p.spill = slot();
    if (in_mask(v))
      e_.vector(form::kmovw_to, 16, p.reg, 0, in_frame(p.spill));
    else
      e_.vector(form::vmovups_to, bytes(values_[v].dtype), p.reg, 0, in_frame(p.spill));
  }
  p.reg = -1;
}

// A register that holds nothing any more.
FX_INLINE int Generator::free_register(File& f) {
  int victim = -1, score = -1;
  for (int k = 0; k < f.size; ++k) {
    if ((f.pinned | f.fixed | f.temps) >> k & 1) continue;
    if (f.owner[k].value < 0) return k;
    const int v = f.owner[k].value, next = next_use(v) - pos_ + (reloadable(v) ? 16 : 0);
    if (next > score) victim = k, score = next;
  }
  if (victim < 0) fail(ErrorCode::internal, "the code generator ran out of registers");
  spill(f.owner[victim].value, f.owner[victim].part);
  f.owner[victim] = {};
  return victim;
}
FX_INLINE int Generator::take(File& f, int v, int u) {
  const int k = free_register(f);
  f.owner[k] = {v, u};
  f.pinned |= 1u << k;
  part(v, u).reg = k;
  return k;
}
// Until the end of this part.
FX_INLINE int Generator::temp(File& f) {
  const int k = free_register(f);
  f.temps |= 1u << k;
  return k;
}
FX_INLINE void Generator::drop(int v, int u) {
  Part& p = part(v, u);
  if (p.reg < 0) return;
  File& f = file(v);
  f.owner[p.reg] = {};
  f.pinned &= ~(1u << p.reg);
  p.reg = -1;
}
FX_INLINE void Generator::end_part() {
  simd_.pinned = simd_.temps = 0;
  mask_.pinned = mask_.temps = 0;
}
// Before a body: nothing is in a register but what is fixed, nothing is spilled.
FX_INLINE void Generator::forget_all() {
  for (Part& p : part_) p = {};
  for (File* f : {&simd_, &mask_}) {
    for (Owner& o : f->owner) o = {};
    f->pinned = f->temps = 0;
  }
  for (Value& v : values_) v.next = v.first;
}

FX_INLINE void Generator::load(int v, int u) {
  const int k = take(file(v), v, u);
  const Value& x = values_[v];
  const Part& p = part(v, u);
  if (x.where == Value::port && p.spill < 0) return load_port(k, v, u);
  Mem m = in_frame(x.where == Value::uniform ? x.at : p.spill);
  if (x.where == Value::constant) {
    m = Mem{};
    m.label = x.pool;
  }
  if (in_mask(v))
    e_.vector(form::kmovw, 16, k, 0, m);
  else
    e_.vector(form::vmovups, bytes(x.dtype), k, 0, m);
}

// The register of part u of v, loaded if it is not in one.
FX_INLINE int Generator::reg(int v, int u) {
  if (values_[v].fixed >= 0) return values_[v].fixed;
  if (part(v, u).reg < 0) load(v, u);
  const int k = part(v, u).reg;
  file(v).pinned |= 1u << k;
  return k;
}

// The same as a last operand, which may be memory. What is shared moves into a register if one is free.
FX_INLINE Rm Generator::rm(int v, int u) {
  const Value& x = values_[v];
  if (x.fixed >= 0 || part(v, u).reg >= 0 || in_mask(v) || x.where == Value::port) return reg(v, u);
  if (x.shared()) {
    bool room = false;
    for (int k = 0; k < simd_.size && !room; ++k)
      room = simd_.owner[k].value < 0 && !((simd_.pinned | simd_.fixed | simd_.temps) >> k & 1);
    if (room && !dies(v, u)) return reg(v, u);
    if (x.where == Value::uniform) return in_frame(x.at);
    Mem m;
    m.label = x.pool;
    return m;
  }
  if (part(v, u).spill >= 0 && dies(v, u)) return in_frame(part(v, u).spill);
  return reg(v, u);
}

// Frees the registers of operands that nothing reads after this item.
FX_INLINE void Generator::retire(const Instr& i, int u) {
  r_.for_operands(i, [&](int v) {
    if (dies(v, u)) drop(v, u);
  });
}
FX_INLINE int Generator::result(int v, int u) { return take(file(v), v, u); }

}  // namespace fx::inline v0::tiled::code
#endif
