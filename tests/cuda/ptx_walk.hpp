// cuda/ptx_walk.hpp -- runs the kernels of a program one by one on the processor, and each that has PTX elsewhere too,
// on the very same inputs: all bits must be the same, all NaNs being one value.
#pragma once
#include <cstdio>
#include <fx/backends/tiled/executable.hpp>
#include <fx/runtime/buffers.hpp>

#include "ptx_programs.hpp"

namespace ptx_test {

// Memory that an entry sees; params[i] is the region that parameter i points to the start of.
struct Launch {
  const cuda::PtxEntry* entry = nullptr;
  std::vector<std::vector<char>> regions;
  std::vector<int> params;
};
struct Tally {
  int kernels = 0, checked = 0, wrong = 0;
  std::int64_t values = 0;
  Tally& operator+=(const Tally& t) {
    kernels += t.kernels, checked += t.checked, wrong += t.wrong, values += t.values;
    return *this;
  }
};

inline std::uint64_t canonical(DType d, std::uint64_t bits) {
  if (d == f32 && (bits & 0x7fffffff) > 0x7f800000) return 0x7fc00000;
  if (d == f64 && (bits & 0x7fffffffffffffff) > 0x7ff0000000000000) return 0x7ff8000000000000;
  return bits;
}
// The first element that differs, or -1.
inline std::int64_t first_difference(const Type& t, const char* a, const char* b) {
  const int size = size_of(t.dtype);
  for (std::int64_t i = 0; i < numel(t); ++i) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a + i * size, std::size_t(size));
    std::memcpy(&y, b + i * size, std::size_t(size));
    if (canonical(t.dtype, x) != canonical(t.dtype, y)) return i;
  }
  return -1;
}
inline std::string bits_text(const Type& t, const char* data, std::int64_t i) {
  std::uint64_t x = 0;
  std::memcpy(&x, data + i * size_of(t.dtype), std::size_t(size_of(t.dtype)));
  Str s("0x");
  s.hex(x);
  return std::string(s.view());
}

template <class Device>
class Walk {
 public:
  Walk(Device& device, Ref<const tiled::TiledExecutable> e, bool every_kernel)
      : device_(device), e_(e), p_(e->program()), every_kernel_(every_kernel) {}

  // inputs: the bytes of each; they stay as they are.
  Tally run(std::vector<std::vector<char>> inputs) {
    module_ = cuda::ptx_module(p_, kernels_with_ptx(p_), device_.target());
    device_.load(module_.text);
    for (std::vector<char>& v : inputs) in_.push_back(take(std::int64_t(v.size()), v.data()));
    for (int b : p_.outs) out_.push_back(take(bytes(b), nullptr));
    const Buffer workspace = take(e_->workspace(), nullptr);
    memory_ = {&p_, in_, out_, static_cast<char*>(workspace.data)};
    char* scratch = memory_.workspace + p_.workspace;
    for (int i = 0; i < p_.kernels.size(); ++i) kernel(i, scratch);
    return tally_;
  }

 private:
  Device& device_;
  Ref<const tiled::TiledExecutable> e_;
  const tile::Program& p_;
  const bool every_kernel_;
  cuda::PtxModule module_;
  Vec<Ref<Storage>> owners_;
  Vec<Buffer> in_, out_;
  tiled::Memory memory_;
  Tally tally_;

  std::int64_t bytes(int b) const { return numel(p_.buffers[b].type) * size_of(p_.buffers[b].type.dtype); }
  Buffer take(std::int64_t n, const char* from) {
    Ref<Storage> s = allocate(n);
    std::memset(s->data, 0x7B, std::size_t(s->bytes));
    if (from && n) std::memcpy(s->data, from, std::size_t(n));
    owners_.push_back(s);
    return {s->data, s->bytes};
  }
  const cuda::PtxEntry* entry(int kernel) const {
    for (const cuda::PtxEntry& e : module_.entries)
      if (e.kernel == kernel) return &e;
    return nullptr;
  }
  // What the processor's kernel is about to see; buffers in one memory are one region.
  Launch snapshot(const cuda::PtxEntry& e) const {
    Launch l{&e, {}, {}};
    std::vector<const char*> starts;
    for (int b : e.buffers) {
      const char* start = memory_.at(b);
      int at = -1;
      for (std::size_t r = 0; r < starts.size(); ++r)
        if (starts[r] == start && bytes(b) > 0 && !l.regions[r].empty()) at = int(r);
      if (at < 0) {
        at = int(starts.size());
        starts.push_back(start);
        l.regions.emplace_back();
      }
      std::vector<char>& region = l.regions[std::size_t(at)];
      if (std::int64_t(region.size()) < bytes(b)) region.assign(start, start + bytes(b));
      l.params.push_back(at);
    }
    if (e.scratch) {
      l.params.push_back(int(l.regions.size()));
      l.regions.emplace_back(std::size_t(e.scratch), char(0x55));
    }
    return l;
  }
  void kernel(int i, char* scratch) {
    const tile::Kernel& k = p_.kernels[i];
    const cuda::PtxEntry* e = entry(i);
    Launch l;
    if (e) l = snapshot(*e);
    tiled::Step* own = tiled::make_step(k, p_);
    own->run(memory_, scratch, nullptr);
    delete own;
    ++tally_.kernels;
    Str s("  kernel ");
    (s.num(i) += ' ') += tile::name(k.kind);
    s += ' ';
    put(s, k.space, '(', ')');
    bool wrong = false;
    if (!e)
      s += ": not printed, stays on the processor";
    else
      wrong = compare(k, *e, l, s);
    if (every_kernel_ || wrong) std::printf("%s\n", std::string(s.view()).c_str());
  }
  bool compare(const tile::Kernel& k, const cuda::PtxEntry& e, Launch& l, Str& s) {
    ++tally_.checked;
    const std::string error = device_.launch(l);
    bool wrong = !error.empty();
    std::int64_t values = 0;
    if (wrong) (s += ": FAILED: ") += error;
    for (const tile::Access& a : k.out) {
      const Type& t = p_.buffers[a.buffer].type;
      int at = 0;
      while (e.buffers[at] != a.buffer) ++at;
      const char* got = l.regions[std::size_t(l.params[std::size_t(at)])].data();
      const std::int64_t where = wrong ? -1 : first_difference(t, memory_.at(a.buffer), got);
      values += numel(t);
      if (where < 0) continue;
      wrong = true;
      ((s += ": WRONG: b").num(a.buffer) += " element ").num(where);
      ((s += " is ") += bits_text(t, got, where)) += " instead of ";
      s += bits_text(t, memory_.at(a.buffer), where);
    }
    if (!wrong) ((s += ": the same ").num(values)) += " values";
    tally_.wrong += wrong;
    tally_.values += values;
    return wrong;
  }
};

template <class Device>
Tally run_case(Device& device, const Case& c, bool every_kernel = false) {
  std::vector<std::vector<char>> inputs;
  for (int k = 0; k < c.graph.ins.size(); ++k) inputs.push_back(input_bytes(c, k));
  return Walk<Device>(device, compile(c.graph, target_of(c.on_chip)), every_kernel).run(std::move(inputs));
}

}  // namespace ptx_test
