"""Data of the user's as the library takes them: ids, rows one after the other, and where each data set begins."""

import csv
import os

import numpy as np


class Sets:
    def __init__(self, ids, data, offsets, groups=None):
        self.ids = [str(one) for one in ids]
        self.data = np.ascontiguousarray(data, dtype=np.float32)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.groups = groups


def observed(data, columns, by=None, group_by=None):
    """A data frame, a dict of columns, an array, a list of arrays, simulated data, or the path of a csv file."""
    if isinstance(data, (str, os.PathLike)):
        data = _read_csv(os.fspath(data))
    if hasattr(data, "offsets") and hasattr(data, "data"):
        return Sets(range(len(data.offsets) - 1), data.data, data.offsets)
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return _table(data, list(data.columns), columns, by, group_by)
    if isinstance(data, dict):
        return _table(data, list(data), columns, by, group_by)
    if by is not None or group_by is not None:
        raise TypeError("by and group_by name columns: give a data frame, a dict of columns or a csv file")
    arrays = [data] if isinstance(data, np.ndarray) and data.ndim == 2 else list(data)
    return _arrays(arrays, len(columns))


def _arrays(arrays, D):
    rows = []
    for k, one in enumerate(arrays):
        one = np.asarray(one, dtype=np.float64)
        if one.ndim == 1 and D == 1:
            one = one[:, None]
        if one.ndim != 2 or one.shape[1] != D or len(one) == 0:
            raise ValueError(f"data set {k} has shape {one.shape}, expected (rows, {D})")
        rows.append(one)
    if not rows:
        raise ValueError("there are no data sets")
    return Sets(range(len(rows)), np.concatenate(rows), np.cumsum([0] + [len(one) for one in rows]))


def _table(data, names, columns, by, group_by):
    missing = [name for name in columns if name not in names]
    if missing:
        raise KeyError(f"there is no column {missing[0]!r}; the network needs {columns}, the data have {names}")
    values = np.column_stack([np.asarray(data[name], dtype=np.float64) for name in columns])
    if by is None and "dataset" in names:
        by = "dataset"
    keys = [by] if isinstance(by, str) else list(by or [])
    for key in keys + ([group_by] if group_by else []):
        if key not in names:
            raise KeyError(f"there is no column {key!r}; the data have {names}")
    if not keys:
        groups = None if group_by is None else _groups(data, group_by, [range(len(values))])
        return Sets([0], values, [0, len(values)], groups)
    labels = ["/".join(str(part) for part in row) for row in zip(*(np.asarray(data[key]).tolist() for key in keys))]
    order = {}
    for row, label in enumerate(labels):
        order.setdefault(label, []).append(row)
    rows = list(order.values())
    groups = None if group_by is None else _groups(data, group_by, rows)
    offsets = np.cumsum([0] + [len(one) for one in rows])
    return Sets(list(order), values[np.concatenate([np.asarray(one) for one in rows])], offsets, groups)


def _groups(data, column, rows):
    labels = np.asarray(data[column]).tolist()
    groups = []
    for one in rows:
        found = {labels[row] for row in one}
        if len(found) != 1:
            raise ValueError(f"a data set has rows of several groups: {sorted(map(str, found))}")
        groups.append(str(found.pop()))
    return groups


def _read_csv(path):
    try:
        import pandas
    except ImportError:
        pass
    else:
        return pandas.read_csv(path)
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: [row[c] for row in rows[1:]] for c, name in enumerate(rows[0])}
