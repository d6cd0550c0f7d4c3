#!/usr/bin/env bash
# Each header compiles alone, without a warning. FX_OTHER_CXX names further compilers, which see the umbrella and the static door.
. "$(dirname "$0")/lib.bash"

# alone COMPILER HEADER
alone() {
  local log=$tmp/log.$BASHPID package=
  case $2 in
    fx/hana.hpp) package=boost/hana/version.hpp ;;
    fx/xtensor.hpp) package=xtensor/xtensor_config.hpp ;;
  esac
  if [ -n "$package" ] && ! "$1" -include "$package" -x c++ -E /dev/null >/dev/null 2>&1; then
    echo "  not checked, its package is missing: <$2>"
    return 0
  fi
  printf '#include <%s>\n' "$2" >"$log.cpp"
  case $2 in  # their rules call one another's functions: whoever uses them includes all families
    fx/ir.hpp | fx/ops/* | fx/passes/*) printf '#include <%s>\n' fx/ops/all.hpp fx/passes/batch.hpp >>"$log.cpp" ;;
  esac
  "$1" "${@:3}" -fsyntax-only "$log.cpp" >"$log" 2>&1 && return 0
  echo "  $1 does not compile alone: <$2>"
  head -n 25 "$log"
  return 1
}
export -f alone
export tmp

headers | sed "s,^,$cxx ," >"$tmp/list"
for other in ${FX_OTHER_CXX:-}; do
  command -v "$other" >/dev/null || continue
  for header in fx/fx.hpp fx/static.hpp; do
    [ ! -e "$top/include/$header" ] || echo "$other $header" >>"$tmp/list"
  done
done
xargs -P 2 -L 1 bash -c 'alone "${@: -2}" "${@:1:$#-2}"' _ "${flags[@]}" <"$tmp/list" || fail "see above"
echo "$(wc -l <"$tmp/list") headers compile alone: $cxx ${FX_OTHER_CXX:-}"
