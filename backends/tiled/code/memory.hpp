// code/memory.hpp -- CodeBlock: machine code in memory that is never writable where it is executable.
//
// One file without a name is mapped twice, once to write and once to execute. Where the system forbids either, there is
// no block, and kernels run on the portable tier.
#pragma once
#include <cstdint>
#include <fx/base/vec.hpp>

namespace fx::inline v0::tiled::code {

class CodeBlock {
  const void* entry_ = nullptr;
  std::int64_t at_ = 0, bytes_ = 0;  // in the arena

 public:
  CodeBlock() = default;
  // Copies `code` to executable memory aligned to 64; no block if there is none.
  explicit CodeBlock(Span<const std::uint8_t> code);
  CodeBlock(CodeBlock&& o) noexcept;
  CodeBlock& operator=(CodeBlock&& o) noexcept;
  ~CodeBlock();
  const void* entry() const { return entry_; }
  explicit operator bool() const { return entry_ != nullptr; }
};

// Whether this process may execute what it writes.
bool executable_memory();
// For tests: as if it may not, for what is made from now on.
void forbid_executable_memory(bool on);

}  // namespace fx::inline v0::tiled::code

#if FX_BODIES
#include "memory_arena.hpp"
#endif
