// tiled/executable_run.hpp -- the bodies of tiled/executable.hpp.
#pragma once
#include <fx/print.hpp>
#include <fx/tile/print.hpp>
#include <fx/tile/target.hpp>

#include "copy.hpp"
#include "dot.hpp"
#include "executable.hpp"
#include "map.hpp"
#include "reduce.hpp"
#include "scan.hpp"
#include "whole.hpp"

namespace fx::inline v0::tiled {

FX_INLINE Step* make_step(const tile::Kernel& k, const tile::Program& p, Prepared* prepared) {
  switch (k.kind) {
    case tile::KernelKind::map: return new MapStep(k, prepared);
    case tile::KernelKind::reduce: return new ReduceStep(k, prepared);
    case tile::KernelKind::dot: return new DotStep(k);
    case tile::KernelKind::cumulative: return new CumulativeStep(k, prepared);
    case tile::KernelKind::sort: return new SortStep(k);
    case tile::KernelKind::copy: return new CopyStep(k);
    case tile::KernelKind::index: return new IndexStep(k, prepared);
    case tile::KernelKind::scan: return new ScanStep(k, p, prepared);
  }
  fail(ErrorCode::internal, "a kernel of no known kind");
}

FX_INLINE TiledExecutable::TiledExecutable(GraphRef graph, Ref<const tile::Program> program, Prepared* prepared)
    : graph_(std::move(graph)), program_(std::move(program)), aliases_(*program_), chosen_(aliases_.choose()) {
  std::int64_t scratch = 0;
  for (const tile::Kernel& k : program_->kernels) {
    steps_.add(make_step(k, *program_, prepared));
    const std::int64_t own = steps_[steps_.size() - 1].scratch_bytes();
    if (own > scratch) scratch = own;
  }
  workspace_ = program_->workspace + align64(scratch);
  code_allowed_ = level() == Level::baseline || code::executable_memory();
}

FX_INLINE void TiledExecutable::run(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const {
  run_counted(in, out, workspace, {});
}

FX_INLINE void TiledExecutable::run_counted(Span<const Buffer> in, Span<const Buffer> out, void* workspace,
                                            Span<tile::Counts> counts) const {
  const Memory m{program_.get(), in, out, static_cast<char*>(workspace)};
  char* scratch = m.workspace + program_->workspace;
  for (int i = 0; i < steps_.size(); ++i) steps_[i].run(m, scratch, counts.empty() ? nullptr : &counts[i]);
}

FX_INLINE std::string TiledExecutable::code_text() const {
  std::string s;
  if (!code_allowed_) s = "no executable memory here: all kernels run on the portable tier\n";
  for (int i = 0; i < steps_.size(); ++i) {
    s += std::string(tile::name(program_->kernels[i].kind)) + ": ";
    s += steps_[i].code_text();
  }
  return s;
}

FX_INLINE std::string TiledExecutable::text(std::string_view what) const {
  const Target* known = tile::target_named(program_->target);
  if (what == "tile") return tile::text(*program_, known ? *known : tile::host());
  if (what == "cost") return tile::cost_table(*program_);
  if (what == "ir" && graph_) {
    Str s;
    put(s, *graph_);
    return std::string(s.view());
  }
  if (what == "asm") return code_text();
  fail(ErrorCode::value,
       "text: the tiled backend shows \"ir\", \"tile\", \"cost\" and \"asm\", not \"" + std::string(what) + "\"");
}

}  // namespace fx::inline v0::tiled
