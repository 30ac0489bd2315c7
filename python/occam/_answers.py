"""Answers for observed data sets."""

from __future__ import annotations

import html
import warnings as python_warnings
from typing import Any, Mapping, Sequence

import numpy as np

from . import _core
from ._arguments import probabilities
from ._data import checked_names
from ._errors import BadData, Usage
from ._groups import Groups, checked_evidence, checked_groups, groups

# Columns that there are for each model, and what they are called where models are a dimension.
_PER_MODEL = {"p_": "p", "log_bf_": "log_bf", "alpha_": "alpha", "spread_": "spread", "scope_p_": "scope_p_of_model"}
_FOREIGN = ("out-of-scope", "outside-training")


class Answers:
    """One row per data set (or per number of observations, where asked for), under the columns of `occam compare`."""

    def __init__(self, models: Sequence[str], raw: dict):
        self.models = list(models)
        self.columns = raw["columns"]
        self.warnings = raw["warnings"]
        self.groups = Groups(raw["groups"]) if raw["groups"] else None
        for text in self.warnings:
            python_warnings.warn(_core.shown_text(text), stacklevel=3)

    @classmethod
    def from_log_evidence(cls, log_evidence: Any, models: Sequence[str], *, model_prior: Mapping[str, float] | None = None,
                          ids: Sequence | None = None) -> Answers:
        """Answers of another program: log evidences (data sets, models), up to a constant of each data set.

        Columns that have names are found by them. model_prior: {model: probability}, which sum to 1; models not named
        get zero. ids: a name for each data set. Such answers have no verdicts.

        >>> answers = occam.Answers.from_log_evidence([[-10.0, -12.0], [-7.0, -7.0]], ["a", "b"])
        >>> answers.p.round(3).tolist()
        [[0.881, 0.119], [0.5, 0.5]]
        """
        evidence = checked_evidence(log_evidence, models)
        prior = np.full(len(models), 1 / len(models)) if model_prior is None else probabilities(model_prior, models)
        columns = {"dataset": checked_names(range(len(evidence)) if ids is None else ids, len(evidence), "ids")}
        with np.errstate(divide="ignore"):
            joint = evidence + np.log(prior)
        for row in np.flatnonzero((joint == -np.inf).all(axis=1))[:1]:
            raise BadData(f"data set {columns['dataset'][row]!r} can be of none of the models that the model prior "
                          "allows: give one that can make it a probability above 0")
        joint -= joint.max(axis=1, keepdims=True)
        p = np.exp(joint)
        p /= p.sum(axis=1, keepdims=True)
        columns["best"] = [models[k] for k in p.argmax(axis=1)]
        columns.update({"p_" + name: p[:, j].tolist() for j, name in enumerate(models)})
        relative = evidence - evidence.max(axis=1, keepdims=True)
        columns.update({"log_bf_" + name: relative[:, j].tolist() for j, name in enumerate(models)})
        return cls(models, {"columns": columns, "warnings": [], "groups": ""})

    def population(self, group: Sequence | None = None, *, group_all: bool = False, **options: Any) -> Groups:
        """The population behind these data sets (occam.groups); `group` names the group of each.

        As in compare(group=True), data sets that are out-of-scope or outside-training are left out unless group_all is
        set, and where answers are sequential those for all observations count.
        """
        last = self._last_rows()
        ids = [self.columns["dataset"][row] for row in last]
        labels = None if group is None else checked_groups(group, ids)
        verdicts = self.columns.get("verdict")
        kept = [k for k, row in enumerate(last) if group_all or verdicts is None or verdicts[row] not in _FOREIGN]
        if len(kept) < len(last):
            text = (f"{len(last) - len(kept)} of {len(last)} data sets are out-of-scope or outside-training and left "
                    "out; group_all=True counts them, too")
            if not kept:
                raise BadData(text)
            python_warnings.warn(text, stacklevel=2)
        return groups(self.log_evidence[[last[k] for k in kept]], self.models, ids=[ids[k] for k in kept],
                      group=None if labels is None else [labels[k] for k in kept], **options)

    def _last_rows(self) -> list[int]:
        """The row of each data set that is about all of its observations."""
        if "k" not in self.columns:
            return list(range(len(self)))
        longest: dict = {}
        for row, (name, k) in enumerate(zip(self.columns["dataset"], self.columns["k"])):
            if name not in longest or k > self.columns["k"][longest[name]]:
                longest[name] = row
        return list(longest.values())

    def __len__(self) -> int:
        return len(self.columns["dataset"])

    def __getitem__(self, name: str) -> list:
        return self.columns[name]

    def _per_model(self, stem):
        return np.array([self.columns[stem + model] for model in self.models], dtype=float).T

    @property
    def p(self) -> np.ndarray:
        """Posterior model probabilities (data sets, models)."""
        return self._per_model("p_")

    @property
    def log_bf(self) -> np.ndarray:
        """Natural log Bayes factors of each model against the first (data sets, models)."""
        evidence = self.log_evidence
        return evidence - evidence[:, :1]

    @property
    def log_evidence(self) -> np.ndarray:
        """Log evidence of each model up to a constant of the data set, for other tools (data sets, models)."""
        return self._per_model("log_bf_")

    @property
    def best(self) -> list[str]:
        """The most probable model of each data set."""
        return self.columns["best"]

    @property
    def verdict(self) -> list[str]:
        """decided, ambiguous, out-of-scope or outside-training, for each data set."""
        if "verdict" not in self.columns:
            raise Usage("these answers have no verdicts: they come from log evidences, and what is foreign to all "
                        "models only a network can tell")
        return self.columns["verdict"]

    @property
    def sequential(self) -> list[dict] | None:
        """The course of each data set, where asked for: {"dataset", "k" (sizes), "p" (sizes, models)}."""
        if "k" not in self.columns:
            return None
        sizes, p = np.array(self.columns["k"]), self.p
        ids = np.array(self.columns["dataset"])
        return [{"dataset": one, "k": sizes[ids == one], "p": p[ids == one]} for one in dict.fromkeys(self.columns["dataset"])]

    @property
    def frame(self):
        """All columns as a data frame of pandas."""
        return self.to_pandas()

    def to_pandas(self):
        """All columns as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_xarray(self):
        """A data set of xarray: p, log_bf and the like over data sets and models, the other columns over data sets.

        Where answers are sequential, the dimension is `row` instead of `dataset`, with the coordinates dataset and k.
        """
        import xarray

        along = "row" if "k" in self.columns else "dataset"
        table, used = {}, {"dataset", "k"}
        for stem, name in _PER_MODEL.items():
            if all(stem + model in self.columns for model in self.models):
                table[name] = ((along, "model"), self.log_bf if name == "log_bf" else self._per_model(stem))
                used |= {stem + model for model in self.models}
        for name, values in self.columns.items():
            if name not in used:
                table[name] = (along, np.asarray(values, dtype=object if None in values else None))
        coordinates = {name: (along, self.columns[name]) for name in ("dataset", "k") if name in self.columns}
        return xarray.Dataset(table, coords={**coordinates, "model": self.models})

    def plot(self):
        """Model probabilities of each data set, as an altair chart; where answers are sequential, their courses."""
        import altair

        if "k" in self.columns:
            return altair.Chart.from_dict(self._course())
        rows = [{"dataset": str(one), "model": model, "p": float(p)}
                for one, row in zip(self.columns["dataset"], self.p) for model, p in zip(self.models, row)]
        return altair.Chart.from_dict({
            "data": {"values": rows},
            "mark": "bar",
            "encoding": {"y": {"field": "dataset", "type": "nominal", "sort": None},
                         "x": {"field": "p", "type": "quantitative", "title": "posterior model probability",
                               "scale": {"domain": [0, 1]}},
                         "color": {"field": "model", "type": "nominal"}}})

    def _course(self) -> dict:
        """Model probabilities over the number of observations, a panel for each data set."""
        rows = [{"dataset": name, "k": k, "model": model, "p": float(p)}
                for name, k, row in zip(self.columns["dataset"], self.columns["k"], self.p)
                for model, p in zip(self.models, row)]
        return {"data": {"values": rows},
                "mark": {"type": "line", "point": True},
                "encoding": {"x": {"field": "k", "type": "quantitative", "title": "observations"},
                             "y": {"field": "p", "type": "quantitative", "title": "posterior model probability",
                                   "scale": {"domain": [0, 1]}},
                             "color": {"field": "model", "type": "nominal"},
                             "facet": {"field": "dataset", "type": "nominal", "sort": None, "columns": 3}}}

    def _table(self):
        shown = ["dataset", "n", "verdict", "best"]
        shown = [name for name in shown if name in self.columns] + ["p_" + model for model in self.models[:6]]
        rows = [[_text(self.columns[name][k]) for name in shown] for k in range(min(len(self), 40))]
        return [_text(name) for name in shown], rows

    def __repr__(self) -> str:
        shown, rows = self._table()
        widths = [max(len(row[c]) for row in [shown] + rows) for c in range(len(shown))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [shown] + rows]
        more = len(self) - len(rows)
        return "\n".join(lines + ([f"... and {more} more"] if more > 0 else []))

    def _repr_html_(self) -> str:
        shown, rows = self._table()
        cells = lambda row, tag: "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
        return f"<table><thead><tr>{cells(shown, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _text(value):
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else _core.shown_text(str(value).encode("utf-8", "backslashreplace").decode())
