#!/usr/bin/env bash
# Two translation units that include fx link: header-only, and against the compiled bodies.
. "$(dirname "$0")/lib.bash"
needs_file include/fx/fx.hpp
cat >"$tmp/two.cpp" <<EOF
#define main second_main
#include "$consumer/main.cpp"
#undef main
EOF
cat >"$tmp/main.cpp" <<EOF
#define main first_main
#include "$consumer/main.cpp"
#undef main
int second_main();
int main() { return first_main() || second_main(); }
EOF

link() {  # NAME OBJECT...
  "$cxx" "${@:2}" -o "$tmp/$1" -pthread -ldl && "$tmp/$1" || fail "$1"
  echo "two translation units link and run: $1"
}
for form in header_only compiled; do
  [ $form = header_only ] || flags+=(-DFX_COMPILED)
  for unit in main two; do "$cxx" "${flags[@]}" -O0 -c "$tmp/$unit.cpp" -o "$tmp/$form.$unit.o"; done
  bodies=()
  if [ $form = compiled ]; then
    [ -e "$top/src/fx.cpp" ] || { echo "there is no src/fx.cpp yet"; break; }
    bodies=("$tmp/fx.o")
    "$cxx" "${flags[@]}" -O0 -c "$top/src/fx.cpp" -o "$tmp/fx.o"
  fi
  link $form "$tmp/$form.main.o" "$tmp/$form.two.o" "${bodies[@]}"
done
