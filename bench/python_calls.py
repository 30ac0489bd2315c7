"""What a simulator in the same process costs beside its own time: microseconds per request of 64 data sets.

    PYTHONPATH=... python bench/python_calls.py [REPEATS]

n = 20, vectorised functions: one line of NumPy and an empty one, with a fixed parameter and with drawn ones. What is
not the function is drawing and laying out data sets, which a built-in model pays as well, and the way to Python and
back. The built-in model with a fixed parameter and one toss a data set does nearly nothing but the former: the way is
what an empty function costs beyond it. All parts are run in turn, on one thread, and of each the shortest time counts
(processor time). Last, the memory of the process before and after a million data sets.
"""

import resource
import sys
import tempfile
import time

import numpy as np

import occam

REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
REQUESTS = 50  # a repeat
zeros = np.zeros((64, 20), dtype=np.float32)


def coins(theta, n, rng):
    return rng.random((len(n), n.max())) < theta[:, None]


def empty(theta, n, rng):
    return zeros[: len(n)]


def of_functions(function, *priors):
    models = {f"m{k}": occam.Model(function, vectorized=True, theta=prior) for k, prior in enumerate(priors)}
    return occam.Problem(models, n=20, columns=["x"])


def built_in(n, *priors):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        models = "".join(f'[model.m{k}]\ntheta = "{prior}"\n' for k, prior in enumerate(priors))
        file.write(f'name = "coins"\nn = {n}\nfamily = "bernoulli"\n{models}')
        file.flush()
        return occam.problem(file.name)


def work_of(problem, seed=[0]):
    def work():
        seed[0] += 1
        occam.simulate(problem, 64 * REQUESTS, seed=seed[0], threads=1)

    return work


drawn, fixed = (occam.beta(1, 1), occam.beta(30, 30)), (0.5, 0.5)
theta, n, rng = np.full(64, 0.5), np.full(64, 20), np.random.Generator(np.random.Philox(1))
parts = {
    "coins, drawn parameters": work_of(of_functions(coins, *drawn)),
    "coins, the function alone": lambda: [coins(theta, n, rng) for _ in range(REQUESTS)],
    "empty, drawn parameters": work_of(of_functions(empty, *drawn)),
    "empty, fixed parameter": work_of(of_functions(empty, *fixed)),
    "empty, the function alone": lambda: [empty(theta, n, rng) for _ in range(REQUESTS)],
    "built in, drawn parameters": work_of(built_in(20, *drawn)),
    "built in, fixed parameter": work_of(built_in(20, *fixed)),
    "built in, fixed parameter, n = 1": work_of(built_in(1, *fixed)),
}
took = {name: float("inf") for name in parts}
for _ in range(REPEATS):
    for name, part in parts.items():
        start = time.process_time()
        part()
        took[name] = min(took[name], 1e6 * (time.process_time() - start) / REQUESTS)
for name, us in took.items():
    print(f"{name:33} {us:6.1f} us")
way = took["empty, fixed parameter"] - took["empty, the function alone"] - took["built in, fixed parameter, n = 1"]
print(f"{'the way to Python and back':33} {way:6.1f} us")


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


problem = of_functions(empty, *drawn)
occam.simulate(problem, 50_000)
before = resident_mb()
for seed in range(20):
    occam.simulate(problem, 50_000, seed=seed)
print(f"memory: {before:.1f} MB before, {resident_mb():.1f} MB after 1,000,000 data sets")
