#!/usr/bin/env bash
# Collects the headers that occam is compiled with, and the source of GoogleTest, into a folder, to be taken to a machine
# where nothing can be installed. Run it where `make setup` has installed them. There:
#   cmake -B build/release -G Ninja -DOCCAM_HEADERS=FOLDER && cmake --build build/release
# or, with the Makefile, OCCAM_HEADERS=FOLDER make demo.
#   scripts/headers.sh FOLDER
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: scripts/headers.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

for library in CLI Random123 fast_float fmt hwy nlohmann toml++; do
  if [ ! -d "/usr/include/$library" ]; then
    [ "$library" = fast_float ] && continue  # needed with libc++ only
    echo "headers: /usr/include/$library is missing; run \`make setup\` first" >&2
    exit 1
  fi
  cp -r "/usr/include/$library" "$folder/"
done

# Of Boost only what is included, and what chooses by compiler and processor.
grep -rhoE '#include <boost/[^>]+>' --include=*.cpp --include=*.hpp src apps tests | sort -u |
  c++ -std=c++20 -x c++ -M - | grep -oE '/usr/include/boost/[^ ]+' | sed 's|^/usr/include/||' |
  tar c -C /usr/include -T - boost/config boost/predef boost/predef.h boost/version.hpp | tar x -C "$folder"

if [ -d /usr/src/googletest/googletest ]; then
  mkdir -p "$folder/googletest"
  cp -r /usr/src/googletest/googletest/{include,src} "$folder/googletest/"
fi
du -sh "$folder"
