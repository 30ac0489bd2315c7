"""Trials of the decision model in ssm-simulators (PyPI) on one core, at the setting of decision_bench.

    pip install ssm-simulators
    python bench/peers/ssm_steps.py            # beside: build/bench/bench/decision_bench

Drift 2, boundaries 1.8 apart, unbiased, dt = 1 ms, at most 5 s. A package whose boundaries lie at +-a gets half.
CPU time is counted, as decision_bench does. Its Levy noise lacks the factor 1/sqrt(2), so trials are shorter: compare steps.
"""
import time

import numpy
from ssms.basic_simulators.simulator import simulator

TRIALS = 10000


def measure(model, theta, name):
    run = lambda seed, n: simulator(theta=theta, model=model, n_samples=n, delta_t=0.001, max_t=5.0,
                                    random_state=seed)
    run(0, 100)  # imports and tables
    start = time.process_time()
    result = run(1, TRIALS)
    seconds = time.process_time() - start
    times = numpy.abs(numpy.asarray(result["rts"])).ravel()
    print(f"{name}: {TRIALS / seconds:,.0f} trials/s, {times.sum() / 0.001 / seconds:,.0f} steps/s, "
          f"mean decision time {times.mean():.3f} s")


if __name__ == "__main__":
    measure("ddm", {"v": 2.0, "a": 0.9, "z": 0.5, "t": 0.0}, "ddm")
    for alpha in (1.5, 1.1):
        measure("levy", {"v": 2.0, "a": 0.9, "z": 0.5, "alpha": alpha, "t": 0.0}, f"levy, alpha {alpha}")
