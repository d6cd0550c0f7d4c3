#!/usr/bin/env bash
# A project finds an installed fx that was moved after its installation, or takes the source tree as a subdirectory.
. "$(dirname "$0")/lib.bash"
needs_file include/fx/fx.hpp
generator=(-DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug)
! command -v ninja >/dev/null || generator+=(-G Ninja)
! command -v ccache >/dev/null || generator+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

quietly() { "$@" >"$tmp/log" 2>&1 || { tail -n 60 "$tmp/log"; fail "$*"; }; }

quietly "$cmake" -S "$top" -B "$tmp/fx" "${generator[@]}" -DFX_BUILD_TESTS=OFF -DFX_BUILD_EXAMPLES=OFF \
  -DCMAKE_INSTALL_PREFIX="$tmp/first"
quietly "$cmake" --build "$tmp/fx"
quietly "$cmake" --install "$tmp/fx"
mv "$tmp/first" "$tmp/prefix"

[ -z "$(find "$tmp/prefix" -type l)" ] || fail "the installation holds links: $(find "$tmp/prefix" -type l)"
! grep -rIlF -e "$top" -e "$tmp/first" "$tmp/prefix" || fail "installed files name this machine's paths"
headers >"$tmp/have"
(cd "$tmp/prefix/include" && find fx -type f) | sort >"$tmp/installed"
diff "$tmp/have" "$tmp/installed" || fail "the headers of the tree (<) and of the installation (>) differ"
echo "installed: $(wc -l <"$tmp/installed") headers, no links, no paths of this machine"

consume() {  # NAME CMAKE-ARGUMENT...
  quietly "$cmake" -S "$consumer" -B "$tmp/$1" "${generator[@]}" "${@:2}"
  quietly "$cmake" --build "$tmp/$1"
  local program
  for program in "$tmp/$1"/consumer_*; do
    "$program" || fail "$1: $(basename "$program")"
    echo "built and run, $1: $(basename "$program")"
  done
}
consume find_package -DCMAKE_PREFIX_PATH="$tmp/prefix"
consume add_subdirectory -DFX_TREE="$top" -DFX_BUILD_COMPILED=ON
