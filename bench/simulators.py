"""Simulators of occam beside a plain scalar C++ program and Python peers, on one core, in one run.

    make peers       or     bench/.venv/bin/python bench/simulators.py

Trials per second of the decision model (ssm-simulators), series per second of the neuron (a NumPy loop), CPU time. `scaling`
is the wall-clock rate on all cores over that on one. Each program runs alone, pinned to the first core, three times in turn with its
peers; medians count. A busy machine makes all of them slow, though not equally: run it when nothing else does.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

from side_by_side import cpu_name, system_seconds

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "build/bench/bench"
ROUNDS = 3


def run(command, cores):
    confine = lambda: os.sched_setaffinity(0, cores)
    process = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, preexec_fn=confine)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed")
    return process.stdout


def ours(program, counter, pattern, cores, seconds=0.3):
    """Rates by name of a Google Benchmark program."""
    text = run([PROGRAMS / program, "--benchmark_format=json", f"--benchmark_min_time={seconds}",
                f"--benchmark_filter={pattern}"], cores)
    return {re.sub(r"/real_time$", "", row["name"]): row[counter] for row in json.loads(text)["benchmarks"]}


def peer(script, cores):
    lines = run([sys.executable, HERE / "peers" / script], cores).splitlines()
    return {row["case"]: row["per_s"] for row in map(json.loads, lines)}


def rounds(measure):
    """Medians of several rounds by name."""
    results = [measure() for _ in range(ROUNDS)]
    return {name: statistics.median(result[name] for result in results) for name in results[0]}


def decision(core):
    rates = rounds(lambda: ours("decision_bench", "trials", "^(scalar|simd)/", core) |
                   {f"peer/{case}": rate for case, rate in peer("ssm_trials.py", core).items()})
    print("\n| decision model, trials/s | scalar C++ | ssm-simulators | occam | times scalar | times peer |\n|---|---|---|---|---|---|")
    for case, noise in (("alpha:110", "alpha 1.1"), ("alpha:150", "alpha 1.5"), ("alpha:200", "Gaussian")):
        scalar, other, simd = (rates[f"{kind}/{case}"] for kind in ("scalar", "peer", "simd"))
        print(f"| {noise} | {scalar:,.0f} | {other:,.0f} | {simd:,.0f} | {simd / scalar:.1f} | {simd / other:.1f} |")


def neuron(core):
    rates = rounds(lambda: ours("neuron_bench", "series", "scalar|series:16$", core) | peer("numpy_neuron.py", core))
    simd = rates["simd/series:16"]
    print("\n| neuron, series/s | rate | occam is faster by |\n|---|---|---|")
    for name, label in (("one at a time", "NumPy, one series at a time"), ("64 at once", "NumPy, 64 series at once"),
                        ("scalar<double>", "scalar C++, double"), ("scalar<float>", "scalar C++, float"),
                        ("simd/series:16", "occam")):
        print(f"| {label} | {rates[name]:,.0f} | {simd / rates[name]:.1f} |")


def scaling(cores):
    pattern = "simulate/(decision-making|neuron|jump-process)/"
    rates = rounds(lambda: ours("simulate_bench", "data_sets", pattern, cores, 0.5))
    names = sorted({name.rsplit("/", 1)[0] for name in rates})
    print(f"\n| data sets/s, wall clock | 1 thread | {len(cores)} threads | scaling |\n|---|---|---|---|")
    for name in names:
        one, all_cores = rates[f"{name}/threads:1"], rates[f"{name}/threads:{len(cores)}"]
        print(f"| {name.split('/')[-1]} | {one:,.0f} | {all_cores:,.0f} | {all_cores / one:.2f} |")


def main():
    cores = sorted(os.sched_getaffinity(0))
    before = system_seconds(), os.times()
    print(f"{cpu_name()}, {len(cores)} cores")
    decision(cores[:1])
    neuron(cores[:1])
    scaling(cores)
    used = os.times()
    own = used.children_user + used.children_system - before[1].children_user - before[1].children_system
    busy = (system_seconds() - before[0] - own) / (used.elapsed - before[1].elapsed)
    print(f"\ncores that other processes kept busy meanwhile: {max(0.0, busy):.2f}")


if __name__ == "__main__":
    main()
