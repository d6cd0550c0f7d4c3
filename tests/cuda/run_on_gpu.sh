#!/usr/bin/env bash
# Builds tests/cuda/run_ptx.cpp and runs it on this machine's NVIDIA GPU: fx's kernels as PTX against the processor's
# bits. Where ptxas is installed it also assembles the kernels of the digits step. Without a GPU the digits step runs on
# the machine of tests/cuda/ptx_machine.hpp instead. Exit status 77: neither a GPU nor ptxas is here.
# usage: tests/cuda/run_on_gpu.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"${CXX:-g++}" -std=c++20 -O1 -Iinclude tests/cuda/run_ptx.cpp -o "$tmp/run_ptx" -pthread -ldl

ptxas=$(command -v ptxas || { [ ! -x /usr/local/cuda/bin/ptxas ] || echo /usr/local/cuda/bin/ptxas; })
if [ -n "$ptxas" ]; then
  "$tmp/run_ptx" --write "$tmp"
  for file in "$tmp"/*.ptx; do
    arch=${file%.ptx}
    said=$("$ptxas" -arch="${arch##*.}" "$file" -o /dev/null 2>&1) || { echo "FAILED: ptxas: $said"; exit 1; }
    [ -z "$said" ] || { echo "FAILED: ptxas says of $file: $said"; exit 1; }
    echo "ptxas -arch=${arch##*.} takes $(basename "$file")"
  done
else
  echo "not assembled: no ptxas here"
fi
status=0
"$tmp/run_ptx" || status=$?
[ $status = 77 ] || exit $status
"$tmp/run_ptx" --machine | tail -n 1
[ -n "$ptxas" ] || exit 77
