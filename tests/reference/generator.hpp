// reference/generator.hpp -- random valid Graphs over all primitives and dtypes, small, with values that stay tame.
//
// Every float in a program lies within [-4, 4] for inputs within [-2, 2]: where a primitive may leave that, its result
// is scaled or squashed; where it needs a domain, its operand is moved there. So derivatives mean something after ten
// steps.
#pragma once
#include <array>
#include <map>

#include "reference/sample.hpp"

namespace reference {

// How often each primitive and each dtype (of a result) has been generated, sub-graphs included.
struct Coverage {
  std::map<std::string, int, std::less<>> prims;
  std::array<int, fx::dtype_count> dtypes{};
  void add(const fx::Graph& g);
};

struct Program {
  fx::Graph graph;
  Values inputs;
};

// The program of a seed; primitives that `coverage` has seen least come first.
Program random_program(std::uint64_t seed, Coverage& coverage);

// A Graph under construction.
class Generator {
 public:
  Generator(Random& random, Coverage& coverage, int depth) : random_(random), coverage_(coverage), depth_(depth) {}

  fx::Builder& builder() { return b_; }
  fx::Val input(const fx::Type& t);
  // Appends one random primitive, with what its operands and its result need.
  void step();
  // All values nobody uses.
  fx::Vec<fx::Val> loose_ends() const;
  // A value of this type, from what there is.
  fx::Val want(const fx::Type& t);
  fx::Graph finish(fx::Span<const fx::Val> outs) { return b_.finish(outs); }
  Random& random() { return random_; }
  fx::Type random_type();

 private:
  using Val = fx::Val;
  using DType = fx::DType;
  using Dims = fx::Dims;

  int below(int n) { return random_.below(n); }
  bool chance(int percent) { return below(100) < percent; }
  DType pick(fx::DTypes set);
  Dims random_dims(int max_rank);
  fx::Type type_of(fx::DTypes set, int max_rank = 3);  // often that of a value there is
  Val bind(const fx::Prim& p, std::vector<Val> in, const fx::Params& params = {});
  void keep(Val v);                // into the pool
  void keep(Val v, double bound);  // after making |v| <= 4, if a float
  Val constant(const fx::Type& t);
  Val positive(const fx::Type& t);        // in [0.25, 4.25]
  Val away_from_zero(const fx::Type& t);  // |v| >= 0.5
  Val unit(const fx::Type& t);            // in [-1, 1]
  Val harmless(Val v);                    // any bits as a float: those out of [-4, 4] become 0.5
  Val from_other_dtype(const fx::Type& t);

  bool apply(const fx::Prim& p);  // false: not this time
  bool elementwise(const fx::Prim& p);
  bool layout(const fx::Prim& p);
  bool reduce(const fx::Prim& p);
  bool sort(const fx::Prim& p);
  bool dot(const fx::Prim& p);
  bool index(const fx::Prim& p);
  bool dynamic(const fx::Prim& p);
  bool control(const fx::Prim& p);
  fx::GraphRef body(const std::vector<fx::Type>& ins, const std::vector<fx::Type>& outs, int more_outs);

  Random& random_;
  Coverage& coverage_;
  int depth_;
  fx::Builder b_;
  std::vector<Val> pool_;
};

}  // namespace reference
