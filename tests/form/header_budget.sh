#!/usr/bin/env bash
# What a user's file pays for <fx/fx.hpp>, in preprocessed lines.
. "$(dirname "$0")/lib.bash"
needs_file include/fx/fx.hpp
budget=85000

echo '#include <fx/fx.hpp>' | "$cxx" "${flags[@]}" -E -P -x c++ - >"$tmp/out"
lines=$(wc -l <"$tmp/out")
echo "<fx/fx.hpp>: $lines preprocessed lines, the budget is $budget"
[ "$lines" -le $budget ] || fail "above the budget"
