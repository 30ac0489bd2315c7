#!/usr/bin/env bash
# Builds the library, the program and the unit tests with other compilers, standard libraries and processors than `make test`
# does, runs the tests, and prints a table. Installs what it needs (Debian 12, as root); newer compilers come from Debian 13,
# in a folder of their own. Takes about ten minutes of two cores for each configuration.
#   scripts/matrix.sh                 all of them
#   scripts/matrix.sh clang-16 arm64  these
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/matrix
newer=${OCCAM_MATRIX_CHROOT:-$work/debian-13}  # where Debian 13 is, or will be, installed
jobs=${JOBS:-$(nproc)}
# Little optimisation and several files at a time: what counts here is that it compiles and is right.
common=(-G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DOCCAM_UNITY=ON -DOCCAM_NATIVE=OFF)

# --- the configurations: one function each --------------------------------------------------------------------------------
gcc-12()           { here g++-12; }
gcc-13()           { in_newer g++-13; }
gcc-14()           { in_newer g++-14; }
clang-14()         { install clang-14; here clang++-14; }
clang-14-libc++()  { install clang-14 "${libcxx[@]}"; here clang++-14 "${with_libcxx[@]}" ; }
clang-16()         { install clang-16; here clang++-16; }
clang-16-libc++()  { install clang-16 "${libcxx[@]}"; here clang++-16 "${with_libcxx[@]}"; }
clang-19()         { in_newer clang++-19; }
clang-19-libc++()  { in_newer clang++-19 -DCMAKE_CXX_FLAGS=-stdlib=libc++ -DOCCAM_GTEST_SOURCE=/usr/src/googletest; }
arm64() {
  dpkg --print-foreign-architectures | grep -qx arm64 || { dpkg --add-architecture arm64; apt-get update -qq; }
  install g++-aarch64-linux-gnu qemu-user-static libhwy-dev:arm64 zlib1g-dev:arm64 libgtest-dev:arm64
  # qemu-user (7.2 and 10.0) did not start a thread of a program that was linked dynamically.
  emulator=qemu-aarch64-static here aarch64-linux-gnu-g++ --toolchain cmake/arm64.cmake -DCMAKE_EXE_LINKER_FLAGS=-static \
    -DOCCAM_HWY_LIBRARY=NO -DZLIB_LIBRARY=/usr/lib/aarch64-linux-gnu/libz.a
}
headers-only() {  # as on a machine where nothing can be installed
  scripts/headers.sh "$work/headers"
  here g++-12 -DOCCAM_HEADERS="$work/headers" -DOCCAM_NATIVE=ON -DOCCAM_HWY_LIBRARY=NO -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
}
all=(gcc-12 gcc-13 gcc-14 clang-14 clang-14-libc++ clang-16 clang-16-libc++ clang-19 clang-19-libc++ arm64 headers-only)
# libc++ 16 is made for clang 14 as well. GoogleTest has to be compiled with the same library.
libcxx=(libc++-16-dev libc++abi-16-dev libfast-float-dev googletest)
with_libcxx=(-DOCCAM_GTEST_SOURCE=/usr/src/googletest
  "-DCMAKE_CXX_FLAGS=-nostdinc++ -isystem /usr/lib/llvm-16/include/c++/v1"
  "-DCMAKE_EXE_LINKER_FLAGS=-L/usr/lib/llvm-16/lib -stdlib=libc++")

# --- how they are built -----------------------------------------------------------------------------------------------------
install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] ||
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}"
}

# here COMPILER CMAKE_ARGUMENTS...: configure, build, test in build/matrix/NAME
here() {
  local compiler=$1
  shift
  "$compiler" --version | head -1
  cmake -S . -B "$work/$name" "${common[@]}" -DCMAKE_CXX_COMPILER="$compiler" "$@"
  cmake --build "$work/$name" -j "$jobs" --target occam simd_tests unit_tests
  ${emulator:-} "$work/$name/tests/unit_tests" --gtest_brief=1
  ctest --test-dir "$work/$name" -L simd --output-on-failure
}

# The same inside Debian 13, on a copy of the sources.
in_newer() {
  local compiler=$1
  shift
  if [ ! -e "$newer/usr/bin/g++-13" ]; then
    install debootstrap
    debootstrap --variant=minbase --include="$(echo g++-13 g++-14 clang-19 libc++-19-dev libc++abi-19-dev cmake ninja-build \
      libhwy-dev librandom123-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libfmt-dev libboost-math-dev zlib1g-dev \
      libgtest-dev libfast-float-dev git | tr ' ' ,)" trixie "$newer"
  fi
  rm -rf "$newer/occam"
  mkdir -p "$newer/occam"
  git ls-files -z --cached --others --exclude-standard | grep -zv node_modules | tar c --null --ignore-failed-read -T - | tar x -C "$newer/occam"
  chroot "$newer" "$compiler" --version | head -1
  chroot "$newer" bash -euc '
    build=$1 jobs=$2; shift 2
    cmake -S /occam -B "$build" "$@"
    cmake --build "$build" -j "$jobs" --target occam simd_tests unit_tests
    "$build/tests/unit_tests" --gtest_brief=1
    ctest --test-dir "$build" -L simd --output-on-failure' \
    bash "/build/$name" "$jobs" "${common[@]}" -DCMAKE_CXX_COMPILER="$compiler" "$@"
}

# --- one after the other, and the table --------------------------------------------------------------------------------------
mkdir -p "$work"
if [ "${1:-}" = --one ]; then  # a process of its own, in which the first failure ends it
  name=$2
  "$name"
  exit
fi
failed=0
rows=()
for name in "${@:-${all[@]}}"; do
  if ! printf '%s\n' "${all[@]}" | grep -qxF -- "$name"; then
    echo "matrix: there is no configuration '$name'; there are: ${all[*]}" >&2
    exit 64
  fi
  log=$work/$name.log
  echo "== $name (see build/matrix/$name.log)"
  begin=$SECONDS
  if scripts/matrix.sh --one "$name" > "$log" 2>&1 < /dev/null; then result=passed; else result=FAILED failed=1; fi
  # "[  PASSED  ] 600 tests." of the unit tests, "100% tests passed, ..." of the instruction sets
  tests=$(sed -n 's/^\[  PASSED  \] \([0-9]* tests\)\./\1/p; s/^\([0-9]*%\) tests passed.*/instruction sets \1/p' "$log" | paste -sd, -)
  compiler=$(grep -m1 -E '^(g\+\+|aarch64|Debian clang|clang)' "$log" || true)
  rows+=("$name|$result|${tests:-not reached}|$(grep -c ' warning: ' "$log" || true)|$((SECONDS - begin))|$compiler")
done
printf '%-16s %-7s %-42s %8s %5s  %s\n' configuration result tests warnings s compiler
for row in "${rows[@]}"; do
  IFS='|' read -r -a cell <<< "$row"
  printf '%-16s %-7s %-42s %8s %5s  %s\n' "${cell[@]}"
done
exit "$failed"
