#!/usr/bin/env bash
# The answering part by itself: it runs, and asks the system for no process, no library and no simulation.
#   tests/layers/run.sh PROGRAM
set -euo pipefail
"$1"
found=$(nm -C "$1" | grep -E ' U (fork|vfork|execv|posix_spawn|dlopen|popen|system)|occam::(Problem|Simulator|ChildProcess|Trainer)::' || true)
if [ -n "$found" ]; then
  echo "the answering part knows of:" >&2
  echo "$found" >&2
  exit 1
fi
