// tile/memory.hpp -- where each buffer lies: results in the memory of operands that die, the rest in reused workspace.
#pragma once
#include "program.hpp"

namespace fx::inline v0::tile {

// Takes out the buffers that no kernel reads or writes and that are no input or output.
void drop_unused(Program& p);
// Sets the place of every buffer and the size of the workspace. The first `apart` outputs hold nothing before them:
// carries of a loop, which are to lie where they come from.
void plan_memory(Program& p, int apart = 0);
// Whether two buffers of p lie in the same memory.
bool same_memory(const Program& p, int a, int b);

// Which inputs' memory the outputs of a program may have.
class Aliases {
 public:
  explicit Aliases(const Program& p);  // which must live on
  // Output k may lie in the memory of input i: that is read no later than it is written, or element on element.
  bool allowed(int output, int input) const;
  // For each output, an input whose memory it may have, or -1; no two outputs share one.
  Vec<int> choose() const;

 private:
  struct Write {
    int kernel = -1, result = -1;
  };
  const Program& p_;
  Vec<Write> first_;    // of each output: where its memory is written first
  Vec<int> last_read_;  // of each input: the last kernel that reads it
};
// Which carries of a loop may stay in one memory from step to step.
Vec<char> carries_in_place(const Program& loop, int consts, int carries);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "memory_plan.hpp"
#endif
