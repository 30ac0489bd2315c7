"""The neuron as a loop over time in NumPy, as tutorials of simulation-based inference in Python write it, on one core.

T = 200 ms (1101 rows), parameters from the prior of the third model, equations and scheme of src/occam/models/neuron.cpp.
Twice: one series at a time (the usual form), and 64 at once in arrays. Prints one JSON object per form.
"""
import json
import time

import numpy as np

E_NA, E_K, E_L, V_T, TAU_MAX, CURRENT, SIGMA, DT = 53.0, -107.0, -70.0, -60.0, 600.0, 3.0, 0.1, 0.2
ROWS, ON, OFF = 1101, 50, 1050


def linoid(z):
    return z / np.expm1(np.where(np.abs(z) < 1e-6, 1e-6, z))


def rates(v):
    w = v - V_T
    p_steady = 1 / (1 + np.exp(-(v + 35) / 10))
    p_speed = (3.3 * np.exp((v + 35) / 20) + np.exp(-(v + 35) / 20)) / TAU_MAX
    return ((1.28 * linoid(-(w - 13) / 4), 1.4 * linoid((w - 40) / 5)),
            (0.128 * np.exp(-(w - 17) / 18), 4 / (1 + np.exp(-(w - 40) / 5))),
            (0.16 * linoid(-(w - 15) / 5), 0.5 * np.exp(-(w - 10) / 40)),
            (p_steady * p_speed, (1 - p_steady) * p_speed))


def simulate(g_na, g_k, g_m, g_l, rng):
    """One series for scalars, many for arrays; (ROWS, ...) in mV."""
    shape = np.shape(g_na)
    v = np.empty((ROWS,) + shape)
    v[0] = -70.0
    noise = SIGMA / np.sqrt(DT) * rng.standard_normal((ROWS,) + shape)
    gates = [a / (a + b) for a, b in rates(v[0])]
    for i in range(ROWS - 1):
        m, h, n, p = gates
        na, k, mm = g_na * m**3 * h, g_k * n**4, g_m * p
        into = (CURRENT if ON <= i < OFF else 0.0) + noise[i]
        total = na * (E_NA - v[i]) + (k + mm) * (E_K - v[i]) + g_l * (E_L - v[i]) + into
        g = na + k + mm + g_l
        v[i + 1] = v[i] - total / g * np.expm1(-DT * g)
        gates = [x - (a / (a + b) - x) * np.expm1(-DT * (a + b)) for x, (a, b) in zip(gates, rates(v[i + 1]))]
    return v


def measure(case, count, repeats):
    rng = np.random.default_rng(1)
    draw = lambda low, high: rng.uniform(low, high, count) if count > 1 else rng.uniform(low, high)
    spikes = 0
    start = time.process_time()
    for _ in range(repeats):
        v = simulate(draw(1.5, 30), draw(0.3, 15), draw(0.005, 0.3), draw(0.01, 0.18), rng)
        spikes += int(((v[:-1] < 0) & (v[1:] >= 0)).sum())
    seconds = time.process_time() - start
    print(json.dumps({"case": case, "per_s": count * repeats / seconds, "spikes": spikes / (count * repeats)}))


if __name__ == "__main__":
    measure("one at a time", 1, 20)
    measure("64 at once", 64, 8)
