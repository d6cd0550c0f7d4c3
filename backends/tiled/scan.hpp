// tiled/scan.hpp -- ScanStep: a tile program as the body of a loop.
#pragma once
#include <cstring>

#include "code/dump.hpp"
#include "code/loop.hpp"
#include "code/rows.hpp"
#include "executable.hpp"

namespace fx::inline v0::tiled {

// Carries that the body updates in place stay in the memory of the result; others alternate between it and a spare one,
// so that the last step writes the result. Rows are read and written where they lie. Kernels that work row by row are
// one function (code/rows.hpp), and so is a small body with the loop around it (code/loop.hpp); else, and where steps
// are counted, the kernels run one by one.
class ScanStep : public Step {
 public:
  ScanStep(const tile::Kernel& kernel, const tile::Program& program, Prepared* prepared = nullptr);
  std::int64_t scratch_bytes() const override;
  void run(const Memory& m, char* scratch, tile::Counts* counts) const override;
  bool has_parts() const override { return k.carries == 0 && !code_; }
  void share(const Memory& m, char* scratch, Parts& parts) const override;
  std::string code_text() const override;

 private:
  code::RowsCode rows_;
  code::LoopCode code_;
  TiledExecutable body_;     // portable beside a function for all of it: it serves only to count
  Vec<std::int64_t> bytes_;  // of each carry
  static TiledExecutable body_of(const tile::Kernel& k, bool one_function, Prepared* prepared);
  struct Run;

  std::int64_t args_bytes() const { return align64(code::args_bytes(code_.ports + k.carries)); }
  std::int64_t code_bytes() const { return code_ ? args_bytes() + code_.frame_bytes + code_.workspace : 0; }
  void run_code(const Memory& m, char* scratch) const;
  void run_rows(const Memory& m, char* scratch, std::int64_t first, std::int64_t count) const;
  char* start_carry(const Memory& m, int c, tile::Counts* counts) const;
  char* row(const Memory& m, const tile::Access& a, std::int64_t t) const {
    return m.at(a) + (k.reverse ? k.space[0] - 1 - t : t) * a.stride[0] * m.element_size(a);
  }
  std::int64_t buffers() const {
    return align64((k.in.size() + k.out.size() + k.carries) * std::int64_t(sizeof(Buffer)));
  }
};

#if FX_BODIES
namespace detail {
FX_INLINE code::RowsCode rows_code(const tile::Kernel& k) {
  code::RowsCode none;
  none.missing = k.space[0] == 0 ? "it has no steps" : nullptr;
  for (int c = 0; c < k.carries && !none.missing; ++c)
    if (!k.in_place[c]) none.missing = "a carry moves from memory to memory";
  return none.missing ? std::move(none) : code::make_rows(k, level());
}
FX_INLINE code::LoopCode loop_code(const tile::Kernel& k, bool wanted) {
  code::LoopCode none;
  if (k.space[0] == 0) none.missing = "it has no steps";
  return k.space[0] > 0 && wanted ? code::make_loop(k, level()) : std::move(none);
}
}  // namespace detail

FX_INLINE TiledExecutable ScanStep::body_of(const tile::Kernel& k, bool one_function, Prepared* prepared) {
  Prepared portable;
  return TiledExecutable({}, k.loop, one_function ? &portable : prepared, k.carries > 0);
}

FX_INLINE ScanStep::ScanStep(const tile::Kernel& kernel, const tile::Program& program, Prepared* prepared)
    : Step(kernel),
      rows_(detail::rows_code(k)),
      code_(detail::loop_code(k, !rows_)),
      body_(body_of(k, rows_ || code_, prepared)) {
  for (int c = 0; c < k.carries; ++c) {
    const Type& t = program.buffers[k.out[c].buffer].type;
    bytes_.push_back(numel(t) * size_of(t.dtype));
  }
}

FX_INLINE std::string ScanStep::code_text() const {
  if (rows_) return "row by row, " + code::dump(rows_.bytes);
  if (code_) return "the whole loop, " + code::dump(code_.bytes);
  return std::string("kernel by kernel: ") + (k.carries == 0 && rows_.missing ? rows_.missing : code_.missing) + "\n" +
         body_.text("asm");
}

FX_INLINE std::int64_t ScanStep::scratch_bytes() const {
  std::int64_t n = buffers() + align64(body_.workspace()) +
                   align64(body_.program().kernels.size() * std::int64_t(sizeof(tile::Counts)));
  if (code_bytes() > n) n = code_bytes();
  if (rows_ && rows_.memory() > n) n = rows_.memory();
  for (int c = 0; c < k.carries; ++c)
    if (!k.in_place[c]) n += align64(bytes_[c]);
  return n;
}

// Where carry c starts; one that stays in its place is there now, and so is the result of no steps.
FX_INLINE char* ScanStep::start_carry(const Memory& m, int c, tile::Counts* counts) const {
  char *start = m.at(k.in[k.consts + c]), *result = m.at(k.out[c]);
  if (start == result || !(k.in_place[c] || k.space[0] == 0)) return start;
  if (bytes_[c] > 0) std::memcpy(result, start, std::size_t(bytes_[c]));
  if (counts) counts->bytes_in += bytes_[c], counts->bytes_out += bytes_[c];
  return result;
}

FX_INLINE void ScanStep::run_code(const Memory& m, char* scratch) const {
  const std::int64_t length = k.space[0];
  auto* args = reinterpret_cast<code::BodyArgs*>(scratch);
  scratch += args_bytes();
  args->rows = length;
  args->frame = scratch;
  scratch += code_.frame_bytes;
  code::Port *in = args->port, *out = in + k.in.size(), *spare = in + code_.ports;
  in[code_.ports - 1] = {scratch, 0};
  scratch += code_.workspace;
  const std::int64_t way = k.reverse ? -1 : 1;
  auto rows = [&](const tile::Access& a) { return code::Port{row(m, a, 0), way * a.stride[0] * m.element_size(a)}; };
  for (int i = 0; i < k.consts; ++i) in[i] = {m.at(k.in[i]), 0};
  for (int i = k.consts + k.carries; i < k.in.size(); ++i) in[i] = rows(k.in[i]);
  for (int j = k.carries; j < k.out.size(); ++j) out[j] = rows(k.out[j]);
  for (int c = 0; c < k.carries; ++c) {
    in[k.consts + c] = {start_carry(m, c, nullptr), 0};
    out[c] = {m.at(k.out[c]), 0};
    if (k.in_place[c]) continue;
    *spare = {scratch, 0};
    scratch += align64(bytes_[c]);
    if (length % 2 == 0) std::swap(*spare, out[c]);
    ++spare;
  }
  code_.prepare(args->frame, in);
  code_.run(args);
}

FX_INLINE void ScanStep::run_rows(const Memory& m, char* scratch, std::int64_t first, std::int64_t count) const {
  rows_.run(scratch, first, count, [&](const code::RowsPort& p) {
    const int carry = p.input ? p.at - k.consts : -1;
    if (carry >= 0 && carry < k.carries) return m.at(k.out[carry]);
    return row(m, p.input ? k.in[p.at] : k.out[p.at], 0);
  });
}

struct ScanStep::Run {
  const ScanStep& s;
  const Memory& m;
  Buffer *in, *out;
  Span<tile::Counts> inner;
  char *workspace, *spare;

  Run(const ScanStep& step, const Memory& memory, char* scratch, bool counts) : s(step), m(memory) {
    const tile::Kernel& k = s.k;
    const int kernels = s.body_.program().kernels.size();
    in = reinterpret_cast<Buffer*>(scratch);
    out = in + k.in.size();
    scratch += s.buffers();
    inner = {reinterpret_cast<tile::Counts*>(scratch), counts ? kernels : 0};
    for (tile::Counts& c : inner) c = {};
    workspace = scratch + align64(kernels * std::int64_t(sizeof(tile::Counts)));
    spare = workspace + align64(s.body_.workspace());
    for (int i = 0; i < k.in.size(); ++i) in[i].data = m.at(k.in[i]);
  }
  void step(std::int64_t t) const {
    const tile::Kernel& k = s.k;
    for (int i = k.consts + k.carries; i < k.in.size(); ++i) in[i].data = s.row(m, k.in[i], t);
    for (int j = k.carries; j < k.out.size(); ++j) out[j].data = s.row(m, k.out[j], t);
    s.body_.run_counted({in, k.in.size()}, {out, k.out.size()}, workspace, inner);
  }
};

FX_INLINE void ScanStep::run(const Memory& m, char* scratch, tile::Counts* counts) const {
  if (rows_ && !counts) {
    for (int c = 0; c < k.carries; ++c) start_carry(m, c, nullptr);
    return run_rows(m, scratch, 0, rows_.rows);
  }
  if (code_ && !counts) return run_code(m, scratch);
  const std::int64_t length = k.space[0];
  Run r(*this, m, scratch, counts);
  for (int c = 0; c < k.carries; ++c) {
    char *result = m.at(k.out[c]), *spare = result;
    if (!k.in_place[c]) {
      spare = r.spare;
      r.spare += align64(bytes_[c]);
    }
    r.in[k.consts + c].data = start_carry(m, c, counts);
    r.out[c].data = length % 2 ? result : spare;
    r.out[k.out.size() + c].data = length % 2 ? spare : result;  // of the step after that
  }
  for (std::int64_t t = 0; t < length; ++t) {
    r.step(t);
    for (int c = 0; c < k.carries; ++c) {
      r.in[k.consts + c] = r.out[c];
      std::swap(r.out[c], r.out[k.out.size() + c]);
    }
  }
  if (!counts) return;
  counts->steps += length;
  for (const tile::Counts& c : r.inner) {
    counts->steps += c.steps;
    counts->bytes_in += c.bytes_in;
    counts->bytes_out += c.bytes_out;
  }
}

FX_INLINE void ScanStep::share(const Memory& m, char* scratch, Parts& parts) const {
  if (rows_) {
    const std::int64_t one = part_of(rows_.rows, parts_of_kernel, 1);
    for (std::int64_t at = parts.take() * one; at < rows_.rows; at = parts.take() * one)
      run_rows(m, scratch, at, rows_.rows - at < one ? rows_.rows - at : one);
    return;
  }
  const Run r(*this, m, scratch, false);
  for (std::int64_t t = parts.take(); t < k.space[0]; t = parts.take()) r.step(t);
}
#endif

}  // namespace fx::inline v0::tiled
