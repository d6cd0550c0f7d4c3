// fx.hpp -- the umbrella: everything of fx, in layer order.
#pragma once

#include "config.hpp"
// base: what the core is written in
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/fp.hpp"
#include "base/fp_text.hpp"
#include "base/ref.hpp"
#include "base/str.hpp"
#include "base/vec.hpp"
// types and the intermediate representation
#include "dim.hpp"
#include "ir.hpp"
#include "ir_bytes.hpp"
#include "prim.hpp"
#include "print.hpp"
#include "type.hpp"
// primitives, one struct each
#include "ops/all.hpp"
#include "parse.hpp"
#include "verify.hpp"
// passes: Graph -> Graph
#include "passes/batch.hpp"
#include "passes/evaluate.hpp"
#include "passes/linearize.hpp"
#include "passes/transpose.hpp"
// the backend and what runs it
#include "backend.hpp"
#include "backends/tiled/backend.hpp"
#include "runtime/buffers.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/executables.hpp"
#include "tile/parse.hpp"
#include "tile/print.hpp"
#include "tile/program_bytes.hpp"
// values
#include "array.hpp"
#include "operators.hpp"
#include "pytree.hpp"
#include "trace.hpp"
// composed functions
#include "nn/nn.hpp"
#include "numpy/numpy.hpp"
#include "random/random.hpp"
// transforms: function -> function
#include "transforms/control.hpp"
#include "transforms/function.hpp"
#include "transforms/grad.hpp"
#include "transforms/inspect.hpp"
#include "transforms/jit.hpp"
#include "transforms/jvp.hpp"
#include "transforms/vmap.hpp"
