#!/usr/bin/env bash
# Runs the fuzz targets side by side and prints how often each ran and what it found.
#   tests/fuzz/run.sh BIN CORPUS SECONDS [JOBS [TARGET...]]
# BIN: the folder of the *_fuzz programs; CORPUS: a folder with one folder of inputs for each (left as it is).
# Targets, all unless some are named, are shared out among JOBS processes, each with its own copy of the corpus. Processes
# beyond one for each go to those in OCCAM_FUZZ_EXTRA in turn: unless given, to network, the slowest by far, which reaches
# the most code (where targets are named, to the first). Another OCCAM_FUZZ_SEED (0) draws other inputs. Logs and the
# inputs of findings go to ./fuzz-results. Exit code 1 if there is a finding.
set -euo pipefail
if [ $# -lt 3 ]; then sed -n '2,8s/^# //p' "$0"; exit 64; fi
bin=$(realpath "$1") corpus=$(realpath "$2") seconds=$3 jobs=${4:-$(nproc)}
results=$PWD/fuzz-results
rm -rf "$results"
mkdir -p "$results"

targets=("${@:5}")
if [ ${#targets[@]} -eq 0 ]; then
  for program in "$bin"/*_fuzz; do targets+=("$(basename "$program" _fuzz)"); done
fi

# With fewer processes than targets, targets take turns and share the time.
read -r -a extra <<< "${OCCAM_FUZZ_EXTRA:-${5:-network}}"
work=("${targets[@]}")
for ((k = 0; ${#work[@]} < jobs; ++k)); do work+=("${extra[k % ${#extra[@]}]}"); done
turns=$(((${#work[@]} + jobs - 1) / jobs))

fuzz() {
  local target=$1 number=$2
  local folder=$results/$target-$number
  mkdir -p "$folder/corpus"
  cp "$corpus/$target"/* "$folder/corpus/"
  cd "$folder"
  local dictionary=()
  if [ -f "$corpus/../$target.dict" ]; then dictionary=(-dict="$corpus/../$target.dict"); fi
  # Inputs are small: a few seconds or a few hundred MB for one of them is a finding.
  ASAN_OPTIONS=detect_leaks=1 "$bin/${target}_fuzz" corpus -max_total_time=$((seconds / turns)) -timeout=5 \
    -rss_limit_mb=2048 -malloc_limit_mb=256 -max_len=4096 -print_final_stats=1 \
    -seed=$((${OCCAM_FUZZ_SEED:-0} + number)) "${dictionary[@]}" >log 2>&1 || echo "exit code $?" >>log
}

number=0
for target in "${work[@]}"; do
  number=$((number + 1))
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  fuzz "$target" "$number" &
done
wait

findings=0
all=0
printf '%-12s %12s %10s %9s  %s\n' target executions exec/s edges findings
for target in "${targets[@]}"; do
  count=0 rate=0 edges=0 found=0
  for folder in "$results/$target"-*; do
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log"); count=$((count + ${n:-0}))
    r=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$folder/log"); rate=$((rate + ${r:-0}))
    e=$(grep -o 'cov: [0-9]*' "$folder/log" | tail -1 | cut -c6-); if [ "${e:-0}" -gt "$edges" ]; then edges=$e; fi
    f=$(find "$folder" -maxdepth 1 \( -name 'crash-*' -o -name 'oom-*' -o -name 'timeout-*' -o -name 'leak-*' \) | wc -l)
    found=$((found + f))
    if grep -q '^exit code' "$folder/log" && [ "$f" -eq 0 ]; then found=$((found + 1)); fi
  done
  printf '%-12s %12d %10d %9d  %d\n' "$target" "$count" "$rate" "$edges" "$found"
  all=$((all + count)) findings=$((findings + found))
done
printf '%-12s %12d %31s\n' all "$all" "$findings"
if [ "$findings" -gt 0 ]; then
  echo "Inputs and reports of findings are in $results"
  exit 1
fi
