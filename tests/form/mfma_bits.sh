#!/usr/bin/env bash
# The same program built plainly and with -mfma gives the same bits: no product and sum is contracted behind fx's back.
. "$(dirname "$0")/lib.bash"
needs_file include/fx/fx.hpp
grep -q ' fma ' /proc/cpuinfo || skip "this processor has no fma instruction"

cat >"$tmp/bits.cpp" <<'CPP'
#include <cstdio>
#include <fx/fx.hpp>
using fx::Array;
namespace np = fx::numpy;

static void show(const char* name, const Array& a) {
  std::printf("%s", name);
  for (double v : fx::convert(a, fx::f64).to_vector<double>()) std::printf(" %a", v);
  std::printf("\n");
}
int main() {
  const Array x = fx::random::normal(fx::random::key(1), {7, 9}), y = fx::random::normal(fx::random::key(2), {9, 5});
  auto f = [](Array a, Array b) { return np::sum(tanh(np::matmul(exp(a) * a + sin(a), b)) * 3.0 + 1.0); };
  show("value", f(x, y));
  show("gradient", fx::jit(fx::grad(f))(x, y));
  show("elementwise", log(abs(x) + 0.1) * x + x * x - pow(abs(x), 1.5));
  show("f64", cos(fx::convert(x, fx::f64)) * 2.0 + log1p(fx::convert(x, fx::f64) * fx::convert(x, fx::f64)));
}
CPP
for options in "-O2" "-O2 -mfma" "-O3 -march=native"; do
  # shellcheck disable=SC2086  (options are several words)
  "$cxx" -std=c++20 $options -I"$top/include" "$tmp/bits.cpp" -o "$tmp/bits" -pthread -ldl
  "$tmp/bits" >"$tmp/now.txt"
  [ -e "$tmp/first.txt" ] || cp "$tmp/now.txt" "$tmp/first.txt"
  diff "$tmp/first.txt" "$tmp/now.txt" >/dev/null || { diff "$tmp/first.txt" "$tmp/now.txt" | head; fail "$options changes bits"; }
  echo "$options: $(wc -w <"$tmp/now.txt") numbers, the same bits"
done
