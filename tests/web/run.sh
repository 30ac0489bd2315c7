#!/usr/bin/env bash
# Runs a test of reports or pages in a browser, or says why it is skipped (exit code 77; with CI=true: 1).
#   tests/web/run.sh SCRIPT PROGRAM [ARGUMENT...]
set -euo pipefail
for node in node nodejs ''; do
  if command -v "$node" >/dev/null; then break; fi
done
if [ -z "$node" ]; then
  echo "$1: SKIPPED, node is not installed (\`scripts/setup.sh test\` installs it)"
  if [ "${CI:-}" = true ]; then exit 1; fi
  exit 77
fi
exec "$node" "$(dirname "$0")/$1.mjs" "${@:2}"
