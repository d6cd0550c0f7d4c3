// tiled/executable.hpp -- TiledExecutable: a tile program and its prepared kernels.
#pragma once
#include <fx/runtime/profile.hpp>
#include <fx/tile/memory.hpp>

#include "kernels/prepared.hpp"
#include "step.hpp"

namespace fx::inline v0::tiled {

// The prepared kernels of a program, in order.
class StepList {
  Vec<Step*> steps_;

 public:
  StepList() = default;
  StepList(const StepList&) = delete;
  StepList& operator=(const StepList&) = delete;
  ~StepList() {
    for (Step* s : steps_) delete s;
  }
  void add(Step* s) { steps_.push_back(s); }
  int size() const { return steps_.size(); }
  const Step& operator[](int i) const { return *steps_[i]; }
};

class TiledExecutable : public Executable {
 public:
  ~TiledExecutable() override;
  // prepared: what writes the programs of its kernels down, or has them; or null. shares: threads may share its
  // kernels.
  TiledExecutable(GraphRef graph, Ref<const tile::Program> program, Prepared* prepared = nullptr, bool shares = true);

  std::int64_t workspace() const override { return workspace_; }
  void run(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const override;
  void run_profiled(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const override;
  int may_alias(int output) const override { return chosen_[output]; }
  bool may_alias(int output, int input) const override { return aliases_.allowed(output, input); }
  // "ir", "tile", "cost": the estimated times on known targets, and "asm": each kernel's machine code.
  std::string text(std::string_view what) const override;

  // The same as run; counts has one entry for each kernel, to which what it did is added.
  void run_counted(Span<const Buffer> in, Span<const Buffer> out, void* workspace, Span<tile::Counts> counts) const;
  const tile::Program& program() const { return *program_; }

 private:
  GraphRef graph_;
  Ref<const tile::Program> program_;
  StepList steps_;
  tile::Aliases aliases_;
  Vec<int> chosen_;
  std::int64_t workspace_ = 0;
  // Threads that may share a kernel, how far apart their scratches are, and which kernels are large enough.
  int threads_ = 1;
  std::int64_t scratch_ = 0;
  Vec<char> shared_;
  bool worth_sharing(int kernel) const;
  void run_step(int kernel, const Memory& m, tile::Counts* counts) const;
  bool code_allowed_ = true;
  // What kernels are called in a trace file, and do: made at the first run that is written down.
  struct Described;
  mutable std::atomic<const Described*> described_{nullptr};
  const Described& described() const;
  std::string code_text() const;
};

// The step that runs a kernel of a program.
Step* make_step(const tile::Kernel& k, const tile::Program& p, Prepared* prepared = nullptr);

}  // namespace fx::inline v0::tiled
