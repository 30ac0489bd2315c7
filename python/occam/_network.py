"""Trained networks."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any, Mapping, Sequence

import numpy as np

from . import _core
from ._answers import Answers
from ._arguments import as_json, listed, probabilities, seed_of, threads_of, whole
from ._data import observed
from ._errors import Error, NoInput, Usage, WrongType, in_python
from ._interrupts import watch
from ._problem import Problem, require_problem
from ._progress import Elsewhere
from ._progress import progress as make_progress
from ._table import as_file


def train(problem: Problem, output: str | os.PathLike | None = None, *, seed: int = 1, threads: int = 0, table: Any = None,
          network: Mapping[str, Any] | None = None, resume: bool = False, progress: Any = True, **options: Any) -> Network:
    """Trains a network for a problem, as `occam train` does, and returns it.

    >>> net = occam.train(occam.problem("beta-binomial"), iterations=100, scope_reference=0, progress=False)
    >>> net.models
    ['flat', 'fair']

    Options are those of `occam train`: iterations, minutes, batch, head, scope_reference, ... With `output` the network
    also goes to that file, and Ctrl-C leaves a checkpoint beside it, from which the same call with resume=True goes on.
    The same problem, options and seed give the same bytes as the command line does. table: simulations made before
    (occam.Table, simulated data, or a file) to train from.
    """
    return _train(problem, output, "", seed, threads, table, network, resume, progress, options)


def _train(problem, output, start, seed, threads, table, network, resume, progress, options):
    require_problem(problem)
    seed, threads = seed_of(seed), threads_of(threads)
    network = dict(network or {})
    if "head" in options:
        network["head"] = options.pop("head")
    sink = make_progress(progress, "steps")
    with tempfile.TemporaryDirectory() as folder:
        path = os.fspath(output) if output is not None else os.path.join(folder, "network.occam")
        try:
            with watch.on(), _words_of_python():
                _core.train(problem._core, path, seed, threads, as_json(options), as_json(network), start,
                            as_file(table, problem.models, problem.columns, folder, problem.parameters), resume,
                            Elsewhere(sink, folder))
        finally:
            sink.close()
        return Network(_core.load_network(path), problem)


@contextlib.contextmanager
def _words_of_python():
    """What the library says of an exception tells how to go on."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Error):
            error.args = tuple(in_python(one) for one in error.args)
        if hasattr(error, "__notes__"):
            error.__notes__ = [in_python(one) for one in error.__notes__]
        raise


def network_path(name: str | os.PathLike) -> os.PathLike:
    """The network file that is meant: a file of that name, or else the ready-made network for a built-in problem."""
    return _core.network_path(os.fspath(name), os.path.join(os.path.dirname(__file__), "networks"))


def load(path: str | os.PathLike) -> Network:
    """Reads a network file. Nothing in it is ever run; simulators of the user's own are handed over with `problem`.

    Where there is no such file, `path` may be the name of a built-in problem for which a ready-made network is installed:
    occam.load("beta-binomial").
    """
    return Network(_core.load_network(network_path(path)))


class Network:
    """A trained network: ask it with compare(), judge it with check()."""

    def __init__(self, core, problem=None, model_prior: list[float] | None = None):
        self._core = core
        self._problem = problem
        self._model_prior = model_prior  # where it is another than that of the training

    models = property(lambda self: self._core.models)
    columns = property(lambda self: self._core.columns)
    fingerprint = property(lambda self: self._core.fingerprint)

    @property
    def info(self) -> dict:
        """All that the file says; and model_prior, the one in force, beside trained_model_prior."""
        said = json.loads(self._core.json)
        said["trained_model_prior"] = said["model_prior"]
        if self._model_prior is not None:
            said["model_prior"] = list(self._model_prior)
        return said

    def with_model_prior(self, prior: Mapping[str, float]) -> Network:
        """The same network under another model prior, {model: probability}, which sums to 1; models not named get zero.

        It answers under this prior. A file holds the prior of the training only, and check() judges under it; so save
        and check the network itself.
        """
        return Network(self._core, self._problem, probabilities(prior, self.models))

    def _require_own_prior(self, instead: str) -> None:
        if self._model_prior is not None:
            raise Usage(f"this network answers under another model prior than that of its training: {instead}")

    def compare(self, data: Any, by: str | Sequence[str] | None = None, *, group: bool = False,
                group_by: str | None = None, group_all: bool = False, sequential: Sequence[int] | bool | None = None,
                orders: int = 0, missing: str = "refuse", parameters: bool = False, summary: bool = False, seed: int = 1, threads: int = 0,
                **verdict: Any) -> Answers:
        """Which model does each data set support?

        data: a data frame or a dict of columns (`by`: what tells data sets apart), an array (rows, columns), a list of
        any of these, or the path of a file (csv, npy, npz), read as the command line reads it. Columns that have names
        are found by them. missing="drop" leaves out rows in which a value is missing where the network does not know of
        such. group or group_by="column": also the population behind the data sets.
        sequential: sizes after which to answer, or True for 1, 2, 4, ...

        >>> problem = occam.problem("beta-binomial")
        >>> net = occam.train(problem, iterations=500, scope_reference=0, progress=False)
        >>> answers = net.compare({"coin": ["a"] * 20 + ["b"] * 20, "x": [1] * 20 + [0, 1] * 10}, by="coin")
        >>> answers["dataset"], answers.best
        (['a', 'b'], ['flat', 'fair'])
        """
        sets = observed(data, self.columns, by, group_by, may_miss=self._core.missing, labels=self._core.labels,
                        design=self._core.design, missing=missing)
        options = {"parameters": parameters, "summary": summary, "seed": seed_of(seed), "verdict": verdict}
        if self._model_prior is not None:
            options["model_prior"] = ",".join(f"{name}={p!r}" for name, p in zip(self.models, self._model_prior))
        if sequential is not None and sequential is not False:
            if parameters:
                raise Usage("sequential does not go with parameters: ask for them in another call of compare")
            options["sequential"] = [] if sequential is True else _sizes("sequential", sequential)
            options["orders"] = whole("orders", orders)
        groups = sets.groups or (["all"] * len(sets.ids) if group else [])
        raw = _core.compare(self._core, sets.ids, sets.data, sets.offsets, as_json(options), groups, group_all,
                            threads_of(threads))
        return Answers(self.models, raw)

    def predict_proba(self, data: Any, by: str | Sequence[str] | None = None) -> np.ndarray:
        """Posterior model probabilities (data sets, models), in the order of `models`."""
        return self.compare(data, by=by).p

    def check(self, datasets: int = 2000, *, n: int | Sequence[int] = (), problem: Problem | None = None, table: Any = None,
              robustness: bool | Sequence[str] = False, seed: int = 1, threads: int = 0,
              missed_datasets: int | None = None, progress: Any = True, **options: Any) -> Report:
        """How far can it be trusted? Simulates fresh data sets and judges the answers, as `occam check` does.

        table: judge it on these simulations instead; of those that it was trained from, on the tenth that was set aside.
        robustness: also disturb the data, in all ways that the problem offers (True) or in those named.
        """
        self._require_own_prior("check judges it under that of the training; check the network itself, before "
                                "with_model_prior")
        asked = {"datasets": whole("datasets", datasets, 1), "n": _sizes("n", np.atleast_1d(n)), "seed": seed_of(seed),
                 "options": options}
        if missed_datasets is not None:
            asked["missed_datasets"] = whole("missed_datasets", missed_datasets)
        if robustness:
            asked["robustness"] = [] if robustness is True else list(robustness)
        sink = make_progress(progress, "data sets")
        with tempfile.TemporaryDirectory() as folder:
            try:
                with watch.on(), self._asking_for(problem):
                    return Report(_core.check(self._core, self._simulators(problem), as_json(asked),
                                              as_file(table, self.models, self.columns, folder), threads_of(threads),
                                              sink))
            finally:
                sink.close()

    def scope(self, *, problem: Problem | None = None, seed: int = 1, threads: int = 0, progress: Any = True,
              **options: Any) -> Network:
        """The same network with a new scope reference (reference=..., calibration=...)."""
        options = {f"scope_{name}": value for name, value in options.items()}
        sink = make_progress(progress, "data sets")
        try:
            with watch.on(), self._asking_for(problem):
                core = _core.with_scope(self._core, self._simulators(problem), as_json(options), seed_of(seed),
                                        threads_of(threads), sink)
        finally:
            sink.close()
        return Network(core, problem or self._problem, self._model_prior)

    def extend(self, problem: Problem, output: str | os.PathLike | None = None, *, seed: int = 1, threads: int = 0,
               table: Any = None, resume: bool = False, progress: Any = True, **options: Any) -> Network:
        """A network for a problem with more models, or other priors, that begins with what this one knows."""
        with tempfile.TemporaryDirectory() as folder:
            start = os.path.join(folder, "start.occam")
            self._core.save(start)
            return _train(problem, output, start, seed, threads, table, None, resume, progress, options)

    def save(self, path: str | os.PathLike) -> None:
        """Writes a network file, which the command line reads as well."""
        self._require_own_prior("a file holds that of the training only; save the network itself, and apply "
                                "with_model_prior after occam.load")
        self._core.save(os.fspath(path))

    @contextlib.contextmanager
    def _asking_for(self, problem):
        """A network knows which simulators it was trained with, and never has them."""
        try:
            yield
        except NoInput as error:
            if problem is None and self._problem is None:
                raise NoInput("new data sets are needed, and a network file does not hold simulators: hand over the problem "
                              "that the network was trained for, by problem=") from error
            raise

    def _simulators(self, problem):
        problem = self._problem if problem is None else problem
        if problem is None:
            return None
        require_problem(problem)
        return problem._core

    def __reduce_ex__(self, protocol):
        raise WrongType("a network is neither pickled nor copied: save(path) writes it to a file, and occam.load(path) "
                        "reads it, in other processes, too")

    def __repr__(self) -> str:
        text = self._core.text.rstrip()
        if self._model_prior is not None:
            prior = ", ".join(f"{name} {p:.6g}" for name, p in zip(self.models, self._model_prior))
            text += f"\nmodel prior       {prior} (not that of the training)"
        return _core.shown_text(text)


def _sizes(name: str, values: Any) -> list[int]:
    """Numbers of observations."""
    return [whole(name, value, 1) for value in listed(name, values, "numbers of observations")]


class Report:
    """What a check found."""

    def __init__(self, core):
        self._core = core

    verdict = property(lambda self: self._core.verdict)
    severity = property(lambda self: self._core.severity)

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """{finding: {metric: value}}"""
        findings = json.loads(self._core.json)["findings"]
        return {name: {m: v["value"] for m, v in found.items()} for name, found in findings.items()}

    def to_pandas(self):
        """All metrics, one row each: finding, metric, value."""
        import pandas

        return pandas.DataFrame([{"finding": finding, "metric": metric, "value": value}
                                 for finding, metrics in self.metrics.items() for metric, value in metrics.items()])

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the report by name, as Vega-Lite specifications; altair charts where it is installed."""
        specifications = {name: json.loads(text) for name, text in self._core.figures.items()}
        try:
            import altair
        except ImportError:
            return specifications
        return {name: altair.Chart.from_dict(one) for name, one in specifications.items()}

    def save(self, folder: str | os.PathLike) -> None:
        """Writes report.html, metrics.json and a csv file per table into a folder."""
        self._core.save(os.fspath(folder))

    def __repr__(self) -> str:
        return _core.shown_text(self._core.text.rstrip())

    def _repr_html_(self) -> str:
        page = self._core.html.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 60em; border: 0"></iframe>'
