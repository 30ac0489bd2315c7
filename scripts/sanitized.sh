#!/usr/bin/env bash
# Tests under the sanitizers, which `make test` has built: the address and undefined-behaviour sanitizers beside the
# thread sanitizer, each on a core of its own as far as there are any. Prints what each said when it is done.
#   scripts/sanitized.sh [PATTERN of threaded tests]
set -uo pipefail
cd "$(dirname "$0")/.."

# The thread sanitizer of GCC 12 cannot live with the random addresses of newer kernels.
steady=()
if setarch -R true 2>/dev/null; then steady=(setarch -R); fi

address() {
  echo "== fast tests under the address and undefined-behaviour sanitizers"
  build/asan/tests/unit_tests --gtest_brief=1 &&
    tests/mpi/run.sh build/asan/tests/mpi_ranks &&
    echo "== fuzz targets: the corpora and a short burst, under the same sanitizers" &&
    build/asan/tests/fuzz/fuzz_burst tests/fuzz/corpus 2000
}
thread() {
  echo "== threaded tests under the thread sanitizer"
  ${steady[@]+"${steady[@]}"} build/tsan/tests/threaded_tests --gtest_brief=1 --gtest_filter="$1"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
thread "${1:-*}" > "$log" 2>&1 &
address
address=$?
wait $!
thread=$?
cat "$log"
exit $((address | thread))
