#!/usr/bin/env bash
# Puts tables that the program itself writes into the pages that have markers for them:
#   <!-- reference PART: begin ... -->
#   <!-- reference PART: end -->
#   scripts/update-docs.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."

updated=$(mktemp)
trap 'rm -f "$updated"' EXIT
for page in docs/*.md; do
  awk -v program="$1" '
    /^<!-- reference [a-z]+: end/ { skip = 0 }
    !skip { print }
    /^<!-- reference [a-z]+: begin/ {
      part = $3; sub(":", "", part)
      command = program " reference " part
      while ((command | getline line) > 0) print line
      if (close(command) != 0) exit 1
      skip = 1
    }' "$page" > "$updated"
  cmp -s "$updated" "$page" || cat "$updated" > "$page"
done
