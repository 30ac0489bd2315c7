"""Problems of BayesFlow's: a ModelComparisonSimulator as it is."""

from __future__ import annotations

import inspect
import threading
from typing import Any, Sequence

import numpy as np

from ._problem import Model, Problem

# BayesFlow's simulators take their randomness from NumPy's global state.
_global_state = threading.Lock()


def from_bayesflow(simulator: Any, *, data: str | Sequence[str] | None = None, n: Any = None, size: str = "n",
                   names: Sequence[str] | None = None, columns: Sequence[str] | None = None, prefix: bool = False,
                   **problem: Any) -> Problem:
    """A ModelComparisonSimulator of BayesFlow as a problem.

    data: the key, or keys, of what is observed, arrays (batch, rows) or (batch, rows, columns); it may be left out where
    the simulators share but one. n: the sizes of data sets, where they vary; the size of each is then handed to the
    simulators under the key `size`, in place of what a shared simulator makes of it. Without n all have the size of a
    first trial. Data sets of one size are made in one call; prefix=True makes all of a call with the largest size and
    keeps their first rows, which is faster, and right where the first rows of a longer data set are a data set.
    Probabilities of the models are those that the simulator uses; model_prior= gives others. Other words are those of
    occam.Problem.
    """
    simulators = list(simulator.simulators)
    keys = [data] if isinstance(data, str) else list(data) if data else _only_key(simulator)
    names = [f"m{k}" for k in range(len(simulators))] if names is None else list(names)
    if len(names) != len(simulators):
        raise ValueError(f"there are {len(simulators)} simulators and {len(names)} names")
    if "model_prior" not in problem:
        p = np.exp(np.asarray(simulator.logits, dtype=float) - np.max(simulator.logits))
        problem["model_prior"] = {name: float(one) for name, one in zip(names, p / p.sum())}
    sources = [_Source(simulator, k, keys, size if n is not None else None, prefix) for k in range(len(simulators))]
    first = _trial(sources[0], n)
    columns = list(columns) if columns else [key if width == 1 else f"{key}{c + 1}"
                                             for key, width in sources[0].widths.items() for c in range(width)]
    models = {name: Model(source, vectorized=True) for name, source in zip(names, sources)}
    return Problem(models, n=first if n is None else n, columns=columns, **problem)


class _Source:
    """One of the simulators: many data sets at once."""

    def __init__(self, simulator, index: int, keys: list[str], size: str | None, prefix: bool):
        self.simulator, self.index, self.keys, self.size, self.prefix = simulator, index, keys, size, prefix
        self.widths: dict[str, int] = {}
        self.occam_source = "\n".join([repr((index, keys, size, prefix)), *_sources(simulator)])

    def __call__(self, n, rng):
        with _global_state:
            before = np.random.get_state()
            np.random.seed(int(rng.integers(2**32)))
            try:
                return self._rows(n)
            finally:
                np.random.set_state(before)

    def _rows(self, n):
        if self.prefix or self.size is None:
            longest = int(n.max())
            together = self.sample(len(n), longest)
            return np.concatenate([one[:rows] for one, rows in zip(together, n)])
        made: list = [None] * len(n)
        for rows in np.unique(n):
            places = np.flatnonzero(n == rows)
            for place, one in zip(places, self.sample(len(places), int(rows))):
                made[place] = one
        return np.concatenate(made)

    def sample(self, count: int, rows: int | None):
        """(count, rows, columns)"""
        given = {} if self.size is None or rows is None else {self.size: rows}
        shared = self.simulator.shared_simulator
        if shared is not None:
            made = dict(shared.sample((count,), **given))
            others = [key for key in made if key != self.size]
            if given and others and np.any(np.asarray(made.get(self.size, rows)) != rows):
                raise ValueError(f"the shared simulator makes {others} for a size of its own; let its function take "
                                 f"'{self.size}' as an argument")
            given = {**made, **given}
        result = {**given, **self.simulator.simulators[self.index].sample((count,), **given)}
        parts = []
        for key in self.keys:
            if key not in result:
                raise KeyError(f"simulator {self.index} makes {sorted(result)}, but no {key!r}")
            part = np.asarray(result[key], dtype=np.float32)
            part = part[..., None] if part.ndim == 2 else part
            if part.ndim != 3 or part.shape[0] != count or (rows is not None and part.shape[1] != rows):
                raise ValueError(f"{key!r} of simulator {self.index} has shape {np.shape(result[key])}, expected "
                                 f"({count}, {'rows' if rows is None else rows}) or with columns behind")
            self.widths[key] = part.shape[2]
            parts.append(part)
        return np.concatenate(parts, axis=2)


def _trial(source: _Source, n: Any) -> int:
    """The rows of a first data set. Leaves NumPy's global state alone."""
    with _global_state:
        before = np.random.get_state()
        try:
            small = None if n is None else int(n if np.ndim(n) == 0 and not isinstance(n, str) else 10)
            if n is not None and isinstance(n, (tuple, list)):
                small = int(n[0])
            return source.sample(1, small).shape[1]
        finally:
            np.random.set_state(before)


def _only_key(simulator) -> list[str]:
    with _global_state:
        before = np.random.get_state()
        try:
            shared = simulator.shared_simulator.sample((1,)) if simulator.shared_simulator is not None else {}
            made = [set(one.sample((1,), **shared)) - set(shared) for one in simulator.simulators]
        finally:
            np.random.set_state(before)
    common = sorted(set.intersection(*made))
    if len(common) != 1:
        raise ValueError(f"say which of the outputs that the simulators share is observed, with data=: {common}")
    return common


def _sources(simulator) -> list[str]:
    """The sources of all functions in it, for the fingerprint of the problem."""
    found = []
    function = getattr(simulator, "sample_fn", None)
    if function is not None:
        try:
            found.append(inspect.getsource(function))
        except (OSError, TypeError):
            found.append(getattr(function, "__qualname__", type(function).__qualname__))
    inner = list(getattr(simulator, "simulators", None) or [])
    if getattr(simulator, "shared_simulator", None) is not None:
        inner.append(simulator.shared_simulator)
    for one in inner:
        found += _sources(one)
    return found or [type(simulator).__qualname__]
