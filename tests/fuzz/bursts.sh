#!/usr/bin/env bash
# Bursts of fuzz_burst with ever new seeds on all processors, for machines without libFuzzer. Prints the executions by
# target and the findings; fails where there is one.
#   tests/fuzz/bursts.sh FUZZ_BURST CORPUS SECONDS [JOBS [FIRST_SEED]]
set -euo pipefail
[ -x "$1" ] || { echo "bursts: there is no program $1" >&2; exit 66; }
burst=$(realpath "$1") corpus=$(realpath "$2") seconds=$3 jobs=${4:-$(nproc)} first=${5:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
end=$((SECONDS + seconds))
one_job() {
  local seed=$((first + $1))
  mkdir -p "$folder/$1"
  cd "$folder/$1"
  while [ $SECONDS -lt $end ]; do
    if ! OCCAM_FUZZ_SEED=$seed "$burst" "$corpus" 4000 >> counts 2>> errors; then
      echo "seed $seed" >> findings
      for input in finding-*; do [ ! -e "$input" ] || mv "$input" "$input-$seed"; done
    fi
    seed=$((seed + jobs))
  done
}
for ((job = 0; job < jobs; ++job)); do one_job "$job" & done
wait
cat "$folder"/*/counts | awk '/ executions$/ { n[$1] += $2; all += $2 } END { for (t in n) printf "%-12s %10d executions\n", t, n[t]; printf "%-12s %10d executions\n", "all", all }' | sort
if cat "$folder"/*/findings 2>/dev/null; then
  mkdir -p findings
  cp "$folder"/*/finding-* findings/ 2>/dev/null || true
  cat "$folder"/*/errors | head -n 60
  exit 1
fi
echo "no finding"
