#!/usr/bin/env bash
# The compile-time floor: what tests/test_static.cpp asserts holds on every compiler here, with default limits.
. "$(dirname "$0")/lib.bash"
needs_file tests/test_static.cpp
for compiler in "$cxx" ${FX_OTHER_CXX:-}; do
  command -v "$compiler" >/dev/null || fail "there is no $compiler"
  "$compiler" "${flags[@]}" -DFX_COMPILED -fsyntax-only "$top/tests/test_static.cpp" || fail "$compiler"
  echo "the compile-time floor holds: $compiler"
done
