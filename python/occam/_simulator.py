"""How the library calls a simulator that is a Python function."""

import hashlib
import inspect
import threading

import numpy as np


class Call:
    """One model's function. The library hands over what it wants and an array to fill."""

    def __init__(self, model, function, parameters, columns, design, vectorized):
        self.model = model
        self.function = function
        self.parameters = parameters  # names, in the library's order
        self.columns = columns  # names
        self.design = design  # places of the design columns
        self.observed = [c for c in range(len(columns)) if c not in design]
        self.vectorized = vectorized
        self.source_hash = _source_hash(function)
        self.local = threading.local()

    def __call__(self, theta, n, seeds, values, designed):
        places = self.observed if designed else list(range(len(self.columns)))
        answer = self._many if self.vectorized else self._one_by_one
        answer(theta, n, seeds, values, designed, places)

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

    def _given(self, values, designed):
        return {self.columns[c]: values[:, c].copy() for c in self.design} if designed else {}

    def _one_by_one(self, theta, n, seeds, values, designed, places):
        first = 0
        for b, (size, seed) in enumerate(zip(n.tolist(), seeds.tolist())):
            rows = values[first : first + size]
            first += size
            parameters = {name: float(theta[p, b]) for p, name in enumerate(self.parameters)}
            result = self.function(n=size, rng=self._rng(seed), **parameters, **self._given(rows, designed))
            if result is None:
                rows[:, places] = np.nan
                continue
            data = np.asarray(result)
            if data.shape == (size,) and len(places) == 1:
                data = data[:, None]
            if data.shape != (size, len(places)):
                raise ValueError(
                    f"model '{self.model}' returned an array of shape {data.shape}, "
                    f"expected {(size, len(places))} for n = {size}"
                )
            rows[:, places] = data

    def _many(self, theta, n, seeds, values, designed, places):
        parameters = {name: theta[p] for p, name in enumerate(self.parameters)}
        result = self.function(n=n, rng=self._rng(seeds[0]), **parameters, **self._given(values, designed))
        data = np.asarray(result)
        sets, longest, total, columns = len(n), int(n.max()), len(values), len(places)
        if columns == 1 and data.shape in ((sets, longest), (total,)):
            data = data[..., None]
        if data.shape == (sets, longest, columns):
            data = data.reshape(total, columns) if total == sets * longest else data[np.arange(longest) < n[:, None]]
        if data.shape != (total, columns):
            raise ValueError(
                f"model '{self.model}' returned an array of shape {data.shape}, expected "
                f"{(sets, longest, columns)} (data sets, longest n, columns) or {(total, columns)} (all rows)"
            )
        if columns == values.shape[1]:
            values[:] = data
        else:
            values[:, places] = data


def name_of(function):
    """module:name, which a network file keeps."""
    module = getattr(function, "__module__", None) or "unknown"
    return f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"


def _source_hash(function):
    try:
        source = inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        source = name_of(function)
    return hashlib.sha256(source.encode()).hexdigest()[:16]
