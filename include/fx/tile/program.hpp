// tile/program.hpp -- Program: a Graph as kernels over grids of blocks, the form all backends share.
//
// A kernel walks a grid over its iteration space, the last dimension fastest. Each step copies one block of each
// operand into on-chip memory, computes, and copies one block of each result out. Which block follows from the
// operand's strides over the space: broadcast, transposition, slices and reversal are strides, no copies.
#pragma once
#include <string>

#include "../backend.hpp"

namespace fx::inline v0::tile {

struct Program;

// A dense row-major array: where its memory is, and what it holds. Buffers in one place hold its memory one after the
// other.
struct BufferDecl {
  enum Place : std::uint8_t { input, output, workspace } place = workspace;
  std::int64_t at = 0;  // number of the input or output, or byte offset in the workspace
  Type type;
};

// How a kernel sees a buffer: element `offset + sum of stride[d] * position[d]`; stride 0 repeats.
struct Access {
  int buffer = -1;
  std::int64_t offset = 0;
  Dims stride;
  friend constexpr bool operator==(const Access& a, const Access& b) {
    return a.buffer == b.buffer && a.offset == b.offset && a.stride == b.stride;
  }
};

// What the steps of a kernel do, and what its space and accesses mean.
enum class KernelKind : std::uint8_t {
  map,     // space: the shape of all results. Body inputs are the operands, body outputs the results.
  reduce,  // space: the shape of what is reduced, the body's one output; results have stride 0 along reduced dimensions
  dot,  // space: batch, rows of lhs, columns of rhs, contracted dimension. Operands: lhs or what makes it, rhs or what
        // makes it. With a body: that takes the product and the operands behind them, all over the space without the
        // contracted dimension, and gives the results
  cumulative,  // space: the shape of operand and result
  sort,        // space: the shape of operands and results
  copy,        // space: a box of elements that moves from the operand to the result
  index,       // space: what is read, or the updates. Operand accesses are over the operand's own dimensions.
  scan         // space: the steps. Stride 0: consts and carries; else the operand's row of each step. Body: `loop`.
};
inline constexpr int kernel_kinds = 8;
constexpr std::string_view name(KernelKind k) {
  constexpr std::string_view names[kernel_kinds] = {"map",  "reduce", "dot",   "cumulative",
                                                    "sort", "copy",   "index", "scan"};
  return names[int(k)];
}

struct Kernel {
  KernelKind kind = KernelKind::map;
  Dims space, block;  // the grid is ceil(space / block)
  Dims order;         // reduce: the dimensions as the grid walks them, reduced ones last; empty: as they are
  Vec<Access> in, out;
  GraphRef
      body;     // map, reduce, dot: elementwise equations over the whole space (a rank-0 literal stands for any shape)
  GraphRef op;  // reduce, dot, cumulative, sort, index: the one equation
  GraphRef made[2];  // dot: elementwise equations that make lhs and rhs, over any shape; none: it is read as it is
  Ref<const Program> loop;  // scan: inputs consts, carries, rows; outputs carries, rows
  int consts = 0, carries = 0;
  bool reverse = false;
  Vec<char> in_place;  // scan: carries that stay in one memory, follows from the loop

  std::int64_t grid(int d) const { return (space[d] + block[d] - 1) / block[d]; }
  // dot: where among the operands those of lhs (0), of rhs (1) and of the body (2) start.
  int first(int of) const {
    int n = 0;
    for (int i = 0; i < of; ++i) n += made[i] ? made[i]->ins.size() : 1;
    return n;
  }
  // dot: whether lhs (0) or rhs (1) changes along dimension d.
  bool moves(int side, int d) const {
    bool any = false;
    for (int i = first(side); i < first(side + 1); ++i) any = any || in[i].stride[d] != 0;
    return any;
  }
};

// Calls f for all that k reads, then for all that it writes.
template <class F>
void each_access(const Kernel& k, F&& f) {
  for (const Access& a : k.in) f(a);
  for (const Access& a : k.out) f(a);
}

// Whether a body has an equation without operands: iota, which counts from where the kernel starts.
inline bool uses_positions(const Graph& body) {
  for (const Eqn& e : body.eqns)
    if (e.n_in == 0) return true;
  return false;
}

// What running a kernel amounts to: steps of its grid, and the bytes of blocks that change from step to step.
struct Counts {
  std::int64_t steps = 0, bytes_in = 0, bytes_out = 0;
  friend constexpr bool operator==(const Counts&, const Counts&) = default;
};

struct Program : Shared {
  std::string target;  // whose numbers chose the blocks
  Vec<BufferDecl> buffers;
  Vec<int> ins, outs;  // buffers of the inputs and outputs
  Vec<Kernel> kernels;
  std::int64_t workspace = 0;  // bytes

  // Of each kernel; a scan counts its own steps and carry copies, and what its body does in all steps.
  Vec<Counts> predicted() const;
};

}  // namespace fx::inline v0::tile
