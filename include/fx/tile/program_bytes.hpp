// tile/program_bytes.hpp -- a tile program as bytes and back, for what is stored.
#pragma once
#include "../ir_bytes.hpp"
#include "memory.hpp"
#include "parse.hpp"

namespace fx::inline v0::tile {

void put(ByteWriter& to, GraphWriter& graphs, const Program& p);
// Null: the reader has failed. What is returned has passed `verify`: running it stays inside its memory.
Ref<const Program> read_program(ByteReader& from, GraphReader& graphs);

#if FX_BODIES
namespace detail {
FX_INLINE void put(ByteWriter& to, GraphWriter& graphs, const Vec<Access>& list) {
  to.word(std::uint64_t(list.size()));
  for (const Access& a : list) to.word(std::uint64_t(a.buffer)), to.number(a.offset), graphs.put(a.stride);
}
FX_INLINE void put(ByteWriter& to, GraphWriter& graphs, const Kernel& k) {
  to.word(std::uint64_t(k.kind));
  for (const Dims* d : {&k.space, &k.block, &k.order}) graphs.put(*d);
  for (const Vec<Access>* list : {&k.in, &k.out}) put(to, graphs, *list);
  std::uint64_t parts = std::uint64_t(bool(k.loop)), n = 0;
  for (const GraphRef* g : {&k.body, &k.op, &k.made[0], &k.made[1]}) parts |= std::uint64_t(bool(*g)) << ++n;
  to.word(parts);
  for (const GraphRef* g : {&k.body, &k.op, &k.made[0], &k.made[1]})
    if (*g) graphs.put(**g);
  if (!k.loop) return;
  tile::put(to, graphs, *k.loop);
  to.word(std::uint64_t(k.consts)), to.word(std::uint64_t(k.carries)), to.word(k.reverse);
}

class ProgramReader {
  ByteReader& from_;
  GraphReader& graphs_;
  static constexpr int most = 1 << 30, most_nested = 100;

  Vec<int> buffer_list() {
    Vec<int> r;
    for (int n = from_.count(); n > 0; --n) r.push_back(from_.below(most));
    return r;
  }
  Vec<Access> accesses() {
    Vec<Access> r;
    const int n = from_.count();
    r.reserve(n);
    for (int i = 0; i < n; ++i) {
      Access a;
      a.buffer = from_.below(most);
      a.offset = from_.number();
      a.stride = graphs_.dims();
      r.push_back(a);
    }
    return r;
  }
  void kernel(Kernel& k, int depth) {
    k.kind = KernelKind(from_.below(kernel_kinds - 1));
    for (Dims* d : {&k.space, &k.block, &k.order}) *d = graphs_.dims();
    for (Vec<Access>* list : {&k.in, &k.out}) *list = accesses();
    const int parts = from_.below(31);
    int n = 0;
    for (GraphRef* g : {&k.body, &k.op, &k.made[0], &k.made[1]})
      if (parts >> ++n & 1) *g = graphs_.graph();
    if (!(parts & 1)) return;
    k.loop = program(depth + 1);
    k.consts = from_.below(most);
    k.carries = from_.below(most);
    k.reverse = from_.below(1) != 0;
    if (k.loop && k.carries <= k.loop->outs.size() && k.consts + k.carries <= k.loop->ins.size())
      k.in_place = carries_in_place(*k.loop, k.consts, k.carries);
  }

 public:
  ProgramReader(ByteReader& from, GraphReader& graphs) : from_(from), graphs_(graphs) {}

  Ref<const Program> program(int depth) {
    Program* p = new Program;
    const Ref<const Program> owner(p);
    if (!from_.check(depth < most_nested)) return {};
    p->target = std::string(from_.text());
    p->workspace = std::int64_t(from_.word());
    for (int n = from_.count(); n > 0; --n) {
      BufferDecl d;
      d.place = BufferDecl::Place(from_.below(BufferDecl::workspace));
      d.at = from_.number();
      d.type = graphs_.type();
      p->buffers.push_back(d);
    }
    p->ins = buffer_list();
    p->outs = buffer_list();
    for (int n = from_.count(); n > 0 && from_.ok(); --n) {
      Kernel k;
      kernel(k, depth);
      p->kernels.push_back(std::move(k));
    }
    if (!from_.ok() || !from_.check(verify(*p).empty())) return {};
    return owner;
  }
};
}  // namespace detail

FX_INLINE void put(ByteWriter& to, GraphWriter& graphs, const Program& p) {
  to.text(p.target);
  to.word(std::uint64_t(p.workspace));
  to.word(std::uint64_t(p.buffers.size()));
  for (const BufferDecl& d : p.buffers) to.word(d.place), to.number(d.at), graphs.put(d.type);
  for (const Vec<int>* list : {&p.ins, &p.outs}) {
    to.word(std::uint64_t(list->size()));
    for (int b : *list) to.word(std::uint64_t(b));
  }
  to.word(std::uint64_t(p.kernels.size()));
  for (const Kernel& k : p.kernels) detail::put(to, graphs, k);
}
FX_INLINE Ref<const Program> read_program(ByteReader& from, GraphReader& graphs) {
  return detail::ProgramReader(from, graphs).program(0);
}
#endif

}  // namespace fx::inline v0::tile
