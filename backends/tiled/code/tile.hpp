// code/tile.hpp -- machine code for the inner tile of a matrix product, all of whose sums stay in registers.
#pragma once
#include "../kernels/level.hpp"
#include "forms.hpp"
#include "memory.hpp"

namespace fx::inline v0::tiled::code {

// c[i, j] (+)= sum of a[i * a_row + p * a_col] * b[p * b_row + j], in rising p; strides in elements. `first`: from +0,
// else from what c holds. i below the tile's rows, j below its columns.
using Tile = void (*)(const void* a, std::int64_t a_row, std::int64_t a_col, const void* b, std::int64_t b_row, void* c,
                      std::int64_t c_row, std::int64_t k, bool first);

// Rows that a tile has, and vectors in a row of it.
inline constexpr int tile_rows = 6;
constexpr int tile_vectors(Level l) { return l == Level::avx512 ? 4 : 2; }
constexpr int vector_bytes(Level l) { return l == Level::avx512 ? 64 : 32; }

// A tile of `vectors` (1 to tile_vectors) for f32 or f64; made at the first call and kept. Null on the baseline, or
// where memory may not be executed.
Tile tile(DType d, Level l, int vectors);
// The code of the widest tile, to be shown.
Vec<std::uint8_t> tile_bytes(DType d, Level l);

#if FX_BODIES
namespace detail {
// Rows 0 to 2 of a and c are found from one register, rows 3 to 5 from another: base, base + step, base + 2 step.
FX_INLINE Mem tile_row(Gpr low, Gpr high, Gpr step, int row) {
  Mem m{row < 3 ? low : high};
  if (row % 3) {
    m.index = step;
    m.scale = row % 3;
  }
  return m;
}

FX_INLINE Vec<std::uint8_t> tile_code(DType d, int length, int vectors) {
  using namespace form;
  constexpr Gpr a = rdi, a_row = rsi, a_col = rdx, b = rcx, b_row = r8, c = r9, a_high = r11, c_high = r10;
  const bool four = size_of(d) == 4;
  const int shift = four ? 2 : 3, sums = tile_rows * vectors, first_b = sums, element = sums + vectors;
  Encoder e;
  auto sum = [&](int i, int j) { return i * vectors + j; };
  auto stack = [](int offset) {
    Mem m{rsp};
    m.disp = offset;
    return m;
  };
  auto each_result = [&](auto&& f) {
    for (int i = 0; i < tile_rows; ++i)
      for (int j = 0; j < vectors; ++j) {
        Mem m = tile_row(c, c_high, rax, i);
        m.disp = j * length;
        f(m, sum(i, j));
      }
  };
  for (Gpr g : {a_row, a_col, b_row}) e.shift_left(g, shift);
  Mem third{a_row, a_row, 2};
  e.lea(r10, third);
  e.lea(a_high, {a, r10});
  e.mov(rax, stack(8));  // the row of c
  e.shift_left(rax, shift);
  third = {rax, rax, 2};
  e.lea(r10, third);
  e.add(c_high, c);
  each_result([&](const Mem& m, int) { e.prefetch(m); });
  const Label resume = e.label(), loop = e.label(), begin = e.label(), done = e.label();
  for (int s = 0; s < sums; ++s) e.vector(vpxord, length, s, s, s);
  Mem flag = stack(24);
  e.load_byte(rax, flag);
  e.cmp(rax, 0);
  e.jump_if(Encoder::not_equal, begin);
  e.bind(resume);
  e.mov(rax, stack(8));
  e.shift_left(rax, shift);
  each_result([&](const Mem& m, int s) { e.vector(vmovups, length, s, 0, m); });
  e.bind(begin);
  e.mov(rax, stack(16));
  e.cmp(rax, 0);
  e.jump_if(Encoder::equal, done);
  e.bind(loop);
  for (int j = 0; j < vectors; ++j) {
    Mem m{b};
    m.disp = j * length;
    e.vector(vmovups, length, first_b + j, 0, m);
  }
  for (int i = 0; i < tile_rows; ++i) {
    const int x = element + i % 2;
    e.vector(four ? vbroadcastss : vbroadcastsd, length, x, 0, tile_row(a, a_high, a_row, i));
    for (int j = 0; j < vectors; ++j) e.vector(four ? vfmadd231ps : vfmadd231pd, length, sum(i, j), x, first_b + j);
  }
  e.add(b, b_row);
  e.add(a, a_col);
  e.add(a_high, a_col);
  e.decrement(rax);
  e.jump_if(Encoder::not_equal, loop);
  e.bind(done);
  e.mov(rax, stack(8));
  e.shift_left(rax, shift);
  each_result([&](const Mem& m, int s) { e.vector(vmovups_to, length, s, 0, m); });
  e.vzeroupper();
  e.ret();
  e.finish();
  return e.bytes();
}

// The tiles of one dtype and level.
struct Tiles {
  CodeBlock block[4];
  Tiles(DType d, Level l) {
    for (int v = 1; v <= tile_vectors(l); ++v) block[v - 1] = CodeBlock(tile_code(d, vector_bytes(l), v));
  }
};
template <Level l>
const Tiles& tiles(DType d) {
  // Leaked on purpose: code may run while static objects die.
  static const Tiles *single = new Tiles(f32, l), *twice = new Tiles(f64, l);
  return d == f32 ? *single : *twice;
}
}  // namespace detail

FX_INLINE Vec<std::uint8_t> tile_bytes(DType d, Level l) {
  return detail::tile_code(d, vector_bytes(l), tile_vectors(l));
}
FX_INLINE Tile tile(DType d, Level l, int vectors) {
  if (l == Level::baseline || !executable_memory()) return nullptr;
  const detail::Tiles& t = l == Level::avx512 ? detail::tiles<Level::avx512>(d) : detail::tiles<Level::avx2>(d);
  return reinterpret_cast<Tile>(const_cast<void*>(t.block[vectors - 1].entry()));
}
#endif

}  // namespace fx::inline v0::tiled::code
