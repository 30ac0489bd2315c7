#!/usr/bin/env bash
# Trains networks for the coins and the response times and writes them as web pages that compare.
#   scripts/pages.sh PROGRAM FOLDER [TRAIN-OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
options=("${@:3}")

page() {  # NAME PROBLEM STEPS EXAMPLE TITLE
  [ -e "$folder/$1.occam" ] || "$program" train "$2" -o "$folder/$1.occam" "${options[@]:---iterations=$3}"
  "$program" page "$folder/$1.occam" -o "$folder/$1.html" --title "$5" --example "$4"
}
page coins beta-binomial 6000 examples/coins/tosses.csv "Is a coin fair?"
page response-times examples/response-times/problem.toml 2000 examples/response-times/rt.csv \
  "Which model made these response times?"
"$program" page -o "$folder/app.html"
ls -l "$folder"/*.html
