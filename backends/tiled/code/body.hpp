// code/body.hpp -- machine code of a recorded body: rows of elements, several vectors at a time.
#pragma once
#include "../kernels/level.hpp"
#include "../kernels/recorded.hpp"
#include "body_types.hpp"

namespace fx::inline v0::tiled::code {

// Code for this machine at `level`, or none: on the baseline, or where memory may not be executed.
BodyCode make_body(const Recorded& r, Span<const int> inputs, Span<const int> outputs, Span<const Column> columns,
                   Level level);

// Code that was made before, as bytes of another process: places `bytes`, with the addresses of the loops that it calls
// (`code.calls`), in executable memory. False where that cannot be, or for a call that the generator does not make.
bool load_body(BodyCode& code, Span<const std::uint8_t> bytes);

}  // namespace fx::inline v0::tiled::code

#if FX_BODIES
#include "generator_loop.hpp"
#endif
