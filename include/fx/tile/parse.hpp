// tile/parse.hpp -- reads the text of a tile program (tile/print.hpp) and checks it: what it accepts may run.
#pragma once
#include "../parse.hpp"
#include "program.hpp"

namespace fx::inline v0::tile {

// The program that `text` writes. Primitives as in fx::parse. Errors (parse): line, column, what was found and
// expected.
Ref<const Program> parse_program(std::string_view text, Span<const Prim* const> extra = {}, Loc loc = Loc::here());

// Empty, or what is wrong with p: buffers that do not exist, blocks that leave them, ranks that differ.
std::string verify(const Program& p);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "parse_program.hpp"
#include "verify_program.hpp"
#endif
