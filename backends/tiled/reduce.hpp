// tiled/reduce.hpp -- ReduceStep: an elementwise body over blocks, folded along the reduced dimensions in the fixed
// order.
#pragma once
#include "body.hpp"
#include "code/dump.hpp"
#include "kernels/reduce.hpp"
#include "loops.hpp"

namespace fx::inline v0::tiled {

// Each result has a state: begun when its first block comes, fed as the grid walks the reduced dimensions, finished
// with the last. Results whose reduced dimensions are the last ones are states of their own (rows); else the results
// along the last kept loop share one (columns).
class ReduceStep : public Step {
 public:
  explicit ReduceStep(const tile::Kernel& kernel, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;
  bool has_parts() const override { return !split() && reduced_count_ > 0; }
  void share(const Memory& m, char* scratch, Parts& parts) const override;
  std::string code_text() const override { return code::dump(program_.machine_code()); }

 private:
  VectorProgram program_;
  bool identity_ = false;  // the body hands on its input: it is read where it lies
  Fold fold_;
  bool rows_ = false;  // form of the states
  Vec<Loop> kept_, reduced_;
  Dims axes_;
  Dims order_, sizes_;  // kept dimensions, then reduced ones (columns: the other way round), and their sizes
  Dims dense_;          // of each dimension: its stride in that order
  std::int64_t reduced_count_ = 1;
  int elements_ = 2 * VectorProgram::max_block;
  static constexpr int column_chunk_size = 256;
  bool reduces(int d) const { return axes_.contains(d); }

  // Whether blocks hold a part of the reduced elements: then they follow each other.
  bool split() const {
    for (int d = 0; d < k.space.n; ++d)
      if (reduces(d) && k.block[d] < k.space[d]) return true;
    return false;
  }

  struct Run;
  Run prepared(const Memory& m, char* scratch) const;
};

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "reduce_run.hpp"
#endif
