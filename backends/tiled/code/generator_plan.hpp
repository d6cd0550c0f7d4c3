// code/generator_plan.hpp -- Generator: values and their uses, how many lanes and vectors a step has.
#pragma once
#include "generator.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE Generator::Generator(const Recorded& recorded, Span<const int> inputs, Span<const int> outputs,
                               Span<const Column> cols, bool avx512)
    : r_(recorded),
      code_(recorded.r.code),
      needed_(recorded.needed),
      outputs_(outputs),
      avx512_(avx512),
      inputs_(inputs.size()) {
  find_extrema();
  find_fixed_shifts();
  simd_.size = avx512 ? 32 : 16;
  mask_.size = avx512 ? tail_mask : 0;
  mask_.fixed = 1;  // k0 is no mask
  choose_lanes();
  add_values(inputs, cols);
  order_items();
  collect_uses();
  choose_parts();
}

FX_INLINE Generator::Generator(const Recorded& recorded, Span<const int> outputs, int lanes, bool avx512)
    : r_(recorded),
      code_(recorded.r.code),
      needed_(recorded.needed),
      outputs_(outputs),
      avx512_(avx512),
      inputs_(0),
      lanes_(lanes),
      word_(avx512 ? 4 : 32 / lanes) {
  find_extrema();
  find_fixed_shifts();
  simd_.size = avx512 ? 32 : 16;
  mask_.size = avx512 ? tail_mask : 0;
  mask_.fixed = 1;
  values_.resize(r_.r.regs.size());
  part_.resize(values_.size() * max_parts);
}

// How often each register is read.
FX_INLINE Vec<int> Generator::readers() const {
  Vec<int> uses(r_.def.size(), 0);
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at]) r_.for_operands(code_[at], [&](int reg) { ++uses[reg]; });
  for (int reg : outputs_) ++uses[r_.same[reg]];
  return uses;
}

FX_INLINE void Generator::find_extrema() {
  const Vec<int> uses = readers();
  for (int at = 0; at < code_.size(); ++at) {
    Instr& i = code_[at];
    if (!needed_[at] || i.op != Instr::select || !is_float(i.type)) continue;
    const int mask = r_.same[i.a], test = r_.def[mask], a = r_.same[i.b], b = r_.same[i.c];
    if (test < 0 || uses[mask] != 1) continue;
    const Instr& c = code_[test];
    if (c.op != Instr::lt || c.type != i.type) continue;
    const int x = r_.same[c.a], y = r_.same[c.b];
    if (!(x == a && y == b) && !(x == b && y == a)) continue;
    i.op = x == a ? lesser : greater;
    i.a = a, i.b = b, i.c = -1;
    needed_[test] = 0;
  }
}

// A shift by a constant has no second operand: the count, at most 255, is in imm. Instructions take it so, and any
// count that is not below the width shifts everything out.
FX_INLINE void Generator::find_fixed_shifts() {
  Vec<int> uses = readers();
  for (int at = 0; at < code_.size(); ++at) {
    Instr& i = code_[at];
    if (!needed_[at] || (i.op != Instr::shl && i.op != Instr::shr) || called(i)) continue;
    const int count = r_.same[i.b], def = r_.def[count];
    if (def < 0 || code_[def].op != Instr::constant) continue;
    i.imm = code_[def].imm < 255 ? code_[def].imm : 255;
    i.b = -1;
    if (--uses[count] == 0) needed_[def] = 0;
  }
}

// As many elements as fill a vector of the widest dtype.
FX_INLINE void Generator::choose_lanes() {
  int widest = 4;
  auto see = [&](DType d) { widest = size_of(d) > widest ? size_of(d) : widest; };
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at]) {
      see(code_[at].type);
      see(code_[at].to);
    }
  for (int reg : outputs_) see(r_.dtype(reg));
  for (int reg = 0; reg < r_.def.size(); ++reg)
    if (r_.is_input(reg)) see(r_.dtype(reg));
  lanes_ = (avx512_ ? 64 : 32) / widest;
  word_ = avx512_ ? 4 : widest;
}

FX_INLINE void Generator::add_values(Span<const int> inputs, Span<const Column> cols) {
  values_.resize(r_.r.regs.size());
  part_.resize(values_.size() * max_parts);
  for (int k = 0; k < inputs.size(); ++k) {
    Value& v = values_[inputs[k]];
    v.dtype = r_.dtype(inputs[k]);
    v.where = cols[k] == Column::one ? Value::uniform : Value::port;
    v.at = k;
  }
  Vec<char> wanted(values_.size(), char(0));
  for (int reg : outputs_) wanted[r_.same[reg]] = 1;
  for (int at = 0; at < code_.size(); ++at) {
    const Instr& i = code_[at];
    if (!needed_[at] || values_[i.dst].where != Value::none) continue;
    values_[i.dst].dtype = i.to;
    if (i.op == Instr::constant) {
      add_constant(i.dst, i);
    } else if (i.op == Instr::index) {
      values_[i.dst].where = Value::port;
      values_[i.dst].at = inputs_ + result_.positions.size();
      result_.positions.push_back({i.a, i.to});
    } else {
      values_[i.dst].where = Value::computed;
    }
  }
}

// A vector of it, in the pool.
FX_INLINE void Generator::add_constant(int reg, const Instr& i) {
  Value& v = values_[reg];
  v.where = Value::constant;
  if (i.type != boolean) {
    v.pool = pool(i.imm, size_of(i.type)).mem.label;
    return;
  }
  v.pool = pool(i.imm ? ~std::uint64_t(0) : 0, 8).mem.label;
}

// Instructions in their order. Results are stored when no input is read any more, because they may lie in its memory;
// before that, results that are inputs are held in registers.
FX_INLINE void Generator::order_items() {
  auto is_port = [&](int reg) { return values_[reg].where == Value::port; };
  int last_load = -1;
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at]) r_.for_operands(code_[at], [&](int reg) { last_load = is_port(reg) ? at : last_load; });
  auto store_from = [&](int at) {
    if (at == last_load)
      for (int reg : outputs_)
        if (is_port(r_.same[reg])) seq_.push_back({Item::hold, r_.same[reg]});
    for (int j = 0; j < outputs_.size(); ++j) {
      const int v = r_.same[outputs_[j]], def = values_[v].where == Value::computed ? r_.def[v] : -1;
      if ((def > last_load ? def : last_load) == at) seq_.push_back({Item::store, j});
    }
  };
  store_from(-1);
  for (int at = 0; at < code_.size(); ++at) {
    const Instr& i = code_[at];
    if (!needed_[at] || i.op == Instr::constant || i.op == Instr::index) continue;
    calls_ = calls_ || called(i);
    seq_.push_back({Item::op, at});
    store_from(at);
  }
}

FX_INLINE void Generator::collect_uses() {
  auto each_use = [&](auto&& f) {
    for (int at = 0; at < seq_.size(); ++at) {
      const Item& s = seq_[at];
      if (s.what == Item::op)
        r_.for_operands(code_[s.index], [&](int reg) { f(reg, at); });
      else if (s.what != Item::other)
        f(s.what == Item::hold ? s.index : r_.same[outputs_[s.index]], at);
    }
  };
  each_use([&](int reg, int) { ++values_[reg].count; });
  int first = 0;
  for (Value& v : values_) {
    v.first = v.next = first;
    first += v.count;
  }
  uses_.resize(first);
  each_use([&](int reg, int at) { uses_[values_[reg].next++] = at; });
}

// How many registers one vector's values fill at the fullest point.
FX_INLINE Generator::Fullest Generator::fullest() const {
  Vec<int> change[2] = {Vec<int>(seq_.size() + 2, 0), Vec<int>(seq_.size() + 2, 0)};
  Vec<int> born(values_.size(), 0);
  for (int at = 0; at < seq_.size(); ++at)
    if (seq_[at].what == Item::op) born[code_[seq_[at].index].dst] = at;
  for (int v = 0; v < values_.size(); ++v) {
    const Value& x = values_[v];
    if (x.count == 0 || x.shared() || x.fixed >= 0) continue;
    const int from = x.where == Value::port ? uses_[x.first] : born[v];
    ++change[in_mask(v)][from];
    --change[in_mask(v)][uses_[x.first + x.count - 1] + 1];
  }
  Fullest most;
  int now[2] = {0, 0};
  for (int at = 0; at < seq_.size(); ++at) {
    for (int c = 0; c < 2; ++c) now[c] += change[c][at];
    most.simd = now[0] > most.simd ? now[0] : most.simd;
    most.mask = now[1] > most.mask ? now[1] : most.mask;
  }
  return most;
}

// As many vectors as registers hold there.
FX_INLINE void Generator::choose_parts() {
  const Fullest most = fullest();
  parts_ = calls_ ? 1 : max_parts;
  while (parts_ > 1 && (parts_ * most.simd + temporaries > simd_.size || (avx512_ && parts_ * most.mask >= mask_.size)))
    --parts_;
  if (!calls_) fix_shared(simd_.size - parts_ * most.simd - temporaries);
}

// The constants and row values that are read most keep a register, `room` at most.
FX_INLINE void Generator::fix_shared(int room) {
  for (int k = simd_.size - 1; room > 0 && k >= 0; --k) {
    if (simd_.fixed >> k & 1) continue;
    --room;
    int best = -1;
    for (int v = 0; v < values_.size(); ++v) {
      const Value& x = values_[v];
      if (!x.shared() || in_mask(v) || x.fixed >= 0 || x.count == 0) continue;
      if (best < 0 || x.count > values_[best].count) best = v;
    }
    if (best < 0) return;
    values_[best].fixed = k;
    simd_.fixed |= 1u << k;
  }
}

}  // namespace fx::inline v0::tiled::code
#endif
