#!/usr/bin/env bash
# Kills a rank of trainings with SIGKILL at random moments, resumes them with other numbers of ranks, and holds the
# network against that of a run left alone. Same bytes at the end, and no other file left, or exit code 1.
#   tests/mpi/kills.sh OCCAM KILLS
set -uo pipefail
occam=$(realpath "$1")
wanted=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
training=(train beta-binomial -o n.occam --iterations 2000 --batch 16 --validation-datasets 50 --validate-every 20
  --scope-reference 300 --scope-calibration 300 --threads 1 --checkpoint-minutes 0.0005 --quiet)
ranks_of() { for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do grep -q occam "/proc/$child/comm" && echo "$child"; done; }

"$occam" "${training[@]}" && mv n.occam expected.occam || exit 1
kills=0
while [ "$kills" -lt "$wanted" ]; do
  rm -f n.occam
  resume=()
  while :; do
    mpirun --oversubscribe -n $((2 + RANDOM % 3)) "$occam" "${training[@]}" "${resume[@]}" 2>/dev/null &
    mpirun=$!
    [ "$kills" -ge "$wanted" ] || sleep "$(awk -v r="$RANDOM" 'BEGIN { print 0.3 + 3 * r / 32768 }')"
    victim=$(ranks_of "$mpirun" | shuf -n 1)
    if [ "$kills" -ge "$wanted" ] || [ -z "$victim" ] || ! kill -KILL "$victim" 2>/dev/null; then
      wait "$mpirun"
      break
    fi
    kills=$((kills + 1))
    start=$(date +%s%N)
    wait "$mpirun"
    echo "kill $kills: all ended after $((($(date +%s%N) - start) / 1000000)) ms"
    resume=(--resume)
  done
  cmp n.occam expected.occam || exit 1
done
if [ "$(ls -A)" != "$(printf 'expected.occam\nn.occam')" ]; then echo "left behind: $(ls -A)"; exit 1; fi
echo "$kills kills, the same bytes after each"
