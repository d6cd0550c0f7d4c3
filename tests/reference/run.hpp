// reference/run.hpp -- running a Graph on fx itself, on the reference evaluator's values.
#pragma once
#include "reference/reference.hpp"

namespace reference {

// On the tiled backend.
Values run(const fx::Graph& g, const Values& in);
// By what constant evaluation does, at run time.
Values run_constant(const fx::Graph& g, const Values& in);

}  // namespace reference
