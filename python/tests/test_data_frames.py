"""Data frames as users have them: columns in any order, gaps, dates, names that coincide. Each is read by the names of
its columns, or refused with the next step."""

import datetime

import numpy as np
import pytest

import occam

pandas = pytest.importorskip("pandas")
TINY = dict(iterations=20, batch=16, validation_datasets=50, scope_reference=0, progress=False)


def line(slope, n, rng):
    x = rng.uniform(0, 2, n)
    return np.column_stack([x, slope * x + rng.standard_normal(n)])


def two_models(function, columns, **more):
    models = {"none": occam.Model(function, slope=0), "some": occam.Model(function, slope=occam.normal(0, 2))}
    return occam.Problem(models, **{"n": (2, 20), "columns": columns, **more})


@pytest.fixture(scope="module")
def net():
    return occam.train(two_models(line, ["x", "y"]), **TINY)


def frame_of(seed, n=10):
    rng = np.random.default_rng(seed)
    return pandas.DataFrame({"x": rng.uniform(0, 2, n), "y": rng.standard_normal(n)})


def refused(kind, words, work):
    with pytest.raises(kind, match=words) as caught:
        work()
    assert isinstance(caught.value, ValueError)


def test_lists_of_data_frames_are_read_by_name(net):
    frames = [frame_of(seed, 8 + seed) for seed in range(3)]
    arrays = [frame.to_numpy() for frame in frames]
    expected = net.compare(arrays)
    turned = [frame.assign(note="none")[["y", "note", "x"]] for frame in frames]
    answers = net.compare(turned)
    assert answers["dataset"] == ["0", "1", "2"] and np.array_equal(answers.p, expected.p)
    assert np.array_equal(net.compare([dict(one) for one in turned]).p, expected.p)
    assert np.array_equal(net.compare(tuple(turned)).p, expected.p)
    groups = net.compare([one.assign(who=who) for one, who in zip(turned, "aab")], group_by="who").groups
    assert [group["group"] for group in groups] == ["a", "b"]
    refused(occam.BadData, "data set 1: there is no column 'y'", lambda: net.compare([frames[0], frames[1][["x"]]]))
    refused(occam.BadData, "data set 1: it has no names", lambda: net.compare([frames[0], arrays[1]]))
    refused(occam.Usage, "leave by out", lambda: net.compare(turned, by="note"))


def test_lists_of_data_frames_may_have_labels():
    def batches(slope, n, rng):
        batch = np.arange(n) % 4
        return np.column_stack([batch, (slope * rng.standard_normal(4))[batch] + rng.standard_normal(n)])

    trained = occam.train(two_models(batches, {"batch": {"role": "label"}, "x": ""}), **TINY)
    x = np.random.default_rng(1).standard_normal(12)
    named = pandas.DataFrame({"x": x, "batch": np.array(list("ABCD"))[np.arange(12) % 4]})
    expected = trained.compare(named.assign(dataset=1)).p
    assert np.allclose(trained.compare([named, named]).p, expected, atol=1e-6)


def returning(change):
    """The line, with what it returns changed."""
    return lambda slope, n, rng: change(pandas.DataFrame(line(slope, n, rng), columns=["x", "y"]))


def test_what_simulators_return_is_read_by_name():
    plain = occam.simulate(two_models(line, ["x", "y"]), 20)
    turned = occam.simulate(two_models(returning(lambda frame: frame[["y", "x"]]), ["x", "y"]), 20)
    assert np.array_equal(plain.data, turned.data)
    as_dict = occam.simulate(two_models(returning(lambda frame: {"y": frame["y"], "x": frame["x"]}), ["x", "y"]), 20)
    assert np.array_equal(plain.data, as_dict.data)
    for change in (lambda frame: frame[["x"]], lambda frame: frame.assign(z=1), lambda frame: frame[["x", "x"]]):
        refused(occam.BadData, "expected .'x', 'y'., in any order",
                lambda: occam.simulate(two_models(returning(change), ["x", "y"]), 5))

    def many(slope, n, rng):
        return pandas.DataFrame({"y": np.zeros(n.sum()), "x": np.ones(n.sum())})

    models = {name: occam.Model(many, vectorized=True, slope=0) for name in "ab"}
    problem = occam.Problem(models, n=5, columns=["x", "y"])
    assert (occam.simulate(problem, 10).data == [1, 0]).all()


def test_masked_cells_and_complex_values_are_refused():
    def masked(slope, n, rng):
        return np.ma.masked_less(line(slope, n, rng), 0.5)

    # NaN is refused as it is elsewhere; what stands behind the mask is not taken for data.
    refused(occam.BadData, "is nan", lambda: occam.simulate(two_models(masked, ["x", "y"]), 20))
    refused(occam.BadData, "complex values",
            lambda: occam.simulate(two_models(lambda slope, n, rng: line(slope, n, rng) + 1j, ["x", "y"]), 5))


@pytest.mark.parametrize("gone", [None, np.nan, pandas.NA])
def test_rows_of_no_data_set_are_refused(net, gone):
    frame = frame_of(1, 4).assign(who=["a", gone, "b", gone])
    refused(occam.BadData, "'who', which tells data sets apart, is missing in 2 rows.*row 1",
            lambda: net.compare(frame, by="who"))
    whole = frame.assign(who=pandas.array([1, 2, 1, None], dtype="Int64"))
    refused(occam.BadData, "missing in 1 rows", lambda: net.compare(whole, by="who"))
    assert net.compare(whole.dropna(subset=["who"]), by="who")["dataset"] == ["1", "2"]


def test_data_sets_have_names_of_their_own(net):
    frame = frame_of(1, 4)
    for who in ([1, 1.0, "1", "2"], [1.0, 1.0, 1.0, 2.0], [1, 1, 1, 2]):
        answers = net.compare(frame.assign(who=np.array(who, dtype=object)), by="who")
        assert answers["dataset"] == ["1", "2"] and answers["n"] == [3, 1]
    refused(occam.BadData, r"'x/y/z'.*\('x', 'y/z'\) and \('x/y', 'z'\).*one column",
            lambda: net.compare(frame.assign(a=["x", "x/y"] * 2, b=["y/z", "z"] * 2), by=["a", "b"]))


def test_groups_belong_to_data_sets(net):
    frame = frame_of(1, 4).assign(who=["a", "a", "b", "b"])
    refused(occam.BadData, "group of data set 'b' is missing in column 'kind'",
            lambda: net.compare(frame.assign(kind=["k", "k", "k", None]), by="who", group_by="kind"))
    refused(occam.BadData, "data set 'a' has rows of several groups of column 'kind': .'k', 'l'.",
            lambda: net.compare(frame.assign(kind=["k", "l", "k", "k"]), by="who", group_by="kind"))


def test_cells_that_are_no_numbers_are_named(net):
    frame = frame_of(1, 4)
    refused(occam.BadData, "column 'y', row 2 counted from 0: 'two'",
            lambda: net.compare(frame.assign(y=np.array([1, "2.5", "two", 3], dtype=object))))
    assert net.compare(frame.assign(y=["1", "2.5", "3", "4"]))["n"] == [4]
    with pytest.warns(UserWarning, match="left out 2 rows"):
        assert net.compare(frame.assign(y=["1", "NA", "", "4"]), missing="drop")["n"] == [2]
    with pytest.warns(UserWarning, match="left out 1 rows"):
        assert net.compare(frame.assign(y=pandas.array([1, None, 3, 4], dtype="Int64")), missing="drop")["n"] == [3]
    refused(occam.BadData, "column 'y' in data set 'b' is infinite",
            lambda: net.compare(frame.assign(y=[1, 2, 3, np.inf], who=list("aabb")), by="who"))
    for times in (pandas.to_datetime(["2026-01-01"] * 4), pandas.to_timedelta([1] * 4, unit="s"),
                  [datetime.date(2026, 1, 1)] * 4, np.array(["2026-01-01"] * 4, dtype="datetime64[D]")):
        refused(occam.BadData, "turn it into a number of", lambda: net.compare(frame.assign(x=times)))


def test_tables_of_odd_shapes_are_refused(net):
    frame = frame_of(1, 4)
    twice = pandas.concat([frame, frame[["x"]]], axis=1)
    refused(occam.BadData, "2 columns are called 'x'", lambda: net.compare(twice))
    refused(occam.BadData, "differ in their numbers of rows.*'x': 3.*'y': 2",
            lambda: net.compare({"x": [1, 2, 3], "y": [1, 2]}))
    refused(occam.BadData, "one value for each row", lambda: net.compare({"x": 1, "y": 2}))
    refused(occam.Usage, "by is the name of a column", lambda: net.compare(frame, by=frame["x"]))
    refused(occam.Usage, "group_by is the name of a column", lambda: net.compare(frame, group_by=frame["x"]))
    refused(occam.BadData, "no column 'z'", lambda: net.compare(frame, by="z"))
    refused(occam.BadData, "there are no data sets", lambda: net.compare([]))
    refused(occam.Usage, "not 5", lambda: net.compare(5))


def test_abc_takes_one_data_set_of_a_table():
    problem = occam.problem("beta-binomial")
    options = dict(method="rejection", population_size=20, progress=False)
    ask = lambda data, **more: occam.abc(problem, data, **options, **more).p
    frame = pandas.DataFrame({"who": ["a", "b"] * 20, "x": [1, 0, 1, 1] * 10})
    expected = ask([frame[frame["who"] == "b"]])
    assert np.array_equal(ask(frame, by="who", dataset="b"), expected)
    assert np.array_equal(ask(frame.rename(columns={"who": "dataset"}), dataset="b"), expected)
    assert np.array_equal(ask(frame), ask([frame]))
    refused(occam.Usage, "one data set, not 2: choose one, as by dataset='a'", lambda: ask(frame, by="who"))
    refused(occam.Usage, "no data set 'c'", lambda: ask(frame, by="who", dataset="c"))
    holes = frame.assign(x=[1, None, 0, 1] * 10)
    refused(occam.BadData, "leave such rows out with missing='drop'$", lambda: ask([holes]))
    with pytest.warns(UserWarning, match="left out 10 rows"):
        ask([holes], missing="drop")
    numbered = frame.assign(who=[1, 2] * 20)
    assert np.array_equal(ask(numbered, by="who", dataset=2), expected)


def test_tables_of_simulations_are_read_by_name():
    problem = two_models(line, ["x", "y"])
    frames = [frame_of(seed) for seed in range(200)]
    model = np.arange(200) % 2
    expected = occam.train(problem, table=occam.Table([one.to_numpy() for one in frames], model), **TINY)
    turned = occam.train(problem, table=occam.Table([one[["y", "x"]] for one in frames], model), **TINY)
    data = [frames[0].to_numpy()]
    assert np.array_equal(turned.compare(data).p, expected.compare(data).p)
    refused(occam.BadData, "data set 1 has not the columns", lambda: occam.Table([frames[0], frames[1][["x"]]], [0, 1]))
    other = occam.Table([one.rename(columns={"x": "z"}) for one in frames], model)
    refused(occam.BadData, "the columns .'z', 'y'., expected are .'x', 'y'.",
            lambda: occam.train(problem, table=other, **TINY))


def test_simulated_data_are_read_by_name(net):
    turned = occam.simulate(two_models(returning(lambda frame: frame[["x", "y"]]), ["y", "x"]), 5)
    assert np.array_equal(net.compare(turned).p, net.compare([one[:, ::-1] for one in turned]).p)
    other = occam.simulate(two_models(line, ["x", "z"]), 5)
    refused(occam.BadData, "the columns .'x', 'z'., expected are .'x', 'y'.", lambda: net.compare(other))


def test_designs_come_from_data_frames(tmp_path):
    def dosed(slope, n, rng, dose):
        return slope * dose + rng.standard_normal(n)

    columns = {"dose": {"role": "design"}, "y": {"missing": "from"}}
    designed = lambda design, folder=None: two_models(dosed, columns, n=None, design=design, folder=folder)
    problem = lambda table, folder=None, by="who": designed({"from": table, "by": by}, folder)
    frame = pandas.DataFrame({"y": [1, None, 3, 4, 5], "note": list("abcde"), "who": ["a, b", "a, b", 2, 2, 2.0],
                              "dose": [1, 2, 0.5, 1, 3.25]})
    frame.assign(who=["a, b", "a, b", "2", "2", "2"]).to_csv(tmp_path / "design.csv", index=False)
    made = problem(frame)
    assert made.fingerprint == problem(frame).fingerprint == problem("design.csv", tmp_path).fingerprint
    assert made.toml == problem(dict(frame)).toml
    assert made.fingerprint != problem(frame.assign(dose=1)).fingerprint
    doses = np.concatenate([one[:, 0] for one in occam.simulate(made, 50)])
    assert set(doses.tolist()) == {1, 2, 0.5, 3.25} and made.sizes == (1, 3)
    refused(occam.BadData, "design: column 'dose' is missing or infinite in row 1",
            lambda: problem(frame.assign(dose=[1, None, 1, 1, 1])))
    refused(occam.BadData, "design: there is no column 'dose'", lambda: problem(frame[["who", "y"]]))
    refused(occam.BadData, "'who', which tells data sets apart, is missing",
            lambda: problem(frame.assign(who=[1, 1, 2, None, 2])))
    refused(occam.Usage, "by is the name of the column", lambda: problem(frame, by=None))
    refused(occam.Usage, "design is a dict", lambda: designed(frame))
