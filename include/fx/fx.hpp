// fx.hpp -- the umbrella: everything of fx, in layer order.
#pragma once

#include "config.hpp"
// base: what the core is written in
#include "base/vec.hpp"
#include "base/str.hpp"
#include "base/error.hpp"
#include "base/ref.hpp"
#include "base/digest.hpp"
#include "base/fp.hpp"
#include "base/fp_text.hpp"
// types and the intermediate representation
#include "dim.hpp"
#include "type.hpp"
#include "ir.hpp"
#include "prim.hpp"
#include "print.hpp"
// primitives, one struct each
#include "ops/all.hpp"
#include "parse.hpp"
#include "verify.hpp"
// passes: Graph -> Graph
#include "passes/linearize.hpp"
#include "passes/transpose.hpp"
#include "passes/batch.hpp"
#include "passes/evaluate.hpp"
// the backend and what runs it
#include "backend.hpp"
#include "tile/print.hpp"
#include "tile/parse.hpp"
#include "runtime/buffers.hpp"
#include "runtime/executables.hpp"
#include "backends/tiled/backend.hpp"
// values
#include "array.hpp"
#include "pytree.hpp"
#include "trace.hpp"
#include "operators.hpp"
// composed functions
#include "numpy/numpy.hpp"
#include "nn/nn.hpp"
#include "random/random.hpp"
// transforms: function -> function
#include "transforms/grad.hpp"
#include "transforms/jvp.hpp"
#include "transforms/vmap.hpp"
#include "transforms/jit.hpp"
#include "transforms/inspect.hpp"
#include "transforms/control.hpp"
#include "transforms/function.hpp"
