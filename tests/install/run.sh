#!/usr/bin/env bash
# Installs what was built into a folder of its own and uses it from there: the program, its man page and completion, and
# the library, by find_package and by pkg-config.
#   tests/install/run.sh BUILD_FOLDER COMPILER VERSION
set -euo pipefail
build=$1 compiler=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$prefix" >/dev/null

echo "== the program"
[ "$("$prefix/bin/occam" --version)" = "occam $version" ] || fail "occam --version"

echo "== the man page"
man=$prefix/share/man/man1/occam.1
if command -v groff >/dev/null; then
  warnings=$(groff -man -ww -Tutf8 -z "$man" 2>&1)
  [ -z "$warnings" ] || fail "groff says: $warnings"
  groff -man -Tascii -P-cbou "$man" | grep -e '--model-prior' >/dev/null || fail "the man page lacks an option"
else
  echo "groff is missing: the man page was not formatted"
fi

echo "== completion"
"$here/completion.sh" "$prefix"

echo "== ready-made networks, by name"
for network in "$here"/../../networks/*.occam; do
  [ -e "$network" ] || continue
  name=$(basename "$network" .occam)
  said=$(cd "$work" && "$prefix/bin/occam" info "${name/./:}") || fail "the ready-made network $name"
  echo "$said" | grep '^made with  *occam train' >/dev/null || fail "$name has no record"
done

echo "== docs, examples, licences"
for file in docs/cli.md examples/coins LICENSE copyright; do
  [ -e "$prefix/share/doc/occam/$file" ] || fail "no $file"
done

echo "== a program by find_package"
expected="occam $version: 3 data sets"
cmake -S "$here" -B "$work/cmake" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
[ "$("$work/cmake/user")" = "$expected" ] || fail "the program built by find_package"

echo "== a program by pkg-config"
if command -v pkg-config >/dev/null; then
  mv "$prefix" "$work/moved"  # the tree may be moved
  flags=$(PKG_CONFIG_PATH=$work/moved/lib/pkgconfig pkg-config --cflags --libs occam)
  # shellcheck disable=SC2086 # flags are words
  "$compiler" -std=c++20 "$here/user.cpp" -o "$work/user" $flags
  [ "$("$work/user")" = "$expected" ] || fail "the program built by pkg-config"
else
  echo "pkg-config is missing: not tried"
fi
echo "all fine"
