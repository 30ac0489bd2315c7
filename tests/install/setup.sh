#!/usr/bin/env bash
# What scripts/setup.sh does for somebody who may not install packages: says how to go on and fails, or works with headers in
# a folder. Commands of the system are replaced by stand-ins, first in the PATH; nothing is installed.
#   tests/install/setup.sh
set -euo pipefail
setup=$(cd "$(dirname "$0")/../.." && pwd)/scripts/setup.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work/out" >&2; exit 1; }
stand_in() { printf '#!/bin/sh\n%s\n' "$2" > "$work/bin/$1"; chmod +x "$work/bin/$1"; }

# The PATH holds what the script uses, and no sudo.
mkdir "$work/bin"
for tool in bash sh env dirname cmp cat cp grep; do
  if command -v "$tool" >/dev/null; then ln -s "$(command -v "$tool")" "$work/bin/$tool"; fi
done
stand_in id 'echo 1000'
stand_in dpkg-query 'exit 1'  # no package is installed
stand_in apt-get 'echo "apt-get was called" >&2; exit 99'
for tool in c++ cmake ninja; do stand_in "$tool" 'exit 0'; done
# run VARIABLES...: the script as that user
run() { env -i PATH="$work/bin" HOME="$work" "$@" "$setup" > "$work/out" 2>&1; }

echo "== neither root nor sudo"
if run; then fail "it should have failed"; fi
grep -q "apt-get install .*libfmt-dev" "$work/out" || fail "it does not name the packages"
grep -q "OCCAM_HEADERS=FOLDER" "$work/out" || fail "it does not say how to do without them"
if grep -q "apt-get was called" "$work/out"; then fail "it tried to install"; fi

echo "== headers in a folder that lacks them"
mkdir "$work/headers"
if run OCCAM_HEADERS="$work/headers"; then fail "it should have failed"; fi
grep -q "fmt/format.h is not in it" "$work/out" || fail "it does not name the header"

echo "== headers in a folder"
for header in fmt/format.h nlohmann/json.hpp hwy/highway.h Random123/philox.h toml++/toml.h CLI/CLI.hpp boost/version.hpp; do
  mkdir -p "$work/headers/${header%/*}"
  touch "$work/headers/$header"
done
run OCCAM_HEADERS="$work/headers" || fail "it does not accept the folder"
if grep -q "apt-get" "$work/out"; then fail "it speaks of packages"; fi

echo "== no compiler"
rm "$work/bin/c++"
if run OCCAM_HEADERS="$work/headers"; then fail "it should have failed"; fi
grep -q "Missing: c++" "$work/out" || fail "it does not name the compiler"

echo "== packages that are there for two architectures"
stand_in dpkg-query 'printf "installed\ninstalled\n"'
run || fail "it does not see that they are there"
echo "all fine"
