"""Scores of foreignness beside each other: which of them notices disturbed data, at the same rate of false alarms?

    occam train decision-making -o net.occam
    bench/.venv/bin/python bench/scope_scores.py net.occam --occam build/release/apps/occam/occam

For a network for the decision problem (another problem: --problem and --disturb). Simulated data sets are described by the network's summary z
and by a sketch q of their raw values (per group: quantiles and spread; share of observations), as in src/occam/scope. Each score's
threshold is the 95 % quantile over fresh simulations of the same size. Prints the share of disturbed data sets above it.
"""
import argparse
import csv
import itertools
import pathlib
import subprocess
import tempfile

import numpy as np

DISTURB = ["shift=2", "flip=1", "contaminants=0.1", "contaminants=0.05", "scale=200", "fast_drift=8", "fast_drift=11",
           "fast_drift=14", "wide_threshold=4", "wide_threshold=5", "wide_threshold=6", "round=0.1"]
QUANTILES = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1]


def sketch(rows, levels):
    """Statistics of one data set (n, D); levels: values of the columns that take few."""
    continuous = [c for c in range(rows.shape[1]) if c not in levels]
    groups = [np.ones(len(rows), bool)]
    groups += [rows[:, c] == v for c, values in levels.items() for v in values]
    for (a, va), (b, vb) in itertools.combinations(levels.items(), 2):
        groups += [(rows[:, a] == x) & (rows[:, b] == y) for x in va for y in vb]
    out = [np.log(len(rows))]
    overall = [s for c in continuous for s in [*np.quantile(rows[:, c], QUANTILES), rows[:, c].std()]]
    for k, group in enumerate(groups):
        if k > 0:
            out.append(group.mean())
        if not group.any():
            out += overall
            continue
        for c in continuous:
            out += [*np.quantile(rows[group, c], QUANTILES), rows[group, c].std()]
    return out


class Data:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.levels = arguments, folder, None

    def get(self, count, seed, n=None, disturb=None):
        """(summaries, sketches) of simulated data sets."""
        npz, answers = self.folder / "d.npz", self.folder / "d.csv"
        occam = str(self.arguments.occam)
        command = [occam, "simulate", self.arguments.problem, "--datasets", str(count), "--seed", str(seed), "-o", str(npz), "--quiet"]
        subprocess.run(command + (["--n", str(n)] if n else []) + (["--disturb", disturb] if disturb else []), check=True)
        subprocess.run([occam, "compare", self.arguments.network, str(npz), "--summary", "-o", str(answers), "--quiet"], check=True)
        with open(answers) as file:
            table = csv.reader(file)
            columns = [i for i, name in enumerate(next(table)) if name.startswith("summary_")]
            z = np.array([[float(row[i]) for i in columns] for row in table])
        archive = np.load(npz)
        data, ends = archive["data"], np.cumsum(archive["n"])
        if self.levels is None:
            values = [np.unique(data[:20000, c]) for c in range(data.shape[1])]
            self.levels = {c: v for c, v in enumerate(values) if len(v) <= 8}
        q = np.array([sketch(rows, self.levels) for rows in np.split(data, ends[:-1])])
        return z, q


class Space:
    """Compressed, standardised, rotated to principal components, each divided by a power of its spread."""
    def __init__(self, x, power, components=64):
        self.keep = x.std(0) > 1e-9
        x = x[:, self.keep]
        self.centre = np.median(x, 0)
        quartiles = (np.quantile(x, 0.75, 0) - np.quantile(x, 0.25, 0)) / 1.35
        reach = x.max(0) - x.min(0)
        self.scale = np.where(quartiles > 1e-3 * reach, quartiles, reach / 10)
        y = self.compressed(x)
        self.mean, self.sd = y.mean(0), y.std(0)
        values, vectors = np.linalg.eigh(np.corrcoef(y.T))
        order = np.argsort(values)[::-1][:components]
        self.rotation = vectors[:, order] / (np.maximum(values[order], 0) + 1e-3) ** (0.5 * power)

    def compressed(self, x):
        t = (x - self.centre) / self.scale
        return t / np.sqrt(1 + np.abs(t) / 5)

    def __call__(self, x):
        return ((self.compressed(x[:, self.keep]) - self.mean) / self.sd) @ self.rotation


def neighbours(x, reference, k, itself=False):
    distances, places = [], []
    for part in np.array_split(x, max(1, len(x) // 500)):
        squared = (part**2).sum(1)[:, None] + (reference**2).sum(1) - 2 * part @ reference.T
        nearest = np.argpartition(squared, k + itself, 1)[:, : k + itself]
        d = np.take_along_axis(squared, nearest, 1)
        order = np.argsort(d, 1)[:, int(itself):]
        distances.append(np.sqrt(np.maximum(np.take_along_axis(d, order, 1), 1e-12)).mean(1))
        places.append(np.take_along_axis(nearest, order, 1))
    return np.log(np.concatenate(distances)), np.concatenate(places)


def neighbour_score(reference, adapt, k=10):
    usual, _ = neighbours(reference, reference, k, itself=True)
    def score(x):
        far, places = neighbours(x, reference, k)
        return far - adapt * usual[places].mean(1)
    return score


def mixture_score(x, components=24, steps=40):
    """Minus the log density of a mixture of Gaussians with full covariances (expectation maximisation)."""
    rng = np.random.default_rng(1)
    D = x.shape[1]
    means = x[rng.choice(len(x), components, replace=False)]
    covariances = np.repeat(np.cov(x.T)[None], components, 0)
    weights = np.full(components, 1 / components)
    def log_terms(y):
        terms = []
        for w, m, c in zip(weights, means, covariances):
            factor = np.linalg.cholesky(c)
            r = np.linalg.solve(factor, (y - m).T)
            terms.append(np.log(w) - 0.5 * (r**2).sum(0) - np.log(np.diag(factor)).sum() - 0.5 * D * np.log(2 * np.pi))
        return np.array(terms)
    def log_density(terms):
        top = terms.max(0)
        return top + np.log(np.exp(terms - top).sum(0))
    for _ in range(steps):
        terms = log_terms(x)
        share = np.exp(terms - log_density(terms))
        total = share.sum(1)
        weights = total / len(x)
        means = share @ x / total[:, None]
        covariances = np.array([(s[:, None] * (x - m)).T @ (x - m) / t + 1e-3 * np.eye(D) for s, m, t in zip(share, means, total)])
    return lambda y: -log_density(log_terms(y))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--occam", type=pathlib.Path, default="occam")
    parser.add_argument("--problem", default="decision-making")
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--disturb", nargs="*", default=DISTURB)
    parser.add_argument("--reference", type=int, default=20000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Data(arguments, pathlib.Path(folder))
        z, q = data.get(arguments.reference, 11)
        sets = {"none": data.get(2000, 12, arguments.n)} | {d: data.get(500, 13, arguments.n, d) for d in arguments.disturb}
    zq = np.hstack([z, q])
    spaces = {"z": Space(z, 1.0), "q": Space(q, 0.5), "zq": Space(zq, 0.5), "q, not whitened": Space(q, 0.0)}
    part = {"z": lambda s: s[0], "q": lambda s: s[1], "q, not whitened": lambda s: s[1], "zq": np.hstack}
    placed = {name: {d: space(part[name](s)) for d, s in sets.items()} for name, space in spaces.items()}
    reference = {name: space({"z": z, "zq": zq}.get(name, q)) for name, space in spaces.items()}
    scores = {f"Mahalanobis distance of {name}": (name, lambda x: (x**2).sum(1)) for name in ("z", "q")}
    scores["mixture of 24 Gaussians on z"] = ("z", mixture_score(reference["z"]))
    for name, adapt in (("z", 0), ("z", 0.8), ("z", 1), ("q, not whitened", 0), ("q", 0), ("q", 0.5), ("q", 0.8), ("zq", 0.8)):
        scores[f"neighbours in {name}, adapt {adapt}"] = (name, neighbour_score(reference[name], adapt))
    values = {title: {d: score(x) for d, x in placed[name].items()} for title, (name, score) in scores.items()}
    pair = [values[title] for title in ("neighbours in z, adapt 0.8", "neighbours in q, adapt 0.5")]
    scaled = [{d: (v - s["none"].mean()) / s["none"].std() for d, v in s.items()} for s in pair]
    values["larger of z (0.8) and q (0.5)"] = {d: np.maximum(scaled[0][d], scaled[1][d]) for d in sets}
    print("| score | " + " | ".join(arguments.disturb) + " |\n|---" * 1 + "|---" * len(arguments.disturb) + "|")
    for title, of in values.items():
        limit = np.quantile(of["none"], 0.95)
        print(f"| {title} | " + " | ".join(f"{(of[d] > limit).mean():.2f}" for d in arguments.disturb) + " |")


if __name__ == "__main__":
    main()
