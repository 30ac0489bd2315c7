"""The other verbs, and what answers and reports can become."""

import numpy as np
import pytest
import simulators

import occam


@pytest.fixture(scope="module")
def net():
    model = lambda a: occam.Model(simulators.coins, vectorized=True, theta=occam.beta(a, a))
    problem = occam.Problem({"flat": model(1), "fair": model(30)}, n=(1, 100), columns=["x"])
    return occam.train(problem, iterations=300, batch=64, scope_reference=1000, scope_calibration=1000, progress=False)


def test_extend_adds_a_model(net, quick):
    model = lambda a, b: occam.Model(simulators.coins, vectorized=True, theta=occam.beta(a, b))
    wider = occam.Problem({"flat": model(1, 1), "fair": model(30, 30), "heads": model(30, 3)}, n=(1, 100), columns=["x"])
    extended = net.extend(wider, **{**quick, "iterations": 600})
    assert extended.models == ["flat", "fair", "heads"]
    assert extended.compare([np.repeat([1.0, 0.0], [90, 10])]).best == ["heads"]


def test_scope_knows_what_no_model_makes(net):
    again = net.scope(reference=2000, calibration=2000, progress=False)
    tossed = np.random.default_rng(1).integers(2, size=80).astype(float)
    foreign = again.compare([np.full(50, 7.0), tossed])
    assert foreign["scope_p"][0] < 0.01 < foreign["scope_p"][1]
    assert foreign.verdict[0] in ("out-of-scope", "outside-training") and foreign.verdict[1] in ("decided", "ambiguous")


def test_missing_values_and_designs(quick):
    def line(slope, n, rng, dose):
        return slope * dose + rng.standard_normal(n)

    problem = occam.Problem({"none": occam.Model(line, slope=0), "some": occam.Model(line, slope=occam.normal(0, 2))},
                            n=(5, 30), columns=["dose", "y"], design={"dose": occam.uniform(0, 2)},
                            missing={"y": occam.uniform(0, 0.5)})
    assert any(np.isnan(one).any() for one in occam.simulate(problem, 50))
    trained = occam.train(problem, **quick)
    dose = np.linspace(0, 2, 30)
    holes = np.column_stack([dose, np.where(np.arange(30) % 3 == 0, np.nan, 5 * dose)])
    assert trained.compare([holes]).best == ["some"]


def test_labels_may_be_called_anything(quick):
    def batches(ratio, n, rng):
        batch = np.arange(n) % 6
        return np.column_stack([batch, (ratio * rng.standard_normal(6))[batch] + rng.standard_normal(n)])

    problem = occam.Problem({"alike": occam.Model(batches, ratio=0), "different": occam.Model(batches, ratio=occam.half_normal(3))},
                            n=30, columns={"batch": {"role": "label"}, "x": "yield"})
    trained = occam.train(problem, **quick)
    batch, x = np.arange(30) % 6, np.random.default_rng(1).standard_normal(30)
    answers = [trained.compare({"batch": names, "x": x}).p for names in (batch, batch + 308, np.array(list("ABCDEF"))[batch])]
    assert np.array_equal(answers[0], answers[1]) and np.array_equal(answers[0], answers[2])
    assert np.array_equal(trained.compare([np.column_stack([batch + 5, x])]).p, answers[0])
    # Nothing can be trained for rows of nobody, whatever says that nobody is there.
    class NAType:
        def __ne__(self, other):
            raise TypeError("boolean value of NA is ambiguous")
    for nobody in (None, np.nan, NAType()):
        with pytest.raises(ValueError, match="'batch' is missing"):
            trained.compare({"batch": [nobody if one == 3 else one for one in batch.tolist()], "x": x})
    with pytest.raises(ValueError, match="'batch' is missing.*missing='drop'$"):
        trained.compare([np.column_stack([np.where(batch == 3, np.nan, batch), x])])


def test_labels_of_two_columns_may_name_the_same_things(quick):
    def play(spread, n, rng):
        home = rng.integers(0, 6, n)
        away = (home + rng.integers(1, 6, n)) % 6
        own = spread * rng.standard_normal(6)
        return np.column_stack([home, away, own[home] - own[away] + rng.standard_normal(n)])

    problem = occam.Problem({"chance": occam.Model(play, spread=0), "teams": occam.Model(play, spread=occam.half_normal(3))},
                            n=40, columns={"home": {"role": "label"}, "away": {"role": "label", "same_as": "home"}, "margin": ""})
    trained = occam.train(problem, **quick)
    home, away = np.arange(40) % 5, (np.arange(40) % 5 + 1 + np.arange(40) // 5 % 5) % 6
    margin = 2.0 * (home - away) + np.random.default_rng(1).standard_normal(40)
    names = np.array(list("ZYXCBA"))
    odds = [np.diff(np.log(trained.compare(one).p)).item() for one in (
        {"home": home, "away": away, "margin": margin},
        {"home": names[home], "away": names[away], "margin": margin},
        {"home": home + 10, "away": (away + 10).astype(float), "margin": margin},
        {"home": home, "away": 5 - away, "margin": margin})]
    assert np.allclose(odds[:3], odds[0], atol=1e-3)
    assert abs(odds[3] - odds[0]) > 0.5, "who is who counts"


def test_rates_of_all_orders_of_magnitude():
    def constant(rate, n, rng):
        return np.full(n, rate)

    models = {name: occam.Model(constant, rate=occam.log_uniform(1e-3, 1e3)) for name in ("one", "other")}
    drawn = occam.simulate(occam.Problem(models, n=2, columns=["x"]), 400).parameters["rate"]
    assert drawn.min() >= 0.999e-3 and drawn.max() <= 1.001e3
    assert 0.35 < (drawn < 1).mean() < 0.65  # six standard errors of a fair coin


def test_ensembles_answer_like_one_network(make_coins, quick):
    many = occam.train(make_coins(simulators.coins, True), ensemble=2, **quick)
    assert np.allclose(many.compare([np.ones(10)]).p.sum(), 1)
    assert "2" in repr(many)


def test_answers_become_tables_and_pictures(net):
    pytest.importorskip("xarray")
    altair = pytest.importorskip("altair")
    answers = net.compare([np.ones(10), np.tile([0.0, 1.0], 20)])
    data = answers.to_xarray()
    assert data["p"].sel(model="flat").values.tolist() == answers.p[:, 0].tolist()
    assert data["n"].values.tolist() == [10, 40]
    assert isinstance(answers.plot(), altair.Chart) and answers.plot().to_dict()["data"] is not None
    assert len(answers.log_bf[0]) == 2 and answers.log_bf[0, 0] == 0


def test_reports_have_the_figures_of_the_command_line(net):
    altair = pytest.importorskip("altair")
    with pytest.warns(UserWarning, match="knows no disturbances"):
        report = net.check(datasets=300, missed_datasets=0, robustness=True, progress=False)
    assert all(isinstance(chart, altair.TopLevelMixin) for chart in report.figures.values())
    assert "robustness" not in report.metrics
    assert set(report.to_pandas()["finding"]) <= set(report.metrics) and len(report.to_pandas()) > 20
    assert report._repr_html_().startswith("<iframe")


def test_progress_of_the_users_own(make_coins, quick):
    seen = []

    class Sink:
        def update(self, done, total, note):
            seen.append((done, total))

        def say(self, text):
            pass

        def warn(self, text):
            pass

        def close(self):
            seen.append("closed")

    occam.train(make_coins(simulators.coins, True), **{**quick, "progress": Sink()})
    assert seen[-1] == "closed" and seen[-2][0] > 0


def test_files_are_read_as_the_command_line_reads_them(net, tmp_path):
    # As a spreadsheet writes it where decimals have commas, with an umlaut in Latin-1.
    (tmp_path / "tosses.csv").write_bytes("münze;x\nä;1,0\nä;0,0\nb;1,0\n".encode("latin-1"))
    answers = net.compare(tmp_path / "tosses.csv", by="münze".encode("latin-1").decode("latin-1"))
    assert answers["dataset"] == ["ä", "b"] and answers["n"] == [2, 1]
    (tmp_path / "holes.csv").write_text("coin,x\na,1\na,\nb,NA\n")
    with pytest.raises(occam.BadData, match="missing"):
        net.compare(tmp_path / "holes.csv", by="coin")
    with pytest.warns(UserWarning, match="left out 2 rows"):
        left = net.compare(tmp_path / "holes.csv", by="coin", missing="drop")
    assert left["dataset"] == ["a"] and left["n"] == [1]
    with pytest.raises(occam.NoInput):
        net.compare(tmp_path / "nowhere.csv")


def test_rows_with_missing_values_are_refused_or_left_out(net):
    frame = {"coin": ["a", "a", "b"], "x": [1.0, np.nan, np.nan]}
    with pytest.raises(ValueError, match="'x' is missing in data set 'a'"):
        net.compare(frame, by="coin")
    with pytest.warns(UserWarning, match="'b' has no row"):
        left = net.compare(frame, by="coin", missing="drop")
    assert left["dataset"] == ["a"] and left["n"] == [1]
    with pytest.raises(occam.BadData, match="'x/y/z'"):
        net.compare({"a": ["x/y", "x"], "b": ["z", "y/z"], "x": [1, 0]}, by=["a", "b"])


def test_the_device_is_chosen_by_name(make_coins, quick):
    said = []

    class Sink:
        def update(self, done, total, note):
            pass

        def say(self, text):
            said.append(text)

        warn = say

        def close(self):
            pass

    occam.train(make_coins(simulators.coins, True), device="check", **{**quick, "iterations": 20, "progress": Sink()})
    assert any("two engines side by side" in text for text in said)
    with pytest.raises(ValueError, match="abacus"):
        occam.train(make_coins(simulators.coins, True), device="abacus", **quick)
