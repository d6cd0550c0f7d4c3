// tile/memory_plan.hpp -- the bodies of tile/memory.hpp: lifetimes, results in place, offsets.
#pragma once
#include <algorithm>
#include <map>

#include "memory.hpp"

namespace fx::inline v0::tile {

FX_INLINE bool same_memory(const Program& p, int a, int b) {
  return a == b || (p.buffers[a].place == p.buffers[b].place && p.buffers[a].at == p.buffers[b].at);
}

namespace detail {
FX_INLINE bool reads_once(const Kernel& k, int b) {
  int n = 0;
  for (const Access& a : k.in) n += a.buffer == b;
  return n == 1;
}

// Whether result j of k may lie in the memory of buffer b, which k reads: the kernel reads what it overwrites only
// before.
FX_INLINE bool overwrites(const Program& p, const Kernel& k, int b, int j) {
  const Access& out = k.out[j];
  const Type &from = p.buffers[b].type, &to = p.buffers[out.buffer].type;
  if (size_of(from.dtype) != size_of(to.dtype) || numel(from) != numel(to)) return false;
  switch (k.kind) {
    case KernelKind::map:
    case KernelKind::copy:
      if (numel(k.space) != numel(to)) return false;
      for (const Access& a : k.in)
        if (a.buffer == b && !(a.offset == out.offset && a.stride == out.stride)) return false;
      return true;
    case KernelKind::dot:  // an operand of its body
      if (!reads_once(k, b)) return false;
      for (int i = 0; i < k.in.size(); ++i)
        if (const Access& a = k.in[i]; a.buffer == b)
          return i >= k.first(2) && a.offset == out.offset && a.stride == out.stride;
      return false;
    case KernelKind::cumulative: return reads_once(k, b);
    case KernelKind::sort: return k.in[j].buffer == b && reads_once(k, b);
    case KernelKind::index: {
      const IndexSpec spec = k.op->eqns[0].prim->index(*k.op, k.op->eqns[0]);
      return spec.write && k.in[spec.operand].buffer == b && k.in[spec.operand].offset == 0 && reads_once(k, b);
    }
    case KernelKind::scan:
      return j < k.carries && k.in[k.consts + j].buffer == b && k.in[k.consts + j].offset == 0 && reads_once(k, b) &&
             k.in_place[j];
    default: return false;
  }
}

// The kernels that write a buffer first and use it last; kernels() if none.
struct Lifetimes {
  Vec<int> first, last;
  explicit Lifetimes(const Program& p) : first(p.buffers.size(), -1), last(p.buffers.size(), -1) {
    for (int i = 0; i < p.kernels.size(); ++i) {
      for (const Access& a : p.kernels[i].out) {
        if (first[a.buffer] < 0) first[a.buffer] = i;
        last[a.buffer] = i;
      }
      for (const Access& a : p.kernels[i].in) last[a.buffer] = i;
    }
  }
};

// Buffers joined into memories: root[b] names the one of b.
struct Memories {
  Vec<int> root;
  explicit Memories(int n) : root(n) {
    for (int i = 0; i < n; ++i) root[i] = i;
  }
  int find(int b) {
    while (root[b] != b) b = root[b] = root[root[b]];
    return b;
  }
};

// Joins each result with an operand that dies in the kernel which makes the result, where that kernel may overwrite it.
FX_INLINE void join_in_place(const Program& p, const Lifetimes& life, int apart, Memories& m) {
  for (int i = 0; i < p.kernels.size(); ++i) {
    const Kernel& k = p.kernels[i];
    for (int j = 0; j < k.out.size(); ++j) {
      const int o = k.out[j].buffer;
      if (life.first[o] != i || m.find(o) != o) continue;
      if (p.buffers[o].place == BufferDecl::output && p.buffers[o].at < apart) continue;
      for (const Access& a : k.in) {
        const int b = a.buffer;
        if (p.buffers[b].place != BufferDecl::workspace || life.last[b] != i || life.first[b] == i) continue;
        const int from = m.find(b);
        if (p.buffers[from].place != BufferDecl::workspace || !overwrites(p, k, b, j)) continue;
        bool taken = false;  // by another result of this kernel
        for (int other = 0; other < j; ++other) taken = taken || m.find(k.out[other].buffer) == from;
        if (taken) continue;
        m.root[from] = o;
        break;
      }
    }
  }
}

// Free parts of the workspace by offset; neighbours are one part.
struct FreeParts {
  std::map<std::int64_t, std::int64_t> parts;  // offset -> bytes
  std::int64_t end = 0;
  std::int64_t take(std::int64_t bytes) {
    auto best = parts.end();
    int tries = 64;  // the smallest that fits among the first few: planning stays linear
    for (auto it = parts.begin(); it != parts.end() && tries-- > 0; ++it)
      if (it->second >= bytes && (best == parts.end() || it->second < best->second)) best = it;
    if (best == parts.end()) {
      const std::int64_t at = end;
      end += bytes;
      return at;
    }
    const auto [at, size] = *best;
    parts.erase(best);
    if (size > bytes) parts[at + bytes] = size - bytes;
    return at;
  }
  void give(std::int64_t at, std::int64_t bytes) {
    auto next = parts.lower_bound(at);
    if (next != parts.end() && next->first == at + bytes) {
      bytes += next->second;
      next = parts.erase(next);
    }
    if (next != parts.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) {
        before->second += bytes;
        return;
      }
    }
    parts[at] = bytes;
  }
};

FX_INLINE std::int64_t aligned_bytes(const Type& t) {
  constexpr std::int64_t cap = std::int64_t(1) << 56;  // more than any memory: allocation refuses it
  const std::int64_t count = numel(t), bytes = count < 0 ? -1 : fx::detail::checked_mul(count, size_of(t.dtype));
  const std::int64_t n = bytes < 0 || bytes > cap ? cap : bytes;
  return n == 0 ? 64 : (n + 63) / 64 * 64;
}
}  // namespace detail

FX_INLINE void drop_unused(Program& p) {
  Vec<int> at(p.buffers.size(), -1);
  Vec<BufferDecl> left;
  for (int b : p.ins) at[b] = 0;
  for (int b : p.outs) at[b] = 0;
  for (const Kernel& k : p.kernels) each_access(k, [&](const Access& a) { at[a.buffer] = 0; });
  for (int b = 0; b < p.buffers.size(); ++b) {
    if (at[b] < 0) continue;
    at[b] = left.size();
    left.push_back(p.buffers[b]);
  }
  p.buffers = std::move(left);
  for (int& b : p.ins) b = at[b];
  for (int& b : p.outs) b = at[b];
  for (Kernel& k : p.kernels)
    for (Vec<Access>* list : {&k.in, &k.out})
      for (Access& a : *list) a.buffer = at[a.buffer];
}

FX_INLINE void plan_memory(Program& p, int apart) {
  const int n = p.buffers.size(), kernels = p.kernels.size();
  const detail::Lifetimes life(p);
  detail::Memories m(n);
  detail::join_in_place(p, life, apart, m);
  Vec<int> first(n, kernels), last(n, -1);  // of a memory, by root
  for (int b = 0; b < n; ++b) {
    if (life.last[b] < 0) continue;
    const int r = m.find(b);
    if (life.first[b] >= 0 && life.first[b] < first[r]) first[r] = life.first[b];
    if (life.last[b] > last[r]) last[r] = life.last[b];
  }
  Vec<Vec<int>> begins(kernels), ends(kernels);
  for (int b = 0; b < n; ++b)
    if (m.find(b) == b && p.buffers[b].place == BufferDecl::workspace && last[b] >= 0) {
      if (first[b] == kernels) first[b] = last[b];  // empty: nothing writes it
      begins[first[b]].push_back(b);
      ends[last[b]].push_back(b);
    }
  detail::FreeParts free;
  for (int i = 0; i < kernels; ++i) {
    for (int b : begins[i]) p.buffers[b].at = free.take(detail::aligned_bytes(p.buffers[b].type));
    for (int b : ends[i]) free.give(p.buffers[b].at, detail::aligned_bytes(p.buffers[b].type));
  }
  p.workspace = free.end;
  for (int b = 0; b < n; ++b) {
    const int r = m.find(b);
    p.buffers[b].place = p.buffers[r].place;
    p.buffers[b].at = p.buffers[r].at;
  }
}

FX_INLINE Aliases::Aliases(const Program& p) : p_(p), first_(p.outs.size()), last_read_(p.ins.size(), -1) {
  for (int i = 0; i < p.kernels.size(); ++i) {
    for (int j = 0; j < p.kernels[i].out.size(); ++j)
      if (const BufferDecl& b = p.buffers[p.kernels[i].out[j].buffer]; b.place == BufferDecl::output)
        if (Write& w = first_[int(b.at)]; w.kernel < 0) w = {i, j};
    for (const Access& a : p.kernels[i].in)
      if (const BufferDecl& b = p.buffers[a.buffer]; b.place == BufferDecl::input) last_read_[int(b.at)] = i;
  }
}

FX_INLINE bool Aliases::allowed(int output, int input) const {
  const Write& w = first_[output];
  const int b = p_.ins[input];
  if (w.kernel < 0 || !(p_.buffers[b].type == p_.buffers[p_.outs[output]].type)) return false;
  return last_read_[input] < w.kernel ||
         (last_read_[input] == w.kernel && detail::overwrites(p_, p_.kernels[w.kernel], b, w.result));
}

FX_INLINE Vec<int> Aliases::choose() const {
  Vec<int> result(p_.outs.size(), -1);
  Vec<char> taken(p_.ins.size(), 0);
  auto take = [&](int k, int i) {
    if (result[k] >= 0 || taken[i] || !allowed(k, i)) return;
    taken[i] = 1;
    result[k] = i;
  };
  // Best, what the same kernel reads: the output is an update of it. Results often come in the order of what they
  // update.
  for (int k = 0; k < p_.outs.size(); ++k) {
    if (first_[k].kernel < 0) continue;
    Vec<int> operands;
    for (const Access& a : p_.kernels[first_[k].kernel].in)
      if (const BufferDecl& b = p_.buffers[a.buffer]; b.place == BufferDecl::input) operands.push_back(int(b.at));
    std::sort(operands.begin(), operands.end());
    for (int i : operands) take(k, i);
  }
  for (int k = 0; k < p_.outs.size(); ++k)
    for (int i = 0; i < p_.ins.size() && i < 64; ++i) take(k, i);
  return result;
}

FX_INLINE Vec<char> carries_in_place(const Program& loop, int consts, int carries) {
  const Aliases aliases(loop);
  Vec<char> r;
  for (int c = 0; c < carries; ++c) r.push_back(aliases.allowed(c, consts + c));
  return r;
}

}  // namespace fx::inline v0::tile
