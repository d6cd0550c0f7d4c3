// code/rows_once.hpp -- RowsGenerator: what a row has once, where its ports begin, and the rows that go side by side.
#pragma once
#include "rows_generator.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

FX_INLINE void RowsGenerator::row_section(const RowsSection& s) {
  begin(s, true);
  parts_ = 1;
  group(1, 0, false);
}

// As many rows as fit into the first-level cache with what they read and make.
FX_INLINE int RowsGenerator::choose_together() const {
  constexpr std::int64_t cache = 24 << 10;
  constexpr int most = 4;
  std::int64_t row = 1;
  for (const Vec<RowsValue>* list : {&b_.inputs, &b_.outputs})
    for (const RowsValue& v : *list)
      if (v.vector && b_.ports[v.port].row_bytes != 0) row += b_.cols * size_of(r_.dtype(v.reg));
  for (DType d : plan_.scratch) row += b_.cols * size_of(d);
  const std::int64_t n = cache / row;
  return n < 1 ? 1 : n > most ? most : int(n);
}

// f in each context: a loop around what it emits.
template <class F>
void RowsGenerator::each_context(F&& f) {
  if (code_of_.together == 1) return f();
  const Label next = e_.label();
  e_.mov(rax, contexts);
  e_.mov(contexts_left, rax);
  e_.bind(next);
  f();
  e_.mov(args, arg(8));
  e_.mov(frame, arg(16));
  e_.decrement(contexts_left);
  e_.jump_if(Encoder::not_equal, next);
  e_.mov(args, first_context);
  e_.mov(frame, arg(16));
}

FX_INLINE void RowsGenerator::next_row() {
  for (int k = 0; k < b_.ports.size(); ++k) {
    if (is_table(k)) continue;
    e_.mov(rax, port_row(k));
    e_.add(port_data(k), rax);
  }
}

// One element of each row, or of all rows, in all lanes of a place in the frame.
FX_INLINE void RowsGenerator::row_inputs() {
  for (const RowsValue& v : b_.inputs)
    if (!v.vector) {
      e_.mov(r11, port_data(v.port));
      broadcast(r_.dtype(v.reg), Mem{r11}, slot_[v.reg]);
    }
}

FX_INLINE bool RowsGenerator::is_table(int port) const {
  for (const RowsGather& g : b_.gathers)
    if (g.table == port) return true;
  return false;
}
FX_INLINE void RowsGenerator::find_row(const RowsGather& g) {
  const Label outside = e_.label(), small = e_.label(), inside = e_.label(), done = e_.label();
  const bool is_signed = in(g.dtype, signed_ints);
  e_.mov(r11, port_data(g.index));
  const Mem from{r11};
  if (size_of(g.dtype) == 8)
    e_.mov(rax, from);
  else if (is_signed)
    e_.load_signed(rax, from);
  else
    e_.load_dword(rax, from);
  e_.mov(r11, std::uint64_t(g.count - 1));
  if (is_signed) {
    e_.cmp(rax, 0);
    e_.jump_if(Encoder::less, g.clamp ? small : outside);
  }
  e_.cmp(r11, rax);
  e_.jump_if(is_signed ? Encoder::not_less : Encoder::not_below, inside);
  if (g.clamp) {
    e_.mov(rax, r11);
    if (is_signed) {
      e_.jump(inside);
      e_.bind(small);
      e_.zero(rax);
    }
  } else {
    e_.bind(outside);
    e_.mov(rax, port_data(b_.ports.size() + plan_.scratch.size()));
    e_.jump(done);
  }
  e_.bind(inside);
  e_.multiply(rax, rax, int(g.row_bytes));
  e_.add(rax, port_row(g.table));
  e_.bind(done);
  e_.mov(port_data(g.table), rax);
}

FX_INLINE void RowsGenerator::keep(int v) {
  if (in_mask(v))
    e_.vector(form::kmovw_to, 16, reg(v, 0), 0, in_frame(slot_[v]));
  else
    e_.vector(form::vmovups_to, bytes(values_[v].dtype), reg(v, 0), 0, in_frame(slot_[v]));
}

FX_INLINE void RowsGenerator::store_one(int v, int port) {
  const DType d = values_[v].dtype;
  if (d != boolean) {
    const int from = reg(v, 0);
    return e_.vector(by_size(d, form::vmovss_to, form::vmovsd_to), 16, from, 0, Mem{base(port)});
  }
  const int t = flag_bytes(v, 0);
  e_.vector(form::vmovd_to, 16, t, 0, in_frame(bytes_slot_));
  e_.load_byte(rax, in_frame(bytes_slot_));
  e_.store_byte(Mem{base(port)}, rax);
}

}  // namespace fx::inline v0::tiled::code
#endif
