#!/usr/bin/env bash
# Makes build/python-env, an environment of Python with all that the tests of the package need but the package itself.
# Where that cannot be (no network?), the tests of Python are left out, which is an error with CI=true.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/python-env wanted=python/requirements-test.txt
if cmp -s "$wanted" "$environment/installed.txt"; then exit; fi
echo "Installing what the tests of the Python package need into $environment"
if python3 -m venv --clear "$environment" && "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
  cp "$wanted" "$environment/installed.txt"
  exit
fi
rm -rf "$environment"
echo "setup: the tests of the Python package are left out." >&2
if [ "${CI:-}" = true ]; then exit 1; fi
