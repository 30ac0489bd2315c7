"""Data of the user's as the library takes them: ids, rows one after the other, and where each data set begins."""

from __future__ import annotations

import datetime
import os
import warnings
from typing import Any, Sequence

import numpy as np

from . import _core
from ._arguments import listed
from ._errors import BadData, Usage, nearest
from ._progress import Quiet

_MISSING_TEXT = ("", "NA", "NaN", "nan")


class Sets:
    """Data sets: their ids, all rows (rows, columns), and where each begins."""

    def __init__(self, ids, data, offsets, groups=None):
        self.ids = [str(one) for one in ids]
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
            self.data = np.ascontiguousarray(data, dtype=np.float32)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.groups = groups

    def of_row(self, row: int) -> str:
        """The id of the data set that a row belongs to."""
        return self.ids[int(np.searchsorted(self.offsets, row, side="right")) - 1]


def observed(data: Any, columns: list[str], by: str | Sequence[str] | None = None, group_by: str | None = None, *,
             may_miss: Sequence[int] = (), labels: Sequence[Sequence[int]] = (), design: Sequence[str] = (),
             missing: str = "refuse") -> Sets:
    """A data frame, a dict of columns, an array, a list of any of these, simulated data, or the path of a file.

    Columns that have names are found by them, and others are ignored; a cell that is None, NaN, "" or "NA" is missing.

    may_miss: places of the columns in which values may be missing; missing="drop" leaves out rows in which another is.
    labels: places of the columns that only say which rows belong together, by numbers or by any other names; those
    together that name the same things. design: names of the columns that nothing can be trained to miss.
    """
    if missing not in ("refuse", "drop"):
        raise Usage(f"missing is 'refuse' or 'drop', not {missing!r}")
    keys = _key_names(by)
    if group_by is not None and not isinstance(group_by, str):
        raise Usage(f"group_by is the name of a column, not {type(group_by).__name__}: put the groups into a column")
    if isinstance(data, (str, os.PathLike)):
        raw = _core.read_data(os.fspath(data), columns, keys, group_by or "", list(may_miss), list(labels),
                              missing == "drop", Quiet())
        return Sets(raw["ids"], raw["data"], raw["offsets"], raw["groups"] if group_by else None)
    named = [place for group in labels for place in group]
    sets = _in_memory(data, columns, keys, group_by, named)
    _require_finite(sets, columns)
    given = [columns[place] for place in named] + list(design)
    return _without_missing(sets, columns, may_miss, given, missing == "drop")


def name_of_cell(one: Any) -> str | None:
    """What a cell with the name of a thing says: 3, 3.0 and "3" are one name. None where it says nothing."""
    # The NA of pandas is neither equal nor unequal to itself.
    if one is None or type(one).__name__ == "NAType" or one != one:
        return None
    # 3 is 3.0 in a column in which something is missing.
    return str(int(one)) if isinstance(one, (float, np.floating)) and float(one).is_integer() else str(one)


def checked_names(values, count: int, what: str) -> list[str]:
    """Names of `count` data sets, no two of which are the same."""
    names = [name_of_cell(one) for one in listed(what, values, "names")]
    if len(names) != count:
        raise Usage(f"{what} name each data set: expected are {count} names, not {len(names)}")
    if None in names:
        raise BadData(f"one of {what} is missing, at place {names.index(None)} counted from 0: name each data set")
    twice = [name for name in names if names.count(name) > 1] if len(set(names)) < count else []
    if twice:
        raise BadData(f"two data sets are called {twice[0]!r} in {what}: give each a name of its own")
    return names


def read_columns(table, columns: list[str], where: str = "") -> np.ndarray:
    """Columns of numbers, found by name: (rows, columns)."""
    require_columns(table, columns, [], where)
    return _read(table, columns, (), {}, where)


def in_order(rows: np.ndarray, names: Sequence[str] | None, columns: Sequence[str]) -> np.ndarray:
    """Rows whose columns have these names, in the order of `columns`; columns without names are in it."""
    if names is None or list(names) == list(columns):
        return rows
    if sorted(names) != sorted(columns):
        raise BadData(f"the data have the columns {list(names)}, expected are {list(columns)}, in any order: rename "
                      "them")
    return np.ascontiguousarray(rows[:, [list(names).index(name) for name in columns]])


def _key_names(by) -> list[str]:
    keys = [by] if isinstance(by, str) else [] if by is None else by
    if not isinstance(keys, (list, tuple)) or not all(isinstance(key, str) for key in keys):
        raise Usage(f"by is the name of a column, or a list of names, not {type(by).__name__}: put what tells data "
                    "sets apart into a column, and give its name")
    return list(keys)


def is_table(data) -> bool:
    """Whether columns have names."""
    return isinstance(data, dict) or hasattr(data, "columns") and hasattr(data, "__getitem__")


def _in_memory(data, columns, keys, group_by, labels) -> Sets:
    if is_table(data) and not hasattr(data, "offsets"):
        return _table(data, columns, keys, group_by, labels)
    if hasattr(data, "offsets") and hasattr(data, "data"):
        _require_no_names(keys, group_by)
        rows = in_order(data.data, getattr(data, "columns", None), columns)
        return Sets(range(len(data.offsets) - 1), rows, data.offsets)
    try:
        parts = [data] if isinstance(data, np.ndarray) and data.ndim == 2 else list(data)
    except TypeError:
        raise Usage(f"data are a data frame, a dict of columns, an array, a list of these or the path of a file, not "
                    f"{data!r}") from None
    if not parts:
        raise BadData("there are no data sets: the list of them is empty")
    if any(is_table(one) for one in parts):
        return _tables(parts, columns, keys, group_by, labels)
    _require_no_names(keys, group_by)
    rows = [_array(one, k, columns) for k, one in enumerate(parts)]
    return Sets(range(len(rows)), np.concatenate(rows), np.cumsum([0] + [len(one) for one in rows]))


def _require_no_names(keys, group_by) -> None:
    if keys or group_by is not None:
        raise Usage("by and group_by name columns: give a data frame, a dict of columns or a csv file")


def _require_finite(sets: Sets, columns) -> None:
    infinite = np.isinf(sets.data)
    if infinite.any():
        row, place = np.argwhere(infinite)[0]
        raise BadData(f"a value of column {columns[place]!r} in data set {sets.of_row(row)!r} is infinite, or beyond "
                      "3.4e38: mend it, or make it NaN where it is missing")


def _without_missing(sets: Sets, columns, may_miss, given, drop: bool) -> Sets:
    needed = [c for c in range(len(columns)) if c not in may_miss]
    gone = np.isnan(sets.data[:, needed]).any(axis=1)
    if not gone.any():
        return sets
    row = int(np.argmax(gone))
    place = next(c for c in needed if np.isnan(sets.data[row, c]))
    if not drop:
        instead = "" if columns[place] in given else ", or train for them: declare how often in the problem"
        raise BadData(f"a value of column {columns[place]!r} is missing in data set {sets.of_row(row)!r}: leave such "
                      f"rows out with missing='drop'{instead}")
    warnings.warn(f"left out {int(gone.sum())} rows with missing values", stacklevel=4)
    left = np.add.reduceat(~gone, sets.offsets[:-1])
    for k in np.flatnonzero(left == 0):
        warnings.warn(f"data set {sets.ids[k]!r} has no row without a missing value and gets no answer", stacklevel=4)
    kept = np.flatnonzero(left > 0)
    if len(kept) == 0:
        raise BadData("no data set has a row without a missing value")
    return Sets([sets.ids[k] for k in kept], sets.data[~gone], np.concatenate([[0], np.cumsum(left[kept])]),
                None if sets.groups is None else [sets.groups[k] for k in kept])


def _array(one, k: int, columns) -> np.ndarray:
    """The rows of one data set that is an array, or what NumPy makes one of."""
    expected = f"expected (rows, {len(columns)}), columns in the order {columns}"
    try:
        array = np.ma.asarray(one) if np.ma.isMaskedArray(one) else np.asarray(one)
    except ValueError:
        raise BadData(f"data set {k} has rows of unequal lengths; {expected}") from None
    if array.ndim == 1 and len(columns) == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != len(columns) or len(array) == 0:
        advice = "; a list holds an array for each data set, so one alone is [data]" if array.ndim == 0 else ""
        raise BadData(f"data set {k} has shape {array.shape}, {expected}{advice}")
    return np.column_stack([numbers(array[:, c], name, f"data set {k}: ") for c, name in enumerate(columns)])


def numbers(values, name: str, where: str) -> np.ndarray:
    """The numbers of a column, NaN where one is missing."""
    if np.ma.isMaskedArray(values):
        return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind in "mM":
        raise _times(name, where)
    return np.array([_number(cell, row, name, where) for row, cell in enumerate(_cells(values))], dtype=np.float64)


def _number(cell, row: int, name: str, where: str) -> float:
    if name_of_cell(cell) is None or isinstance(cell, str) and cell.strip() in _MISSING_TEXT:
        return np.nan
    if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
        raise _times(name, where)
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise BadData(f"{where}column {name!r}, row {row} counted from 0: {cell!r} is no number; mend it, or make it "
                      "NaN where it is missing") from None


def _times(name: str, where: str) -> BadData:
    return BadData(f"{where}column {name!r} holds dates or times: turn it into a number of seconds, days or whatever "
                   "the problem counts in")


def _cells(values) -> list:
    return np.asarray(values, dtype=object).tolist()


def _label_numbers(values, known: dict) -> np.ndarray:
    """Numbers for what labels are called; `known` is shared by all columns of labels, whose names may be the same."""
    names = [name_of_cell(one) for one in _cells(values)]
    return np.array([np.nan if name is None else known.setdefault(name, len(known) + 1) for name in names],
                    dtype=np.float64)


def column_names(table) -> list:
    return list(table) if isinstance(table, dict) else list(table.columns)


def require_columns(table, columns, others, where: str) -> None:
    """Each column is there, once, with as many rows as the others."""
    names, lengths = column_names(table), {}
    for name in [*columns, *others]:
        if name not in names:
            needs = f"; needed are {columns}" if name in columns else ""
            raise BadData(f"{where}there is no column {name!r}{nearest(name, names)}; the data have {names}{needs}")
        if names.count(name) > 1:
            raise BadData(f"{where}{names.count(name)} columns are called {name!r}: keep one of them, or rename them")
        values = table[name]
        shape = values.shape if hasattr(values, "shape") else np.asarray(values, dtype=object).shape
        if len(shape) != 1:
            raise BadData(f"{where}column {name!r} has shape {tuple(shape)}; expected is one value for each row")
        lengths[name] = shape[0]
    if len(set(lengths.values())) > 1:
        raise BadData(f"{where}columns differ in their numbers of rows, which are {lengths}")
    if 0 in lengths.values():
        raise BadData(f"{where}the data have no rows")


def _read(table, columns, labels, known: dict, where: str) -> np.ndarray:
    return np.column_stack([
        _label_numbers(table[name], known) if place in labels else numbers(table[name], name, where)
        for place, name in enumerate(columns)])


def _table(table, columns, keys, group_by, labels) -> Sets:
    if not keys and "dataset" in column_names(table):
        keys = ["dataset"]
    require_columns(table, columns, keys + ([group_by] if group_by else []), "")
    values = _read(table, columns, labels, {}, "")
    sets = _rows_of_sets(table, keys) if keys else {"0": range(len(values))}
    groups = None if group_by is None else _groups(table, group_by, sets)
    offsets = np.cumsum([0] + [len(rows) for rows in sets.values()])
    return Sets(sets, values[np.concatenate([np.asarray(rows) for rows in sets.values()])], offsets, groups)


def _tables(tables, columns, keys, group_by, labels) -> Sets:
    """A list of data frames, or of dicts of columns: each is one data set."""
    if keys:
        raise Usage("by splits one data frame, and each data frame of a list is a data set: leave by out, or put them "
                    "together")
    parts, groups, known = [], [], {}
    for k, table in enumerate(tables):
        where = f"data set {k}: "
        if not is_table(table):
            raise BadData(f"{where}it has no names of columns, which other data sets of the list have: give data "
                          "frames, or arrays, throughout")
        require_columns(table, columns, [group_by] if group_by else [], where)
        parts.append(_read(table, columns, labels, known, where))
        if group_by:
            groups += _groups(table, group_by, {str(k): range(len(parts[-1]))})
    return Sets(range(len(parts)), np.concatenate(parts), np.cumsum([0] + [len(one) for one in parts]), groups or None)


def _rows_of_sets(table, keys) -> dict[str, list[int]]:
    """{id: its rows}"""
    sets: dict = {}
    for row, label in enumerate(zip(*(key_cells(table, key) for key in keys))):
        sets.setdefault(label, []).append(row)
    named: dict = {}
    for label, rows in sets.items():
        other = named.setdefault("/".join(label), (label, rows))[0]
        if other != label:
            raise BadData(f"two data sets would both be called {'/'.join(label)!r}: {other} and {label} in the columns "
                          f"{keys}; make one column of them, with a name for each data set")
    return {name: rows for name, (_, rows) in named.items()}


def key_cells(table, key) -> list[str]:
    """What each row says of the data set that it belongs to."""
    names = [name_of_cell(one) for one in _cells(table[key])]
    gone = names.count(None)
    if gone:
        raise BadData(f"column {key!r}, which tells data sets apart, is missing in {gone} rows, the first of them row "
                      f"{names.index(None)} counted from 0: fill it in, or leave these rows out (dropna in pandas)")
    return names


def _groups(table, column, sets) -> list[str]:
    """The group of each data set."""
    cells = [name_of_cell(one) for one in _cells(table[column])]
    groups = []
    for name, rows in sets.items():
        found = {cells[row] for row in rows}
        if None in found:
            raise BadData(f"the group of data set {name!r} is missing in column {column!r}: fill it in, or leave this "
                          "data set out")
        if len(found) != 1:
            raise BadData(f"data set {name!r} has rows of several groups of column {column!r}: {sorted(found)}; a data "
                          "set belongs to one group")
        groups.append(found.pop())
    return groups
