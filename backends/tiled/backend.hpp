// tiled/backend.hpp -- the backend "cpu": tile programs run block by block over the processor's cache.
#pragma once
#include <fx/runtime/registry.hpp>
#include <fx/runtime/workers.hpp>
#include <fx/tile/fuse.hpp>
#include <fx/tile/target.hpp>

#include "executable.hpp"

namespace fx::inline v0::tiled {

class TiledBackend : public Backend {
 public:
  explicit TiledBackend(const Target& target = tile::host()) : target_(target) {}
  const Target& target() const override { return target_; }
  bool supports(const Prim& p, Span<const Type> in) const override;
  ExecutableRef compile(const Graph& g) const override;
  ExecutableRef compile(const Graph& g, ByteWriter& image) const override;
  ExecutableRef load(const Graph& g, Span<const std::uint8_t> image) const override;

 private:
  Target target_;
};

}  // namespace fx::inline v0::tiled

#if FX_BODIES
#include "executable_run.hpp"

namespace fx::inline v0 {
namespace tiled {

FX_INLINE bool TiledBackend::supports(const Prim& p, Span<const Type> in) const {
  for (const Type& t : in)
    if (!computes(t.dtype) || !t.is_static()) return false;
  switch (p.kind) {
    case Kind::elementwise: return p.record != nullptr;
    case Kind::reduce: return p.record != nullptr;
    case Kind::layout: return p.pieces != nullptr;
    case Kind::index: return p.index != nullptr;
    case Kind::cumulative: return p.record != nullptr;
    case Kind::sort:
    case Kind::dot: return true;
    case Kind::control: return p.form == call_form || p.form == scan_form;
    default: return false;
  }
}

namespace detail {
FX_INLINE GraphRef simplified(const Graph& g) {
  const fx::detail::ProfileSpan span(fx::detail::ProfileKind::pass, "inline calls, simplify");
  return GraphRef(new Graph(simplify(inline_calls(g))));
}
FX_INLINE Ref<const tile::Program> fused(const Graph& g, const Target& target) {
  const fx::detail::ProfileSpan span(fx::detail::ProfileKind::compile, "fuse");
  return tile::fuse(g, target);
}
}  // namespace detail

FX_INLINE ExecutableRef TiledBackend::compile(const Graph& g) const {
  GraphRef graph = detail::simplified(g);
  Ref<const tile::Program> program = detail::fused(*graph, target_);
  return ExecutableRef(new TiledExecutable(std::move(graph), std::move(program)));
}

}  // namespace tiled

// Leaked on purpose: destructors of static objects may still run Graphs.
FX_SHARED FX_INLINE const Backend& cpu_backend() {
  static const Backend* b = [] {
    Target t = tile::host();
    t.cores = threads();
    return new tiled::TiledBackend(t);
  }();
  return *b;
}
}  // namespace fx::inline v0
#include "image.hpp"
#endif
