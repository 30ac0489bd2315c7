"""Reference tables: simulations made before, by any program, to train from."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy as np

from ._data import column_names, in_order, is_table, read_columns
from ._errors import BadData, Usage, WrongType, nearest


class Table:
    """Simulated data sets with the models that made them, in memory.

    data: a list of arrays (rows, columns), or (rows) where there is one column, one for each data set; or one array
    (data sets, rows, columns); or a list of data frames with the columns of the problem, in any order. model: the name
    or the index of the model of each. parameters: {name: value for each}, of the parameters that the problem has, where
    they are known.

    >>> problem = occam.Problem({"flat": occam.Model(), "fair": occam.Model()}, columns=["x"])
    >>> rng = np.random.default_rng(1)
    >>> model = rng.integers(2, size=1000)
    >>> theta = np.where(model == 0, rng.beta(1, 1, 1000), rng.beta(30, 30, 1000))
    >>> table = occam.Table([rng.random(50) < t for t in theta], model)
    >>> net = occam.train(problem, table=table, iterations=50, progress=False)
    """

    def __init__(self, data: Sequence | np.ndarray, model: Sequence, parameters: Mapping[str, Sequence] | None = None):
        data = list(data)
        tables = [one for one in data if is_table(one)]
        self.columns = column_names(tables[0]) if tables else None
        if self.columns:
            data = [_of_names(one, k, self.columns) for k, one in enumerate(data)]
        rows = [np.asarray(one, dtype=np.float32) for one in data]
        rows = [one[:, None] if one.ndim == 1 else one for one in rows]
        if len(rows) != len(model):
            raise BadData(f"there are {len(rows)} data sets and {len(model)} models; expected is a model for each")
        if not rows or any(one.ndim != 2 or one.shape[1] != rows[0].shape[1] for one in rows):
            raise BadData("every data set is an array (rows, columns) with the same columns")
        self.data = np.ascontiguousarray(np.concatenate(rows))  # rows that data frames hold by column stay so
        self.offsets = np.cumsum([0] + [len(one) for one in rows])
        self.model = list(model)
        self.parameters = {name: np.asarray(values, dtype=float) for name, values in (parameters or {}).items()}

    def __len__(self) -> int:
        return len(self.model)


def _of_names(table: Any, k: int, columns: Sequence[str]) -> np.ndarray:
    """The rows of a data frame with these columns."""
    if not is_table(table) or sorted(column_names(table)) != sorted(columns):
        raise BadData(f"data set {k} has not the columns {columns} of the first data frame: give all data sets the "
                      "same")
    return read_columns(table, columns, f"data set {k}: ")


def as_file(table: Any, models: Sequence[str], columns: Sequence[str], folder: str,
            parameters: Sequence[str] = ()) -> str:
    """The path of a table: its own, or that of a file in `folder` that holds it. "" for none.

    `parameters`: the names of those that the problem has; without them those of the table are left out.
    """
    if table is None:
        return ""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    if hasattr(table, "to_csv"):  # a data frame, laid out as csv tables are
        path = os.path.join(folder, "table.csv")
        table.to_csv(path, index=False)
        return path
    if not hasattr(table, "offsets"):
        raise WrongType(f"table is an occam.Table, simulated data, a data frame or the path of a file, not {table!r}")
    path = os.path.join(folder, "table.npz")
    arrays = {"data": in_order(table.data, table.columns, columns), "n": np.diff(table.offsets).astype(np.int64),
              "model": np.array([_index(one, models) for one in table.model], dtype=np.int64)}
    strange = [name for name in table.parameters if parameters and name not in parameters]
    if strange:
        raise Usage(f"the problem has no parameter {strange[0]!r}; it has {list(parameters)}")
    if table.parameters and parameters:
        unknown = np.full(len(table), np.nan)
        arrays["parameters"] = np.column_stack([table.parameters.get(name, unknown) for name in parameters])
    np.savez(path, **arrays)
    return path


def _index(model: Any, models: Sequence[str]) -> int:
    if isinstance(model, str):
        if model not in models:
            raise BadData(f"there is no model {model!r}{nearest(model, models)}; the problem has {list(models)}")
        return models.index(model)
    if model not in range(len(models)):
        raise BadData(f"model {model} is not one of 0 to {len(models) - 1}")
    return int(model)
