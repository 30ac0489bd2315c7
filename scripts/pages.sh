#!/usr/bin/env bash
# Trains networks for the coins and the response times and writes them as web pages that compare.
#   scripts/pages.sh PROGRAM FOLDER [TRAIN-OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
options=("${@:3}")

page() {  # NAME PROBLEM EXAMPLE TITLE
  [ -e "$folder/$1.occam" ] || "$program" train "$2" -o "$folder/$1.occam" "${options[@]}"
  "$program" page "$folder/$1.occam" -o "$folder/$1.html" --title "$4" --example "$3"
}
page coins beta-binomial examples/coins/tosses.csv "Is a coin fair?"
page response-times examples/response-times/problem.toml examples/response-times/rt.csv "Which model made these response times?"
"$program" page -o "$folder/app.html"
ls -l "$folder"/*.html
