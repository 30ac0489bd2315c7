"""Arguments that do not fit: each is an error of occam's, says what was given, and what to try."""

import os

import numpy as np
import pytest
import simulators

import occam

TINY = dict(iterations=20, batch=16, validation_datasets=50, scope_reference=0, progress=False)


@pytest.fixture(scope="module")
def coins():
    return occam.problem("beta-binomial")


@pytest.fixture(scope="module")
def net(coins):
    return occam.train(coins, **TINY)


def refused(words, work, kind=occam.Usage):
    with pytest.raises(kind, match=words) as caught:
        work()
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name, value",
                         [("seed", -1), ("seed", 1.5), ("seed", "one"), ("threads", -1), ("threads", 0.5)])
def test_seeds_and_threads_are_whole_numbers(coins, net, name, value):
    wrong = {name: value}
    said = f"^{name} is .*{value}"
    refused(said, lambda: occam.train(coins, **wrong, **TINY))
    refused(said, lambda: occam.simulate(coins, 5, **wrong))
    refused(said, lambda: net.compare([np.ones(5)], **wrong))
    refused(said, lambda: net.check(datasets=20, progress=False, **wrong))
    refused(said, lambda: net.scope(progress=False, **wrong))
    refused(said, lambda: net.extend(coins, **wrong, **TINY))
    refused(said, lambda: occam.groups([[0.0, 1.0]], ["a", "b"], **wrong))
    refused(said, lambda: occam.abc(coins, [np.ones(5)], progress=False, **wrong))


def test_numbers_of_data_sets_and_sizes_are_whole_numbers(coins, net):
    refused("datasets is .*2.5", lambda: occam.simulate(coins, 2.5))
    refused("n is .*0", lambda: occam.simulate(coins, 2, n=0))
    refused("datasets is .*-3", lambda: net.check(datasets=-3, progress=False))
    refused("n is .*10.5", lambda: net.check(datasets=10, n=[10.5], progress=False))
    refused("sequential is .*10.5", lambda: net.compare([np.ones(20)], sequential=[10.5]))
    refused("sequential is a list", lambda: net.compare([np.ones(20)], sequential=10))
    refused("sequential does not go with parameters",
            lambda: net.compare([np.ones(20)], sequential=[10], parameters=True))


def test_problems_are_expected(coins, net):
    refused("occam.problem.'beta-binomial'", lambda: occam.train("beta-binomial", **TINY))
    refused("occam.problem.'beta-binomial'", lambda: occam.simulate("beta-binomial"))
    refused("a problem is expected", lambda: net.extend({"flat": simulators.coin}, **TINY))
    refused("a problem is expected", lambda: net.check(datasets=20, problem="beta-binomial", progress=False))
    refused("a problem is expected", lambda: occam.abc("beta-binomial", [np.ones(5)], progress=False))


def test_how_to_go_on_is_said_in_python(coins, tmp_path):
    class Sink:
        def update(self, done, total, note):
            raise ArithmeticError("no more")

        def say(self, text):
            pass

        warn = say

        def close(self):
            pass

    with pytest.raises(ArithmeticError) as caught:
        occam.train(coins, tmp_path / "net.occam", **{**TINY, "progress": Sink()})
    notes = " ".join(getattr(caught.value, "__notes__", ["resume=True"]))
    assert "resume=True" in notes and "--resume" not in notes


def test_columns_of_a_design_are_not_trained_to_miss():
    def line(slope, n, rng, dose):
        return slope * dose + rng.standard_normal(n)

    problem = occam.Problem({"none": occam.Model(line, slope=0), "some": occam.Model(line, slope=1)}, n=5,
                            columns=["dose", "y"], design={"dose": occam.uniform(0, 2)})
    trained = occam.train(problem, **TINY)
    refused("'dose' is missing in data set '0'.*missing='drop'$",
            lambda: trained.compare([np.array([[1, 1], [np.nan, 1.0]])]), occam.BadData)
    refused("'y' is missing.*declare", lambda: trained.compare([np.array([[1, 1], [1, np.nan]])]), occam.BadData)
    trials = {"condition": [1, None], "response": [1, 0], "rt": [0.5, 0.6]}
    ready = os.path.join(os.path.dirname(occam.__file__), "networks", "decision-making.occam")
    if os.path.exists(ready):
        refused("'condition' is missing.*missing='drop'$", lambda: occam.load(ready).compare(trials), occam.BadData)


def test_problems_are_looked_at():
    model = occam.Model(simulators.coin, theta=occam.beta(1, 1))
    both = {"a": model, "b": model}
    problem = lambda models=both, **more: occam.Problem(models, **{"n": 5, "columns": ["x"], **more})
    refused("two columns are called 'x'", lambda: problem(columns=["x", "y", "x"]))
    refused("columns is a list of names, .*, not 'rt'", lambda: problem(columns="rt"))
    refused(r"smallest, largest.*not \(1, 20, 50\)", lambda: problem(n=(1, 20, 50)))
    refused("columns is a list of names, .* not 5", lambda: problem(columns=5))
    refused("columns is a list of names, which are texts", lambda: problem(columns=[1]))
    refused("n is a whole number of at least 1, not 10.5", lambda: problem(n=10.5))
    refused("model 'a' is <function coin.*occam.Model", lambda: problem({"a": simulators.coin, "b": model}))
    refused("models are a dict", lambda: problem([model, model]))
    refused("model_prior: there is no model 'c'", lambda: problem(model_prior={"a": 0.5, "c": 0.5}))
    refused("missing: there is no column 'y'", lambda: problem(missing={"y": 0.5}))
    refused("workers is -1", lambda: problem(workers=-1))
    assert problem(n=np.int64(5)).sizes == problem().sizes == (5, 5)
    assert problem(n=[1, 20]).sizes == problem(n="uniform(1, 20)").sizes == (1, 20)


def test_options_are_numbers_or_texts(coins):
    refused("alpha0 is a number, not 'x'", lambda: occam.groups([[0, 1]], ["a", "b"], alpha0="x"))
    refused("groups has no option 'alpha'", lambda: occam.groups([[0, 1]], ["a", "b"], alpha=1))
    refused("ids is a list of names, not 5", lambda: occam.groups([[0, 1]], ["a", "b"], ids=5))
    refused("group is a list of names, .* not 'ab'", lambda: occam.groups([[0, 1], [1, 0]], ["a", "b"], group="ab"))
    assert occam.train(coins, **{**TINY, "iterations": np.int64(20)}).models == ["flat", "fair"]
    refused("iterations is .1, 2.", lambda: occam.train(coins, **{**TINY, "iterations": {1, 2}}))
    refused("minutes is nan", lambda: occam.train(coins, minutes=float("nan"), **TINY))
    refused("table is an occam.Table", lambda: occam.train(coins, table=[np.ones(5)], **TINY))
