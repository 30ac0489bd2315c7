"""How the library calls a simulator that is a Python function."""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import inspect
import types
from typing import Any, Callable

import numpy as np

from ._data import is_table, numbers
from ._errors import BadData
from ._interrupts import watch


class _Generator:
    """A NumPy Generator whose numbers depend on a seed alone; setting its key is much quicker than making one."""

    def __init__(self):
        self.bits = np.random.Philox(key=0)
        self.rng = np.random.Generator(self.bits)
        self.fresh = self.bits.state
        self.key = self.fresh["state"]["key"]

    def of(self, seed: int) -> np.random.Generator:
        self.key[0] = seed
        self.bits.state = self.fresh
        return self.rng


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
        self.spare: list[_Generator] = []  # that no thread uses now

    def __getstate__(self):
        return {**self.__dict__, "spare": [], "workers": None}

    def __call__(self, theta, n, seeds, values, designed: bool, longest: int) -> None:
        """theta (parameters, data sets), n and seeds (data sets); fills values (all rows, columns). longest: n.max()"""
        given = values[:, self.design] if designed else None
        if self.workers is not None:
            pieces = lambda count: self._pieces(theta, n, seeds, given, count)
            rows = np.concatenate(self.workers.run(self.model, pieces))
        elif self.vectorized:
            rows = self._many(theta, n, seeds, given, longest, len(values))
        else:
            rows = self._one_by_one(theta, n, seeds, given, len(values))
        values[:, self.observed if designed else slice(None)] = rows

    def work(self, theta, n, seeds, given):
        """The rows of all data sets, one behind the other: what a process of its own is asked for."""
        total = int(n.sum())
        if self.vectorized:
            return self._many(theta, n, seeds, given, int(n.max()), total)
        return self._one_by_one(theta, n, seeds, given, total)

    def _pieces(self, theta, n, seeds, given, count: int) -> list:
        """The work for so many processes. What one call makes at once cannot be cut: its numbers would be others."""
        if self.vectorized:
            return [(theta, n, seeds, given)]
        cuts = np.unique(np.linspace(0, len(n), count + 1).round().astype(int))
        rows = np.concatenate([[0], np.cumsum(n)])
        return [(theta[:, a:b], n[a:b], seeds[a:b], None if given is None else given[rows[a] : rows[b]])
                for a, b in zip(cuts[:-1], cuts[1:])]

    def _spare(self) -> _Generator:
        try:
            return self.spare.pop()
        except IndexError:
            return _Generator()

    def _designs(self, given):
        return {} if given is None else {self.columns[c]: given[:, k] for k, c in enumerate(self.design)}

    def _made(self, given) -> list[str]:
        """Names of the columns that the function makes."""
        return self.columns if given is None else [self.columns[c] for c in self.observed]

    def _array(self, result, names: list[str]) -> np.ndarray:
        """What the function returned as an array; columns that have names are found by them."""
        if type(result) is np.ndarray and result.dtype.kind in "biuf":  # as most are, in every call
            return result
        if is_table(result):
            found = list(result.columns) if hasattr(result, "columns") else list(result)
            if sorted(map(str, found)) != sorted(names):
                raise BadData(f"model '{self.model}' returned the columns {found}, expected {names}, in any order")
            result = np.column_stack([numbers(result[name], name, f"model '{self.model}': ") for name in names])
        if np.ma.isMaskedArray(result):
            result = np.ma.filled(result.astype(np.float64), np.nan)
        array = np.asarray(result)
        if array.dtype.kind == "c":
            raise BadData(f"model '{self.model}' returned complex values; expected are real ones: return what of them "
                          "is observed, such as their real part")
        return array

    def _one_by_one(self, theta, n, seeds, given, total: int):
        names = self._made(given)
        columns = len(names)
        rows = np.empty((total, columns), np.float32)
        generator = self._spare()
        first = 0
        for size, seed, *values in zip(n.tolist(), seeds.tolist(), *theta.tolist()):
            last = first + size
            watch.check()
            designs = self._designs(None if given is None else given[first:last])
            result = self.function(n=size, rng=generator.of(seed), **dict(zip(self.parameters, values)), **designs)
            rows[first:last] = np.nan if result is None else self._shaped(self._array(result, names), size, columns)
            first = last
        self.spare.append(generator)
        return rows

    def _shaped(self, data: np.ndarray, size: int, columns: int):
        if data.shape == (size,) and columns == 1:
            data = data[:, None]
        if data.shape != (size, columns):
            raise BadData(f"model '{self.model}' returned an array of shape {data.shape}, expected {(size, columns)} "
                          f"for n = {size}")
        return data

    def _many(self, theta, n, seeds, given, longest: int, total: int):
        generator = self._spare()
        names = self._made(given)
        data = self._array(self.function(n=n, rng=generator.of(seeds[0]), **dict(zip(self.parameters, theta)),
                                         **self._designs(given)), names)
        self.spare.append(generator)
        sets, columns = len(n), len(names)
        shape = data.shape if data.ndim > 1 or columns > 1 else (*data.shape, 1)
        if shape == (sets, longest, columns) or columns == 1 and shape == (sets, longest):
            if total == sets * longest:
                return data.reshape(total, columns)
            return data.reshape(sets, longest, columns)[np.arange(longest) < n[:, None]]
        if shape != (total, columns):
            raise BadData(f"model '{self.model}' returned an array of shape {data.shape}, expected "
                          f"{(sets, longest, columns)} (data sets, longest n, columns) or {(total, columns)} (all "
                          "rows)")
        return data.reshape(shape)


def name_of(function: Callable) -> str:
    """module:name, which a network file keeps."""
    module = getattr(function, "__module__", None) or "unknown"
    return f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"


def source_of(function: Callable) -> str:
    """What the function is, as text: its source, or what an object says of itself, or its name; then the values that it
    was made with and the constants that it reads, where there are such."""
    if hasattr(function, "occam_source"):
        return function.occam_source
    if isinstance(function, functools.partial):
        bound = {**dict(enumerate(function.args)), **function.keywords}
        values = [f"\n{name}: {_said(value) or type(value)}" for name, value in bound.items()]
        return source_of(function.func) + "".join(values)
    plain = inspect.unwrap(function)
    try:
        source = inspect.getsource(plain)
    except (OSError, TypeError):
        source = name_of(function)
    return source + "".join(f"\n{name} = {value}" for name, value in _values_used(plain))


def _values_used(function: Callable) -> list[tuple[str, str]]:
    """Names and values of what a function has from where it was made, and of the constants of its module that it reads.

    Of a module only what cannot change inside counts: the rest is often a state that grows while simulators run. What
    the function sets itself is a state, too.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return []
    read = _names_in(code, "LOAD_GLOBAL") - _names_in(code, "STORE_GLOBAL")
    found = {name: function.__globals__.get(name) for name in read if not name.startswith("__")}
    found = {name: value for name, value in found.items()
             if isinstance(value, (int, float, complex, str, tuple, np.generic))}
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        if name not in _names_in(code, "STORE_DEREF"):
            with contextlib.suppress(ValueError):  # a cell that nothing is in yet
                found[name] = cell.cell_contents
    said = [(name, _said(value)) for name, value in sorted(found.items())]
    return [(name, text) for name, text in said if text is not None]


def _names_in(code: types.CodeType, operation: str) -> set[str]:
    """Names that a function, and those within it, do this with."""
    inner = [_names_in(one, operation) for one in code.co_consts if isinstance(one, types.CodeType)]
    return {one.argval for one in dis.get_instructions(code) if one.opname == operation}.union(*inner)


def _said(value: Any) -> str | None:
    """A value as text that is the same in every run; None for what has no such text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSU":
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.dtype.str} {value.shape} {content}"
    if isinstance(value, dict):
        parts = [part for item in value.items() for part in map(_said, item)]
    elif isinstance(value, (list, tuple)):
        parts = [_said(one) for one in value]
    else:
        return None
    return None if None in parts else f"{type(value).__name__}({', '.join(parts)})"


def _source_hash(function: Callable) -> str:
    return hashlib.sha256(source_of(function).encode()).hexdigest()[:16]
