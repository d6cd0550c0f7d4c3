// code/tile.hpp -- machine code for the inner tile of a matrix product, all of whose sums stay in registers.
#pragma once
#include <fx/type.hpp>

#include "../kernels/level.hpp"
#include "forms.hpp"
#include "memory.hpp"

namespace fx::inline v0::tiled::code {

// c[i, j] (+)= sum of a[i * a_row + p * a_col] * b[p * b_row + j], in rising p; strides in elements. `first`: from +0,
// else from what c holds. i below the tile's rows, j below its columns.
using Tile = void (*)(const void* a, std::int64_t a_row, std::int64_t a_col, const void* b, std::int64_t b_row, void* c,
                      std::int64_t c_row, std::int64_t k, bool first);

// The most rows that a tile has, and vectors in a row of it: its sums, a row of b and two elements of a fill the
// registers.
constexpr int tile_rows(Level l) { return l == Level::avx512 ? 12 : 6; }
inline constexpr int tile_vectors = 2;
constexpr int vector_bytes(Level l) { return l == Level::avx512 ? 64 : 32; }

// A tile of 1 to tile_rows(l) rows and 1 to tile_vectors vectors, for f32 or f64; made at the first call and kept. Null
// on the baseline, or where memory may not be executed.
Tile tile(DType d, Level l, int rows, int vectors);
// The code of the largest tile, to be shown.
Vec<std::uint8_t> tile_bytes(DType d, Level l);

#if FX_BODIES
namespace detail {
FX_INLINE Vec<std::uint8_t> tile_code(DType d, int length, int rows, int vectors) {
  using namespace form;
  constexpr Gpr a[] = {rdi, r11, rbx, rbp};  // of every third row of a
  constexpr Gpr a_row = rsi, a_col = rdx, b = rcx, b_row = r8, c = r9, spare = r10;
  const bool four = size_of(d) == 4;
  const int shift = four ? 2 : 3, sums = rows * vectors, first_b = sums, element = sums + vectors;
  Encoder e;
  auto stack = [](int offset) {
    Mem m{rsp};
    m.disp = offset + 16;
    return m;
  };
  auto along = [](Gpr base, int offset) {
    Mem m{base};
    m.disp = offset;
    return m;
  };
  auto each_result = [&](auto&& f) {  // row after row of c; rax is used
    e.mov(rax, stack(8));
    e.shift_left(rax, shift);
    e.mov(spare, c);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < vectors; ++j) f(along(spare, j * length), i * vectors + j);
      if (i + 1 < rows) e.add(spare, rax);
    }
  };
  e.push(rbx);
  e.push(rbp);
  for (Gpr g : {a_row, a_col, b_row}) e.shift_left(g, shift);
  e.lea(spare, {a_row, a_row, 2});
  for (int i = 1; 3 * i < rows; ++i) e.lea(a[i], {a[i - 1], spare});
  for (int s = 0; s < sums; ++s) e.vector(vpxord, length, s, s, s);
  const Label loop = e.label(), begin = e.label(), done = e.label();
  each_result([&](const Mem& m, int) { e.prefetch(m); });
  e.load_byte(rax, stack(24));
  e.cmp(rax, 0);
  e.jump_if(Encoder::not_equal, begin);
  each_result([&](const Mem& m, int s) { e.vector(vmovups, length, s, 0, m); });
  e.bind(begin);
  e.mov(rax, stack(16));
  e.cmp(rax, 0);
  e.jump_if(Encoder::equal, done);
  e.bind(loop);
  for (int j = 0; j < vectors; ++j) e.vector(vmovups, length, first_b + j, 0, along(b, j * length));
  for (int i = 0; i < rows; ++i) {
    const int x = element + i % 2;
    Mem from{a[i / 3]};
    if (i % 3) from.index = a_row, from.scale = i % 3;
    e.vector(four ? vbroadcastss : vbroadcastsd, length, x, 0, from);
    for (int j = 0; j < vectors; ++j)
      e.vector(four ? vfmadd231ps : vfmadd231pd, length, i * vectors + j, x, first_b + j);
  }
  e.add(b, b_row);
  for (int i = 0; 3 * i < rows; ++i) e.add(a[i], a_col);
  e.decrement(rax);
  e.jump_if(Encoder::not_equal, loop);
  e.bind(done);
  each_result([&](const Mem& m, int s) { e.vector(vmovups_to, length, s, 0, m); });
  e.pop(rbp);
  e.pop(rbx);
  e.vzeroupper();
  e.ret();
  e.finish();
  return e.bytes();
}

// The tiles of one dtype and level.
struct Tiles {
  static constexpr int most = 12;
  CodeBlock block[most][tile_vectors];
  Tiles(DType d, Level l) {
    for (int rows = 1; rows <= tile_rows(l); ++rows)
      for (int v = 1; v <= tile_vectors; ++v)
        block[rows - 1][v - 1] = CodeBlock(tile_code(d, vector_bytes(l), rows, v));
  }
};
template <Level l, DType d>
const Tiles& tiles() {
  static const Tiles* t = new Tiles(d, l);  // leaked on purpose: code may run while static objects die
  return *t;
}
template <Level l>
const Tiles& tiles(DType d) {
  return d == f32 ? tiles<l, f32>() : tiles<l, f64>();
}
}  // namespace detail

FX_INLINE Vec<std::uint8_t> tile_bytes(DType d, Level l) {
  return detail::tile_code(d, vector_bytes(l), tile_rows(l), tile_vectors);
}
FX_INLINE Tile tile(DType d, Level l, int rows, int vectors) {
  if (l == Level::baseline || !executable_memory()) return nullptr;
  const detail::Tiles& t = l == Level::avx512 ? detail::tiles<Level::avx512>(d) : detail::tiles<Level::avx2>(d);
  return reinterpret_cast<Tile>(const_cast<void*>(t.block[rows - 1][vectors - 1].entry()));
}
#endif

}  // namespace fx::inline v0::tiled::code
