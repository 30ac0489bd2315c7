"""The population behind many data sets."""

from __future__ import annotations

import html
import json
from typing import Any, Iterator, Sequence

import numpy as np

from . import _core
from ._arguments import as_json, listed, seed_of, threads_of
from ._data import checked_names, column_names, is_table, name_of_cell, read_columns
from ._errors import BadData, Usage, WrongType


class Groups:
    """How frequent each model is in the population behind the data sets, group by group."""

    def __init__(self, text: str):
        self.raw = json.loads(text)

    def __iter__(self) -> Iterator[dict]:
        return iter(self.raw["groups"])

    def __len__(self) -> int:
        return len(self.raw["groups"])

    @property
    def difference(self) -> dict | None:
        """Whether the groups differ in their frequencies: p_same and log_bf_different; None for one group."""
        return self.raw["difference"]

    def to_pandas(self):
        """One row per group and model."""
        import pandas

        return pandas.DataFrame([{"group": group["group"], "n": group["n"], **model}
                                 for group in self.raw["groups"] for model in group["models"]])

    def __repr__(self) -> str:
        return _core.shown_text(self.raw["text"].rstrip())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def groups(log_evidence: Any, models: Sequence[str], *, group: Sequence | None = None, ids: Sequence | None = None,
           seed: int = 1, threads: int = 0, **options: Any) -> Groups:
    """Random-effects model selection from log evidences (data sets, models) of any program.

    Evidences are natural logarithms, known up to a constant of each data set; columns that have names are found by
    them. group: the name of the group of each; alpha0 and level: the Dirichlet prior and the level of intervals.

    >>> result = occam.groups([[0.0, -3.0]] * 8 + [[-3.0, 0.0]] * 2, ["a", "b"])
    >>> [round(model["frequency"], 2) for model in next(iter(result))["models"]]
    [0.77, 0.23]
    """
    unknown = set(options) - {"alpha0", "level"}
    if unknown:
        raise WrongType(f"groups has no option {sorted(unknown)[0]!r}; it has alpha0 and level")
    for name, value in options.items():
        if not isinstance(value, (int, float, np.number)):
            raise WrongType(f"{name} is a number, not {value!r}")
    evidence = checked_evidence(log_evidence, models)
    names = checked_names(range(len(evidence)) if ids is None else ids, len(evidence), "ids")
    labels = ["all"] * len(names) if group is None else checked_groups(group, names)
    asked = as_json({"seed": seed_of(seed), **options})
    return Groups(_core.groups(list(models), names, labels, evidence, asked, threads_of(threads)))


def checked_evidence(log_evidence: Any, models: Sequence[str]) -> np.ndarray:
    """Log evidences as an array (data sets, models) that can be computed with."""
    if isinstance(models, str) or not all(isinstance(name, str) for name in models) or len(set(models)) < len(models):
        raise Usage(f"models are a list of names, each of its own, not {models!r}")
    if is_table(log_evidence) and any(isinstance(name, str) for name in column_names(log_evidence)):
        log_evidence = read_columns(log_evidence, list(models))
    try:
        evidence = np.ascontiguousarray(np.atleast_2d(np.asarray(log_evidence, dtype=np.float64)))
    except (TypeError, ValueError):
        raise BadData("log evidences are an array of numbers (data sets, models), and these are not") from None
    if evidence.ndim != 2 or evidence.shape[1] != len(models):
        raise BadData(f"log evidences are an array (data sets, {len(models)}), with a column for each of the models "
                      f"{list(models)}, not an array {evidence.shape}")
    for row, place in np.argwhere(np.isnan(evidence) | (evidence == np.inf))[:1]:
        raise BadData(f"the log evidence of model {models[place]!r} in row {row}, counted from 0, is "
                      f"{evidence[row, place]}: leave this data set out; -inf is for what a model cannot have made")
    for row in np.flatnonzero((evidence == -np.inf).all(axis=1))[:1]:
        raise BadData(f"row {row}, counted from 0, of the log evidences is -inf throughout, so no model can have made "
                      "this data set: leave it out, or add a model that can")
    return evidence


def checked_groups(group: Sequence, names: Sequence[str]) -> list[str]:
    """The name of the group of each data set."""
    labels = [name_of_cell(one) for one in listed("group", group, "names, one for each data set")]
    if len(labels) != len(names):
        raise Usage(f"group names the group of each data set: expected is a list of {len(names)} names, not of "
                    f"{len(labels)}")
    if None in labels:
        raise BadData(f"the group of data set {names[labels.index(None)]!r} is missing: name it, or leave this data "
                      "set out")
    return labels
