#!/usr/bin/env bash
# The main job on its smallest problem: which of two models made these coin tosses?
#   scripts/demo.sh PROGRAM
set -euo pipefail

cat <<'TEXT'
Eight series of coin tosses. Each was made by one of two models:
  flat   the coin's bias could be anything
  fair   the coin is nearly fair
The exact posterior probabilities of both models, from the tosses alone:

TEXT
"$1" simulate beta-binomial --datasets 8 --exact --quiet | awk -F, '
  NR > 1 { n[$1]++; heads[$1] += $3; made[$1] = $2; flat[$1] = $4; fair[$1] = $5; last = $1 }
  END {
    printf "  series   tosses   heads   p(flat)   p(fair)   made by\n"
    for (k = 0; k <= last; k++)
      printf "  %6d   %6d   %5d   %7.3f   %7.3f   %s\n", k + 1, n[k], heads[k], flat[k], fair[k], made[k]
  }'
