#!/usr/bin/env bash
# Installs the Debian packages that occam needs and that are missing; does nothing when all are there.
# On other systems it names them, and goes on: CMake says which header it cannot find.
#   scripts/setup.sh [bench]
set -euo pipefail

packages=(g++ cmake ninja-build clang-format
  libhwy-dev librandom123-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libfmt-dev libboost-math-dev
  zlib1g-dev libgtest-dev
  python3 python3-numpy r-base-core)  # for the tests of simulators in Python and R
if [ "${1:-}" = bench ]; then packages+=(libbenchmark-dev); fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is not a Debian system, so nothing is installed. occam needs a C++20 compiler, CMake 3.25, Ninja, and"
  echo "these libraries: Highway, Random123, CLI11, nlohmann-json, toml++, fmt, Boost.Math, zlib, GoogleTest"
  echo "(Google Benchmark for the benchmarks; clang-format 14 for the formatting check; Python with NumPy, and R, for"
  echo "some tests, which are skipped where these are missing)."
  for tool in c++ cmake ninja; do
    if ! command -v "$tool" >/dev/null; then echo "Missing: $tool. Please install it and try again." >&2; exit 1; fi
  done
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [ "$status" != installed ]; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing, and there is no sudo to install them. Ask an administrator to run" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
