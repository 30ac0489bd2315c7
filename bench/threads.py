"""How training scales over cores: milliseconds per step of `occam train`, by number of threads.

    python3 bench/threads.py OCCAM [OTHER_OCCAM ...] [--rounds 3] [--threads 1,2,4,8,16]

Four built-in problems with their own settings. Programs take turns, and the least of the rounds counts: what else runs on
the machine makes it slower, never faster. Also says whether the networks are the same bytes on the fewest and the most
threads, as they have to be. And how far the machine itself goes: as many trainings as there are threads at most, of one
thread each and at the same time, beside one alone; no division of the work can be expected to do better.
"""

import argparse
import concurrent.futures
import filecmp
import json
import os
import subprocess
import tempfile

PROBLEMS = {"beta-binomial": 1000, "decision-making:as_run": 16, "neuron": 30, "gaussian-mixtures": 120}  # steps on one thread


def train(program, problem, steps, threads, output, *more):
    subprocess.run([program, "train", problem, "-o", output, "--iterations", str(steps), "--threads", str(threads),
                    "--scope-reference", "0", "--validation-datasets", "100", "--quiet", *more], check=True,
                   stderr=subprocess.DEVNULL)  # so short a training learns little, and says so


def ms_per_step(program, problem, steps, threads, folder, name="timed"):
    output = os.path.join(folder, f"{name}.occam")
    train(program, problem, steps, threads, output, "--record-timing")
    info = subprocess.run([program, "info", output, "--json"], check=True, capture_output=True, text=True).stdout
    return 1e3 * json.loads(info)["record"]["seconds"] / steps


def machine_speed_up(program, problem, steps, count, alone, folder):
    """What `count` trainings at once, of one thread each, get done in the time of one."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        times = list(pool.map(lambda k: ms_per_step(program, problem, steps, 1, folder, f"copy{k}"), range(count)))
    return sum(alone / time for time in times)


def same_bytes(program, problem, threads, folder):
    paths = [os.path.join(folder, f"{count}.occam") for count in (min(threads), max(threads))]
    for path, count in zip(paths, (min(threads), max(threads))):
        train(program, problem, max(4, PROBLEMS[problem] // 10), count, path)
    return filecmp.cmp(*paths, shallow=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="OCCAM")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2,4,8,16")
    options = parser.parse_args()
    threads = [int(count) for count in options.threads.split(",") if int(count) <= len(os.sched_getaffinity(0))]
    print(f"{'ms per step':<24} " + " ".join(f"{count:>8}" for count in threads) + "  speed-up   machine  same bytes")
    with tempfile.TemporaryDirectory() as folder:
        for problem, steps in PROBLEMS.items():
            least = {program: [float("inf")] * len(threads) for program in options.programs}
            for k, count in enumerate(threads):
                for _ in range(options.rounds):
                    for program, times in least.items():
                        times[k] = min(times[k], ms_per_step(program, problem, int(steps * count**0.7), count, folder))
            for program, times in least.items():
                machine = machine_speed_up(program, problem, steps, threads[-1], times[0], folder)
                same = "yes" if same_bytes(program, problem, threads, folder) else "NO"
                print(f"{problem:<24} " + " ".join(f"{ms:8.3f}" for ms in times) + f"  {times[0] / times[-1]:8.1f}  {machine:8.1f}  {same:>10}"
                      + (f"  {program}" if len(options.programs) > 1 else ""), flush=True)


main()
