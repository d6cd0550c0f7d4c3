// code/skinny.hpp -- machine code for products with few rows or one column, where memory sets the pace.
#pragma once
#include "tile.hpp"

namespace fx::inline v0::tiled::code {

// c[j] += sum over p < `some` of x[p] * b[p * b_row + j], in rising p, for j < n.
using RowPiece = void (*)(const void* x, const void* b, std::int64_t b_row, void* c, std::int64_t n);
inline constexpr int row_terms = 8;
// c[i * c_row] += sum of a[i * a_row + p * a_col] * b[p * b_row], in rising p, for the piece's rows: as many chains as
// hide the latency of one.
using ColumnPiece = void (*)(const void* a, std::int64_t a_row, std::int64_t a_col, const void* b, std::int64_t b_row,
                             void* c, std::int64_t c_row, std::int64_t k);
inline constexpr int column_rows = 9;

// Made at the first call and kept; null as tile() is. some: 1 or row_terms; rows: 1 to column_rows.
RowPiece row_piece(DType d, Level l, int some);
ColumnPiece column_piece(DType d, Level l, int rows);

#if FX_BODIES
namespace detail {
// Row i of nine: three from each of three registers.
FX_INLINE Mem ninth(Gpr first, Gpr second, Gpr third, Gpr step, int i) {
  Mem m{i < 3 ? first : i < 6 ? second : third};
  if (i % 3) {
    m.index = step;
    m.scale = i % 3;
  }
  return m;
}
// second = first + 3 step, third = second + 3 step.
FX_INLINE void spread(Encoder& e, Gpr first, Gpr second, Gpr third, Gpr step, Gpr spare) {
  e.lea(spare, {step, step, 2});
  e.lea(second, {first, spare});
  e.lea(third, {second, spare});
}

FX_INLINE Vec<std::uint8_t> row_code(DType d, int length, int some) {
  using namespace form;
  constexpr Gpr x = rdi, b = rsi, b_row = rdx, c = rcx, n = r8, middle = r9, high = r10;
  const bool four = size_of(d) == 4;
  const int lanes = length / size_of(d), sum = row_terms;
  Encoder e;
  const Label loop = e.label(), tail = e.label(), next = e.label(), done = e.label();
  e.shift_left(b_row, four ? 2 : 3);
  spread(e, b, middle, high, b_row, rax);
  for (int p = 0; p < some; ++p) {
    Mem m{x};
    m.disp = p * size_of(d);
    e.vector(four ? vbroadcastss : vbroadcastsd, length, p, 0, m);
  }
  auto step = [&](bool whole) {
    const Form &load = whole  ? vmovups
                       : four ? vmovss
                              : vmovsd,
               &store = whole  ? vmovups_to
                        : four ? vmovss_to
                               : vmovsd_to;
    const Form& multiply_add = whole ? (four ? vfmadd231ps : vfmadd231pd) : four ? vfmadd231ss : vfmadd231sd;
    const int bytes = whole ? length : 16;
    e.vector(load, bytes, sum, 0, Mem{c});
    for (int p = 0; p < some; ++p) e.vector(multiply_add, bytes, sum, p, ninth(b, middle, high, b_row, p));
    e.vector(store, bytes, sum, 0, Mem{c});
    for (Gpr g : {c, b, middle, high}) e.add(g, whole ? length : size_of(d));
    e.sub(n, whole ? lanes : 1);
  };
  e.cmp(n, lanes);
  e.jump_if(Encoder::less, tail);
  e.bind(loop);
  step(true);
  e.cmp(n, lanes);
  e.jump_if(Encoder::not_less, loop);
  e.bind(tail);
  e.cmp(n, 0);
  e.jump_if(Encoder::equal, done);
  e.bind(next);
  step(false);
  e.jump_if(Encoder::not_equal, next);
  e.bind(done);
  e.vzeroupper();
  e.ret();
  e.finish();
  return e.bytes();
}

FX_INLINE Vec<std::uint8_t> column_code(DType d, int rows) {
  using namespace form;
  constexpr Gpr a = rdi, a_row = rsi, a_col = rdx, b = rcx, b_row = r8, c = r9, middle = r10, high = r11;
  const bool four = size_of(d) == 4;
  const int shift = four ? 2 : 3, factor = column_rows;
  Encoder e;
  e.push(rbx);
  auto stack = [](int offset) {
    Mem m{rsp};
    m.disp = offset + 8;
    return m;
  };
  for (Gpr g : {a_row, a_col, b_row}) e.shift_left(g, shift);
  spread(e, a, middle, high, a_row, rax);
  e.mov(rax, stack(8));
  e.shift_left(rax, shift);
  auto each_result = [&](const Form& f) {
    e.mov(rbx, c);
    for (int i = 0; i < rows; ++i) {
      e.vector(f, 16, i, 0, Mem{rbx});
      e.add(rbx, rax);
    }
  };
  each_result(four ? vmovss : vmovsd);
  const Label loop = e.label(), done = e.label();
  e.mov(rbx, stack(16));
  e.cmp(rbx, 0);
  e.jump_if(Encoder::equal, done);
  e.bind(loop);
  e.vector(four ? vmovss : vmovsd, 16, factor, 0, Mem{b});
  for (int i = 0; i < rows; ++i)
    e.vector(four ? vfmadd231ss : vfmadd231sd, 16, i, factor, ninth(a, middle, high, a_row, i));
  for (Gpr g : {a, middle, high}) e.add(g, a_col);
  e.add(b, b_row);
  e.decrement(rbx);
  e.jump_if(Encoder::not_equal, loop);
  e.bind(done);
  each_result(four ? vmovss_to : vmovsd_to);
  e.pop(rbx);
  e.ret();
  e.finish();
  return e.bytes();
}

// Of one dtype and level.
struct SkinnyPieces {
  CodeBlock row[2], column[column_rows];
  SkinnyPieces(DType d, Level l) {
    row[0] = CodeBlock(row_code(d, vector_bytes(l), 1));
    row[1] = CodeBlock(row_code(d, vector_bytes(l), row_terms));
    for (int rows = 1; rows <= column_rows; ++rows) column[rows - 1] = CodeBlock(column_code(d, rows));
  }
};
template <Level l, DType d>
const SkinnyPieces& skinny_pieces() {
  static const SkinnyPieces* p = new SkinnyPieces(d, l);
  return *p;
}
template <Level l>
const SkinnyPieces& skinny_pieces(DType d) {
  return d == f32 ? skinny_pieces<l, f32>() : skinny_pieces<l, f64>();
}
FX_INLINE const SkinnyPieces* skinny_pieces(DType d, Level l) {
  if (l == Level::baseline || !executable_memory()) return nullptr;
  return l == Level::avx512 ? &skinny_pieces<Level::avx512>(d) : &skinny_pieces<Level::avx2>(d);
}
}  // namespace detail

FX_INLINE RowPiece row_piece(DType d, Level l, int some) {
  const detail::SkinnyPieces* p = detail::skinny_pieces(d, l);
  return p ? reinterpret_cast<RowPiece>(const_cast<void*>(p->row[some > 1].entry())) : nullptr;
}
FX_INLINE ColumnPiece column_piece(DType d, Level l, int rows) {
  const detail::SkinnyPieces* p = detail::skinny_pieces(d, l);
  return p ? reinterpret_cast<ColumnPiece>(const_cast<void*>(p->column[rows - 1].entry())) : nullptr;
}
#endif

}  // namespace fx::inline v0::tiled::code
