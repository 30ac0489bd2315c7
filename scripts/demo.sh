#!/usr/bin/env bash
# The main job on its smallest problem: train a network, compare six coins, print the exact answer beside it. Then a
# ready-made network, which has been trained already.
#   scripts/demo.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat <<'TEXT'
Six coins were tossed. Is each nearly fair, or could its bias be anything?
  flat   the bias could be anything (uniform)
  fair   the bias is close to one half (Beta(30, 30))

1. Train a network on simulated coins of both kinds:
   occam train beta-binomial -o coins.occam

TEXT
"$program" train beta-binomial -o "$folder/coins.occam"
cat <<'TEXT'

2. Ask it about the six coins (this takes milliseconds), with the exact answer beside its own:
   occam compare coins.occam examples/coins/tosses.csv --by coin --exact

TEXT
"$program" compare "$folder/coins.occam" examples/coins/tosses.csv --by coin --exact --quiet

cat <<'TEXT'

3. Larger problems take long to learn. For some the program brings a network that has been trained already: which of six
   models of a decision (M1 to M6, each adds one part) made the response times of these seven people? One of them is
   beyond all six.
   occam compare decision-making examples/decisions/trials.csv --by person

TEXT
begin=$(date +%s%N)
"$program" compare decision-making examples/decisions/trials.csv --by person --quiet
echo "(in $((($(date +%s%N) - begin) / 1000000)) ms, with nothing trained)"
