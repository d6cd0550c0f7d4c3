// code/rows.hpp -- RowsCode: kernels that work row by row as one function, which takes each row through all of them.
#pragma once
#include <cstring>

#include "../kernels/level.hpp"
#include "body_types.hpp"
#include "rows_body.hpp"

namespace fx::inline v0::tiled::code {

// Some rows go through it side by side, so that none waits for its own reductions: each has a context, `args` and the
// frame. The first one's `rows` counts the rows that are left; `cols` is the address of the next context. Ports: those
// of the body, where a row begins; a row of scratch for each of `scratch`, whose row_bytes are 0; and one of zeros. Of
// an array whose rows are gathered, row_bytes is the address.
struct RowsCode {
  CodeBlock block;
  Vec<std::uint8_t> bytes;
  const char* missing = "there is no machine code here";  // why there is none
  std::int64_t rows = 0, cols = 0;
  Vec<RowsPort> ports;
  Vec<RowsGather> gathers;
  Vec<DType> scratch;
  int frame_bytes = 0, together = 1;  // together: contexts
  explicit operator bool() const { return bool(block); }
  std::int64_t row_bytes(DType d) const { return (cols * size_of(d) + 63) / 64 * 64; }
  // Of a context, with its scratch, and of all.
  std::int64_t context() const;
  std::int64_t memory() const { return together * context(); }
  // Rows from `first` on; start(port) is the place of the first row of all.
  template <class F>
  void run(char* memory, std::int64_t first, std::int64_t count, F&& start) const;

 private:
  std::int64_t args() const { return (args_bytes(ports.size() + scratch.size() + 1) + 63) / 64 * 64; }
  // Of the zeros that a gather out of range reads.
  std::int64_t zeros() const {
    std::int64_t n = 0;
    for (const RowsGather& g : gathers) n = !g.clamp && g.row_bytes > n ? g.row_bytes : n;
    return (n + 63) / 64 * 64;
  }
};

// For a scan whose body are maps and reductions along rows, and gathers of rows, and whose carries stay in one memory.
RowsCode make_rows(const tile::Kernel& scan, Level level);

inline std::int64_t RowsCode::context() const {
  std::int64_t n = args() + frame_bytes + zeros();
  for (DType d : scratch) n += row_bytes(d);
  return n;
}

template <class F>
void RowsCode::run(char* memory, std::int64_t first, std::int64_t count, F&& start) const {
  if (count == 0) return;
  for (int c = 0; c < together; ++c) {
    BodyArgs* a = reinterpret_cast<BodyArgs*>(memory + c * context());
    a->rows = count;
    a->cols = reinterpret_cast<std::int64_t>(memory + (c + 1) % together * context());
    a->frame = reinterpret_cast<char*>(a) + args();
    Port* to = a->port;
    for (const RowsPort& p : ports) *to++ = {start(p) + p.offset + (first + c) * p.row_bytes, together * p.row_bytes};
    for (const RowsGather& g : gathers) {
      Port& p = a->port[g.table];
      p.row_bytes = reinterpret_cast<std::int64_t>(p.data);
    }
    char* row = a->frame + frame_bytes;
    for (DType d : scratch) {
      *to++ = {row, 0};
      row += row_bytes(d);
    }
    *to = {row, 0};
    if (zeros() > 0) std::memset(row, 0, std::size_t(zeros()));
  }
  reinterpret_cast<void (*)(char*)>(const_cast<void*>(block.entry()))(memory);
}

}  // namespace fx::inline v0::tiled::code

#if FX_BODIES
#include "rows_generator.hpp"
#endif
