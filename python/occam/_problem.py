"""Problems: the question that a network is trained for."""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _core
from ._arguments import listed, seed_of, threads_of, whole
from ._data import is_table, key_cells, numbers, require_columns
from ._errors import BadData, Usage, WrongType, nearest
from ._interrupts import watch
from ._priors import Prior
from ._simulator import Call, name_of
from ._workers import Workers


class Model:
    """A simulator and a prior, or a fixed number, for each of its parameters.

    >>> def coin(theta, n, rng):
    ...     return rng.random(n) < theta
    >>> fair = occam.Model(coin, theta=occam.beta(30, 30))

    `simulator(**parameters, n, rng)` makes one data set: an array (n, columns), or (n) where there is one column. All
    that is random comes from `rng`, a NumPy Generator. None stands for parameters that give no usable data. Where the
    problem has a design, the function gets its columns by their names, too, and returns the others.

    With vectorized=True it makes many at once: parameters and n are arrays (B), the result is (B, n.max(), columns) or
    all rows one after the other, (n.sum(), columns). Without a simulator the data come from a table (occam.Table).
    """

    def __init__(self, simulator: Callable | None = None, *, vectorized: bool = False,
                 prior_probability: float | None = None, **parameters: Prior | float):
        if simulator is not None and not callable(simulator):
            raise WrongType(f"the simulator of a model is a function, not {simulator!r}; priors have names, as in "
                            "occam.Model(function, theta=occam.beta(1, 1))")
        self.simulator = simulator
        self.vectorized = vectorized
        self.prior_probability = prior_probability
        self.parameters = parameters


class Problem:
    """Models, the size of data sets and their columns.

    n: a number, (smallest, largest), or text as in problem files. columns: names, or {name: description or a table
    such as {"role": "design"} or, for what only says which rows belong together, {"role": "label"}, with "same_as":
    another such column if both name the same things (teams at home and away)}. ordered: whether the order of rows
    matters (series). design: {column: how it is set}, or {"from": "trials.csv", "by": "subject"}, where a data frame or
    a dict of columns may stand for the file. missing: {column: how often}. workers: run the simulators in so many
    processes of their own, started by `start_method` ("fork" where the system has it, else "spawn"): for slow functions
    of pure Python. The numbers do not depend on it.

    >>> def coin(theta, n, rng):
    ...     return rng.random(n) < theta
    >>> problem = occam.Problem({"flat": occam.Model(coin, theta=occam.beta(1, 1)),
    ...                          "fair": occam.Model(coin, theta=occam.beta(30, 30))}, n=(1, 100), columns=["x"])
    >>> problem
    <occam.Problem 'problem': flat, fair>
    >>> problem.sizes
    (1, 100)
    """

    def __init__(self, models: Mapping[str, Model], *, n: int | tuple[int, int] | str | None = None,
                 columns: Sequence[str] | Mapping[str, Any], ordered: bool = False,
                 design: Mapping[str, Any] | None = None, missing: Mapping[str, Any] | None = None,
                 name: str = "problem", description: str = "", model_prior: Mapping[str, float] | None = None,
                 folder: str | os.PathLike | None = None, workers: int = 0, start_method: str | None = None):
        _require_models(models, model_prior)
        if not isinstance(design, (Mapping, type(None))):
            raise WrongType("design is a dict {column: how it is set}, or {'from': data frame or csv, 'by': column}, "
                            f"not {type(design).__name__}")
        columns = _columns(columns, design, missing)
        probabilities = model_prior or {k: m.prior_probability for k, m in models.items()}
        places = [i for i, table in enumerate(columns.values()) if table.get("role") in ("design", "label")]
        calls = {}
        for key, model in models.items():
            if model.simulator is not None:
                calls[key] = Call(key, model.simulator, list(model.parameters), list(columns), places if design else [],
                                  model.vectorized)
        with contextlib.ExitStack() as kept:
            # The library reads the design at once, and keeps its numbers.
            if design and is_table(design.get("from")):
                folder = kept.enter_context(tempfile.TemporaryDirectory())
                design = {**design, "from": _design_file(design["from"], design.get("by"), columns, folder)}
            text = _toml(name, description, n, columns, ordered, models, probabilities, design)
            self._core = _core.make_problem(text, os.fspath(folder or os.getcwd()), calls)
        if whole("workers", workers):
            shared = Workers(workers, calls, start_method)
            for call in calls.values():
                call.workers = shared

    @classmethod
    def _of(cls, core) -> Problem:
        self = cls.__new__(cls)
        self._core = core
        return self

    name = property(lambda self: self._core.name)
    description = property(lambda self: self._core.description)
    models = property(lambda self: self._core.models)
    columns = property(lambda self: self._core.columns)
    parameters = property(lambda self: self._core.parameters)
    ordered = property(lambda self: self._core.ordered)
    sizes = property(lambda self: self._core.sizes)
    fingerprint = property(lambda self: self._core.fingerprint)
    has_exact_posterior = property(lambda self: self._core.has_exact_posterior)

    @property
    def toml(self) -> str:
        """The problem as a problem file."""
        return self._core.toml

    def __repr__(self) -> str:
        return f"<occam.Problem {self.name!r}: {', '.join(self.models)}>"


def problem(name: str | os.PathLike) -> Problem:
    """A built-in problem (`occam models` lists them), or a problem file (.toml).

    >>> occam.problem("beta-binomial").models
    ['flat', 'fair']
    """
    return Problem._of(_core.load_problem(os.fspath(name)))


class Simulated:
    """Data sets with the models and parameters that made them. Behaves like a list of arrays (n, columns)."""

    def __init__(self, problem: Problem, raw: dict):
        self.columns = problem.columns
        self.data = raw["data"]  # (rows, columns), all data sets one after the other
        self.offsets = raw["offsets"]
        self.model_index = raw["model"]
        self.model = np.array(problem.models)[raw["model"]]
        self.parameters = {name: raw["parameters"][:, p] for p, name in enumerate(problem.parameters)}

    def __len__(self) -> int:
        return len(self.model_index)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> np.ndarray:
        k = range(len(self))[k]
        return self.data[self.offsets[k] : self.offsets[k + 1]]

    def to_pandas(self):
        """One row per observation, with a column `dataset`."""
        import pandas

        frame = pandas.DataFrame(self.data, columns=self.columns)
        frame.insert(0, "dataset", np.repeat(np.arange(len(self)), np.diff(self.offsets)))
        return frame


def simulate(problem: Problem, datasets: int = 100, *, seed: int = 1, n: int | None = None, model: str | None = None,
             threads: int = 0) -> Simulated:
    """Simulates data sets of a problem: of all models, or of one.

    >>> data = occam.simulate(occam.problem("beta-binomial"), 3, seed=1, n=5)
    >>> len(data), data[0].shape
    (3, (5, 1))
    """
    require_problem(problem)
    n = None if n is None else whole("n", n, 1)
    with watch.on():
        return Simulated(problem, _core.simulate(problem._core, whole("datasets", datasets, 1), seed_of(seed), n, model,
                                                 threads_of(threads)))


def require_problem(problem: Any) -> None:
    """A problem, not the name of one, nor its models."""
    if not isinstance(problem, Problem):
        named = isinstance(problem, (str, os.PathLike))
        instead = f"occam.problem({os.fspath(problem)!r})" if named else "occam.Problem(...)"
        raise WrongType(f"a problem is expected, not {problem!r}: make it by {instead}")


def _quoted(text):
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_quoted(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return _quoted(value)


def _require_models(models, model_prior) -> None:
    if not isinstance(models, Mapping):
        raise WrongType(f"models are a dict {{name: occam.Model(...)}}, not {models!r}")
    for name, model in models.items():
        if not isinstance(model, Model):
            raise WrongType(f"model {name!r} is {model!r}; expected is an occam.Model, such as occam.Model(function, "
                            "theta=occam.beta(1, 1))")
    for name in model_prior or {}:
        if name not in models:
            raise Usage(f"model_prior: there is no model {name!r}{nearest(name, models)}; the models are "
                        f"{list(models)}")


def _columns(columns, design, missing):
    names = listed("columns", columns, "names, such as ['x']")
    if not all(isinstance(name, str) for name in names):
        raise WrongType(f"columns is a list of names, which are texts, not {columns!r}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise Usage(f"two columns are called {twice[0]!r}: give each a name of its own")
    tables = {}
    items = columns.items() if isinstance(columns, dict) else ((name, {}) for name in names)
    for name, table in items:
        tables[name] = dict(table) if isinstance(table, dict) else {"description": table}
    for name in design or {}:
        if name in tables:
            tables[name].setdefault("role", "design")
    for name, rate in (missing or {}).items():
        if name not in tables:
            raise Usage(f"missing: there is no column {name!r}{nearest(name, tables)}; the columns are {names}")
        tables[name]["missing"] = str(rate) if isinstance(rate, Prior) else rate
    return tables


def _design_file(table, by, columns, folder: str) -> str:
    """The name of a csv in `folder` with what a design takes from a table."""
    if not isinstance(by, str):
        raise Usage(f"design: by is the name of the column that tells data sets apart, not {by!r}")
    where = "design: "
    wanted = [name for name, said in columns.items() if said.get("role") == "design" or said.get("missing") == "from"]
    require_columns(table, wanted, [by], where)
    cells = {by: key_cells(table, by)}
    for name in wanted:
        values = numbers(table[name], name, where)
        finite = np.isfinite(values)
        if columns[name].get("role") == "design" and not finite.all():
            raise BadData(f"design: column {name!r} is missing or infinite in row {int(np.argmin(finite))} counted "
                          "from 0: fill it in, or leave this row out")
        cells[name] = ["" if np.isnan(value) else repr(value) for value in values.tolist()]
    with open(os.path.join(folder, "design.csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(cells), *zip(*cells.values())])
    return "design.csv"


def _size(n):
    if isinstance(n, (str, Prior)):
        return n
    if not isinstance(n, (tuple, list)):
        return whole("n", n, 1)
    if len(n) != 2:
        raise Usage(f"n is a number, (smallest, largest) or text as in problem files, not {n!r}: give the smallest and "
                    "the largest, and data sets have all sizes between them")
    return f"uniform({whole('n', n[0], 1)}, {whole('n', n[1], 1)})"


def _toml(name, description, n, columns, ordered, models, probabilities, design):
    lines = [f"name = {_quoted(name)}"]
    if description:
        lines.append(f"description = {_quoted(description)}")
    if n is not None:
        lines.append(f"n = {_value(_size(n))}")
    lines.append(f"columns = {_value(columns)}")
    if ordered:
        lines.append("ordered = true")
    for key, model in models.items():
        lines += ["", f"[model.{_quoted(key)}]"]
        if model.simulator is not None:
            lines.append(f"simulator = {_quoted('python:' + name_of(model.simulator))}")
        if probabilities.get(key) is not None:
            lines.append(f"prior_probability = {_value(probabilities[key])}")
        for parameter, prior in model.parameters.items():
            lines.append(f"{parameter} = {_value(str(prior) if isinstance(prior, Prior) else prior)}")
    if design:
        lines += ["", "[design]"]
        lines += [f"{key} = {_value(str(v) if isinstance(v, Prior) else v)}" for key, v in design.items()]
    return "\n".join(lines) + "\n"
