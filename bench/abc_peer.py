"""ABC-SMC with model selection: occam beside pyABC, one run each on the same data set, settings and cores.

    make peers       or     bench/.venv/bin/python bench/abc_peer.py [--occam PROGRAM] [--data FILE] [--threads 2] [--populations 15]

The problem is that of the second published study: two reactions, one path, 20 times of one species, mean absolute
difference, median epsilon down to 0.7, at most 15 populations, adaptive population size from 500. pyABC runs first, with its
default sampler on as many processes; then occam with the very population sizes and epsilons that pyABC came to, and with
its own. In Python a path is simulated without a loop: both models fire one reaction only, so the states are known and the
waiting times are exponentials divided by known hazards. CPU time counts all processes; others on the machine make wall
times longer, not CPU times.
"""
import argparse
import csv
import json
import logging
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
POINTS, END, START_Z, START_Y = 20, 0.1, 40, 3
TIMES = END * np.arange(1, POINTS + 1) / POINTS
Z = np.arange(START_Z, 0, -1.0)  # before each of the 40 events
Y = START_Y + START_Z - Z
HAZARDS = {"autocatalysis": Z * Y, "conversion": Z}


def path_on_grid(hazards, theta):
    """Gillespie's direct method for one reaction: y at the grid of times."""
    times = np.cumsum(np.random.exponential(size=len(hazards)) / (theta * hazards))
    return {"y": START_Y + np.searchsorted(times, TIMES, side="right")}


def observed_on_grid(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    times = np.array([float(row["t"]) for row in rows])
    y = np.array([float(row["y"]) for row in rows])
    return {"y": y[np.searchsorted(times, TIMES, side="right") - 1]}


def cpu_seconds():
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Clock:
    def __enter__(self):
        self.start = time.perf_counter(), cpu_seconds()
        return self

    def __exit__(self, *_):
        self.wall, self.cpu = time.perf_counter() - self.start[0], cpu_seconds() - self.start[1]


def run_pyabc(observed, threads, populations):
    import pyabc  # here, and so not timed

    logging.getLogger("ABC").setLevel(logging.WARNING)

    def model(name):
        hazards = HAZARDS[name]
        simulate = lambda parameter: path_on_grid(hazards, parameter["theta"])
        simulate.__name__ = name
        return simulate

    prior = lambda: pyabc.Distribution(theta=pyabc.RV("uniform", 0, 100))
    abc = pyabc.ABCSMC([model(name) for name in HAZARDS], [prior(), prior()],
                       lambda x, y: float(np.abs(x["y"] - y["y"]).mean()),
                       population_size=pyabc.AdaptivePopulationSize(500, mean_cv=0.05),
                       sampler=pyabc.sampler.MulticoreEvalParallelSampler(n_procs=threads))
    with Clock() as clock:
        abc.new("sqlite://", observed)  # in memory: no time is lost on a disk
        history = abc.run(minimum_epsilon=0.7, max_nr_populations=populations)
    populations = history.get_all_populations()
    calibration = int(populations[populations.t < 0].samples.sum())
    populations = populations[populations.t >= 0]
    p = history.get_model_probabilities(history.max_t)["p"]
    return {"wall_s": clock.wall, "cpu_s": clock.cpu, "p": float(p.get(0, 0.0)),
            "epsilons": [float(e) for e in populations.epsilon], "sizes": [int(n) for n in populations.particles],
            "simulations": calibration + int(populations.samples.sum()),
            "acceptance": populations.particles.iloc[-1] / populations.samples.iloc[-1]}


def run_occam(program, data, threads, options, rounds=3):
    """Medians over several seeds; wall time holds the start of the program, reading and writing."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "abc.json")
        for seed in range(1, rounds + 1):
            with Clock() as clock:
                subprocess.run([program, "abc", "jump-process", data, "-o", out, "--quiet", "--threads", str(threads),
                                "--seed", str(seed), *options], check=True)
            answer = json.loads(out.read_text())
            last = answer["populations"][-1]
            results.append({"wall_s": clock.wall, "cpu_s": clock.cpu, "p": answer["p"]["autocatalysis"],
                            "simulations": answer["simulations"], "acceptance": last["acceptance"],
                            "epsilons": [row["epsilon"] for row in answer["populations"]],
                            "sizes": [row["size"] for row in answer["populations"]],
                            "exact": answer["exact"]["autocatalysis"]})
    middle = {key: statistics.median(r[key] for r in results) for key in ("wall_s", "cpu_s", "p", "simulations", "acceptance")}
    return results[0] | middle


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--occam", default=HERE.parent / "build/release/apps/occam/occam")
    parser.add_argument("--data", default=HERE.parent / "examples/jump-process/path.csv")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--populations", type=int, default=15, help="fewer take less time; the last are the longest")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: arguments.threads]
    os.sched_setaffinity(0, cores)
    if not pathlib.Path(arguments.occam).exists():
        sys.exit(f"{arguments.occam} is not built: make program")
    np.random.seed(1)
    peer = run_pyabc(observed_on_grid(arguments.data), arguments.threads, arguments.populations)
    same = ["--epsilons", ",".join(map(repr, peer["epsilons"])), "--population-sizes", ",".join(map(str, peer["sizes"])),
            "--no-adaptive"]
    ours = run_occam(arguments.occam, arguments.data, arguments.threads, same)
    own = run_occam(arguments.occam, arguments.data, arguments.threads, ["--populations", str(arguments.populations)])
    print(f"epsilons of pyABC: {', '.join(f'{e:.3g}' for e in peer['epsilons'])}")
    print(f"sizes of pyABC:    {', '.join(map(str, peer['sizes']))}")
    print(f"epsilons of occam: {', '.join(f'{e:.3g}' for e in own['epsilons'])}")
    print(f"sizes of occam:    {', '.join(map(str, own['sizes']))}\n")
    print("| program | populations | simulations | last acceptance | p(autocatalysis) | wall | CPU | faster, wall | faster, CPU |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, row in (("pyABC", peer), ("occam, sizes and epsilons of pyABC", ours), ("occam, its own", own)):
        print(f"| {name} | {len(row['epsilons'])} | {row['simulations']:,.0f} | {row['acceptance']:.3f} | {row['p']:.4f} "
              f"| {row['wall_s']:.3g} s | {row['cpu_s']:.3g} s | {peer['wall_s'] / row['wall_s']:.0f} "
              f"| {peer['cpu_s'] / row['cpu_s']:.0f} |")
    print(f"\nexact p(autocatalysis): {ours['exact']:.4f}")


if __name__ == "__main__":
    main()
