#!/bin/sh
# Times both peers: training steps on THREADS cores (default 2), then inference on one. One JSON object per line on stdout.
# Usage: run.sh [THREADS [further options of torch_steps.py and jax_steps.py]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
threads=${1:-2}
[ $# -eq 0 ] || shift
for script in torch_steps jax_steps; do
    "$here/../.venv/bin/python" "$here/$script.py" --threads "$threads" "$@"
    "$here/../.venv/bin/python" "$here/$script.py" --inference "$@"
done
