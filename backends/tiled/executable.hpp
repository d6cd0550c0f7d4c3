// tiled/executable.hpp -- TiledExecutable: a tile program and its prepared kernels.
#pragma once
#include <fx/tile/memory.hpp>

#include "step.hpp"

namespace fx::inline v0::tiled {

class TiledExecutable : public Executable {
 public:
  TiledExecutable(GraphRef graph, Ref<const tile::Program> program);
  TiledExecutable(const TiledExecutable&) = delete;
  ~TiledExecutable() override;

  std::int64_t workspace() const override { return workspace_; }
  void run(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const override;
  int may_alias(int output) const override { return aliases_[output]; }
  // "ir", "tile", and "cost": the estimated times on known targets.
  std::string text(std::string_view what) const override;

  // The same as run; counts has one entry for each kernel, to which what it did is added.
  void run_counted(Span<const Buffer> in, Span<const Buffer> out, void* workspace, Span<tile::Counts> counts) const;
  const tile::Program& program() const { return *program_; }

 private:
  GraphRef graph_;
  Ref<const tile::Program> program_;
  Vec<Step*> steps_;  // owned
  Vec<int> aliases_;
  std::int64_t workspace_ = 0;
};

// The step that runs a kernel of a program.
Step* make_step(const tile::Kernel& k, const tile::Program& p);

}  // namespace fx::inline v0::tiled
