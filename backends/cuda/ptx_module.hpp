// cuda/ptx_module.hpp -- the bodies of cuda/ptx.hpp: entries, their parameters, and loops over strips.
#pragma once
#include <fx/tile/cost.hpp>

#include "ptx.hpp"
#include "ptx_kernel.hpp"

#if FX_BODIES
namespace fx::inline v0::cuda {

// One entry: its parameters as base addresses, then its kernels.
class EntryWriter {
 public:
  EntryWriter(const tile::Program& p, int kernel, const PtxTarget& target, Tables& tables);
  void put(Str& s) const;
  const PtxEntry& entry() const { return entry_; }

 private:
  static constexpr int threads = 256;
  static constexpr std::int64_t most_blocks = 1 << 16;  // more work than that is done by turns

  const tile::Program& p_;
  const tile::Kernel& k_;
  const PtxTarget& target_;
  Tables& tables_;
  Writer w_;
  PtxEntry entry_;
  Vec<Reg> base_;  // of each of entry_.buffers

  void add_buffers(const Vec<tile::Access>& list);
  Reg parameter(int number);
  Reg base(int buffer) const;
  Reg moved(Reg address, std::int64_t bytes);
  Reg special(std::string_view name);
  int buffers_and_scratch() const { return entry_.buffers.size() + (entry_.scratch > 0); }
  void whole();
  // A strip.
  struct Strip {
    Reg number;
    Reg workspace;
    std::string_view space;
    Vec<Reg> in, out;  // where the loop's inputs and outputs begin
  };
  void strips();
  Reg row(const tile::Access& a, Reg number);
  void make_workspace(Strip& s);
  Place place(const Strip& s, const tile::Access& a);
};

FX_INLINE EntryWriter::EntryWriter(const tile::Program& p, int kernel, const PtxTarget& target, Tables& tables)
    : p_(p), k_(p.kernels[kernel]), target_(target), tables_(tables) {
  const bool is_loop = k_.kind == tile::KernelKind::scan;
  Str name("fx_");
  name.num(kernel) += '_';
  name += is_loop ? "strips" : tile::name(k_.kind);
  entry_.name = std::string(name.view());
  entry_.kernel = kernel;
  entry_.block = threads;
  add_buffers(k_.in);
  add_buffers(k_.out);
  for (int i = 0; i < entry_.buffers.size(); ++i) base_.push_back(parameter(i));
  if (is_loop)
    strips();
  else
    whole();
}

FX_INLINE void EntryWriter::add_buffers(const Vec<tile::Access>& list) {
  for (const tile::Access& a : list) {
    bool known = false;
    for (int b : entry_.buffers) known = known || b == a.buffer;
    if (!known) entry_.buffers.push_back(a.buffer);
  }
}

FX_INLINE Reg EntryWriter::parameter(int number) {
  Str name("[p");
  name.num(number) += ']';
  const Reg generic = w_.make(Reg::quad, "ld.param.u64", {name.view()});
  return w_.make(Reg::quad, "cvta.to.global.u64", {generic});
}
FX_INLINE Reg EntryWriter::base(int buffer) const {
  for (int i = 0; i < base_.size(); ++i)
    if (entry_.buffers[i] == buffer) return base_[i];
  fail(ErrorCode::internal, "PTX: a buffer that is no parameter");
}
FX_INLINE Reg EntryWriter::moved(Reg address, std::int64_t bytes) {
  return bytes == 0 ? address : w_.make(Reg::quad, "add.s64", {address, bytes});
}
FX_INLINE Reg EntryWriter::special(std::string_view name) {
  const Reg r = w_.make(Reg::word, "mov.u32", {name});
  return w_.make(Reg::quad, "cvt.u64.u32", {r});
}

FX_INLINE void EntryWriter::whole() {
  const std::int64_t blocks = (KernelWriter::wanted(k_) + threads - 1) / threads;
  entry_.grid = blocks < 1 ? 1 : blocks < most_blocks ? blocks : most_blocks;
  Vec<Place> places;
  for (const Vec<tile::Access>* list : {&k_.in, &k_.out})
    for (const tile::Access& a : *list) {
      const DType d = p_.buffers[a.buffer].type.dtype;
      places.push_back({moved(base(a.buffer), a.offset * size_of(d)), ".global", d});
    }
  const Reg block = special("%ctaid.x"), thread = special("%tid.x");
  const Reg number = w_.make(Reg::quad, "mad.lo.s64", {block, threads, thread});
  const Reg count = w_.make(Reg::quad, "mov.b64", {entry_.grid * threads});
  KernelWriter(w_, tables_, k_, std::move(places), {number, count}).write();
}

// A block of threads for each strip; they wait for each other between the kernels of the loop.
FX_INLINE void EntryWriter::strips() {
  const std::int64_t length = k_.space[0];
  entry_.grid = length < 1 ? 1 : length;
  if (length == 0) return;
  Strip s;
  s.number = special("%ctaid.x");
  make_workspace(s);
  if (k_.reverse) {
    const Reg last = w_.make(Reg::quad, "mov.b64", {length - 1});
    s.number = w_.make(Reg::quad, "sub.s64", {last, s.number});
  }
  for (const tile::Access& a : k_.in) s.in.push_back(row(a, s.number));
  for (const tile::Access& a : k_.out) s.out.push_back(row(a, s.number));
  const Reg thread = special("%tid.x"), count = w_.make(Reg::quad, "mov.b64", {threads});
  const tile::Program& loop = *k_.loop;
  for (int i = 0; i < loop.kernels.size(); ++i) {
    const tile::Kernel& k = loop.kernels[i];
    if (i > 0) w_.line("bar.sync", {0});
    w_.comment(tile::name(k.kind));
    Vec<Place> places;
    for (const tile::Access& a : k.in) places.push_back(place(s, a));
    for (const tile::Access& a : k.out) places.push_back(place(s, a));
    KernelWriter(w_, tables_, k, std::move(places), {thread, count}).write();
  }
}

// Where the rows of a strip begin in what the loop reads or writes.
FX_INLINE Reg EntryWriter::row(const tile::Access& a, Reg number) {
  const int size = size_of(p_.buffers[a.buffer].type.dtype);
  const Reg first = moved(base(a.buffer), a.offset * size);
  if (a.stride[0] == 0) return first;
  return w_.make(Reg::quad, "mad.lo.s64", {number, a.stride[0] * size, first});
}

// What the loop keeps to itself lies in shared memory if it fits, else in a part of the scratch for each strip.
FX_INLINE void EntryWriter::make_workspace(Strip& s) {
  const std::int64_t bytes = (k_.loop->workspace + 63) / 64 * 64;
  s.space = ".shared";
  if (bytes == 0) return;
  if (bytes <= target_.shared) {
    Str declaration("  .shared .align 64 .b8 strip[");
    declaration.num(bytes) += "];\n";
    w_.raw(declaration);
    s.workspace = w_.make(Reg::quad, "mov.u64", {"strip"});
    return;
  }
  s.space = ".global";
  entry_.scratch = bytes * entry_.grid;
  s.workspace = w_.make(Reg::quad, "mad.lo.s64", {s.number, bytes, parameter(entry_.buffers.size())});
}

FX_INLINE Place EntryWriter::place(const Strip& s, const tile::Access& a) {
  const tile::BufferDecl& b = k_.loop->buffers[a.buffer];
  const DType d = b.type.dtype;
  const std::int64_t bytes = a.offset * size_of(d);
  switch (b.place) {
    case tile::BufferDecl::input: return {moved(s.in[int(b.at)], bytes), ".global", d};
    case tile::BufferDecl::output: return {moved(s.out[int(b.at)], bytes), ".global", d};
    default: return {moved(s.workspace, b.at + bytes), s.space, d};
  }
}

FX_INLINE void EntryWriter::put(Str& s) const {
  s += "\n// kernel ";
  (s.num(entry_.kernel) += ": ") += tile::name(k_.kind);
  s += " space=";
  fx::put(s, k_.space, '(', ')');
  ((s += ", blocks ").num(entry_.grid) += ", threads ").num(entry_.block);
  for (int i = 0; i < entry_.buffers.size(); ++i) {
    ((s += "\n// p").num(i) += ": b").num(entry_.buffers[i]) += ' ';
    fx::put(s, p_.buffers[entry_.buffers[i]].type);
  }
  if (entry_.scratch) ((s += "\n// p").num(entry_.buffers.size()) += ": scratch, bytes ").num(entry_.scratch);
  s += "\n.visible .entry ";
  s += entry_.name;
  s += '(';
  for (int i = 0; i < buffers_and_scratch(); ++i) (s += i == 0 ? "\n  .param .u64 p" : ",\n  .param .u64 p").num(i);
  (s += ")\n.maxntid ").num(threads) += ", 1, 1\n{\n";
  s += w_.finish();
  s += "  ret;\n}\n";
}

FX_INLINE bool has_ptx(const tile::Kernel& k) {
  if (k.kind == tile::KernelKind::map || k.kind == tile::KernelKind::reduce) return true;
  if (k.kind != tile::KernelKind::scan || k.carries > 0) return false;
  for (const tile::Kernel& inner : k.loop->kernels)
    if (inner.kind != tile::KernelKind::map && inner.kind != tile::KernelKind::reduce) return false;
  return true;
}

FX_INLINE PtxModule ptx_module(const tile::Program& p, Span<const int> kernels, const PtxTarget& target) {
  Tables tables;
  Str entries;
  PtxModule m;
  for (int i : kernels) {
    const tile::Kernel& k = p.kernels[i];
    if (!has_ptx(k))
      fail(ErrorCode::unsupported, "PTX: kernel " + std::to_string(i) + " of the program (" +
                                       std::string(tile::name(k.kind)) +
                                       ") has no PTX yet; map, reduce and loops without carries over those two have");
    const EntryWriter e(p, i, target, tables);
    e.put(entries);
    m.entries.push_back(e.entry());
  }
  Str s(".version ");
  ((s += target.version) += "\n.target ") += target.name;
  s += "\n.address_size 64\n";
  tables.put(s);
  s += entries;
  m.text = std::string(s.view());
  return m;
}

FX_INLINE std::string ptx(const tile::Program& p, const PtxTarget& target) {
  Vec<int> all;
  for (int i = 0; i < p.kernels.size(); ++i) all.push_back(i);
  return ptx_module(p, all, target).text;
}

}  // namespace fx::inline v0::cuda
#endif
