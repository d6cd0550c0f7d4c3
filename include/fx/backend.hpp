// backend.hpp -- the contract between the core and what runs a Graph, on one page.
//
// The core hands over a closed, verified Graph in topological order whose shapes are static: calls inlined, only
// primitives the backend supports, changing scalars as inputs, constants as exact bits. The backend promises: `compile`
// is pure in (digest, target fingerprint); `run` is thread-safe, allocates nothing, and writes only outputs and
// workspace; errors are fx::Error; `text` shows what was made. Not its business: derivatives, batching, pytrees, type
// rules, cache policy, buffers.
#pragma once
#include "base/bytes.hpp"
#include "prim.hpp"

namespace fx::inline v0 {

// The numbers of a machine that shape a tile program. Sizes in bytes, rates in operations or bytes per second.
struct Target {
  std::string_view name;          // "cpu", "tpu_v5e", ...
  std::int64_t on_chip = 0;       // memory that blocks are copied into (VMEM; the L2 cache of a core)
  int sublanes = 8, lanes = 128;  // vector tile
  int matrix = 128;               // side of the matrix unit
  double flops_f32 = 0, flops_bf16 = 0, bandwidth = 0;
  std::string_view source{};  // where the numbers come from
  std::string_view isa{};     // the instruction set that code is made for
  int cores = 0;              // that share a kernel; 1: what goes through rows one after the other loses nothing
};

// Memory of one array, as the backend sees it.
struct Buffer {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

class Executable : public Shared {
 public:
  virtual ~Executable() = default;
  // Bytes that `run` needs besides inputs and outputs, 64-byte aligned.
  virtual std::int64_t workspace() const = 0;
  // in, out: one Buffer per input and output of the Graph, 64-byte aligned, dense row-major. An output may be the very
  // buffer of an input where may_alias says so; no other overlap.
  virtual void run(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const = 0;
  // The same, and writes down in the trace file what each part of it took (runtime/profile.hpp).
  virtual void run_profiled(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const {
    run(in, out, workspace);
  }
  // The input whose buffer output k may overwrite (same type, dead before the output is written), or -1: no two outputs
  // name one. And whether it may overwrite that of a certain input; each input may be overwritten by one output.
  virtual int may_alias(int output) const {
    (void)output;
    return -1;
  }
  virtual bool may_alias(int output, int input) const { return may_alias(output) == input; }
  // "ir": the Graph as compiled; "tile": the tile program.
  virtual std::string text(std::string_view what) const = 0;
};
using ExecutableRef = Ref<const Executable>;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Target& target() const = 0;
  virtual bool supports(const Prim& p, Span<const Type> in) const = 0;
  virtual ExecutableRef compile(const Graph& g) const = 0;
  // The same, and an image of it: bytes from which `load` makes what was compiled, without compiling, in another
  // process whose code is the same. They stay empty where there is none.
  virtual ExecutableRef compile(const Graph& g, ByteWriter& image) const {
    (void)image;
    return compile(g);
  }
  // From an image of g; null: it is none that this backend and machine understand. What decides where memory is read
  // and written is checked; machine code in it is executed as it stands.
  virtual ExecutableRef load(const Graph& g, Span<const std::uint8_t> image) const {
    (void)g, (void)image;
    return {};
  }
};

}  // namespace fx::inline v0
