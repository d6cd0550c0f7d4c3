// tile/prologue_fuse.hpp -- the body of tile/prologue.hpp: which kernels products take in, and where that pays.
#pragma once
#include "cost.hpp"
#include "epilogue.hpp"
#include "prologue.hpp"
#include "view.hpp"

namespace fx::inline v0::tile {
namespace detail {

class Prologues {
 public:
  explicit Prologues(Program& p)
      : p_(p), uses_(p.buffers.size(), 0), writer_(p.buffers.size(), -1), gone_(p.kernels.size(), char(0)) {
    for (int i = 0; i < p.kernels.size(); ++i) {
      each_access(p.kernels[i], [&](const Access& a) { ++uses_[a.buffer]; });
      for (const Access& a : p.kernels[i].out) writer_[a.buffer] = i;
    }
  }
  void fuse() {
    bool any = false;
    for (int i = 0; i < p_.kernels.size(); ++i) any = take_operands(i) || any;
    if (!any) return;
    Vec<Kernel> left;
    for (int i = 0; i < p_.kernels.size(); ++i)
      if (!gone_[i]) left.push_back(std::move(p_.kernels[i]));
    p_.kernels = std::move(left);
    drop_unused(p_);  // the operands
  }

 private:
  Program& p_;
  Vec<int> uses_, writer_;  // of each buffer: how often it is read or written, and which kernel wrote it last
  Vec<char> gone_;

  bool take_operands(int i) {
    Kernel& dot = p_.kernels[i];
    if (dot.kind != KernelKind::dot || numel(dot.space) == 0) return false;
    const Access side[2] = {dot.in[0], dot.in[1]};
    if (!fills_tiles(dot.space, side[0].stride, side[1].stride)) return false;
    int makers[2];
    Vec<Access> in[2];
    for (int s = 0; s < 2; ++s) {
      makers[s] = maker(i, side[s].buffer);
      if (makers[s] >= 0 && (!pays(dot, s, p_.kernels[makers[s]]) || !follow(dot, s, p_.kernels[makers[s]], in[s])))
        makers[s] = -1;
      if (makers[s] < 0) in[s] = {side[s]};
    }
    if (makers[0] < 0 && makers[1] < 0) return false;
    for (int s = 0; s < 2; ++s) {
      if (makers[s] < 0) continue;
      gone_[makers[s]] = 1;
      dot.made[s] = p_.kernels[makers[s]].body;
    }
    for (const Access& a : in[1]) in[0].push_back(a);
    for (int n = 2; n < dot.in.size(); ++n) in[0].push_back(dot.in[n]);
    dot.in = std::move(in[0]);
    return true;
  }

  // The kernel that makes buffer b for kernel `reader` alone, if its work can move there; else -1.
  int maker(int reader, int b) const {
    constexpr int reach = 64;  // keeps it linear
    const int i = writer_[b];
    if (i < 0 || reader - i > reach || uses_[b] != 2 || p_.buffers[b].place != BufferDecl::workspace) return -1;
    const Kernel& k = p_.kernels[i];
    if (k.kind != KernelKind::map || k.in.empty() || k.out.size() != 1 || uses_positions(*k.body)) return -1;
    if (numel(k.space) != numel(p_.buffers[b].type) || !(k.out[0].stride == strides_of(k.space))) return -1;
    for (int j = i + 1; j < reader; ++j)
      for (const Access& a : k.in)
        if (may_update(p_.kernels[j], a.buffer)) return -1;
    return i;
  }

  // How often a side of the product is packed: at each position of the loops outside that do not move it; lhs again for
  // each of the wide blocks of columns; and if threads share the product, which they do by the longer one of rows and
  // columns, the other side by each thread, which is counted as twice.
  static std::int64_t times_packed(const Kernel& dot, int side) {
    constexpr std::int64_t wide = 1024;
    constexpr double least_shared = 5e6;  // operations
    const int column = dot.space.n - 2;
    int row = -1;
    for (int d = 0; d < column; ++d)
      if (dot.in[1].stride[d] == 0 && (row < 0 || dot.space[d] >= dot.space[row])) row = d;
    const std::int64_t m = dot.space[row], n = dot.space[column];
    std::int64_t times = side == 0 ? (n + wide - 1) / wide : 1;
    for (int d = 0; d < column; ++d)
      if (d != row && dot.in[side].stride[d] == 0) times = capped_mul(times, dot.space[d]);
    const bool again = (m >= n) == (side == 1) && 2 * double(numel(dot.space)) > least_shared;
    return capped_mul(times, again ? 2 : 1);
  }

  // In bytes for each element of the operand: alone, the map reads and computes once and writes, and packing reads what
  // it wrote; inside, reading and computing is done as often as the operand is packed. What a map reads along some of
  // its dimensions only comes from the cache.
  bool pays(const Kernel& dot, int side, const Kernel& map) const {
    constexpr double flops_per_byte = 2.5;  // the arithmetic of one core in the time in which memory gives a byte
    const double elements = double(numel(map.space));
    double work = flops(*map.body) / elements / flops_per_byte;
    for (const Access& a : map.in)
      if (footprint(a, map.space) == numel(map.space)) work += double(element_bytes(a, p_));
    const double size = double(element_bytes(map.out[0], p_)), times = double(times_packed(dot, side));
    return times * work <= work + size + times * size;
  }

  // What the map reads, as the product walks its result.
  static bool follow(const Kernel& dot, int side, const Kernel& map, Vec<Access>& in) {
    for (const Access& a : map.in) {
      const Access& whole = dot.in[side];
      View v;
      if (!compose({a.buffer, a.offset, map.space, a.stride}, dot.space, whole.stride, whole.offset, v)) return false;
      in.push_back({a.buffer, v.offset, v.stride});
    }
    return true;
  }
};
}  // namespace detail

FX_INLINE void fuse_prologues(Program& p) { detail::Prologues(p).fuse(); }

}  // namespace fx::inline v0::tile
