"""Looks at arguments of the user's before the library gets them."""

from __future__ import annotations

import json
import operator
from typing import Any, Mapping, Sequence

import numpy as np

from ._errors import Usage, WrongType, nearest


def whole(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number from `least` to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongType(f"{name} is a whole number of at least {least}, not {value!r}") from None
    if not least <= number <= most:
        raise Usage(f"{name} is {number}; expected is a whole number from {least} to {most}")
    return number


def seed_of(value: Any) -> int:
    """A seed of random numbers."""
    return whole("seed", value, most=2**64 - 1)


def threads_of(value: Any) -> int:
    """A number of threads; 0 stands for all cores."""
    return whole("threads", value, most=1024)


def listed(name: str, values: Any, what: str) -> list:
    """A list of the user's, of whatever kind, but no text."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise WrongType(f"{name} is a list of {what}, not {values!r}")
    return list(values)


def as_json(options: Mapping[str, Any]) -> str:
    """Options as the library takes them."""
    for name, value in options.items():
        try:
            json.dumps(value, default=_plain, allow_nan=False)
        except (TypeError, ValueError):
            raise Usage(f"{name} is {value!r}; expected are finite numbers, texts, or lists or dicts of them") from None
    return json.dumps(options, default=_plain)


def _plain(value):
    """A value of NumPy's as one of Python's."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError


def probabilities(prior: Any, models: Sequence[str]) -> list[float]:
    """A model prior of the user's in the order of the models; those that it does not name get zero."""
    if not isinstance(prior, Mapping):
        raise WrongType(f"a model prior is a dict such as {{{models[0]!r}: 0.2, ...}}, not {prior!r}")
    if not prior:
        raise Usage(f"the model prior is empty: give probabilities of the models {list(models)}")
    for name, p in prior.items():
        if name not in models:
            raise Usage(f"model prior: unknown model {name!r}{nearest(name, models)}; the models are {list(models)}")
        if not isinstance(p, (int, float, np.number)) or not 0 <= p < np.inf:
            raise Usage(f"model prior: the probability of {name!r} is {p!r}; expected is a number from 0 to 1")
    total = float(sum(prior.values()))
    if abs(total - 1) > 1e-6:
        raise Usage(f"the model prior sums to {total:.9g}, not to 1, and nothing is rescaled: divide it by its sum, if "
                    "that is meant")
    return [float(prior.get(name, 0.0)) for name in models]
