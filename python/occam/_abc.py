"""Approximate Bayesian computation: models compared on one data set, without a network."""

from __future__ import annotations

import html
import json
import os
import tempfile
from typing import Any, Sequence

import numpy as np

from . import _core
from ._arguments import as_json, seed_of, threads_of, whole
from ._data import Sets, name_of_cell, observed
from ._errors import Usage, nearest
from ._interrupts import watch
from ._network import Network, network_path
from ._problem import Problem, require_problem
from ._progress import progress as make_progress


class AbcResult:
    """What ABC found: populations that came closer and closer, and the particles of the last."""

    def __init__(self, problem: Problem, raw: dict, particles):
        self.models = problem.models
        self.raw = json.loads(raw["json"])
        self._text = raw["text"]
        self.model = np.array(self.models)[particles["model"]]  # of each particle
        self.weight = particles["weight"]
        self.distance = particles["distance"]
        self.parameters = {name: particles["parameters"][:, p] for p, name in enumerate(problem.parameters)}

    @property
    def populations(self) -> list[dict]:
        """Epsilon, size, simulations, acceptance, ess and p of each population."""
        return self.raw["populations"]

    @property
    def p(self) -> np.ndarray:
        """Model probabilities of the last population (models)."""
        return np.array([self.weight[self.model == name].sum() for name in self.models])

    def to_pandas(self):
        """The particles, one row each."""
        import pandas

        return pandas.DataFrame({"model": self.model, "weight": self.weight, "distance": self.distance, **self.parameters})

    def __repr__(self) -> str:
        return _core.shown_text(self._text.rstrip())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _chosen(sets: Sets, dataset) -> np.ndarray:
    """The rows of the one data set that is meant."""
    if dataset is None and len(sets.ids) == 1:
        return sets.data
    if dataset is None:
        raise Usage(f"abc takes one data set, not {len(sets.ids)}: choose one, as by dataset={sets.ids[0]!r}")
    name = name_of_cell(dataset)
    if name not in sets.ids:
        raise Usage(f"there is no data set {name!r}{nearest(name, sets.ids)}; the first of them is {sets.ids[0]!r}")
    k = sets.ids.index(name)
    return sets.data[sets.offsets[k] : sets.offsets[k + 1]]


def abc(problem: Problem, data: Any, *, by: str | Sequence[str] | None = None, dataset: Any = None,
        missing: str = "refuse", n: int | None = None, seed: int = 1, threads: int = 0, progress: Any = True,
        **options: Any) -> AbcResult:
    """Compares models on one data set by ABC-SMC, as `occam abc` does, with its options.

    data, by, missing: as in Network.compare; dataset: which of the data sets, where there are several. summary_network:
    a trained network whose statistics data sets are compared by.

    >>> result = occam.abc(occam.problem("beta-binomial"), [[1, 1, 1, 0] * 5], populations=2, population_size=100,
    ...                    progress=False)
    >>> result.models, len(result.weight)
    (['flat', 'fair'], 100)
    """
    require_problem(problem)
    seed, threads, n = seed_of(seed), threads_of(threads), None if n is None else whole("n", n, 1)
    # No distance can do without a value, whatever the problem is.
    sets = observed(data, problem.columns, by, labels=problem._core.labels, design=problem.columns, missing=missing)
    rows = _chosen(sets, dataset)
    sink = make_progress(progress, "simulations")
    with tempfile.TemporaryDirectory() as folder:
        network = options.get("summary_network")
        if isinstance(network, Network):
            options["summary_network"] = os.path.join(folder, "summary.occam")
            network._core.save(options["summary_network"])  # its statistics know of no prior
            options.setdefault("summary", "network")
        elif network:
            options["summary_network"] = os.fspath(network_path(network))
        particles = os.path.join(folder, "particles.npz")
        try:
            with watch.on():
                raw = _core.abc(problem._core, rows, n, as_json(options), particles, seed, threads, sink)
        finally:
            sink.close()
        with np.load(particles) as file:
            return AbcResult(problem, raw, {name: file[name] for name in file.files})
