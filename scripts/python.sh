#!/usr/bin/env bash
# Installs the Python package of this folder into an environment of its own, build/python-env, and runs its tests.
#   scripts/python.sh PROGRAM     the occam whose bytes it has to write, too
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
environment=build/python-env
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
# For this CPU, as the program is: code for any CPU rounds otherwise here and there, and would write other bytes.
"$environment/bin/pip" install --quiet --config-settings=cmake.define.OCCAM_NATIVE=ON ".[test]"
# Away from the sources, so that what was installed is what is tested.
tests=$PWD/python/tests
cd "$environment"
OCCAM_PROGRAM=$program bin/python -m pytest -q -p no:cacheprovider "$tests"
