// kernels/dot_types.hpp -- DotLoops: the innermost loops of a matrix product, and the sizes they work in.
#pragma once
#include <fx/type.hpp>

#include "../code/skinny.hpp"

namespace fx::inline v0::tiled {

// The loops of one dtype and level, and the sizes they work in.
struct DotLoops {
  int size = 0;                             // bytes of an element
  int rows = 0, cols = 0, narrow_cols = 0;  // of a tile, and of one for what is left of the columns
  std::int64_t depth = 0;                   // of a strip of b that stays in the first-level cache
  code::Tile tile = nullptr, narrow_tile = nullptr;
  code::Tile last[12]{}, narrow_last[12]{};            // of 1 to `rows` rows; none: tiles are padded
  code::RowPiece row = nullptr, row_of_one = nullptr;  // row_terms terms, and one
  int column_rows = 0;
  code::ColumnPiece column[code::column_rows]{};  // of 1 to column_rows rows
};

DotLoops dot_loops(DType d, Level l);

}  // namespace fx::inline v0::tiled
