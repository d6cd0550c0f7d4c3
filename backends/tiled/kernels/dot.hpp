// kernels/dot.hpp -- the matrix product: for each result one chain of fused multiply-adds in rising k.
#pragma once
#include "dot_types.hpp"

namespace fx::inline v0::tiled {

// c[i, j] = sum over p < k of a[i, p] * b[p, j]. Strides are in elements and arbitrary (0 and negative too) but for c's
// columns, which are contiguous.
struct DotShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_col = 0;  // a[i, p] is at i * a_row + p * a_col
  std::int64_t b_row = 0, b_col = 0;  // b[p, j] is at p * b_row + j * b_col
  std::int64_t c_row = 0;             // c[i, j] is at i * c_row + j
  bool resume = false;                // go on with the sums that c holds: those of the elements of k before
};

// Makes an operand part by part, instead of its memory. A line is a row of a or a column of b; its elements are terms.
struct DotSource {
  static constexpr std::int64_t staged = 4096;  // elements
  bool lines_beside = false;                    // it makes lines beside each other, else terms
  char* stage = nullptr;                        // room for that many elements

  // `lines` lines from number `line` on of `terms` terms from `term` on, to `to`: what lies beside each other without
  // gaps, the terms (else the lines) `pitch` elements apart.
  virtual void make(std::int64_t line, std::int64_t lines, std::int64_t term, std::int64_t terms, void* to,
                    std::int64_t pitch) const = 0;

 protected:
  ~DotSource() = default;
};
// Takes the results of a product part by part, instead of c: rows i .. i + rows - 1 and columns j .. j + cols - 1 lie
// at `part`, rows `pitch` elements apart. Each comes once.
struct DotFinish {
  virtual void take(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t cols, const void* part,
                    std::int64_t pitch) const = 0;

 protected:
  ~DotFinish() = default;
};
// What takes the place of memory, if anything does.
struct DotEnds {
  const DotSource *a = nullptr, *b = nullptr;
  const DotFinish* c = nullptr;
  bool any() const { return a || b || c; }
};

// Bytes of 64-byte aligned workspace for products of at most these sizes.
std::int64_t dot_workspace(const DotLoops& loops, std::int64_t m, std::int64_t n, std::int64_t k, bool finish = false);

// For i32, i64, u32, u64 (wrapping), f32, f64. k == 0 gives +0. A part of the rows or columns of a product is a
// product: threads may split m and n as they like, the bits stay. With ends: k > 0 and without resume; for a
// finish b is packed as a whole.
void dot(const DotLoops& loops, const DotShape& s, const void* a, const void* b, void* c, void* workspace,
         const DotEnds& ends = {});

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "dot_body.hpp"
#endif
