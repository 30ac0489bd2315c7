"""The population behind many data sets."""

from __future__ import annotations

import html
import json
from typing import Any, Iterator, Sequence

import numpy as np

from . import _core


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
        return self.raw["text"].rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def groups(log_evidence: Any, models: Sequence[str], *, group: Sequence | None = None, ids: Sequence | None = None,
           seed: int = 1, threads: int = 0, **options: Any) -> Groups:
    """Random-effects model selection from log evidences (data sets, models) of any program.

    Evidences are natural logarithms, known up to a constant of each data set. group: the name of the group of each;
    alpha0 and level: the Dirichlet prior and the level of intervals.

    >>> result = occam.groups([[0.0, -3.0]] * 8 + [[-3.0, 0.0]] * 2, ["a", "b"])
    >>> [round(model["frequency"], 2) for model in next(iter(result))["models"]]
    [0.77, 0.23]
    """
    unknown = set(options) - {"alpha0", "level"}
    if unknown:
        raise TypeError(f"groups has no option {sorted(unknown)[0]!r}")
    evidence = np.ascontiguousarray(np.atleast_2d(log_evidence), dtype=np.float64)
    names = [str(one) for one in (range(len(evidence)) if ids is None else ids)]
    labels = ["all"] * len(names) if group is None else [str(one) for one in group]
    return Groups(_core.groups(list(models), names, labels, evidence, json.dumps({"seed": seed, **options}), threads))
