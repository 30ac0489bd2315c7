#!/usr/bin/env bash
# Installs the Debian packages that occam needs and that are missing, and fetches with npm what draws the figures of
# reports; does nothing when all is there. On other systems it names the packages, and goes on: CMake says which
# header it cannot find. With OCCAM_HEADERS, a folder made by scripts/headers.sh, it installs nothing either.
#   scripts/setup.sh [bench] [fuzz] [package] [page] [python] [test]
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build clang-format
  libhwy-dev librandom123-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libfmt-dev libboost-math-dev
  zlib1g-dev libgtest-dev)
optional=()  # for reports: without them occam is built all the same
npm_folders=(src/occam/report/web)
for part in "$@"; do
  case $part in
    bench) packages+=(libbenchmark-dev) ;;
    fuzz) packages+=(clang-16 libclang-rt-16-dev) ;;
    page) packages+=(emscripten libfast-float-dev) ;;
    package) packages+=(dpkg-dev file) ;;
    python) packages+=(python3-dev python3-venv) ;;
    # Chromium for the tests of reports, with Firefox for those of pages; Python and R for those of simulators in these languages
    # emscripten, with fast_float, for the web pages that compare; Open MPI for runs on several machines
    # groff and pkg-config for what `make install` installs
    # clang for the sanitizers: it compiles in half the time
    test) packages+=(clang-16 libclang-rt-16-dev python3 python3-numpy r-base-core groff-base pkg-config libopenmpi-dev openmpi-bin)
      optional+=(chromium firefox-esr emscripten libfast-float-dev) npm_folders+=(tests/web) ;;
    *) echo "setup: there is no part '$part'; the parts are bench, fuzz, package, page, python and test" >&2; exit 64 ;;
  esac
done
# Other packages than Debian's bring these two as well, often as one.
command -v node >/dev/null || optional+=(nodejs)
command -v npm >/dev/null || optional+=(npm)

# Where tests are relied on, none of them may be skipped for want of a browser.
leave_if_ci() {
  if [ "${CI:-}" = true ]; then echo "setup: that will not do with CI=true." >&2; exit 1; fi
}

require_tools() {
  for tool in c++ cmake ninja; do
    if ! command -v "$tool" >/dev/null; then echo "Missing: $tool. Please install it and try again." >&2; exit 1; fi
  done
}

check_headers() {
  local header
  for header in fmt/format.h nlohmann/json.hpp hwy/highway.h Random123/philox.h toml++/toml.h CLI/CLI.hpp boost/version.hpp; do
    if [ ! -e "$OCCAM_HEADERS/$header" ]; then
      echo "setup: OCCAM_HEADERS is $OCCAM_HEADERS, but $header is not in it; scripts/headers.sh makes such a folder" >&2
      exit 1
    fi
  done
  echo "Using the headers in $OCCAM_HEADERS; nothing is installed."
}

name_packages() {
  echo "This is not a Debian system, so nothing is installed. occam needs a C++20 compiler, CMake 3.25, Ninja, and"
  echo "these libraries: Highway, Random123, CLI11, nlohmann-json, toml++, fmt, Boost.Math, zlib, GoogleTest"
  echo "(Google Benchmark for the benchmarks; clang-format 14 for the formatting check; Node.js 18 with npm for the"
  echo "figures of reports; Chromium for their tests, Firefox for those of pages; Python with NumPy, and R,"
  echo "for some tests, which are skipped where these are missing; an MPI for runs on several machines, such as Open MPI, and for their tests)."
  require_tools
}

# Installs those that are missing; fails when it cannot.
install_packages() {
  local missing=() as_root=() package
  for package in "$@"; do
    # One line for each architecture that has it.
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -x installed >/dev/null || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing, and there is no sudo to install them. Ask an administrator to run" >&2
      echo "  apt-get install ${missing[*]}" >&2
      echo "or take the headers along: run scripts/headers.sh FOLDER on a machine that has them, copy the folder, and set" >&2
      echo "OCCAM_HEADERS=FOLDER here. A C++20 compiler, CMake 3.25 and Ninja are needed all the same." >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Fetches the packages that the folder's package-lock.json pins, unless they are there. Without network occam is built
# all the same, so that this is no error.
fetch_npm_packages() {
  local folder=$1 installed=$1/node_modules/.installed-lock.json
  if cmp -s "$folder/package-lock.json" "$installed"; then return; fi
  if command -v npm >/dev/null; then
    echo "Fetching the npm packages of $folder"
    if (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1); then
      cp "$folder/package-lock.json" "$installed"
      return
    fi
  fi
  echo "setup: the npm packages of $folder could not be fetched (no npm, or no network?)." >&2
  echo "occam is built without them: reports then hold tables but no figures, and their browser tests are skipped." >&2
  echo "Try \`make setup\` again when there is a network." >&2
  leave_if_ci
}

if [ -n "${OCCAM_HEADERS:-}" ]; then
  check_headers
  require_tools
elif command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  install_packages "${packages[@]}"
  if ! install_packages "${optional[@]}"; then
    echo "setup: going on without ${optional[*]}, which only reports and web pages need." >&2
    leave_if_ci
  fi
else
  name_packages
fi
for folder in "${npm_folders[@]}"; do fetch_npm_packages "$folder"; done
