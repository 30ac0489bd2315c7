"""Training from a vectorised NumPy simulator: in the same process, through a pipe, and the built-in one.

    PYTHONPATH=... python bench/python_training.py OCCAM [STEPS]

The coins of beta-binomial, all three with the same steps and batch, on the threads of the machine; wall and CPU seconds
of the training, the processes of simulators included. (The built-in problem has a network of settings of its own.) The pipe is a simulator of this Python with the
helper of docs/own-models.md, which also makes all data sets of a request at once.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import occam

program = os.path.abspath(sys.argv[1])
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
options = dict(iterations=steps, batch=64, scope_reference=0, validation_datasets=1000)


def coins(theta, n, rng):
    return rng.random((len(n), n.max())) < theta[:, None]


def in_process():
    model = lambda a: occam.Model(coins, vectorized=True, theta=occam.beta(a, a))
    occam.train(occam.Problem({"flat": model(1), "fair": model(30)}, n=(1, 100), columns=["x"]), progress=False, **options)


def by_program(problem):
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    subprocess.run([program, "train", problem, "-o", "net.occam", "--quiet", *words], check=True)


def cpu_s():
    return sum(u.ru_utime + u.ru_stime for u in (resource.getrusage(resource.RUSAGE_SELF),
                                                 resource.getrusage(resource.RUSAGE_CHILDREN)))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("coins.py").write_text("""
from occam_simulator import serve

def coins(theta, n, rng):
    return rng.random((len(n), n.max())) < theta[:, None]

serve({"flat": coins, "fair": coins}, vectorized=True)
""")
    pathlib.Path("coins.toml").write_text(f"""
name = "coins"
n = "uniform(1, 100)"
columns = ["x"]
simulator = ["{sys.executable}", "coins.py"]
[model.flat]
theta = "beta(1, 1)"
[model.fair]
theta = "beta(30, 30)"
""")
    for name, run in {"in process": in_process, "pipe": lambda: by_program("coins.toml"),
                      "built in": lambda: by_program("beta-binomial")}.items():
        start, spent = time.perf_counter(), cpu_s()
        run()
        print(f"{name:<11} {time.perf_counter() - start:7.2f} s  {cpu_s() - spent:7.2f} s CPU for {steps} steps", flush=True)
