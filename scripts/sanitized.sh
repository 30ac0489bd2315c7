#!/usr/bin/env bash
# Tests under the sanitizers, which `make test` has built: the address and undefined-behaviour sanitizers, and the thread
# sanitizer, in parts that take turns on all cores. Prints what each part said when it is done.
#   scripts/sanitized.sh [PATTERN of threaded tests]
set -uo pipefail
cd "$(dirname "$0")/.."
export THREADED=${1:-*} PARTS=$((2 * $(nproc)))
# Statistics over many draws, which the release runs; the code they run is run by the other tests of their files, too.
export STATISTICS=ScopeReference.FalseAlarms*:FrequencyPosterior.OfThreeModels*:FrequencyPosterior.WithoutEvidence*
STATISTICS+=:SecondLearner.FindsWhat*:Prior.MeanAndSd*

threads() {
  # The thread sanitizer cannot live with the random addresses of newer kernels.
  local steady=()
  if setarch -R true 2>/dev/null; then steady=(setarch -R); fi
  ${steady[@]+"${steady[@]}"} build/tsan/tests/threaded_tests --gtest_brief=1 --gtest_filter="$THREADED"
}
unit_tests() {
  GTEST_TOTAL_SHARDS=$PARTS GTEST_SHARD_INDEX=$1 build/asan/tests/unit_tests --gtest_brief=1 --gtest_filter=-$STATISTICS
}
ranks() {
  tests/mpi/run.sh build/asan/tests/mpi_ranks
}
fuzz_targets() {  # the corpora and a short burst
  build/asan/tests/fuzz/fuzz_burst tests/fuzz/corpus 2000
}
part() {
  local said status
  said=$("$@" 2>&1)
  status=$?
  printf '== under a sanitizer: %s\n%s\n' "$*" "$said"
  return $status
}
export -f threads unit_tests ranks fuzz_targets part

{ echo threads && seq -f 'unit_tests %.0f' 0 $((PARTS - 1)) && echo ranks && echo fuzz_targets; } |
  xargs -P "$(nproc)" -L 1 bash -c 'part "$@"' part
