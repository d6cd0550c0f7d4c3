// tile/analysis.hpp -- Analysis: which equations of a Graph share a kernel, which results need memory, which are views.
//
// Each value has a level: how many trips through memory lie before it. Elementwise equations of one level that feed
// each other share a kernel, so kernels cannot depend on each other in a circle. An equation all whose readers are
// elementwise of one later level moves there, and into a reduction if that alone reads it. Every step is linear in the
// Graph.
#pragma once
#include "view.hpp"

namespace fx::inline v0::tile {

// More elementwise equations than this are split into several kernels, so that a block's values stay in the cache.
inline constexpr int max_fused = 200, max_operands = 96;

class Analysis {
 public:
  enum class Role : std::uint8_t {
    fused,    // elementwise
    trivial,  // elementwise without operands: computed again wherever it is read
    view,     // strides into another value
    gone,     // equal to its operand
    alone     // a kernel of its own
  };

  explicit Analysis(const Graph& graph);

  const Graph& g;
  // The variable that stands for v (equations that change nothing are skipped).
  int canon(int v) const { return canon_[v]; }
  // The literal that all elements of v equal, or -1.
  int literal(int v) const { return literal_[canon_[v]]; }
  View view(int v) const;
  Role role(int eqn) const { return role_[eqn]; }
  // The equation that defines variable v, or -1.
  int defined_by(int v) const { return g.vars[v].kind == Var::result ? g.vars[v].at : -1; }
  // Elementwise equations of one group are one kernel; those of a reduction have its group. -1: in no kernel.
  int group(int eqn) const { return group_[eqn]; }
  int groups() const { return n_groups_; }
  int level(int eqn) const { return level_[eqn]; }
  // Variable v (which is no view) is read by another kernel, or an output.
  bool stored(int v) const { return stored_[v]; }
  // Operand o of an elementwise equation or reduction of `group` is computed there.
  bool computed_in(int o, int group) const;

 private:
  Vec<int> canon_, literal_, view_at_, level_, parent_, size_, group_;
  Vec<View> views_;
  Vec<Role> role_;
  Vec<char> stored_;
  int n_groups_ = 0;

  void classify();
  bool changes_nothing(const Eqn& e, Vec<std::uint64_t>& changing) const;
  void find_levels();
  void sink();
  void number_groups();
  void find_stored();
  int find(int eqn);
  void join(int a, int b);
  bool fuses_operands(int eqn) const;  // reads elementwise results without memory: elementwise, reduce
  int available(int v) const;          // the level from which v can be read from memory
};

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "analysis_passes.hpp"
#endif
