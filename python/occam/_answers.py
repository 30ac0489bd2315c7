"""Answers for observed data sets."""

import html
import json
import warnings as python_warnings

import numpy as np


class Groups:
    """The population behind the data sets: how frequent each model is."""

    def __init__(self, text):
        self.raw = json.loads(text)

    def __iter__(self):
        return iter(self.raw["groups"])

    def to_pandas(self):
        """One row per group and model."""
        import pandas

        rows = []
        for group in self.raw["groups"]:
            for model in group["models"]:
                rows.append({"group": group["group"], "n": group["n"], **model})
        return pandas.DataFrame(rows)

    def __repr__(self):
        lines = []
        for group in self.raw["groups"]:
            lines.append(f"group {group['group']!r}: {group['n']} data sets")
            for model in group["models"]:
                lines.append(f"  {model['model']}: frequency {model['frequency']:.3f}, "
                             f"protected exceedance {model['protected_exceedance']:.3f}")
        return "\n".join(lines)


class Answers:
    """One row per data set (or per number of observations, where asked for), under the columns of `occam compare`."""

    def __init__(self, network, raw):
        self.models = network.models
        self.columns = raw["columns"]
        self.warnings = raw["warnings"]
        self.groups = Groups(raw["groups"]) if raw["groups"] else None
        for text in self.warnings:
            python_warnings.warn(text, stacklevel=3)

    def __len__(self):
        return len(self.columns["dataset"])

    def __getitem__(self, name):
        return self.columns[name]

    def _per_model(self, stem):
        return np.array([self.columns[stem + model] for model in self.models], dtype=float).T

    @property
    def p(self):
        """Posterior model probabilities (data sets, models)."""
        return self._per_model("p_")

    @property
    def log_bf(self):
        """Natural log Bayes factors of each model against the first (data sets, models)."""
        evidence = self.log_evidence
        return evidence - evidence[:, :1]

    @property
    def log_evidence(self):
        """Log evidence of each model up to a constant of the data set, for other tools (data sets, models)."""
        return self._per_model("log_bf_")

    @property
    def best(self):
        return self.columns["best"]

    @property
    def verdict(self):
        return self.columns["verdict"]

    @property
    def frame(self):
        return self.to_pandas()

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(self.columns)

    def to_xarray(self):
        import xarray

        names = ("dataset", "model")
        table = {"p": (names, self.p)}
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
                         "x": {"field": "p", "type": "quantitative", "title": "posterior model probability"},
                         "color": {"field": "model", "type": "nominal"}}})

    def _table(self):
        shown = ["dataset", "n", "verdict", "best"]
        shown = [name for name in shown if name in self.columns] + ["p_" + model for model in self.models[:6]]
        rows = [[_text(self.columns[name][k]) for name in shown] for k in range(min(len(self), 40))]
        return shown, rows

    def __repr__(self):
        shown, rows = self._table()
        widths = [max(len(row[c]) for row in [shown] + rows) for c in range(len(shown))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [shown] + rows]
        more = len(self) - len(rows)
        return "\n".join(lines + ([f"... and {more} more"] if more > 0 else []))

    def _repr_html_(self):
        shown, rows = self._table()
        cells = lambda row, tag: "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
        return f"<table><thead><tr>{cells(shown, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _text(value):
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
