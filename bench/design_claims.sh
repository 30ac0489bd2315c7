#!/usr/bin/env bash
# What a design costs and what it saves, on the decision models (docs/scope.md):
#   - the log-loss on balanced data of a network trained on any design, beside one trained on balanced designs only
#   - false alarms of the scope test at several shares of the conditions
#   - how much of each disturbance is noticed
#   bench/design_claims.sh OCCAM FOLDER [ITERATIONS [SEED [PARTS]]]     PARTS: losses,alarms,noticed
# Networks that are in the folder already are used.
set -euo pipefail
occam=$1 folder=$2 iterations=${3:-8000} seed=${4:-1} parts=,${5:-losses,alarms,noticed},
wanted() { [[ $parts == *,$1,* ]]; }
mkdir -p "$folder"
cd "$folder"

# A problem like the built-in one, with another design.
with_design() {
  "$occam" models --show decision-making | sed -e '/^\[design\]/,/^$/d'
  printf '[design]\ncondition = %s\n\n' "$1"
}
with_design '{ levels = [1, 2] }' > balanced.toml
for share in 0.5 0.507 0.45 0.3 0.1; do
  with_design "{ levels = [1, 2], shares = [$share, $(awk "BEGIN { print 1 - $share }")] }" > "share-$share.toml"
done

for net in any balanced; do
  problem=balanced.toml
  [ "$net" = any ] && problem=decision-making
  if [ "$net" = balanced ] && ! wanted losses && ! wanted noticed; then continue; fi
  [ -e "$net.occam" ] || "$occam" train "$problem" -o "$net.occam" --iterations "$iterations" --seed "$seed" --quiet
done

wanted losses && echo "== log-loss on balanced data, 20,000 data sets of n = 200 and of n = 600"
for n in 200 600; do
  wanted losses || break
  for net in any balanced; do
    "$occam" simulate balanced.toml --datasets 20000 --n $n --seed 7 --quiet -o test.npz
    "$occam" check "$net.occam" --table test.npz --quiet > "check-$net-$n.txt" || true
    printf '%-9s n = %s: ' "$net" $n
    grep -m 1 -E '^ +all ' "check-$net-$n.txt" || tail -n 3 "check-$net-$n.txt"
  done
done

# Shares of 4,000 data sets with scope_p below .01, and with the verdict out-of-scope or outside-training.
verdicts() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
           { ++n; small += $at["scope_p"] < 0.01; five += $at["scope_p"] < 0.05;
             out += $at["verdict"] == "out-of-scope"; other += $at["verdict"] == "outside-training" }
           END { printf "p < .01 %.4f  p < .05 %.4f  out-of-scope %.4f  outside-training %.4f\n", small / n, five / n, out / n, other / n }'
}
wanted alarms && echo "== false alarms of the network for any design, 4,000 data sets"
for n in any 100 200 400; do
  wanted alarms || break
  size=(--n $n)
  [ $n = any ] && size=()
  for share in 0.5 0.507 0.45 0.3 0.1; do
    "$occam" simulate "share-$share.toml" --datasets 4000 "${size[@]}" --seed 11 --quiet -o test.npz
    "$occam" compare any.occam test.npz --quiet -o answers.csv 2>/dev/null
    printf 'n = %s, share %s: ' $n $share
    verdicts < answers.csv
  done
done

wanted noticed && echo "== noticed at n = 200 (balanced), 1,000 data sets"
for disturbance in shift=2 shift=4 flip=1 contaminants=0.05 contaminants=0.1 scale=200 fast_drift=10 wide_threshold=5 round=0.1; do
  wanted noticed || break
  "$occam" simulate balanced.toml --datasets 1000 --n 200 --seed 13 --disturb $disturbance --quiet -o test.npz
  for net in any balanced; do
    "$occam" compare $net.occam test.npz --quiet -o answers.csv 2>/dev/null
    printf '%-9s %-18s ' $net $disturbance
    verdicts < answers.csv
  done
done
