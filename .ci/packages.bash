# need PACKAGE...: installs those of Debian's packages that are missing; where it cannot, it names them and goes on, for
# a compiler or library may have come another way. Sourced by run and test.

have() {
  case $1 in
    g++ | cmake | ccache | clang-format | clang-tidy | python3) command -v "$1" ;;
    ninja-build) command -v ninja ;;
    clang) command -v clang++ ;;
    clang-19) command -v clang++-19 ;;
    *) dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed ;;
  esac >/dev/null
}

need() {
  local missing=() as_root=() package try
  for package in "$@"; do have "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  if ! command -v apt-get >/dev/null || ! { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }; then
    echo "not installed, and no apt-get or no right to use it: ${missing[*]}" >&2
    return 0
  fi
  echo "installing ${missing[*]}"
  for try in 1 2; do
    if "${as_root[@]}" apt-get update -qq </dev/null &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 "${missing[@]}" </dev/null >/dev/null; then
      return 0
    fi
    [ $try = 2 ] || sleep 5
  done
  echo "could not install: ${missing[*]}" >&2
  return 1
}
