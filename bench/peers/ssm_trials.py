"""Trials of the decision model in ssm-simulators on one core, at the setting of decision_bench.

Drift 2, boundaries 1.8 apart, unbiased, dt = 1 ms, at most 5 s. The package's boundaries lie at +-a, so it gets half; its
Levy noise lacks the factor 1/sqrt(2), so drift and boundaries are multiplied by sqrt(2): the same walks in another unit.
Prints one JSON object per model. CPU time is counted, as decision_bench does.
"""
import json
import math
import time

import numpy
from ssms.basic_simulators.simulator import simulator

TRIALS = 10000


def measure(model, theta, case):
    run = lambda seed, n: simulator(theta=theta, model=model, n_samples=n, delta_t=0.001, max_t=5.0,
                                    random_state=seed)
    run(0, 100)  # imports and tables
    start = time.process_time()
    result = run(1, TRIALS)
    seconds = time.process_time() - start
    times = numpy.abs(numpy.asarray(result["rts"])).ravel()
    print(json.dumps({"case": case, "per_s": TRIALS / seconds, "mean_time_s": float(times.mean())}))


if __name__ == "__main__":
    measure("ddm", {"v": 2.0, "a": 0.9, "z": 0.5, "t": 0.0}, "alpha:200")
    unit = math.sqrt(2.0)
    for alpha in (1.5, 1.1):
        measure("levy", {"v": 2.0 * unit, "a": 0.9 * unit, "z": 0.5, "alpha": alpha, "t": 0.0}, f"alpha:{alpha * 100:.0f}")
