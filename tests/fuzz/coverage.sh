#!/usr/bin/env bash
# Which lines of the scope code the network target reaches: compiles src/occam/scope once more, with counters, links the
# target against it, runs it for some seconds and then over the inputs it has kept, and prints the table of llvm-cov. After
# `make fuzz`, which builds the rest.
#   tests/fuzz/coverage.sh BUILD SECONDS
set -euo pipefail
if [ $# -ne 2 ]; then sed -n '2,5s/^# //p' "$0"; exit 64; fi
build=$(realpath "$1") seconds=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in "$source"/src/occam/scope/*.cpp; do
  case $file in *_test.cpp) continue ;; esac
  clang++-16 -std=c++20 -O1 -I"$source/src" -I"$build/generated" -fprofile-instr-generate -fcoverage-mapping \
    -c "$file" -o "$work/$(basename "$file").o"
done
# The first definition counts: that with counters.
clang++-16 -fsanitize=fuzzer,address,undefined -fprofile-instr-generate -static-libstdc++ -Wl,--allow-multiple-definition \
  "$work"/*.o "$build"/tests/fuzz/CMakeFiles/fuzz_support.dir/Unity/*.o \
  "$build"/tests/fuzz/CMakeFiles/network_fuzz.dir/network_fuzz.cpp.o "$build/src/occam/liboccam.a" -ldl -lz -o "$work/network"
cp -r "$source/tests/fuzz/corpus/network" "$work/corpus"
cd "$work"
LLVM_PROFILE_FILE=/dev/null ./network corpus -max_total_time="$seconds" -print_final_stats=1 2>&1 | grep number_of_executed || true
LLVM_PROFILE_FILE=$work/counts ./network corpus -runs=0 > log 2>&1
llvm-profdata-16 merge counts -o profile
llvm-cov-16 report ./network -instr-profile=profile "$source"/src/occam/scope/*.cpp
