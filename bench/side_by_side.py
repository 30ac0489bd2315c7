"""Training steps and inference of occam, PyTorch and JAX side by side, in one run on the same cores.

    bench/peers/setup.sh && cmake --preset bench && cmake --build --preset bench
    bench/.venv/bin/python bench/side_by_side.py [--threads 2] [--seconds 6] [--only a,b,c] [--pooling attention|mean]

Each program runs alone, one after the other; of a peer's variants the fastest counts. `busy` is how many cores other
processes used meanwhile: a row well above 0 compares nothing. Raw results go to bench/results/ as JSON lines.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ENGINE = HERE.parent / "build/bench/bench/engine_bench"


def run(command, cores):
    """JSON lines a program prints, confined to the given cores, and how busy others kept them."""
    def confine():
        os.sched_setaffinity(0, cores)
    before, start = system_seconds(), time.monotonic()
    process = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, preexec_fn=confine)
    used = os.times()
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed")
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    elapsed = time.monotonic() - start
    own = used.children_user + used.children_system - run.children
    run.children += own
    busy = max(0.0, (system_seconds() - before - own) / elapsed)
    return [line | {"busy": round(line.get("cores_elsewhere", busy), 2)} for line in lines]


run.children = 0.0


def system_seconds():
    with open("/proc/stat") as stat:
        user, nice, system = map(int, stat.readline().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def cpu_name():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if "model name" in line), platform.machine())


def measure(arguments):
    cores = sorted(os.sched_getaffinity(0))[: arguments.threads]
    shared = ["--seconds", arguments.seconds, "--only", arguments.only, "--pooling", arguments.pooling]
    results = run([ENGINE, "--threads", arguments.threads, "--seconds", arguments.seconds, "--pooling",
                   arguments.pooling, "--only", arguments.only + ",peak"], cores)
    for peer in ("jax", "torch"):
        script = HERE / "peers" / f"{peer}_steps.py"
        results += run([sys.executable, script, "--threads", arguments.threads, *shared], cores)
        results += run([sys.executable, script, "--inference", *shared], cores)
    return results


def best(results, case, peer, task):
    rows = [r for r in results if r["case"] == case and r["peer"] == peer and r.get("task") == task]
    return min(rows, key=lambda r: r["ms_median"], default=None)


def table(results, arguments):
    peak = next(r["gflops_best"] for r in results if r["case"] == "peak")
    print(f"\n{cpu_name()}, {arguments.threads} threads, {arguments.pooling} pooling; "
          f"large matrix product of ours: {peak:.0f} GFLOP/s\n")
    print("| case | task | occam | GFLOP/s | of peak | PyTorch (variant) | ratio | JAX (variant) | ratio | busy |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in arguments.only.split(","):
        ours = next(r for r in results if r["case"] == case and r["peer"] == "occam")
        for task in ("train", "inference"):
            peers = {name: best(results, case, name, task) for name in ("torch", "jax")}
            flop = next((p["flop"] for p in peers.values() if p), None)
            ms = ours["ms_median"] if task == "train" else ours["inference_ms_median"]
            rate = flop / ms / 1e6 if flop else float("nan")
            share = rate / (peak if task == "train" else peak / arguments.threads)
            cells = [case, task, f"{ms:.2f} ms", f"{rate:.0f}", f"{share:.2f}"]
            for peer in peers.values():
                cells += [f"{peer['ms_median']:.2f} ms ({peer['variant']})", f"{peer['ms_median'] / ms:.1f}"] if peer else ["-", "-"]
            busy = max([ours["busy"], *(p["busy"] for p in peers.values() if p)])
            print("| " + " | ".join(cells + [f"{busy:.2f}"]) + " |")
    print("\nGFLOP/s count the operations of the naive formulation for all; medians over the time measured.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--only", default="a,b,c")
    parser.add_argument("--pooling", choices=("attention", "mean"), default="attention")
    arguments = parser.parse_args()
    if not ENGINE.exists():
        sys.exit("engine_bench is not built: cmake --preset bench && cmake --build --preset bench")
    results = measure(arguments)
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    name = f"side_by_side_{arguments.pooling}_{arguments.threads}.jsonl"
    (folder / name).write_text("".join(json.dumps(r) + "\n" for r in results))
    table(results, arguments)


if __name__ == "__main__":
    main()
