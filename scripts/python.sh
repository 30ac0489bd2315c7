#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a fresh environment, build/wheel-env, and runs its tests there.
#   scripts/python.sh PROGRAM     the occam whose bytes it has to write, too: built for any CPU, as the wheel is, since
#                                 code for one CPU rounds otherwise here and there
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
rm -rf build/wheel build/wheel-env
python3 -m venv build/wheel-env
build/wheel-env/bin/pip wheel --quiet --no-deps -w build/wheel .
grep -v nanobind python/requirements-test.txt > build/wheel/requirements.txt
build/wheel-env/bin/pip install --quiet build/wheel/*.whl -r build/wheel/requirements.txt
# Away from the sources, so that what was installed is what is tested.
tests=$PWD/python/tests
cd build/wheel-env
OCCAM_PROGRAM=$program bin/python -m pytest -q -p no:cacheprovider "$tests"
