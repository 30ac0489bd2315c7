#!/usr/bin/env bash
# Formats all C++ files, or with `check` says which are not formatted, and which lines of pages are wider
# than 120 characters. Other versions of clang-format disagree with 14 in details, so they are not used.
#   scripts/format.sh [check]
set -euo pipefail
cd "$(dirname "$0")/.."

# Tables and code are as wide as they have to be. Bytes within a character beyond ASCII do not count.
wide_lines() {
  local page
  local skip=(-name node_modules -o -name .venv)
  for page in *.md $(find bench docs examples networks python studies \( "${skip[@]}" \) -prune -o -name '*.md' -print); do
    LC_ALL=C sed 's/[\x80-\xbf]//g' "$page" | awk -v page="$page" '
      /^```/ { code = !code }
      !code && !/^(    |\|)/ && length($0) > 120 { print page ":" NR ": " length($0) " characters" }'
  done
}

if [ "${1:-}" = check ]; then
  wide=$(wide_lines)
  if [ -n "$wide" ]; then
    printf 'format: lines of pages that are wider than 120 characters:\n%s\n' "$wide" >&2
    exit 1
  fi
fi
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
