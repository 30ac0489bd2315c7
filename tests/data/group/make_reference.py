#!/usr/bin/env python3
"""Random-effects model selection by the package groupBMC, for variational_test.cpp and dirichlet_test.cpp.

Writes expected.json beside this file. Needs groupBMC, numpy and scipy:  python3 make_reference.py
groupBMC 1.0 stops after 32 rounds or when the free energy changes by less than 1e-4, which leaves errors above
1e-4 in the frequencies where evidences are weak: it is told to go on for 4000. Its free energy of equal frequencies
takes log(alpha_0) for log(1/K), which is right for its default alpha_0 = 1/K alone: for alpha_0 = 1 the
difference is taken off.
"""
import json
import pathlib
from math import exp, log

import numpy as np
from scipy.integrate import quad
from scipy.special import gammainc, gammaln

np.bool = bool  # groupBMC 1.0 uses the old name
from groupBMC.groupBMC import GroupBMC  # noqa: E402

rng = np.random.default_rng(15)


def bmc(log_evidence, alpha0):
    """log_evidence (N, K) by groupBMC, iterated until nothing changes."""
    N, K = log_evidence.shape
    fit = GroupBMC(log_evidence.T, α_0=np.full(K, alpha0), max_iter=4000, min_iter=4000)
    null = fit.F0() - N * (log(alpha0) + log(K))
    gap = fit.F1() - null
    bor = 1 / (1 + exp(gap)) if gap < 700 else 0.0
    result = fit.get_result() if abs(fit.F1() - fit.F0()) < 700 else None
    out = {"alpha": fit.α.flatten().tolist(), "free_energy": float(fit.F1()), "null": float(null), "bor": float(bor)}
    if result is not None:
        x = result.exceedance_probability
        out["frequency"] = result.frequency_mean.tolist()
        out["exceedance"] = x.tolist()
        out["protected_exceedance"] = (x * (1 - bor) + bor / K).tolist()
        if alpha0 == 1 / K:  # then as the package gives it, without any correction
            out["protected_exceedance"] = result.protected_exceedance_probability.tolist()
    return out


def exceedance(alpha):
    """By adaptive quadrature of high precision, piece by piece around the bulk."""
    alpha = np.asarray(alpha, dtype=float)
    edges = [0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 1.0]
    for a in alpha:
        edges += [max(0.0, a + s * np.sqrt(a)) for s in (-8, -4, -2, -1, 0, 1, 2, 4, 8, 16)] + [a + 60 + 16 * np.sqrt(a)]
    edges = sorted(set(edges))
    phi = []
    for i, a in enumerate(alpha):
        def f(x):
            if x <= 0:
                return 0.0
            return np.exp((a - 1) * np.log(x) - x - gammaln(a)) * np.prod(gammainc(np.delete(alpha, i), x))
        phi.append(sum(quad(f, lo, hi, epsabs=1e-13, epsrel=1e-12, limit=200)[0] for lo, hi in zip(edges, edges[1:])))
    return phi


def evidences(N, K, strength):
    """Members drawn from frequencies of their own, with log evidences that favour their model by about `strength`."""
    truth = rng.choice(K, size=N, p=rng.dirichlet(np.ones(K)))
    l = rng.normal(0, max(strength, 0.1) ** 0.5, size=(N, K))
    l[np.arange(N), truth] += strength
    return l


cases = {}
for K in (2, 3, 6):
    for N in (1, 5, 20, 50):
        for name, strength in (("weak", 0.3), ("moderate", 2.0), ("strong", 30.0)):
            cases[f"{name}_{K}_{N}"] = evidences(N, K, strength)
    cases[f"equal_{K}_20"] = np.zeros((20, K))
    extreme = np.full((5, K), -1e4)
    extreme[:4, 0] = 0
    extreme[4, K - 1] = 0
    cases[f"extreme_{K}_5"] = extreme
    cases[f"offset_{K}_5"] = evidences(5, K, 2.0) - 1e4  # a constant per data set says nothing

expected = {"cases": [], "exceedance": []}
for name, l in cases.items():
    K = l.shape[1]
    l = np.round(l, 6)
    expected["cases"].append({"name": name, "log_evidence": l.tolist(), "alpha0_one": bmc(l, 1.0),
                              "alpha0_share": bmc(l, 1.0 / K)})
for alpha in ([1, 1], [3, 1], [10, 12, 9], [0.5, 0.3], [0.02, 0.02, 1.02], [1, 1, 1, 1, 1, 40], [200, 210, 190],
              [5000, 5100], [1] * 12 + [3], [1e-2, 30]):
    expected["exceedance"].append({"alpha": alpha, "phi": exceedance(alpha)})
folder = pathlib.Path(__file__).parent
(folder / "expected.json").write_text(json.dumps(expected, indent=None, separators=(",", ":")).replace("{\"name\"", "\n{\"name\"") + "\n")
