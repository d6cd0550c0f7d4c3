// tiled/step.hpp -- Step: a kernel of a tile program, ready to run; and the walk over its grid.
#pragma once
#include <fx/runtime/workers.hpp>
#include <fx/tile/cost.hpp>
#include <fx/tile/program.hpp>
#include <string>

namespace fx::inline v0::tiled {
using fx::detail::Parts;

// The memory of one run.
struct Memory {
  const tile::Program* program = nullptr;
  Span<const Buffer> in, out;
  char* workspace = nullptr;
  // Where buffer b starts.
  char* at(int b) const {
    const tile::BufferDecl& d = program->buffers[b];
    switch (d.place) {
      case tile::BufferDecl::input: return static_cast<char*>(in[int(d.at)].data);
      case tile::BufferDecl::output: return static_cast<char*>(out[int(d.at)].data);
      default: return workspace + d.at;
    }
  }
  // Where the first element of an access lies.
  char* at(const tile::Access& a) const {
    return at(a.buffer) + a.offset * size_of(program->buffers[a.buffer].type.dtype);
  }
  int element_size(const tile::Access& a) const { return size_of(program->buffers[a.buffer].type.dtype); }
};

// One kernel with what was prepared for it. `scratch` is 64-byte aligned.
class Step {
 public:
  explicit Step(const tile::Kernel& kernel) : k(kernel) {}
  virtual ~Step() = default;
  virtual std::int64_t scratch_bytes() const { return 0; }
  virtual void run(const Memory& m, char* scratch, tile::Counts* counts) const = 0;
  // Whether it has parts that do not need each other. Then several threads may call `share` with one Parts, each with a
  // scratch of its own, and do together what run does.
  virtual bool has_parts() const { return false; }
  virtual void share(const Memory&, char*, Parts&) const {}
  // Its machine code as a dump, or "portable".
  virtual std::string code_text() const { return "portable\n"; }

 protected:
  const tile::Kernel& k;
};

constexpr std::int64_t align64(std::int64_t n) { return (n + 63) / 64 * 64; }

// One step of a grid: where the block starts in the space, and how far it reaches.
struct Block {
  Dims start, extent;
};

// Calls f(Block) for each step, the innermost dimension of the kernel's walking order fastest, and counts what it
// copies.
template <class F>
void each_block(const tile::Kernel& k, const Memory& m, tile::Counts* counts, F&& f) {
  const Dims order = tile::walk_order(k);
  const int n = k.space.n;
  for (int d = 0; d < n; ++d)
    if (k.space[d] == 0) return;
  Block b{Dims(n, 0), Dims(n, 0)};
  for (int d = 0; d < n; ++d) b.extent[d] = k.block[d] < k.space[d] ? k.block[d] : k.space[d];
  Dims moved(n, 0);  // dimensions along which this block differs from the one before
  for (bool first = true;; first = false) {
    if (counts) {
      ++counts->steps;
      auto count = [&](const tile::Access& a, std::int64_t& bytes) {
        bool fresh = first;
        for (int d = 0; d < n; ++d) fresh = fresh || (moved[d] && a.stride[d] != 0);
        if (fresh) bytes += tile::footprint(a, b.extent) * m.element_size(a);
      };
      for (const tile::Access& a : k.in) count(a, counts->bytes_in);
      for (const tile::Access& a : k.out) count(a, counts->bytes_out);
    }
    f(static_cast<const Block&>(b));
    int i = n - 1;
    for (int d = 0; d < n; ++d) moved[d] = 0;
    for (; i >= 0; --i) {
      const int d = int(order[i]);
      moved[d] = k.space[d] > k.block[d];
      b.start[d] += k.block[d];
      const bool done = b.start[d] >= k.space[d];
      if (done) b.start[d] = 0;
      b.extent[d] = k.block[d] < k.space[d] - b.start[d] ? k.block[d] : k.space[d] - b.start[d];
      if (!done) break;
    }
    if (i < 0) return;
  }
}

// Calls f for the blocks whose numbers `parts` hands to the caller.
template <class F>
void each_part(const tile::Kernel& k, const Memory& m, Parts& parts, F&& f) {
  std::int64_t n = 0, mine = parts.take();
  each_block(k, m, nullptr, [&](const Block& b) {
    if (n++ != mine) return;
    f(b);
    mine = parts.take();
  });
}

// `size` cut into parts of a multiple of `unit`, about `count` of them: the size of one.
constexpr std::int64_t part_of(std::int64_t size, std::int64_t count, std::int64_t unit) {
  const std::int64_t one = (size + count - 1) / count;
  return (one + unit - 1) / unit * unit;
}
constexpr std::int64_t parts_of_kernel = 32;  // enough that threads of unequal speed end together

inline std::int64_t offset(const tile::Access& a, const Dims& start) {
  std::int64_t n = 0;
  for (int d = 0; d < start.n; ++d) n += a.stride[d] * start[d];
  return n;
}

}  // namespace fx::inline v0::tiled
