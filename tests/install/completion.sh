#!/usr/bin/env bash
# What the installed completion offers in bash; in zsh and fish, where they are present, that the scripts are read.
#   tests/install/completion.sh PREFIX
set -euo pipefail
prefix=$1
fail() { echo "FAILED: $*" >&2; exit 1; }

# offers WORDS...: what is offered for the last of these words
offers() {
  bash --norc -c '
    compopt() { :; }  # only works while a user types
    source "$0"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _occam
    printf "%s\n" "${COMPREPLY[@]}"' "$prefix/share/bash-completion/completions/occam" "$@"
}
# expect WANTED WORDS...
expect() {
  local wanted=$1
  shift
  offers "$@" | grep -xF -- "$wanted" >/dev/null || fail "completing '$*' does not offer $wanted, but: $(offers "$@" | tr '\n' ' ')"
}
refuse() {
  local unwanted=$1
  shift
  if offers "$@" | grep -xF -- "$unwanted" >/dev/null; then fail "completing '$*' offers $unwanted"; fi
}

"$prefix/bin/occam" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r verb; do
  expect "$verb" occam ""
  "$prefix/bin/occam" "$verb" --help | grep -oE '^  (    |-., )--[a-z-]+' | grep -oE -- '--[a-z-]+' | while read -r option; do
    expect "$option" occam "$verb" --
  done
done
refuse reference occam ""
expect --head occam train neuron --he
refuse --seed occam train neuron --he
expect evidential occam train neuron --head ""
refuse evidential occam train --batch ""
expect neuron occam train neu
if [ -e "$prefix/share/occam/networks/beta-binomial.occam" ]; then expect beta-binomial occam compare beta; fi
touch "$prefix/neu data.csv"
(cd "$prefix" && expect "neu data.csv" occam compare net.occam neu)
rm "$prefix/neu data.csv"

if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/site-functions/_occam" || fail "zsh cannot read its script"; fi
if command -v fish >/dev/null; then
  fish --no-execute "$prefix/share/fish/vendor_completions.d/occam.fish" || fail "fish cannot read its script"
fi
