#!/bin/sh
# All commands of docs/experiment.md; what they print goes to out/. About ten minutes on two cores, most of it training.
#   examples/speed-accuracy/run.sh            from any folder, with occam and Rscript in the PATH
set -eu
cd "$(dirname "$0")"
mkdir -p out
[ -f trials.csv ] || Rscript make_data.R

occam simulate problem.toml --datasets 300 -o out/simulated.csv --quiet
# A network that is there is kept; delete it to train anew.
[ -f out/words.occam ] || occam train problem.toml -o out/words.occam --seed 1
occam check out/words.occam --problem problem.toml --datasets 5000 --quiet > out/check.txt

occam compare out/words.occam trials.csv --by subject --group --quiet > out/compare.txt
occam compare out/words.occam trials.csv --by subject --group --quiet -o out/answers.csv --report out/answers.html
occam compare out/words.occam trials.csv --by subject --sequential 40,80,160 --quiet -o out/sequential.csv

# Without response times below 0.25 s and above 2.5 s.
awk -F, 'NR == 1 || ($4 >= 0.25 && $4 <= 2.5)' trials.csv > out/trimmed.csv
occam compare out/words.occam out/trimmed.csv --by subject --group --quiet > out/trimmed.txt

# The blocks with speed instructions.
Rscript make_data.R speed out/speed.csv
occam compare out/words.occam out/speed.csv --by subject --group --quiet > out/speed.txt
