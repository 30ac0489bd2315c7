#!/usr/bin/env bash
# Makes the ready-made networks: trains each with a fixed seed, checks it on fresh simulations, and writes beside it
# what `occam check` said (NAME.txt) and a record of how it was made (NAME.json); then README.md, a table of them all.
#   scripts/ready-made.sh PROGRAM FOLDER [PROBLEM...]     without PROBLEM: all in the table below
# What is complete in FOLDER is left as it is; an interrupted training goes on where it was (FOLDER/work). After a
# failure the next problem is taken, and the script ends with an error. In the environment:
#   DEVICE=cuda        train on the GPU (default: cpu)
#   MINUTES=M          train each for about M minutes instead of the steps below
#   STEPS_FACTOR=F     F times the steps below, such as 0.01 to try the script
#   THREADS=T          threads to compute with (default: all cores)
#   SEED=S             of the trainings (default: 1)
#   DATASETS=K         of each check (default: 10000)
set -uo pipefail

# problem, steps, data sets to validate on. About twice the steps of the full studies (docs/studies.md);
# four times where training is cheap. Batches, learning rates and networks are the problems' own. With fewer data sets
# for validation chance decides which step is kept.
table() {
  cat <<'TABLE'
beta-binomial            12000  100000
one-sample               16000  100000
jump-process             40000   50000
gaussian-mixtures        60000   30000
decision-making          40000   30000
decision-making:as_run   40000   30000
neuron                   40000   20000
TABLE
}

if [ $# -lt 2 ]; then
  sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
  exit 64
fi
command -v python3 >/dev/null || { echo "ready-made: python3 is needed, for the records" >&2; exit 69; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") || exit 66
mkdir -p "$2/work" || exit 74
folder=$(realpath "$2")
problems=("${@:3}")
[ ${#problems[@]} -gt 0 ] || mapfile -t problems < <(table | awk '{print $1}')

device=${DEVICE:-cpu} seed=${SEED:-1} datasets=${DATASETS:-10000}
scope=15000  # data sets of the scope reference, which makes up most of a file: below 4 MB with so many
threads=()
[ -z "${THREADS:-}" ] || threads=(--threads "$THREADS")

say() { echo "== $*"; }

# make_one PROBLEM: all of it for one. Programs run in FOLDER/work, so that the commands in the record hold no path.
make_one() {
  local problem=$1 name=${1//:/.} row steps validation length
  row=$(table | awk -v problem="$problem" '$1 == problem')
  if [ -z "$row" ]; then
    echo "ready-made: there is no '$problem' in the table of this script" >&2
    return 1
  fi
  if [ -e "$folder/$name.occam" ] && [ -e "$folder/$name.json" ] && [ -e "$folder/$name.txt" ]; then
    say "$problem: complete"
    return 0
  fi
  read -r _ steps validation <<< "$row"
  steps=$(awk -v n="$steps" -v factor="${STEPS_FACTOR:-1}" 'BEGIN { n *= factor; printf "%d", n < 10 ? 10 : n }')
  length=(--iterations "$steps")
  [ -z "${MINUTES:-}" ] || length=(--minutes "$MINUTES")

  cd "$folder/work" || return 1
  local train=(train "$problem" -o "$name.occam" "${length[@]}" --seed "$seed" --scope-reference "$scope"
    --validation-datasets "$validation" --device "$device")
  if [ ! -e "$name.trained" ]; then
    local resume=() begin=$SECONDS
    [ ! -e "$name.occam.checkpoint" ] || resume=(--resume)
    say "$problem: occam ${train[*]} ${resume[*]}"
    "$program" "${train[@]}" "${resume[@]}" "${threads[@]}" || return 1
    # How long it took, where that was all of it.
    [ ${#resume[@]} -gt 0 ] || echo $((SECONDS - begin)) > "$name.seconds"
    echo "occam ${train[*]}" > "$name.trained"
  fi
  # Of another seed, so that nothing of it was seen in training.
  local check=(check "$name.occam" -o "$name.report" --datasets "$datasets" --seed $((seed + 1000)) --device "$device")
  say "$problem: occam ${check[*]}"
  "$program" "${check[@]}" "${threads[@]}" > "$name.checked" || return 1
  grep -v '^The report is in' "$name.checked" > "$name.txt"
  cat "$name.txt"
  "$program" info "$name.occam" --json > "$name.info" || return 1
  local gpu=
  [ "$device" != cuda ] || gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
  python3 "$here/ready_made.py" record --problem "$problem" --info "$name.info" --text "$name.txt" \
    --metrics "$name.report/metrics.json" --seconds "$(cat "$name.seconds" 2>/dev/null)" \
    --program "$("$program" reference program)" --machine "$("$program" reference machine)" --gpu "$gpu" \
    --command "$(cat "$name.trained")" --check "occam ${check[*]}" --output "$name.json" || return 1
  # The record last: with it the three are complete.
  mv "$name.occam" "$name.txt" "$folder/" && mv "$name.json" "$folder/" || return 1
  rm -f "$name".{trained,seconds,checked,info}
  say "$problem: done"
}

failed=()
for problem in "${problems[@]}"; do
  (make_one "$problem") || failed+=("$problem")
  python3 "$here/ready_made.py" table "$folder" || failed+=("README.md")
done
rmdir "$folder/work" 2>/dev/null  # reports stay there
if [ ${#failed[@]} -gt 0 ]; then
  echo "ready-made: failed: ${failed[*]}; call it again to go on" >&2
  exit 1
fi
