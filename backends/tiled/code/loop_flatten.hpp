// code/loop_flatten.hpp -- LoopBody: operands and results of its operations, and which of them need memory.
#pragma once
#include "loop_body.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE LoopBody::LoopBody(const tile::Kernel& scan, int vector_bytes) : scan_(scan), p_(*scan.loop) {
  ports = p_.ins.size() + p_.outs.size() + 1;
  workspace = (p_.workspace + 63) / 64 * 64;
  choose_lanes(vector_bytes);
  if (too_large()) {
    missing = "it is too large";
    return;
  }
  begin_carries();
  for (const tile::Kernel& k : p_.kernels)
    if (!missing) add_kernel(k);
  if (missing) return;
  end_carries();
  find_dead();
}

// Whether it has more operations than are worth a look; those that are left may still turn out to be too many.
FX_INLINE bool LoopBody::too_large() const {
  std::int64_t n = 0;
  for (const tile::Kernel& k : p_.kernels) {
    const std::int64_t elements = numel(k.space), each = k.body ? k.body->eqns.size() + 1 : 1;
    if (elements > std::int64_t(most_items) * lanes) return true;
    n += elements / lanes * each;
  }
  return n > most_items;
}

// As many elements as fill a vector of the widest dtype.
FX_INLINE void LoopBody::choose_lanes(int vector_bytes) {
  int widest = 4;
  auto see = [&](DType d) { widest = size_of(d) > widest ? size_of(d) : widest; };
  for (const tile::BufferDecl& b : p_.buffers) see(b.type.dtype);
  for (const tile::Kernel& k : p_.kernels) {
    if (!k.body) continue;
    const tile::RecordedBody body = tile::record_body(*k.body, Dims(k.space.n, 0));
    for (DType d : body.r.regs) see(d);
  }
  lanes = vector_bytes / widest;
}

FX_INLINE int LoopBody::port_of(int buffer, std::int64_t& at) const {
  const int own = buffer - p_.buffers.size();
  const tile::BufferDecl& d = own < 0 ? p_.buffers[buffer] : own_[own];
  if (d.place == tile::BufferDecl::workspace) {
    at += d.at;
    return ports - 1;
  }
  if (d.place == tile::BufferDecl::input) return int(d.at);
  const int j = int(d.at);
  return j < scan_.carries && scan_.in_place[j] ? scan_.consts + j : p_.ins.size() + j;
}
FX_INLINE LoopPlace LoopBody::place(const tile::Access& a, std::int64_t element, int n) const {
  LoopPlace p{-1, (a.offset + element) * size_of(dtype(a)), n};
  p.port = port_of(a.buffer, p.at);
  return p;
}

FX_INLINE int LoopBody::push(const Instr& i, DType result) {
  items.push_back({LoopItem::op, r.code.size()});
  if (items.size() > most_items) missing = "it is too large";
  return r.push(i, result);
}
FX_INLINE int LoopBody::constant(DType d, std::uint64_t bits) {
  auto [it, fresh] = constants_[int(d)].try_emplace(bits, -1);
  if (fresh) {
    Instr i{Instr::constant, d};
    i.imm = bits;
    it->second = r.push(i, d);
  }
  return it->second;
}
FX_INLINE int LoopBody::input(DType d) { return r.push(Instr{Instr::input, d}, d); }

// The numbers from `first` on, or that one in all lanes.
FX_INLINE int LoopBody::positions(DType d, std::int64_t first, bool rising) {
  LoopPrepared p{input(d), d, {}, 0, {}};
  for (int l = 0; l < lanes; ++l) {
    const std::int64_t n = first + (rising ? l : 0);
    p.bits.push_back(d == f32   ? fx::detail::to_bits(float(n))
                     : d == f64 ? fx::detail::to_bits(double(n))
                                : std::uint64_t(n));
  }
  prepared.push_back(std::move(p));
  if (prepared.size() > most_prepared) missing = "it is too large";
  return prepared.back().reg;
}

// -1 if there is no room for it.
FX_INLINE int LoopBody::prepare(const LoopPlace& from, DType d, std::int64_t stride) {
  auto [it, fresh] = consts_.try_emplace({{from.port, from.at * 256 + from.lanes}, stride}, -1);
  if (fresh && prepared.size() < most_prepared) {
    it->second = input(d);
    prepared.push_back({it->second, d, from, stride, {}});
  }
  return it->second;
}

FX_INLINE int LoopBody::load(const LoopPlace& from, DType d, bool spread) {
  loads.push_back({input(d), from, spread});
  items.push_back({LoopItem::load, loads.size() - 1});
  (spread ? spreads_ : vectors_)[{from.port, from.at}] = {loads.back().reg, from.lanes, spread};
  return loads.back().reg;
}

// The element at p in all lanes, from the register that holds it; -1: none does.
FX_INLINE int LoopBody::lane_of(const LoopPlace& p, DType d) {
  const int size = size_of(d);
  if (d == boolean) return -1;
  for (auto it = vectors_.upper_bound({p.port, p.at}); it != vectors_.begin();) {
    --it;
    const std::int64_t at = it->first.second;
    if (it->first.first != p.port || at + lanes * size <= p.at) return -1;
    const Known& k = it->second;
    if ((p.at - at) % size != 0 || at + k.lanes * size <= p.at || r.regs[k.reg] != d) continue;
    Instr i{lane, d};
    i.a = k.reg, i.imm = std::uint64_t((p.at - at) / size);
    const int reg = push(i, d);
    spreads_[{p.port, p.at}] = {reg, 1, true};
    return reg;
  }
  return -1;
}

// n elements of a, `stride` apart, as a vector whose other lanes hold anything. `soon`: something waits for it.
FX_INLINE int LoopBody::operand(const tile::Access& a, std::int64_t element, std::int64_t stride, int n, bool soon) {
  LoopPlace from = place(a, element, n);
  const DType d = dtype(a);
  const bool spread = stride == 0 || n == 1;
  if (stride == 1 || n == 1)
    if (auto it = vectors_.find({from.port, from.at});
        it != vectors_.end() && it->second.lanes == n && r.regs[it->second.reg] == d)
      return it->second.reg;
  if (spread) from.lanes = 1;
  if (is_const(from.port))
    if (const int reg = prepare(from, d, spread ? 0 : stride * size_of(d)); reg >= 0) return reg;
  if (spread) {
    if (auto it = spreads_.find({from.port, from.at}); it != spreads_.end() && r.regs[it->second.reg] == d)
      return it->second.reg;
    if (soon)
      if (const int reg = lane_of(from, d); reg >= 0) return reg;
    return load(from, d, true);
  }
  return load(stride == 1 ? from : gathered(a, element, stride, n), d, false);
}

FX_INLINE LoopPlace LoopBody::gathered(const tile::Access& a, std::int64_t element, std::int64_t stride, int n) {
  const LoopPlace to{ports - 1, workspace, n};
  const int size = size_of(dtype(a));
  workspace += 64;
  for (int l = 0; l < n; ++l) {
    moves.push_back({size, place(a, element + l * stride, 1), {to.port, to.at + l * size, 1}});
    items.push_back({LoopItem::move, moves.size() - 1});
  }
  if (items.size() > most_items) missing = "it is too large";
  return to;
}

// What is known of the bytes that are written now is no longer true.
FX_INLINE void LoopBody::forget(const LoopPlace& p, int bytes) {
  for (auto* known : {&vectors_, &spreads_})
    for (auto it = known->lower_bound({p.port, p.at - 63});
         it != known->end() && it->first.first == p.port && it->first.second < p.at + bytes;) {
      const int held = (it->second.spread ? 1 : it->second.lanes) * size_of(r.regs[it->second.reg]);
      it = it->first.second + held > p.at ? known->erase(it) : std::next(it);
    }
}
FX_INLINE void LoopBody::store(int reg, const LoopPlace& to) {
  forget(to, to.lanes * size_of(r.regs[reg]));
  vectors_[{to.port, to.at}] = {reg, to.lanes, false};
  stores.push_back({reg, to});
  items.push_back({LoopItem::store, stores.size() - 1});
}

// Small carries are in registers when a step begins.
FX_INLINE void LoopBody::begin_carries() {
  for (int c = 0; c < scan_.carries; ++c) {
    const Type& t = p_.buffers[p_.ins[scan_.consts + c]].type;
    const std::int64_t n = numel(t);
    if (t.dtype == boolean || n == 0 || n > most_held * lanes || carries.size() + (n + lanes - 1) / lanes > most_held)
      continue;
    for (std::int64_t e = 0; e < n; e += lanes) {
      const LoopPlace at{scan_.consts + c, e * size_of(t.dtype), int(n - e < lanes ? n - e : lanes)};
      carries.push_back({input(t.dtype), -1, at});
      vectors_[{at.port, at.at}] = {carries.back().reg, at.lanes, false};
    }
  }
}

// Those whose new value is one vector and no other carry's old one; the others are read from memory.
FX_INLINE void LoopBody::end_carries() {
  Vec<LoopCarry> held;
  for (LoopCarry& c : carries) {
    const int j = c.at.port - scan_.consts;
    const int out = scan_.in_place[j] ? c.at.port : p_.ins.size() + j;
    const auto it = vectors_.find({out, c.at.at});
    if (it != vectors_.end() && it->second.lanes == c.at.lanes) c.next = it->second.reg;
    bool old = false;
    for (const LoopCarry& other : carries) old = old || (other.reg == c.next && other.reg != c.reg);
    if (c.next >= 0 && !old) {
      held.push_back(c);
      continue;
    }
    loads.push_back({c.reg, c.at, false});
    Vec<LoopItem> first(1, {LoopItem::load, loads.size() - 1});
    first.append(items);
    items = std::move(first);
  }
  carries = std::move(held);
}

// Backwards over the items, for each byte: whether something reads it before it is written again, and where that is.
FX_INLINE void LoopBody::find_dead() {
  struct Line {  // 64 bytes
    std::uint64_t read = 0;
    int written = 1 << 30;
  };
  std::map<At, Line> lines;
  auto each_line = [&](const LoopPlace& p, int bytes, auto&& f) {
    for (std::int64_t at = p.at, end = p.at + bytes; at < end;) {
      const std::int64_t line = at / 64, stop = (line + 1) * 64 < end ? (line + 1) * 64 : end;
      auto [it, fresh] = lines.try_emplace({p.port, line});
      if (fresh && p.port < ports - 1) it->second.read = ~std::uint64_t(0);  // the next step, or who called
      f(it->second, (stop - at == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << (stop - at)) - 1) << (at % 64));
      at = stop;
    }
  };
  auto read = [&](const LoopPlace& p, int bytes) {
    int until = 1 << 30;
    each_line(p, bytes, [&](Line& l, std::uint64_t bits) {
      l.read |= bits;
      until = l.written < until ? l.written : until;
    });
    return until;
  };
  auto write = [&](const LoopPlace& p, int bytes, int item) {
    bool any = false;
    each_line(p, bytes, [&](Line& l, std::uint64_t bits) { any = any || (l.read & bits); });
    if (any) each_line(p, bytes, [&](Line& l, std::uint64_t bits) { l.read &= ~bits, l.written = item; });
    return any;
  };
  for (int i = items.size() - 1; i >= 0; --i) {
    LoopItem& item = items[i];
    if (item.what == LoopItem::load) {
      LoopLoad& l = loads[item.index];
      l.until = read(l.from, (l.spread ? 1 : l.from.lanes) * size_of(r.regs[l.reg]));
    } else if (item.what == LoopItem::store) {
      const LoopStore& s = stores[item.index];
      item.dead = !write(s.to, s.to.lanes * size_of(r.regs[s.reg]), i);
    } else if (item.what == LoopItem::move) {
      const LoopMove& m = moves[item.index];
      item.dead = !write(m.to, m.size, i);
      if (!item.dead) read(m.from, m.size);
    }
  }
}

}  // namespace fx::inline v0::tiled::code
#endif
