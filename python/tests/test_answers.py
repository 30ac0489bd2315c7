"""Answers and what follows from them: populations, other priors, log evidences of other programs, tables, figures."""

import copy
import pickle

import numpy as np
import pytest
import simulators

import occam


@pytest.fixture(scope="module")
def net():
    model = lambda a: occam.Model(simulators.coins, vectorized=True, theta=occam.beta(a, a))
    problem = occam.Problem({"flat": model(1), "fair": model(30)}, n=(1, 100), columns=["x"])
    return occam.train(problem, iterations=100, batch=32, validation_datasets=100, scope_reference=1000,
                       scope_calibration=1000, progress=False)


@pytest.fixture(scope="module")
def tosses():
    rng = np.random.default_rng(4)
    return [(rng.random(40) < bias).astype(float) for bias in (0.5, 0.5, 0.9, 0.1, 0.5)]


def refused(kind, words, work):
    with pytest.raises(kind, match=words) as caught:
        work()
    assert isinstance(caught.value, (ValueError, TypeError))


def frequencies(groups):
    return [[model["frequency"] for model in group["models"]] for group in groups]


def test_populations_count_each_data_set_once(net, tosses):
    whole, course = net.compare(tosses), net.compare(tosses, sequential=[5, 10])
    assert len(course) == 15 and frequencies(course.population()) == frequencies(whole.population())
    two = whole.population(group=list("aabbb"))
    assert frequencies(course.population(group=list("aabbb"))) == frequencies(two)
    refused(occam.Usage, "list of 5 names, not of 15", lambda: course.population(group=["a"] * 15))
    refused(occam.BadData, "group of data set '1' is missing",
            lambda: whole.population(group=["a", None, "a", "b", "b"]))
    refused(occam.BadData, "group of data set '1' is missing",
            lambda: occam.groups(whole.log_evidence, whole.models, group=["a", float("nan"), "a", "b", "b"]))


@pytest.mark.filterwarnings("ignore:.*out of scope|.*lie outside|.*are unlike")
def test_populations_leave_out_what_is_foreign(net, tosses):
    data = tosses + [np.full(50, 7.0), np.full(30, -7.0)]
    answers = net.compare(data, group=True)
    assert set(answers.verdict[-2:]) <= {"out-of-scope", "outside-training"}
    with pytest.warns(UserWarning, match="2 of 7 data sets are out-of-scope or outside-training and left out"):
        population = answers.population()
    assert np.allclose(frequencies(population), frequencies(answers.groups), atol=1e-5)
    everything = net.compare(data, group=True, group_all=True).groups
    assert np.allclose(frequencies(answers.population(group_all=True)), frequencies(everything), atol=1e-5)
    with pytest.warns(UserWarning, match="left out"):
        assert len(answers.population(group=["a"] * 5 + ["b"] * 2)) == 1
    refused(occam.BadData, "2 of 2 data sets.*group_all=True", lambda: net.compare(data[-2:]).population())


def test_log_evidences_are_looked_at():
    answers = lambda evidence, **more: occam.Answers.from_log_evidence(evidence, ["a", "b"], **more)
    two = [[0.0, -1.0], [-2.0, 0.0]]
    refused(occam.BadData, "model 'b' in row 1.*is nan", lambda: answers([[0.0, 0.0], [0.0, np.nan]]))
    refused(occam.BadData, "row 1.*-inf throughout", lambda: answers([[0.0, 0.0], [-np.inf, -np.inf]]))
    refused(occam.BadData, r"\(data sets, 2\).*\(2, 3\)", lambda: answers(np.zeros((2, 3))))
    refused(occam.Usage, "unknown model 'c'.*'a', 'b'", lambda: answers(two, model_prior={"a": 0.5, "c": 0.5}))
    refused(occam.Usage, "sums to 3, not to 1.*nothing is rescaled", lambda: answers(two, model_prior={"a": 1, "b": 2}))
    refused(occam.Usage, "is nan", lambda: answers(two, model_prior={"a": float("nan"), "b": 1}))
    refused(occam.Usage, "expected are 2 names, not 3", lambda: answers(two, ids=list("xyz")))
    refused(occam.BadData, "two data sets are called '1'", lambda: answers(two, ids=[1, "1"]))
    refused(occam.BadData, "'0' can be of none", lambda: answers([[-np.inf, 0.0]], model_prior={"a": 1}))
    refused(occam.Usage, "no verdicts", lambda: answers(two).verdict)
    assert len(answers(two).population()) == 1
    assert answers(two, model_prior={"a": 0.3333334, "b": 0.6666667}).p.shape == (2, 2)


def test_log_evidences_are_found_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"note": ["x", "y"], "b": [-1.0, 0.0], "a": [0.0, -2.0]})
    by_name = occam.Answers.from_log_evidence(frame, ["a", "b"])
    assert by_name.best == ["a", "b"]
    refused(occam.BadData, "no column 'c'", lambda: occam.groups(frame, ["a", "c"]))


def test_courses_become_tables_and_pictures(net, tosses):
    pytest.importorskip("xarray")
    pytest.importorskip("altair")
    course = net.compare([tosses[0], tosses[1][:20]], sequential=[10])
    data = course.to_xarray()
    assert data["p"].dims == ("row", "model") and data["k"].values.tolist() == [10, 40, 10, 20]
    assert data["dataset"].values.tolist() == ["0", "0", "1", "1"] and data["alpha"].shape == (4, 2)
    assert data["scope_p"].dims == ("row",) and data["scope_p_of_model"].dims == ("row", "model")
    again = data.set_index(row=["dataset", "k"]).sel(dataset="1", k=20)["p"]
    assert np.array_equal(again.values.ravel(), course.p[-1])
    chart = course.plot().to_dict()
    assert chart["mark"]["type"] == "line" and chart["encoding"]["x"]["field"] == "k"
    assert chart["encoding"]["facet"]["field"] == "dataset"
    assert sum(len(rows) for rows in chart["datasets"].values()) == 8
    whole = net.compare(tosses).to_xarray()
    assert whole["p"].dims == ("dataset", "model") and whole["scope_p"].sel(dataset="2").size == 1


def test_other_priors_are_looked_at_at_once(net):
    refused(occam.Usage, "unknown model 'fiar' .did you mean 'fair'",
            lambda: net.with_model_prior({"flat": 0.5, "fiar": 0.5}))
    refused(occam.Usage, "sums to 1.1, not to 1.*nothing is rescaled",
            lambda: net.with_model_prior({"flat": 0.5, "fair": 0.6}))
    for p in (-0.5, float("nan"), "half", None):
        refused(occam.Usage, "probability of 'flat' is", lambda: net.with_model_prior({"flat": p, "fair": 1.5}))
    refused(occam.Usage, "is empty", lambda: net.with_model_prior({}))
    refused(occam.Usage, "a model prior is a dict", lambda: net.with_model_prior([0.5, 0.5]))


def test_other_priors_are_shown_and_not_stored(net, tosses, tmp_path):
    changed = net.with_model_prior({"fair": 0.8, "flat": 0.2})
    assert changed.info["model_prior"] == [0.2, 0.8] and changed.info["trained_model_prior"] == [0.5, 0.5]
    assert net.info["model_prior"] == net.info["trained_model_prior"] == [0.5, 0.5]
    assert "flat 0.2, fair 0.8" in repr(changed) and repr(changed).startswith(repr(net))
    refused(occam.Usage, "with_model_prior after occam.load", lambda: changed.save(tmp_path / "net.occam"))
    refused(occam.Usage, "check the network itself", lambda: changed.check(datasets=20, progress=False))
    again = changed.scope(reference=500, calibration=500, progress=False)
    assert np.array_equal(again.compare(tosses).p, changed.compare(tosses).p)
    assert np.allclose(net.with_model_prior({"flat": 1}).compare(tosses).p, [1, 0])


def test_networks_are_not_pickled(net):
    for work in (pickle.dumps, copy.deepcopy, copy.copy):
        refused(TypeError, "save.*occam.load", lambda: work(net))


def test_probabilities_of_parts_of_a_table(net):
    frame = {"coin": ["a"] * 5 + ["b"] * 3, "x": [1, 0, 1, 0, 1, 1, 1, 1]}
    assert np.array_equal(net.predict_proba(frame, by="coin"), net.compare(frame, by="coin").p)
