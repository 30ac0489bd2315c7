"""What a simulator in the same process costs beside its own time: microseconds per request of 64 data sets.

    PYTHONPATH=... python bench/python_calls.py [REQUESTS]

One thread, n = 20, a vectorised function of NumPy and an empty one. What is not the function is drawing parameters and
sizes, the call, and copying the answer; simulating the built-in model of the same problem shows how much of it is not
Python's. Last, the memory of the process before and after a million data sets.
"""

import resource
import sys
import time

import numpy as np

import occam

requests = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
spent = [0.0, 0]


def timed(function):
    def run(theta, n, rng):
        start = time.perf_counter()
        result = function(theta, n, rng)
        spent[0] += time.perf_counter() - start
        spent[1] += 1
        return result

    return run


zeros = np.zeros((64, 20), dtype=np.float32)
functions = {
    "coins": lambda theta, n, rng: rng.random((len(n), n.max())) < theta[:, None],
    "empty": lambda theta, n, rng: zeros[: len(n)],
}
for name, function in functions.items():
    model = lambda a: occam.Model(timed(function), vectorized=True, theta=occam.beta(a, a))
    problem = occam.Problem({"flat": model(1), "fair": model(30)}, n=20, columns=["x"])
    occam.simulate(problem, 64 * 100, threads=1)
    spent[:] = [0.0, 0]
    start = time.perf_counter()
    occam.simulate(problem, 64 * requests, threads=1)
    total = time.perf_counter() - start
    calls = spent[1]
    print(f"{name}: {calls} calls, {64 * requests / calls:.0f} data sets each; function {1e6 * spent[0] / calls:.1f} us, "
          f"beside it {1e6 * (total - spent[0]) / calls:.1f} us a call")
built_in = occam.problem("beta-binomial")
occam.simulate(built_in, 6400, threads=1, n=20)
start = time.perf_counter()
occam.simulate(built_in, 64 * requests, threads=1, n=20)
print(f"built in: {1e6 * (time.perf_counter() - start) / requests:.1f} us for 64 data sets, all in all")


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


occam.simulate(problem, 50_000)
before = resident_mb()
for seed in range(20):
    occam.simulate(problem, 50_000, seed=seed)
print(f"memory: {before:.1f} MB before, {resident_mb():.1f} MB after 1,000,000 data sets")
