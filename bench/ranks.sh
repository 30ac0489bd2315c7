#!/usr/bin/env bash
# Ranks beside threads, on one machine: training of the decision problem, and simulations by a slow Python program whose
# running times spread over a factor of 20 (50 ms on average). Every figure is the best of REPEATS runs.
#   bench/ranks.sh [OCCAM] [RANKS] [REPEATS]        all cores, 3 repeats
set -euo pipefail
occam=$(realpath "${1:-build/release/apps/occam/occam}")
ranks=${2:-$(nproc)}
repeats=${3:-3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The last line of the log has the rate of the steps so far, without what goes before the first.
train() {  # train NAME COMMAND...
  local name=$1 best=0
  shift
  for _ in $(seq "$repeats"); do
    "$@" -o net.occam --iterations 200 --validate-every 200 --validation-datasets 100 \
      --scope-reference 0 --log log --quiet 2>/dev/null
    best=$(awk -v best="$best" '{ match($0, /"data_sets_per_s":[0-9.e+]+/); x = substr($0, RSTART + 18, RLENGTH - 18) + 0
                                  if (x > best) best = x } END { print best }' log)
  done
  printf '%-38s %10.0f data sets/s   %s\n' "$name" "$best" "$(md5sum < net.occam | cut -c1-8)"
}

echo "== training, decision-making ($(nproc) cores)"
train "1 process x 1 thread" "$occam" train decision-making --threads 1
train "1 process x $ranks threads" "$occam" train decision-making --threads "$ranks"
train "$ranks ranks x 1 thread" mpirun -n "$ranks" --bind-to core "$occam" train decision-making --threads 1
if [ $((ranks % 4)) = 0 ]; then
  train "4 ranks x $((ranks / 4)) threads" mpirun -n 4 --map-by "slot:PE=$((ranks / 4))" --bind-to core "$occam" \
    train decision-making --threads $((ranks / 4))
fi

cat > slow.toml <<'END'
name = "slow"
n = 10
columns = { x = "a number" }
simulator = "slow.py"
simulator_sets = 1
[model.a]
m = "normal(0, 1)"
[model.b]
m = "normal(1, 1)"
END
cat > slow.py <<'END'
import time
from occam_simulator import serve


def f(m, n, rng):
    time.sleep(0.0079 * 20 ** rng.random())  # log-uniform, 50 ms on average
    return rng.normal(m, 1, n)


serve({"a": f, "b": f})
END

simulate() {  # simulate NAME DATA_SETS COMMAND...
  local name=$1 sets=$2 best=0
  shift 2
  for _ in $(seq "$repeats"); do
    local start end
    start=$(date +%s.%N)
    "$@" simulate slow.toml --datasets "$sets" --threads 1 --quiet -o slow.csv
    end=$(date +%s.%N)
    best=$(awk -v best="$best" -v s="$start" -v e="$end" -v n="$sets" 'BEGIN { x = n / (e - s); print (x > best ? x : best) }')
  done
  printf '%-38s %10.2f data sets/s\n' "$name" "$best"
}

echo "== simulations, a Python program of 50 ms per data set"
simulate "1 process x 1 thread" 400 "$occam"
simulate "$ranks ranks x 1 thread" $((400 * ranks)) mpirun -n "$ranks" --bind-to core "$occam"
