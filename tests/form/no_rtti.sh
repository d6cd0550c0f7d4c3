#!/usr/bin/env bash
# fx compiles without RTTI, and static.hpp without exceptions too.
. "$(dirname "$0")/lib.bash"
needs_file include/fx/fx.hpp

for compiler in "$cxx" ${FX_OTHER_CXX:-}; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" "${flags[@]}" -fno-rtti -O0 -c "$consumer/main.cpp" -o "$tmp/main.o"
  echo "$compiler compiles the consumer with -fno-rtti"
  [ -e "$top/include/fx/static.hpp" ] || continue
  echo '#include <fx/static.hpp>' | "$compiler" "${flags[@]}" -fno-rtti -fno-exceptions -fsyntax-only -x c++ -
  echo "$compiler compiles <fx/static.hpp> with -fno-rtti -fno-exceptions"
done
