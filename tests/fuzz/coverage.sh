#!/usr/bin/env bash
# Which lines of the scope code the network target reaches: compiles src/occam/scope once more, with counters, links all
# targets against it and the rest of a build, runs the corpus and some mutations, and prints what gcov counted.
#   tests/fuzz/coverage.sh BUILD EXECUTIONS
# BUILD is the folder of a build by GCC, such as build/release. A tenth of EXECUTIONS are of network files.
set -euo pipefail
if [ $# -ne 2 ]; then sed -n '2,5s/^# //p' "$0"; exit 64; fi
build=$(realpath "$1") executions=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c++20 -O1 -I"$source/src" -I"$build/generated" -I"$build/tests/fuzz" -I"$source/tests/fuzz")

cd "$work"
for file in "$source"/src/occam/scope/*.cpp; do
  case $file in *_test.cpp) continue ;; esac
  g++ "${flags[@]}" --coverage -c "$file" -o "$(basename "$file" .cpp).o"
done
for file in "$source"/tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$file" _fuzz.cpp)
  g++ "${flags[@]}" -DLLVMFuzzerTestOneInput="fuzz_$name" -c "$file" -o "target-$name.o"
done
# The first definition counts: that with counters.
g++ "${flags[@]}" --coverage -Wl,--allow-multiple-definition *.o \
  "$source"/tests/fuzz/{burst,fuzz,no_execution,archive,edits,samples}.cpp \
  "$build/src/occam/liboccam.a" -lfmt -lhwy -ldl -lz -lpthread -o burst
./burst "$source/tests/fuzz/corpus" "$executions" network
gcov -n ./*.gcda 2> /dev/null | awk -v scope="$source/src/occam/scope/" '
  /^File / { name = $2; gsub(/\x27/, "", name); wanted = index(name, scope) == 1 && name ~ /\.cpp$/ }
  /^Lines executed/ && wanted {
    split($2, share, ":"); sub(scope, "", name); printf "| %s | %d | %.0f %% |\n", name, $4, share[2]
    wanted = 0
  }'
