#!/usr/bin/env bash
# Runs the browser tests of reports, or says why they are skipped (exit code 77; with CI=true: 1).
#   tests/web/run.sh FIXTURE-PROGRAM
set -euo pipefail
for node in node nodejs ''; do
  if command -v "$node" >/dev/null; then break; fi
done
if [ -z "$node" ]; then
  echo "reports in a browser: SKIPPED, node is not installed (\`scripts/setup.sh test\` installs it)"
  if [ "${CI:-}" = true ]; then exit 1; fi
  exit 77
fi
exec "$node" "$(dirname "$0")/report_test.mjs" "$1"
