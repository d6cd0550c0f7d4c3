# What the scripts of this folder share. Run by ctest, which sets CXX, CMAKE and FX_SOURCE_DIR, or by hand.
set -euo pipefail
cxx=${CXX:-g++}
cmake=${CMAKE:-cmake}
top=${FX_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
flags=(-std=c++20 -Wall -Wextra -Werror -I"$top/include")
consumer=$top/tests/form/consumer
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
needs_file() { [ -e "$top/$1" ] || skip "there is no $1 yet"; }
# The name in <...> of every header. The link include/fx/backends is not followed: each file once.
headers() { (cd "$top" && find include/fx backends -name '*.hpp' | sed 's,^include/,,; s,^backends/,fx/&,' | sort); }
