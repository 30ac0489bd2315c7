"""How the library calls a simulator that is a Python function."""

from __future__ import annotations

import hashlib
import inspect
import threading
from typing import Any, Callable

import numpy as np

from ._interrupts import watch


class Call:
    """One model's function. The library hands over what it wants and an array to fill."""

    def __init__(self, model: str, function: Callable, parameters: list[str], columns: list[str], design: list[int],
                 vectorized: bool):
        self.model = model
        self.function = function
        self.parameters = parameters  # names, in the library's order
        self.columns = columns  # names
        self.design = design  # places of the design columns
        self.observed = [c for c in range(len(columns)) if c not in design]
        self.vectorized = vectorized
        self.workers: Any = None  # processes of their own, where the problem has them
        self.source_hash = _source_hash(function)
        self.local = threading.local()

    def __getstate__(self):
        return {**self.__dict__, "local": None, "workers": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.local = threading.local()

    def __call__(self, theta, n, seeds, values, designed: bool) -> None:
        """theta (parameters, data sets), n and seeds (data sets); fills values (all rows, columns)."""
        places = self.observed if designed else list(range(len(self.columns)))
        given = values[:, self.design].copy() if designed else None
        if self.workers is None:
            rows = self.work(theta, n, seeds, given)
        else:
            pieces = lambda count: self._pieces(theta, n, seeds, given, count)
            rows = np.concatenate(self.workers.run(self.model, pieces))
        if len(places) == values.shape[1]:
            values[:] = rows
        else:
            values[:, places] = rows

    def work(self, theta, n, seeds, given):
        """The rows of all data sets, one behind the other."""
        return (self._many if self.vectorized else self._one_by_one)(theta, n, seeds, given)

    def _pieces(self, theta, n, seeds, given, count: int) -> list:
        """The work for so many processes. What one call makes at once cannot be cut: its numbers would be others."""
        if self.vectorized:
            return [(theta, n, seeds, given)]
        cuts = np.unique(np.linspace(0, len(n), count + 1).round().astype(int))
        rows = np.concatenate([[0], np.cumsum(n)])
        return [(theta[:, a:b], n[a:b], seeds[a:b], None if given is None else given[rows[a] : rows[b]])
                for a, b in zip(cuts[:-1], cuts[1:])]

    def _rng(self, seed):
        """A generator whose numbers depend on the seed alone; setting a key is much quicker than making one."""
        if not hasattr(self.local, "rng"):
            self.local.bits = np.random.Philox(key=0)
            self.local.rng = np.random.Generator(self.local.bits)
            self.local.fresh = self.local.bits.state
        fresh = self.local.fresh
        fresh["state"]["key"][0] = seed
        self.local.bits.state = fresh
        return self.local.rng

    def _designs(self, given):
        return {} if given is None else {self.columns[c]: given[:, k] for k, c in enumerate(self.design)}

    def _one_by_one(self, theta, n, seeds, given):
        columns = len(self.columns) if given is None else len(self.observed)
        rows = np.empty((int(n.sum()), columns), np.float32)
        first = 0
        for b, (size, seed) in enumerate(zip(n.tolist(), seeds.tolist())):
            last = first + size
            watch.check()
            parameters = {name: float(theta[p, b]) for p, name in enumerate(self.parameters)}
            designs = self._designs(None if given is None else given[first:last])
            result = self.function(n=size, rng=self._rng(seed), **parameters, **designs)
            rows[first:last] = np.nan if result is None else self._shaped(result, size, columns)
            first = last
        return rows

    def _shaped(self, result, size: int, columns: int):
        data = np.asarray(result)
        if data.shape == (size,) and columns == 1:
            data = data[:, None]
        if data.shape != (size, columns):
            raise ValueError(f"model '{self.model}' returned an array of shape {data.shape}, expected {(size, columns)} "
                             f"for n = {size}")
        return data

    def _many(self, theta, n, seeds, given):
        parameters = {name: theta[p] for p, name in enumerate(self.parameters)}
        data = np.asarray(self.function(n=n, rng=self._rng(seeds[0]), **parameters, **self._designs(given)))
        sets, longest, total = len(n), int(n.max()), int(n.sum())
        columns = len(self.columns) if given is None else len(self.observed)
        if columns == 1 and data.shape in ((sets, longest), (total,)):
            data = data[..., None]
        if data.shape == (sets, longest, columns):
            data = data.reshape(total, columns) if total == sets * longest else data[np.arange(longest) < n[:, None]]
        if data.shape != (total, columns):
            raise ValueError(f"model '{self.model}' returned an array of shape {data.shape}, expected "
                             f"{(sets, longest, columns)} (data sets, longest n, columns) or {(total, columns)} (all rows)")
        return data


def name_of(function: Callable) -> str:
    """module:name, which a network file keeps."""
    module = getattr(function, "__module__", None) or "unknown"
    return f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"


def source_of(function: Callable) -> str:
    """What the function is, as text: its source, or what an object says of itself, or its name."""
    if hasattr(function, "occam_source"):
        return function.occam_source
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return name_of(function)


def _source_hash(function: Callable) -> str:
    return hashlib.sha256(source_of(function).encode()).hexdigest()[:16]
