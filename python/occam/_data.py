"""Data of the user's as the library takes them: ids, rows one after the other, and where each data set begins."""

from __future__ import annotations

import os
import warnings
from typing import Any, Sequence

import numpy as np

from . import _core
from ._progress import Quiet


class Sets:
    """Data sets: their ids, all rows (rows, columns), and where each begins."""

    def __init__(self, ids, data, offsets, groups=None):
        self.ids = [str(one) for one in ids]
        self.data = np.ascontiguousarray(data, dtype=np.float32)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.groups = groups


def observed(data: Any, columns: list[str], by: str | Sequence[str] | None = None, group_by: str | None = None, *,
             may_miss: Sequence[int] = (), labels: Sequence[Sequence[int]] = (), missing: str = "refuse") -> Sets:
    """A data frame, a dict of columns, an array, a list of arrays, simulated data, or the path of a file.

    may_miss: places of the columns in which values may be missing; missing="drop" leaves out rows in which another is.
    labels: places of the columns that only say which rows belong together, by numbers or by any other names; those
    together that name the same things.
    """
    if missing not in ("refuse", "drop"):
        raise ValueError(f"missing is 'refuse' or 'drop', not {missing!r}")
    if isinstance(data, (str, os.PathLike)):
        keys = [by] if isinstance(by, str) else list(by or [])
        raw = _core.read_data(os.fspath(data), columns, keys, group_by or "", list(may_miss), list(labels),
                              missing == "drop", Quiet())
        return Sets(raw["ids"], raw["data"], raw["offsets"], raw["groups"] if group_by else None)
    named = [place for group in labels for place in group]
    sets = _in_memory(data, columns, by, group_by, named)
    return _without_missing(sets, columns, may_miss, named, missing == "drop")


def _in_memory(data, columns, by, group_by, labels) -> Sets:
    if hasattr(data, "offsets") and hasattr(data, "data"):
        return Sets(range(len(data.offsets) - 1), data.data, data.offsets)
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return _table(data, list(data.columns), columns, by, group_by, labels)
    if isinstance(data, dict):
        return _table(data, list(data), columns, by, group_by, labels)
    if by is not None or group_by is not None:
        raise TypeError("by and group_by name columns: give a data frame, a dict of columns or a csv file")
    arrays = [data] if isinstance(data, np.ndarray) and data.ndim == 2 else list(data)
    return _arrays(arrays, len(columns))


def _without_missing(sets: Sets, columns, may_miss, labels, drop: bool) -> Sets:
    needed = [c for c in range(len(columns)) if c not in may_miss]
    gone = np.isnan(sets.data[:, needed]).any(axis=1)
    if not gone.any():
        return sets
    row = int(np.argmax(gone))
    which = int(np.searchsorted(sets.offsets, row, side="right")) - 1
    place = next(c for c in needed if np.isnan(sets.data[row, c]))
    if not drop:
        instead = "" if place in labels else ", or train for them: declare how often in the problem"
        raise ValueError(f"a value of column {columns[place]!r} is missing in data set {sets.ids[which]!r}: leave such "
                         f"rows out with missing='drop'{instead}")
    warnings.warn(f"left out {int(gone.sum())} rows with missing values", stacklevel=4)
    left = np.add.reduceat(~gone, sets.offsets[:-1])
    for k in np.flatnonzero(left == 0):
        warnings.warn(f"data set {sets.ids[k]!r} has no row without a missing value and gets no answer", stacklevel=4)
    kept = np.flatnonzero(left > 0)
    if len(kept) == 0:
        raise ValueError("no data set has a row without a missing value")
    return Sets([sets.ids[k] for k in kept], sets.data[~gone], np.concatenate([[0], np.cumsum(left[kept])]),
                None if sets.groups is None else [sets.groups[k] for k in kept])


def _arrays(arrays, D) -> Sets:
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


def _label_numbers(values, known: dict) -> np.ndarray:
    """Numbers for what labels are called; `known` is shared by all columns of labels, whose names may be the same."""
    def number(one):
        # The NA of pandas is neither equal nor unequal to itself.
        if one is None or type(one).__name__ == "NAType" or one != one:
            return np.nan
        # 3 is 3.0 in a column in which something is missing.
        name = str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)
        return known.setdefault(name, len(known) + 1)
    return np.array([number(one) for one in np.asarray(values, dtype=object).tolist()], dtype=np.float64)


def _table(data, names, columns, by, group_by, labels=()) -> Sets:
    missing = [name for name in columns if name not in names]
    if missing:
        raise KeyError(f"there is no column {missing[0]!r}; the network needs {columns}, the data have {names}")
    known: dict = {}
    values = np.column_stack([
        _label_numbers(data[name], known) if place in labels else np.asarray(data[name], dtype=np.float64)
        for place, name in enumerate(columns)])
    if len(values) == 0:
        raise ValueError("the data have no rows")
    if by is None and "dataset" in names:
        by = "dataset"
    keys = [by] if isinstance(by, str) else list(by or [])
    for key in keys + ([group_by] if group_by else []):
        if key not in names:
            raise KeyError(f"there is no column {key!r}; the data have {names}")
    if not keys:
        groups = None if group_by is None else _groups(data, group_by, [range(len(values))])
        return Sets([0], values, [0, len(values)], groups)
    # A tuple for each row: values that contain the sign between them do not merge data sets.
    labels = list(zip(*(np.asarray(data[key]).tolist() for key in keys)))
    order: dict = {}
    for row, label in enumerate(labels):
        order.setdefault(label, []).append(row)
    rows = list(order.values())
    groups = None if group_by is None else _groups(data, group_by, rows)
    offsets = np.cumsum([0] + [len(one) for one in rows])
    ids = ["/".join(str(part) for part in label) for label in order]
    return Sets(ids, values[np.concatenate([np.asarray(one) for one in rows])], offsets, groups)


def _groups(data, column, rows) -> list[str]:
    labels = np.asarray(data[column]).tolist()
    groups = []
    for one in rows:
        found = {labels[row] for row in one}
        if len(found) != 1:
            raise ValueError(f"a data set has rows of several groups: {sorted(map(str, found))}")
        groups.append(str(found.pop()))
    return groups
