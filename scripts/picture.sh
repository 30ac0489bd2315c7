#!/usr/bin/env bash
# Makes docs/report.png, the picture of a report in the README: trains a network for the forgetting example, asks it
# about the five people there, and photographs the page that `compare --report` writes; and docs/page.png, a web page that
# compares, with its answers for some coins. Needs R, Chromium, Node.js and what `scripts/setup.sh test` fetches.
#   scripts/picture.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$program" train examples/r-forgetting/problem.toml -o "$folder/forgetting.occam" --iterations 300 \
  --scope-reference 1000 --scope-calibration 1000
"$program" compare "$folder/forgetting.occam" examples/r-forgetting/recall.csv --by participant \
  --report "$folder/report.html"
node tests/web/picture.mjs "$folder/report.html" docs/report.png

# And docs/page.png, the picture of a web page that compares.
"$program" train beta-binomial -o "$folder/coins.occam" --iterations 3000 --quiet
"$program" page "$folder/coins.occam" -o "$folder/coins.html" --title "Is a coin fair?" --example examples/coins/tosses.csv
node tests/web/page_picture.mjs "$folder/coins.html" docs/page.png
