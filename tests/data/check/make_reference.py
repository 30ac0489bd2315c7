#!/usr/bin/env python3
"""Metrics of predictions, computed by NumPy and scikit-learn, for check_reference_test.cpp.

Writes predictions.csv, predictions.npz (the same predictions) and expected.json.
Needs numpy and scikit-learn:  python3 make_reference.py
"""
import csv
import json

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss

K, NAMES, BINS, CONFIDENT = 600, ["a", "b", "c"], 15, 0.95
rng = np.random.default_rng(20)
J = len(NAMES)

# Exact posteriors of many kinds, true models drawn from them, and predictions that are a little too sure.
exact = rng.dirichlet(np.array([0.4, 0.6, 0.5]), size=K)
truth = np.array([rng.choice(J, p=q) for q in exact])
p = (exact + 1e-3) ** 1.3
p /= p.sum(axis=1, keepdims=True)
n = rng.integers(1, 101, size=K)
u = rng.uniform(size=K)

best = p.argmax(axis=1)
hot = np.eye(J)[truth]


def weighted_error(y, prob):
    """Expected calibration error: bins (a, b] weighted by count (Guo et al. 2017)."""
    edges = np.linspace(0, 1, BINS + 1)
    at = np.searchsorted(edges[1:-1], prob)
    total = 0.0
    for b in range(BINS):
        inside = at == b
        if inside.any():
            total += inside.mean() * abs(y[inside].mean() - prob[inside].mean())
    return total


def unweighted_error(y, prob):
    """Mean over the bins that hold anything, by scikit-learn's calibration curve."""
    share, mean = calibration_curve(y, prob, n_bins=BINS, strategy="uniform")
    return np.abs(share - mean).mean()


top = p.max(axis=1)
right = (best == truth).astype(float)
sure = top >= CONFIDENT
kl = (exact * (np.log(exact) - np.log(p))).sum(axis=1)
share = hot.mean(axis=0)
z = (p.mean(axis=0) - share) / np.sqrt((p * (1 - p)).sum(axis=0) / K**2)

metrics = {
    "accuracy": accuracy_score(truth, best),
    "accuracy_claimed": top.mean(),
    "chance": np.bincount(truth).max() / K,
    "log_loss": log_loss(truth, p, labels=range(J)),
    "log_loss_expected": -(p * np.log(p)).sum(axis=1).mean(),
    "brier": ((p - hot) ** 2).sum(axis=1).mean(),
    "ece_top": weighted_error(right, top),
    "ece": np.mean([weighted_error(hot[:, j], p[:, j]) for j in range(J)]),
    "calibration_error": np.mean([unweighted_error(hot[:, j], p[:, j]) for j in range(J)]),
    "overconfidence": max(0.0, CONFIDENT - right[sure].mean()),
    "confident_share": sure.mean(),
    "confident_accuracy": right[sure].mean(),
    "confidence_gap": top.mean() - right.mean(),
    "largest_share_z": np.abs(z).max(),
    "mean_p_true": p[np.arange(K), truth].mean(),
    "u": u.mean(),
    "u_right": u[best == truth].mean(),
    "u_wrong": u[best != truth].mean(),
    "kl": kl.mean(),
    "kl_se": kl.std(ddof=1) / np.sqrt(K),
    "best_accuracy": accuracy_score(truth, exact.argmax(axis=1)),
    "best_log_loss": log_loss(truth, exact, labels=range(J)),
}
for j, name in enumerate(NAMES):
    metrics["accuracy_" + name] = right[truth == j].mean()
    metrics["ece_" + name] = weighted_error(hot[:, j], p[:, j])
    metrics["calibration_error_" + name] = unweighted_error(hot[:, j], p[:, j])
    metrics["mean_p_" + name] = p[truth == j, j].mean()

expected = {
    "metrics": {key: float(value) for key, value in metrics.items()},
    "confusion": confusion_matrix(truth, best, normalize="true").tolist(),
    "mean_probabilities": [[float(p[truth == i, j].mean()) for j in range(J)] for i in range(J)],
    "model_shares": {"mean_p": p.mean(axis=0).tolist(), "share_drawn": share.tolist(), "z_drawn": z.tolist()},
}
with open("expected.json", "w") as file:
    json.dump(expected, file, indent=1)
    file.write("\n")
with open("predictions.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["true", "n"] + ["p_" + m for m in NAMES] + ["u"] + ["exact_" + m for m in NAMES])
    for k in range(K):
        writer.writerow([NAMES[truth[k]], n[k]] + [repr(float(x)) for x in p[k]] + [repr(float(u[k]))]
                        + [repr(float(x)) for x in exact[k]])
meta = np.frombuffer(json.dumps({"models": NAMES}).encode(), dtype=np.uint8)
np.savez("predictions.npz", p=p, true=truth, n=n, u=u, exact=exact, meta=meta)
