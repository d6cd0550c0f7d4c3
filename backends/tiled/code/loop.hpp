// code/loop.hpp -- LoopCode: a loop and all kernels of its body as one function.
#pragma once
#include "../kernels/level.hpp"
#include "body_types.hpp"
#include "loop_body.hpp"

namespace fx::inline v0::tiled::code {

// `args` of the call: the steps in `rows`; each port of the loop (LoopBody), with what it moves on by in a step; after
// them, for each carry that alternates between two memories, the one that its output is not in now.
struct LoopCode {
  // What the frame holds before the first step: a vector, at a place in it.
  struct Constant {
    LoopPrepared what;
    int slot = 0;
  };
  CodeBlock block;
  Vec<std::uint8_t> bytes;
  const char* missing = "there is no machine code here";  // why there is none
  int ports = 0, lanes = 0, word = 0, frame_bytes = 0;    // word: bytes of a lane of bools, 0: a bit
  std::int64_t workspace = 0;
  Vec<Constant> constants;
  explicit operator bool() const { return bool(block); }
  // Writes the constants; `ports` points to the first step's.
  void prepare(char* frame, const Port* ports) const;
  void run(BodyArgs* args) const { reinterpret_cast<void (*)(BodyArgs*)>(const_cast<void*>(block.entry()))(args); }
};

// For a scan whose body is small and made of kernels that are known here.
LoopCode make_loop(const tile::Kernel& scan, Level level);

}  // namespace fx::inline v0::tiled::code

#if FX_BODIES
#include "loop_generator.hpp"
#endif
