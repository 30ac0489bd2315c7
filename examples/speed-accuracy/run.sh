#!/bin/sh
# All commands of docs/experiment.md, with what they print in out/. About 10 minutes on two cores, most of it training.
#   examples/speed-accuracy/run.sh            from any folder, with occam and Rscript in the PATH
set -eu
cd "$(dirname "$0")"
mkdir -p out
[ -f trials.csv ] || Rscript make_data.R

[ -f out/words.occam ] || occam train problem.toml -o out/words.occam --seed 1
occam compare out/words.occam trials.csv --by subject --group --parameters --quiet -o out/answers.csv --report out/answers.html
occam compare out/words.occam trials.csv --by subject --group --quiet > out/compare.txt
occam check out/words.occam --datasets 2000 --quiet > out/check.txt
occam compare out/words.occam trials.csv --by subject --sequential 40,80,160 --quiet > out/sequential.txt

# The same without response times below 0.25 s and above 2.5 s.
awk -F, 'NR == 1 || ($4 >= 0.25 && $4 <= 2.5)' trials.csv > out/trimmed.csv
occam compare out/words.occam out/trimmed.csv --by subject --group --quiet > out/trimmed.txt
