#!/usr/bin/env python3
"""Kills trainings with SIGKILL at random moments, resumes them, and holds the network against that of a run left alone.

    tests/fuzz/kills.py OCCAM KILLS [SEED]

Trainings are killed once or several times (half of the resumed runs are killed again) until there were KILLS of them, at
moments drawn over the time a whole run takes: before the first checkpoint, while one is written, between them, while the
scope reference is made. Same bytes at the end, and no other file left, or exit code 1. Prints one line for each kind of
moment.
"""
import collections
import pathlib
import random
import subprocess
import sys
import tempfile
import time

program = str(pathlib.Path(sys.argv[1]).resolve())
wanted = int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
options = ("--iterations 100 --batch 16 --validation-datasets 50 --validate-every 20 --scope-reference 300 "
           "--scope-calibration 300 --threads 2 --checkpoint-minutes 0.0005 --quiet").split()
deadline_s = 300  # of one run; a whole one takes about a second


def start(folder, resume):
    command = [program, "train", "beta-binomial", "-o", "n.occam", *options] + (["--resume"] if resume else [])
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE)


def finish(process):
    error = process.communicate(timeout=deadline_s)[1].decode()
    if process.returncode != 0:
        sys.exit(f"a run that was left alone ended with {process.returncode}: {error}")


def fresh_folder():
    return tempfile.TemporaryDirectory(prefix="occam-kills-")


with fresh_folder() as folder:
    began = time.monotonic()
    finish(start(folder, False))
    whole_s = time.monotonic() - began
    expected = (pathlib.Path(folder) / "n.occam").read_bytes()

random.seed(seed)
moments = collections.Counter()
kills = trainings = wrong = 0
while kills < wanted:
    with fresh_folder() as folder:
        here = pathlib.Path(folder)
        trainings += 1
        resume = False
        while True:
            began = time.monotonic()
            process = start(folder, resume)
            try:
                process.wait(random.uniform(0, 1.1 * whole_s))
                finish(process)
                if not resume:  # the machine has become faster, or was busy before
                    whole_s = min(whole_s, time.monotonic() - began)
                moments["came too late: the run had ended"] += 1
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            kills += 1
            left = {path.name for path in here.iterdir()}
            half = any(name.endswith(".tmp") for name in left)
            moments["while a file was written" if half else
                    "with the network in place" if "n.occam" in left else
                    "after a checkpoint" if any("checkpoint" in name for name in left) else
                    "before the first checkpoint"] += 1
            resume = True
            if random.random() < 0.5:
                finish(start(folder, True))
                break
        left = sorted(path.name for path in here.iterdir())
        same = (here / "n.occam").read_bytes() == expected
        if not same or left != ["n.occam"]:
            wrong += 1
            print(f"training {trainings}: {'same' if same else 'OTHER'} bytes, files left: {left}")

for moment, count in sorted(moments.items()):
    print(f"{count:5}  {moment}")
print(f"{kills} kills in {trainings} trainings (seed {seed}, a whole run {whole_s:.2f} s): "
      f"{trainings - wrong} ended with the same bytes and nothing else left")
sys.exit(1 if wrong > 0 else 0)
