#!/usr/bin/env bash
# What the compiler of a layer finds: headers of the layers that it knows, and no others.
#   tests/layers/includes.sh PATH:PATH:... (of the layer `page`)
set -euo pipefail
IFS=: read -ra paths <<< "$1"
finds() {
  local path
  for path in "${paths[@]}"; do
    if [ -e "$path/occam/$1" ]; then return 0; fi
  done
  return 1
}
for header in page/session.hpp compare/comparator.hpp networks/network.hpp core/error.hpp; do
  finds "$header" || { echo "$header is not found" >&2; exit 1; }
done
for header in simulate/problem.hpp train/trainer.hpp check/finding.hpp report/page.hpp; do
  if finds "$header"; then echo "$header is found, although answers know nothing of it" >&2; exit 1; fi
  [ -e "$(dirname "$0")/../../src/occam/$header" ] || { echo "there is no $header: name another" >&2; exit 1; }
done
