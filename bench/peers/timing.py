"""What the peers share: command line, timing in blocks, and one JSON object per line on stdout."""
import argparse
import json
import os
import statistics
import time

from cases import CASES
from flops import flops


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=2, help="CPU cores to use (default 2)")
    parser.add_argument("--only", default="a,b,c", help="cases to run (default a,b,c)")
    parser.add_argument("--pooling", choices=("attention", "mean"), default="attention", help="for cases a and b")
    parser.add_argument("--inference", action="store_true", help="time forward passes on 1 thread instead of training steps")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: steps on a GPU, many in a row")
    parser.add_argument("--seconds", type=float, default=6.0, help="time measured per variant (default 6)")
    arguments = parser.parse_args()
    arguments.only = arguments.only.split(",")
    for name in arguments.only:
        if name not in CASES:
            parser.error(f"unknown case '{name}'; known: {', '.join(CASES)}")
    if arguments.inference:
        arguments.threads = 1
    if arguments.device == "cuda":
        arguments.threads = len(os.sched_getaffinity(0))
    return arguments


def use_cores(count):
    """Confine this process to `count` cores; call before a framework starts its threads."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if count > len(cores):
            raise SystemExit(f"--threads {count}: only {len(cores)} cores are available")
        os.sched_setaffinity(0, cores[:count])


def cpu_seconds():
    """(all processes, this one): CPU time used so far; the first is 0 where /proc/stat does not exist."""
    own = sum(os.times()[:4])
    try:
        with open("/proc/stat") as stat:
            user, nice, system = map(int, stat.readline().split()[1:4])
    except OSError:
        return 0.0, own
    return (user + nice + system) / os.sysconf("SC_CLK_TCK"), own


STEPS_IN_A_ROW = 50  # on a GPU: a program that trains waits for no single one


def measure(step, seconds, block_s=0.3, steps=1):
    """(ms per step of repeated blocks, cores kept busy by other processes meanwhile).

    step() returns when its work, so many steps, is done. The first calls compile and warm up.
    """
    for _ in range(3):
        step()
    start = time.perf_counter()
    step()
    count = max(1, round(block_s / (time.perf_counter() - start)))
    blocks, cpu_before, begin = [], cpu_seconds(), time.perf_counter()
    end = begin + seconds
    while len(blocks) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(count):
            step()
        blocks.append(1e3 * (time.perf_counter() - start) / count / steps)
    everyone, own = (after - before for after, before in zip(cpu_seconds(), cpu_before))
    return blocks, max(0.0, everyone - own) / (time.perf_counter() - begin)


def report(arguments, name, measured, **fields):
    """Print one result."""
    blocks, cores_elsewhere = measured
    forward, training = flops(name, arguments.pooling)
    flop = forward if arguments.inference else training
    ms = statistics.median(blocks)
    result = fields | {"task": "inference" if arguments.inference else "train", "case": name,
                       "pooling": arguments.pooling if CASES[name]["kind"] == "set" else None,
                       "device": arguments.device, "threads": arguments.threads, "ms_median": round(ms, 4), "ms_min": round(min(blocks), 4),
                       "flop": flop, "gflop_per_s": round(flop / ms / 1e6, 1), "cores_elsewhere": round(cores_elsewhere, 2)}
    if arguments.inference:
        result["data_sets_per_s"] = round(1e3 * CASES[name]["B"] / ms)
    print(json.dumps(result), flush=True)
