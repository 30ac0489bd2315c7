#!/usr/bin/env bash
# The main job on its smallest problem: train a network, compare six coins, print the exact answer beside it.
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
