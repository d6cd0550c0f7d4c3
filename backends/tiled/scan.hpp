// tiled/scan.hpp -- ScanStep: a tile program as the body of a loop.
#pragma once
#include <cstring>

#include "executable.hpp"

namespace fx::inline v0::tiled {

// Carries that the body updates in place stay in the memory of the result; others alternate between it and a spare one,
// so that the last step writes the result. Rows are read and written where they lie.
class ScanStep : public Step {
 public:
  ScanStep(const tile::Kernel& kernel, const tile::Program& program, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;
  std::string code_text() const override { return body_.text("asm"); }

 private:
  TiledExecutable body_;
  Vec<std::int64_t> bytes_;  // of each carry

  std::int64_t buffers() const {
    return align64((k.in.size() + k.out.size() + k.carries) * std::int64_t(sizeof(Buffer)));
  }
};

#if FX_BODIES
FX_INLINE ScanStep::ScanStep(const tile::Kernel& kernel, const tile::Program& program, Prepared* prepared)
    : Step(kernel), body_({}, k.loop, prepared) {
  for (int c = 0; c < k.carries; ++c) {
    const Type& t = program.buffers[k.out[c].buffer].type;
    bytes_.push_back(numel(t) * size_of(t.dtype));
  }
}

FX_INLINE std::int64_t ScanStep::scratch_bytes() const {
  std::int64_t n = buffers() + align64(body_.workspace()) +
                   align64(body_.program().kernels.size() * std::int64_t(sizeof(tile::Counts)));
  for (int c = 0; c < k.carries; ++c)
    if (!k.in_place[c]) n += align64(bytes_[c]);
  return n;
}

FX_INLINE void ScanStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  const std::int64_t length = k.space[0];
  Buffer *in = reinterpret_cast<Buffer*>(scratch), *out = in + k.in.size();
  scratch += buffers();
  const Span<tile::Counts> inner(reinterpret_cast<tile::Counts*>(scratch), counts ? body_.program().kernels.size() : 0);
  for (tile::Counts& c : inner) c = {};
  scratch += align64(body_.program().kernels.size() * std::int64_t(sizeof(tile::Counts)));
  char* workspace = scratch;
  scratch += align64(body_.workspace());

  for (int i = 0; i < k.in.size(); ++i) in[i].data = m.at(k.in[i]);
  for (int c = 0; c < k.carries; ++c) {
    char *start = m.at(k.in[k.consts + c]), *result = m.at(k.out[c]), *spare = result;
    if (!k.in_place[c]) {
      spare = scratch;
      scratch += align64(bytes_[c]);
    }
    const bool copies = start != result && (k.in_place[c] || length == 0);
    if (copies && bytes_[c] > 0) std::memcpy(result, start, std::size_t(bytes_[c]));
    if (copies && counts) counts->bytes_in += bytes_[c], counts->bytes_out += bytes_[c];
    if (copies) in[k.consts + c].data = result;
    out[c].data = length % 2 ? result : spare;
    out[k.out.size() + c].data = length % 2 ? spare : result;  // of the step after that
  }
  auto row = [&](const tile::Access& a, std::int64_t t) {
    return m.at(a) + (k.reverse ? length - 1 - t : t) * a.stride[0] * m.element_size(a);
  };
  for (std::int64_t t = 0; t < length; ++t) {
    for (int i = k.consts + k.carries; i < k.in.size(); ++i) in[i].data = row(k.in[i], t);
    for (int j = k.carries; j < k.out.size(); ++j) out[j].data = row(k.out[j], t);
    body_.run_counted({in, k.in.size()}, {out, k.out.size()}, workspace, inner);
    for (int c = 0; c < k.carries; ++c) {
      in[k.consts + c] = out[c];
      std::swap(out[c], out[k.out.size() + c]);
    }
  }
  if (!counts) return;
  counts->steps += length;
  for (const tile::Counts& c : inner) {
    counts->steps += c.steps;
    counts->bytes_in += c.bytes_in;
    counts->bytes_out += c.bytes_out;
  }
}
#endif

}  // namespace fx::inline v0::tiled
