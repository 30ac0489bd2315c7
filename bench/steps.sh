#!/usr/bin/env bash
# CPU time of a training step on one thread, for two or more builds of the program in turns.
#   bench/steps.sh ROUNDS OCCAM... -- PROBLEM...
# PROBLEM is a file, or a name of studies/exact-zoo or bench/unseen. A step is what 220 steps (OCCAM_STEPS) take more
# than 20; printed is the least of ROUNDS for each program, in milliseconds, simulation included.
set -euo pipefail
if [ $# -lt 4 ]; then
  sed -n '2,5s/^# //p' "$0" >&2
  exit 64
fi
rounds=$1 programs=()
shift
while [ "$1" != -- ]; do
  programs+=("$(realpath "$1")")
  shift
done
shift
most=${OCCAM_STEPS:-220}
root=$(realpath "$(dirname "$0")/..") folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# CPU seconds of a training of so many steps.
seconds() {
  local TIMEFORMAT='%U %S'
  { time "$1" train "$2" -o "$folder/network.occam" --iterations "$3" --scope-reference 0 --threads 1 --quiet --seed 1 \
    > "$folder/log" 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

for problem in "$@"; do
  file=$problem
  for place in studies/exact-zoo bench/unseen; do
    [ -e "$root/$place/$problem.toml" ] && file=$root/$place/$problem.toml
  done
  best=()
  for ((round = 0; round < rounds; ++round)); do
    for i in "${!programs[@]}"; do
      few=$(seconds "${programs[i]}" "$file" 20)
      many=$(seconds "${programs[i]}" "$file" "$most")
      best[i]=$(awk -v a="$few" -v b="$many" -v steps=$((most - 20)) -v least="${best[i]:-1e9}" \
        'BEGIN { s = 1000 * (b - a) / steps; printf "%.1f", s < least ? s : least }')
    done
  done
  printf '%-20s %s\n' "$(basename "$problem" .toml)" "${best[*]}"
done
