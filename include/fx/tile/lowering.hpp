// tile/lowering.hpp -- Lowering: from an analysed Graph to the kernels and buffers of a Program.
#pragma once
#include "analysis.hpp"
#include "program.hpp"

namespace fx::inline v0::tile {
namespace detail {
struct DotSpace;
}

class Lowering {
 public:
  Lowering(const Analysis& analysis, Program& program, const Target& target)
      : a_(analysis), g_(analysis.g), p_(program), target_(target) {}
  void run();

 private:
  const Analysis& a_;
  const Graph& g_;
  Program& p_;
  const Target& target_;
  Vec<int> buffer_;            // of each stored variable
  Vec<int> copy_;              // of a variable: the buffer of its dense copy
  Vec<int> claim_;             // of a variable: the output whose memory it gets
  Vec<int> member_, members_;  // equations by group: group i has members_[member_[i]] ... before member_[i + 1]

  struct Body;
  struct Known {  // of a variable: its Val in the body of a group
    int group = -1;
    Val val;
  };
  Vec<Known> known_;

  void claim_outputs();
  void collect_members();
  template <class F>
  void each_edge(F&& f) const;
  Vec<int> order() const;  // groups, each after what it reads, as near to the Graph's order as that allows
  void lower_group(int group);
  void lower_map(int group);
  void lower_layout(const Eqn& e);
  void lower_reduce(int group, int eqn);
  void lower_dot(const Eqn& e);
  Access repack(detail::DotSpace& s, int operand, const Access& from, DType d);
  void add_dot(const Eqn& e, const detail::DotSpace& s, const Access* in);
  void lower_whole(const Eqn& e, KernelKind kind);  // cumulative, sort, index: operands densely stored
  void lower_scan(const Eqn& e);
  void lower_outputs();

  int new_buffer(const Type& t);
  int define(int v);  // the buffer of a result
  Access access(const View& v) const { return {buffer_[v.base], v.offset, v.stride}; }
  // Operand o as a dense array, copied if it is not one.
  Access dense(int o);
  Access dense_access(int buffer, const Dims& dims) const { return {buffer, 0, strides_of(dims)}; }
  void copy(const Dims& space, const Access& from, const Access& to);
  void fill(const Dims& space, int literal, const Access& to);
  GraphRef single(const Eqn& e) const;
  Kernel& add(KernelKind kind, const Dims& space);
};

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "lowering_body.hpp"
#include "lowering_dot.hpp"
#include "lowering_kernels.hpp"
#endif
