"""Which of several simulation models do data support, and does any of them?

    import occam

    def coin(theta, n, rng):
        return rng.random(n) < theta

    problem = occam.Problem(
        {"flat": occam.Model(coin, theta=occam.beta(1, 1)), "fair": occam.Model(coin, theta=occam.beta(30, 30))},
        n=(1, 100), columns=["x"])
    net = occam.train(problem, seed=1)
    answers = net.compare(frame, by="coin")
    print(answers)

The words are those of the command line: see the pages of occam for what they mean.
"""

from . import _core
from ._abc import AbcResult, abc
from ._answers import Answers
from ._bayesflow import from_bayesflow
from ._errors import Error, BadConfig, BadData, Interrupted, Io, NoInput, Usage
from ._groups import Groups, groups
from ._network import Network, Report, load, train
from ._problem import Model, Problem, Simulated, problem, simulate
from ._priors import (
    Prior,
    beta,
    discrete_uniform,
    exponential,
    fixed,
    gamma,
    half_normal,
    inverse_gamma,
    log_uniform,
    lognormal,
    normal,
    truncated_normal,
    uniform,
)
from ._table import Table

__version__ = _core.version

__all__ = [
    "AbcResult", "Answers", "BadConfig", "BadData", "Error", "Groups", "Interrupted", "Io", "Model", "Network", "NoInput",
    "Prior", "Problem", "Report", "Simulated", "Table", "Usage", "abc", "beta", "discrete_uniform", "exponential", "fixed",
    "from_bayesflow", "gamma", "groups", "half_normal", "inverse_gamma", "load", "log_uniform", "lognormal", "normal",
    "problem", "simulate", "train", "truncated_normal", "uniform",
]
