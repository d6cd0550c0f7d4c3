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

namespace detail {
// "map 128x512: mul, exp, add": what a kernel does, for people.
FX_INLINE std::string description(const tile::Kernel& k) {
  constexpr int most = 8;
  std::string s(tile::name(k.kind));
  for (int d = 0; d < k.space.n; ++d) (s += d ? 'x' : ' ') += std::to_string(k.space[d]);
  int n = 0;
  for (const GraphRef* g : {&k.op, &k.made[0], &k.made[1], &k.body})
    for (int i = 0; *g && i < (*g)->eqns.size() && n <= most; ++i, ++n)
      (s += n == 0 ? ": " : ", ") += n < most ? std::string((*g)->eqns[i].prim->name) : "...";
  return s;
}
}  // namespace detail

FX_INLINE Step* make_step(const tile::Kernel& k, const tile::Program& p, Prepared* prepared) {
  switch (k.kind) {
    case tile::KernelKind::map: return new MapStep(k, prepared);
    case tile::KernelKind::reduce: return new ReduceStep(k, prepared);
    case tile::KernelKind::dot: return new DotStep(k, prepared);
    case tile::KernelKind::cumulative: return new CumulativeStep(k, prepared);
    case tile::KernelKind::sort: return new SortStep(k);
    case tile::KernelKind::copy: return new CopyStep(k);
    case tile::KernelKind::index: return new IndexStep(k, prepared);
    case tile::KernelKind::scan: return new ScanStep(k, p, prepared);
  }
  fail(ErrorCode::internal, "a kernel of no known kind");
}

FX_INLINE TiledExecutable::TiledExecutable(GraphRef graph, Ref<const tile::Program> program, Prepared* prepared,
                                           bool shares)
    : graph_(std::move(graph)), program_(std::move(program)), aliases_(*program_), chosen_(aliases_.choose()) {
  const int most = shares ? threads() : 1;
  std::int64_t scratch = 0;
  for (const tile::Kernel& k : program_->kernels) {
    const fx::detail::ProfileSpan span(fx::detail::ProfileKind::compile, "prepare",
                                       fx::detail::profiled() ? detail::description(k) : std::string());
    steps_.add(make_step(k, *program_, prepared));
    const std::int64_t own = steps_[steps_.size() - 1].scratch_bytes();
    if (own > scratch) scratch = own;
    const bool shared = most > 1 && worth_sharing(shared_.size());
    shared_.push_back(shared);
    if (!shared) continue;
    threads_ = most;
    if (own > scratch_) scratch_ = align64(own);
  }
  workspace_ = program_->workspace + align64(scratch > threads_ * scratch_ ? scratch : threads_ * scratch_);
  code_allowed_ = level() == Level::baseline || code::executable_memory();
}

// To wake a thread takes some ten microseconds.
FX_INLINE bool TiledExecutable::worth_sharing(int kernel) const {
  constexpr double flops = 50e9, bandwidth = 20e9, least = 100e-6;  // of one thread, roughly; seconds
  if (!steps_[kernel].has_parts()) return false;
  const tile::Estimate e = tile::estimate(program_->kernels[kernel], *program_, tile::host());
  return e.flops / flops + e.bytes / bandwidth > least;
}

FX_INLINE void TiledExecutable::run_step(int kernel, const Memory& m, tile::Counts* counts) const {
  char* scratch = m.workspace + program_->workspace;
  const Step& step = steps_[kernel];
  const int most = shared_[kernel] && !counts ? (threads() < threads_ ? threads() : threads_) : 1;
  if (most == 1) return step.run(m, scratch, counts);
  Parts parts(most);
  fx::detail::share_work(most, [&](int who) { step.share(m, scratch + who * scratch_, parts); });
}

struct TiledExecutable::Described {
  struct Entry {
    std::string name;
    mutable fx::detail::ProfileName id;
    double flops = 0, bytes = 0;
  };
  Vec<Entry> kernel;
  explicit Described(const tile::Program& p) {
    for (const tile::Kernel& k : p.kernels) {
      const tile::Estimate cost = tile::estimate(k, p, tile::host());
      kernel.push_back({detail::description(k), {}, cost.flops, cost.bytes});
    }
  }
};
FX_INLINE TiledExecutable::~TiledExecutable() { delete described_.load(); }
FX_INLINE const TiledExecutable::Described& TiledExecutable::described() const {
  if (const Described* d = described_.load()) return *d;
  const Described *made = new Described(*program_), *none = nullptr;
  if (described_.compare_exchange_strong(none, made)) return *made;
  delete made;
  return *none;
}

FX_INLINE void TiledExecutable::run_profiled(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const {
  const Described& d = described();
  const Memory m{program_.get(), in, out, static_cast<char*>(workspace)};
  std::int64_t begin = fx::detail::profile_now();
  for (int i = 0; i < steps_.size(); ++i) {
    run_step(i, m, nullptr);
    const std::int64_t end = fx::detail::profile_now();
    const Described::Entry& e = d.kernel[i];
    fx::detail::profile_add(fx::detail::ProfileKind::kernel, e.id.of(e.name), begin, end, e.flops, e.bytes);
    begin = end;
  }
}

FX_INLINE void TiledExecutable::run(Span<const Buffer> in, Span<const Buffer> out, void* workspace) const {
  run_counted(in, out, workspace, {});
}

FX_INLINE void TiledExecutable::run_counted(Span<const Buffer> in, Span<const Buffer> out, void* workspace,
                                            Span<tile::Counts> counts) const {
  const Memory m{program_.get(), in, out, static_cast<char*>(workspace)};
  for (int i = 0; i < steps_.size(); ++i) run_step(i, m, counts.empty() ? nullptr : &counts[i]);
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
