"""What other programs made: tables, log evidences, simulators of BayesFlow; ABC; and the examples of docstrings."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import occam

MODULES = ["occam"] + [f"occam.{one.name}" for one in pkgutil.iter_modules(occam.__path__) if one.name != "_core"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"np": np, "occam": occam}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
    if name in ("occam._problem", "occam._network", "occam._answers", "occam._groups", "occam._abc", "occam._table"):
        assert found.attempted > 0


def test_everything_public_is_described():
    for name in occam.__all__:
        thing = getattr(occam, name)
        assert thing.__doc__, name
        for member in (vars(thing).items() if isinstance(thing, type) else ()):
            if not member[0].startswith("_") and callable(member[1]):
                assert member[1].__doc__, f"{name}.{member[0]}"


def table_of(count, seed=0, names=False):
    rng = np.random.default_rng(seed)
    model = rng.integers(2, size=count)
    theta = np.where(model == 0, rng.beta(1, 1, count), rng.beta(30, 30, count))
    data = [(rng.random(rng.integers(5, 60)) < t).astype(float) for t in theta]
    return occam.Table(data, np.array(["flat", "fair"])[model] if names else model, {"theta": theta})


@pytest.fixture
def tables():
    model = lambda prior: occam.Model(theta=prior)
    return occam.Problem({"flat": model(occam.beta(1, 1)), "fair": model(occam.beta(30, 30))}, columns=["x"])


def test_tables_in_memory_train_and_check(tables):
    net = occam.train(tables, table=table_of(4000, names=True), iterations=400, progress=False)
    answers = net.compare([np.ones(50), np.tile([0.0, 1.0], 25)])
    assert answers.best == ["flat", "fair"]
    report = net.check(table=table_of(1000, seed=1), progress=False)
    assert report.metrics["accuracy"]["accuracy"] > 0.7


def test_simulated_data_are_a_table(make_coins):
    problem = make_coins()
    net = occam.train(problem, table=occam.simulate(problem, 1000), iterations=50, progress=False)
    assert net.check(table=occam.simulate(problem, 500, seed=9), progress=False).verdict


def test_wrong_tables_are_refused(tables):
    with pytest.raises(ValueError, match="there is no model 'fiar'"):
        occam.train(tables, table=occam.Table([np.ones(5)] * 20, ["flat", "fiar"] * 10), progress=False)
    with pytest.raises(ValueError, match="not one of 0 to 1"):
        occam.train(tables, table=occam.Table([np.ones(5)] * 20, [0, 2] * 10), progress=False)
    with pytest.raises(ValueError, match="no parameter 'tau'"):
        occam.train(tables, table=occam.Table([np.ones(5)] * 20, [0, 1] * 10, {"tau": np.ones(20)}), progress=False)
    with pytest.raises(ValueError, match="20 data sets and 3 models"):
        occam.Table([np.ones(5)] * 20, [0, 1, 0])
    with pytest.raises(ValueError, match="same columns"):
        occam.Table([np.ones((5, 1)), np.ones((5, 2))], [0, 1])


def test_log_evidences_go_both_ways(make_coins, quick):
    net = occam.train(make_coins(), **quick)
    data = [np.ones(20), np.tile([0.0, 1.0], 20), np.zeros(7)]
    answers = net.compare(data, group=True)
    again = occam.Answers.from_log_evidence(answers.log_evidence, net.models, ids=answers["dataset"])
    assert np.allclose(again.p, answers.p, atol=1e-6) and again.best == answers.best
    frequencies = lambda groups: [m["frequency"] for m in next(iter(groups))["models"]]
    assert frequencies(again.population()) == pytest.approx(frequencies(answers.groups), abs=1e-5)
    other = occam.Answers.from_log_evidence(answers.log_evidence, net.models, model_prior={"flat": 1})
    assert other.p[:, 0].tolist() == [1, 1, 1]


def test_groups_are_compared():
    evidence = np.array([[0.0, -4.0]] * 12 + [[-4.0, 0.0]] * 12)
    groups = occam.groups(evidence, ["a", "b"], group=["young"] * 12 + ["old"] * 12)
    assert len(groups) == 2 and groups.difference["p_same"] < 0.05 and "young" in repr(groups)
    for wrong in ([[np.nan, 0.0]], [[np.inf, 0.0]], [[0.0, 0.0, 0.0]]):
        with pytest.raises(ValueError):
            occam.groups(wrong, ["a", "b"])


def test_abc_comes_near_the_exact_answer():
    result = occam.abc(occam.problem("beta-binomial"), [np.repeat([1.0, 0.0], [14, 6])], seed=3, populations=4,
                       population_size=1000, progress=False)
    assert result.p.sum() == pytest.approx(1) and len(result.populations) <= 4
    assert abs(result.p[0] - result.raw["exact"]["flat"]) < 0.1
    assert set(result.to_pandas()["model"]) <= set(result.models)
    with pytest.raises(ValueError, match="one data set"):
        occam.abc(occam.problem("beta-binomial"), [np.ones(5), np.ones(5)], progress=False)


class Lambda:
    """The part of BayesFlow's LambdaSimulator that is used."""

    def __init__(self, sample_fn):
        self.sample_fn = sample_fn

    def sample(self, batch_shape, **given):
        wanted = self.sample_fn.__code__.co_varnames[: self.sample_fn.__code__.co_argcount]
        return self.sample_fn(batch_shape, **{key: value for key, value in given.items() if key in wanted})


class Comparison:
    """The part of BayesFlow's ModelComparisonSimulator that is used."""

    def __init__(self, simulators, shared=None):
        self.simulators, self.shared_simulator, self.logits = simulators, shared, [0.0] * len(simulators)


def batch_of_coins(a):
    def sample(batch_shape, n=20):
        theta = np.random.beta(a, a, size=batch_shape)
        return {"theta": theta, "x": (np.random.random((*batch_shape, n)) < theta[:, None]).astype(float)}

    return Lambda(sample)


def size_of_a_batch(batch_shape):
    return {"n": np.random.randint(1, 101)}


@pytest.mark.parametrize("prefix", [False, True])
def test_simulators_of_bayesflow_are_problems(prefix):
    theirs = Comparison([batch_of_coins(1), batch_of_coins(30)], Lambda(size_of_a_batch))
    problem = occam.from_bayesflow(theirs, data="x", n=(1, 100), names=["flat", "fair"], prefix=prefix)
    assert problem.models == ["flat", "fair"] and problem.columns == ["x"] and problem.sizes == (1, 100)
    before = np.random.get_state()[1].copy()
    one, two = (occam.simulate(problem, 400, seed=3, threads=k) for k in (1, 2))
    assert (one.data == two.data).all() and (np.random.get_state()[1] == before).all()
    spread = {name: np.std([d.mean() for d, m in zip(one, one.model) if m == name and len(d) > 50]) for name in one.model}
    assert spread["flat"] > 0.2 > 0.12 > spread["fair"]


def test_what_bayesflow_leaves_open_is_asked_for():
    theirs = Comparison([batch_of_coins(1), batch_of_coins(30)])
    with pytest.raises(ValueError, match="'theta', 'x'"):
        occam.from_bayesflow(theirs)
    with pytest.raises(KeyError, match="no 'y'"):
        occam.from_bayesflow(theirs, data="y")
    assert occam.from_bayesflow(theirs, data="x").sizes == (20, 20)


def test_bayesflow_itself():
    bayesflow = pytest.importorskip("bayesflow")
    prior = lambda a: lambda: {"theta": np.random.beta(a, a)}
    toss = lambda theta, n: {"x": (np.random.random(n) < theta).astype(float)}
    theirs = bayesflow.simulators.ModelComparisonSimulator(
        [bayesflow.make_simulator([prior(1), toss]), bayesflow.make_simulator([prior(30), toss])],
        shared_simulator=lambda batch_shape: {"n": np.random.randint(1, 101)})
    problem = occam.from_bayesflow(theirs, data="x", n=(1, 100))
    data = occam.simulate(problem, 200, seed=1)
    assert set(np.unique(data.data)) == {0, 1}
