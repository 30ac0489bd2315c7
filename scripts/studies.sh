#!/bin/bash
# Runs studies and keeps what they measured: scripts/studies.sh PROGRAM SCALE [STUDY...]. Networks and reports go to
# build/studies, json and csv to studies/STUDY/results/SCALE. A run that was interrupted goes on where it was.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1
scale=$2
shift 2
if [ $# -eq 0 ]; then
  set -- beta-binomial jump-process gaussian-mixtures neuron decision-making
fi
for study in "$@"; do
  folder=build/studies/$scale/$study
  results=studies/$study/results/$scale
  mkdir -p "$folder"
  echo "== $study ($scale)"
  "$program" reproduce "$study" --scale "$scale" -o "$folder"
  rm -rf "$results"
  mkdir -p "$results"
  cp "$folder"/metrics.json "$folder"/*.csv "$results"
done
