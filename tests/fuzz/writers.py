#!/usr/bin/env python3
"""Two trainings with the same output at once, the second begun at a random moment of the first.

    tests/fuzz/writers.py OCCAM ROUNDS [SEED]

The second is refused (exit code 74) while the first lives, and may run after it; every other second one is to resume. Ends
with exit code 1 unless the network is, byte for byte, that of a run left alone, and no other file is left.
"""
import collections
import pathlib
import random
import subprocess
import sys
import tempfile
import time

program = str(pathlib.Path(sys.argv[1]).resolve())
rounds = int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
options = ("--iterations 100 --batch 16 --validation-datasets 50 --validate-every 20 --scope-reference 300 "
           "--scope-calibration 300 --threads 2 --checkpoint-minutes 0.0005 --quiet").split()
deadline_s = 300  # of one run; a whole one takes about a second


def start(folder, *more):
    command = [program, "train", "beta-binomial", "-o", "n.occam", *options, *more]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE)


def end(process):
    error = process.communicate(timeout=deadline_s)[1].decode()
    if process.returncode == 74 and "another run of occam" not in error:
        sys.exit(f"exit code 74 with another message: {error}")
    return process.returncode


with tempfile.TemporaryDirectory(prefix="occam-writers-") as folder:
    began = time.monotonic()
    if end(start(folder)) != 0:
        sys.exit("a run that was left alone failed")
    whole_s = time.monotonic() - began
    expected = (pathlib.Path(folder) / "n.occam").read_bytes()

random.seed(seed)
outcomes = collections.Counter()
wrong = 0
for number in range(rounds):
    with tempfile.TemporaryDirectory(prefix="occam-writers-") as folder:
        began = time.monotonic()
        first = start(folder)
        try:
            first.wait(random.uniform(0, 1.1 * whole_s))
            whole_s = min(whole_s, time.monotonic() - began)  # the machine was busy before
        except subprocess.TimeoutExpired:
            pass
        second = start(folder, *(["--resume"] if number % 2 else []))
        codes = (end(first), end(second))
        outcomes[{(0, 74): "the second was refused", (74, 0): "the first was refused",
                  (0, 0): "one ran after the other"}.get(codes, f"exit codes {codes}")] += 1
        here = pathlib.Path(folder)
        left = sorted(path.name for path in here.iterdir())
        same = "n.occam" in left and (here / "n.occam").read_bytes() == expected
        if not same or left != ["n.occam"] or 0 not in codes or not set(codes) <= {0, 74}:
            wrong += 1
            print(f"round {number}: exit codes {codes}, {'same' if same else 'OTHER'} bytes, files left: {left}")

for outcome, count in sorted(outcomes.items()):
    print(f"{count:5}  {outcome}")
print(f"{rounds} pairs of runs (seed {seed}, a whole run {whole_s:.2f} s): {rounds - wrong} ended with the same bytes and "
      "nothing else left")
sys.exit(1 if wrong > 0 else 0)
