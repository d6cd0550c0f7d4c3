#!/usr/bin/env bash
# Two shared objects that hide their symbols and each contain fx work in one process.
. "$(dirname "$0")/lib.bash"
needs_file include/fx/fx.hpp

for so in a b; do
  cat >"$tmp/$so.cpp" <<EOF
#define main run_consumer
#include "$consumer/main.cpp"
#undef main
extern "C" __attribute__((visibility("default"))) int run_$so() { return run_consumer(); }
EOF
  "$cxx" "${flags[@]}" -O0 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -shared "$tmp/$so.cpp" \
    -o "$tmp/lib$so.so" -pthread -ldl
done
cat >"$tmp/main.cpp" <<'EOF'
extern "C" int run_a();
extern "C" int run_b();
int main() { return run_a() || run_b() || run_a(); }
EOF
"$cxx" "${flags[@]}" "$tmp/main.cpp" -o "$tmp/main" -L"$tmp" -la -lb -Wl,-rpath,"$tmp"
"$tmp/main" || fail "an executable with two shared objects"
echo "an executable with two shared objects, each with fx inside and hidden, runs"
