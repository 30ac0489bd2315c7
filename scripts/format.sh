#!/usr/bin/env bash
# Formats all C++ files, or with `check` says which are not formatted. Other versions of clang-format
# disagree with 14 in details, so they are not used.
#   scripts/format.sh [check]
set -euo pipefail
cd "$(dirname "$0")/.."

if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  echo "format: SKIPPED, clang-format 14 is not installed"
  exit 0
fi
mapfile -d '' files < <(find src apps python tests bench examples -path bench/.venv -prune -o -name '*.?pp' -print0 2>/dev/null)
if [ "${1:-}" = check ]; then
  if ! clang-format --dry-run --Werror "${files[@]}"; then
    echo "format: some files are not formatted; run \`make format\`" >&2
    exit 1
  fi
  echo "format: ${#files[@]} files checked"
else
  clang-format -i "${files[@]}"
fi
