#!/usr/bin/env bash
# Writes trials.csv: seven people who were simulated, one from each of the six models, and one whom no model explains.
#   examples/decisions/make_data.sh PROGRAM > examples/decisions/trials.csv
set -euo pipefail
program=$1
echo person,condition,response,rt
# person NAME SEED OPTIONS...: 240 trials, rounded to milliseconds as laboratories record them
person() {
  "$program" simulate decision-making --datasets 1 --n 240 --seed "$2" "${@:3}" |
    awk -F, -v name="$1" '
      NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
      { printf "%s,%d,%d,%.3f\n", name, $at["condition"], $at["response"], $at["rt"] }'
}
person anna 1 --model M1
person bela 2 --model M2
person cara 3 --model M3
person dan 4 --model M4
person eva 5 --model M5
person finn 6 --model M6
person gil 7 --model M4 --disturb shift=2
