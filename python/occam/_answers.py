"""Answers for observed data sets."""

from __future__ import annotations

import html
import warnings as python_warnings
from typing import Any, Mapping, Sequence

import numpy as np

from ._groups import Groups, groups


class Answers:
    """One row per data set (or per number of observations, where asked for), under the columns of `occam compare`."""

    def __init__(self, models: Sequence[str], raw: dict):
        self.models = list(models)
        self.columns = raw["columns"]
        self.warnings = raw["warnings"]
        self.groups = Groups(raw["groups"]) if raw["groups"] else None
        for text in self.warnings:
            python_warnings.warn(text, stacklevel=3)

    @classmethod
    def from_log_evidence(cls, log_evidence: Any, models: Sequence[str], *, model_prior: Mapping[str, float] | None = None,
                          ids: Sequence | None = None) -> Answers:
        """Answers of another program: log evidences (data sets, models), up to a constant of each data set.

        >>> answers = occam.Answers.from_log_evidence([[-10.0, -12.0], [-7.0, -7.0]], ["a", "b"])
        >>> answers.p.round(3).tolist()
        [[0.881, 0.119], [0.5, 0.5]]
        """
        evidence = np.atleast_2d(np.asarray(log_evidence, dtype=float))
        if evidence.shape[1] != len(models) or np.isnan(evidence).any() or (evidence == np.inf).any():
            raise ValueError(f"log evidences are numbers (data sets, {len(models)}), not an array {evidence.shape}")
        prior = np.array([(model_prior or {}).get(name, 0.0 if model_prior else 1.0) for name in models], dtype=float)
        if (prior < 0).any() or prior.sum() <= 0:
            raise ValueError("a model prior has probabilities that are not negative, and one at least above zero")
        with np.errstate(divide="ignore"):
            joint = evidence + np.log(prior / prior.sum())
        joint -= joint.max(axis=1, keepdims=True)
        p = np.exp(joint)
        p /= p.sum(axis=1, keepdims=True)
        columns = {"dataset": [str(one) for one in (range(len(p)) if ids is None else ids)]}
        columns["best"] = [models[k] for k in p.argmax(axis=1)]
        columns.update({"p_" + name: p[:, j].tolist() for j, name in enumerate(models)})
        relative = evidence - evidence.max(axis=1, keepdims=True)
        columns.update({"log_bf_" + name: relative[:, j].tolist() for j, name in enumerate(models)})
        return cls(models, {"columns": columns, "warnings": [], "groups": ""})

    def population(self, group: Sequence | None = None, **options: Any) -> Groups:
        """The population behind these data sets (occam.groups); `group` names the group of each."""
        return groups(self.log_evidence, self.models, group=group, ids=self.columns["dataset"], **options)

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
        """A data set of xarray: p and log_bf over data sets and models, the other columns over data sets."""
        import xarray

        names = ("dataset", "model")
        table = {"p": (names, self.p), "log_bf": (names, self.log_bf)}
        for name, values in self.columns.items():
            if not any(name.endswith("_" + model) for model in self.models) and name != "dataset":
                table[name] = ("dataset", np.asarray(values, dtype=object if None in values else None))
        return xarray.Dataset(table, coords={"dataset": self.columns["dataset"], "model": self.models})

    def plot(self):
        """Model probabilities of each data set, as an altair chart."""
        import altair

        rows = [{"dataset": str(one), "model": model, "p": float(p)}
                for one, row in zip(self.columns["dataset"], self.p) for model, p in zip(self.models, row)]
        return altair.Chart.from_dict({
            "data": {"values": rows},
            "mark": "bar",
            "encoding": {"y": {"field": "dataset", "type": "nominal", "sort": None},
                         "x": {"field": "p", "type": "quantitative", "title": "posterior model probability",
                               "scale": {"domain": [0, 1]}},
                         "color": {"field": "model", "type": "nominal"}}})

    def _table(self):
        shown = ["dataset", "n", "verdict", "best"]
        shown = [name for name in shown if name in self.columns] + ["p_" + model for model in self.models[:6]]
        rows = [[_text(self.columns[name][k]) for name in shown] for k in range(min(len(self), 40))]
        return shown, rows

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
    return f"{value:.3f}" if isinstance(value, float) else str(value)
