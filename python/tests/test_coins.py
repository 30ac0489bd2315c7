"""The coins: known answers, the command line's bytes, and simulators that are functions."""

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import occam

QUICK = dict(iterations=300, batch=32, validation_datasets=200, scope_reference=1000, scope_calibration=1000,
             progress=False)


def coin(theta, n, rng):
    return rng.random(n) < theta


def coins(theta, n, rng):
    return rng.random((len(n), n.max())) < theta[:, None]


def problem_of(function, vectorized=False, **more):
    model = lambda prior: occam.Model(function, vectorized=vectorized, theta=prior)
    return occam.Problem({"flat": model(occam.beta(1, 1)), "fair": model(occam.beta(30, 30))}, n=(1, 100), columns=["x"],
                         **more)


@pytest.fixture(scope="module")
def net():
    return occam.train(problem_of(coins, True), iterations=2000, batch=64, scope_reference=2000, scope_calibration=2000,
                       progress=False)


def exact_flat(heads, n):
    """Posterior probability of beta(1, 1) against beta(30, 30)."""
    log_beta = lambda a, b: math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    flat = log_beta(1 + heads, 1 + n - heads) - log_beta(1, 1)
    fair = log_beta(30 + heads, 30 + n - heads) - log_beta(30, 30)
    return 1 / (1 + math.exp(fair - flat))


def test_answers_are_near_the_exact_ones(net):
    data = [np.repeat([1.0, 0.0], [heads, 60 - heads]) for heads in range(0, 61, 5)]
    p = net.compare(data).p[:, 0]
    exact = [exact_flat(heads, 60) for heads in range(0, 61, 5)]
    assert np.abs(p - exact).max() < 0.08


def test_answers_have_all_that_the_command_line_writes(net):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"coin": np.repeat(["a", "b"], 40), "x": np.r_[np.ones(40), np.tile([0, 1], 20)]})
    answers = net.compare(frame, by="coin")
    assert answers["dataset"] == ["a", "b"] and answers["n"] == [40, 40]
    assert answers.best == ["flat", "fair"] and answers.verdict[0] == "decided"
    assert answers.frame.shape[0] == 2 and "p_flat" in answers.frame
    assert np.allclose(answers.p.sum(1), 1)
    assert "decided" in repr(answers) and "<td>a</td>" in answers._repr_html_()


def test_another_model_prior_groups_and_sequences(net):
    data = [np.tile([0.0, 1.0], 20), np.ones(40)]
    p = net.compare(data).p
    odds = net.with_model_prior({"flat": 0.2, "fair": 0.8}).compare(data).p
    assert np.allclose(odds[:, 0] / odds[:, 1], p[:, 0] / p[:, 1] / 4, rtol=1e-6)
    groups = net.compare(data, group=True).groups
    assert sum(m["frequency"] for m in next(iter(groups))["models"]) == pytest.approx(1)
    course = net.compare(data[:1], sequential=[10, 20])
    assert course["k"] == [10, 20, 40] and course.p[-1].tolist() == p[0].tolist()
    assert course.sequential[0]["k"].tolist() == [10, 20, 40] and course.sequential[0]["p"].shape == (3, 2)
    assert net.compare(data).sequential is None
    assert net.predict_proba(data).tolist() == p.tolist()


def test_check_simulates_with_the_function(net, tmp_path):
    report = net.check(datasets=500, missed_datasets=0, progress=False)
    assert report.severity in ("fine", "note") and "Verdict" in repr(report)
    assert 0.7 < report.metrics["accuracy"]["accuracy"] < 0.85
    report.save(tmp_path / "report")
    assert (tmp_path / "report" / "report.html").stat().st_size > 10000
    assert report.figures


def test_a_loaded_network_asks_for_its_functions(net, tmp_path):
    net.save(tmp_path / "coins.occam")
    loaded = occam.load(tmp_path / "coins.occam")
    data = [np.ones(10)]
    assert loaded.compare(data).p.tolist() == net.compare(data).p.tolist()
    with pytest.raises(occam.NoInput, match="by problem="):
        loaded.check(datasets=100, progress=False)
    assert loaded.check(datasets=100, missed_datasets=0, problem=problem_of(coins, True), progress=False).verdict
    with pytest.raises(occam.BadConfig, match="not the one"):
        loaded.check(datasets=100, problem=problem_of(coin), progress=False)


def test_the_command_line_writes_the_same_bytes(tmp_path):
    program = os.environ.get("OCCAM_PROGRAM")
    if not program:
        pytest.skip("OCCAM_PROGRAM does not say where the program is")
    occam.train(occam.problem("one-sample"), tmp_path / "a.occam", seed=3, **QUICK)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items() if name != "progress"]
    subprocess.run([program, "train", "one-sample", "-o", tmp_path / "b.occam", "--seed", "3", "--quiet", *options],
                   check=True)
    assert (tmp_path / "a.occam").read_bytes() == (tmp_path / "b.occam").read_bytes()


def test_threads_do_not_change_what_is_simulated():
    problem = problem_of(coins, True)
    one = occam.simulate(problem, 500, seed=4, threads=1)
    many = occam.simulate(problem, 500, seed=4, threads=4)
    assert (one.data == many.data).all() and (one.model == many.model).all()
    assert set(one[0][:, 0].tolist()) <= {0.0, 1.0} and len(one) == 500
    heads = [d.mean() for d, m in zip(one, one.model) if m == "fair" and len(d) > 20]
    assert abs(np.mean(heads) - 0.5) < 0.02


def test_exceptions_arrive_as_they_were_raised(tmp_path):
    calls = itertools.count()

    def unlucky(theta, n, rng):
        if 2500 <= next(calls) < 10**9:
            raise ZeroDivisionError("out of luck")
        return rng.random(n) < theta

    with pytest.raises(ZeroDivisionError, match="out of luck") as caught:
        occam.train(problem_of(unlucky), tmp_path / "net.occam", **QUICK)
    assert any("theta" in note for note in getattr(caught.value, "__notes__", ["theta"]))
    assert (tmp_path / "net.occam.checkpoint").exists()
    calls = itertools.count(10**9)
    assert occam.train(problem_of(unlucky), tmp_path / "net.occam", resume=True, **QUICK).models == ["flat", "fair"]


@pytest.mark.parametrize("result, says", [
    (lambda n: np.zeros(n + 1), "shape"), (lambda n: np.full(n, np.inf), "must be finite"), (lambda n: "x", "shape")])
def test_wrong_results_are_refused(result, says):
    with pytest.raises((ValueError, occam.Error), match=says):
        occam.simulate(problem_of(lambda theta, n, rng: result(n)), 10)


def test_what_the_function_keeps_stays_what_it_was():
    kept = []

    def keeping(theta, n, rng):
        kept.append((theta, n, theta.copy(), n.copy()))
        return rng.random((len(n), n.max())) < theta[:, None]

    occam.simulate(problem_of(keeping, True), 1000)
    assert len(kept) > 3 and all((a == c).all() and (b == d).all() for a, b, c, d in kept)


def test_designs_reach_the_function():
    def line(slope, n, rng, dose):
        assert len(dose) == n
        return slope * dose + 0.001 * rng.standard_normal(n)

    problem = occam.Problem({"none": occam.Model(line, slope=0), "some": occam.Model(line, slope=occam.normal(0, 1))},
                            n=(5, 20), columns=["dose", "y"], design={"dose": occam.uniform(0, 2)})
    data = occam.simulate(problem, 50, model="none")
    assert all(0 <= d[:, 0].min() and d[:, 0].max() <= 2 and abs(d[:, 1]).max() < 0.01 for d in data)


def test_bad_arguments_are_said():
    with pytest.raises(occam.Usage):
        occam.problem("beta-binomail")
    with pytest.raises(occam.Error, match="iteration"):
        occam.train(occam.problem("one-sample"), iteration=3, progress=False)
    with pytest.raises(occam.BadConfig):
        occam.Problem({"a": occam.Model(coin, theta=occam.beta(1, 1))}, n=3, columns=["x"])
    with pytest.raises(TypeError):
        occam.Model("coin.py", theta=0.5)
    with pytest.raises(occam.NoInput):
        occam.load("nowhere.occam")


def test_ctrl_c_stops_soon_and_leaves_a_checkpoint(tmp_path):
    script = ("import occam, occam._progress\n"
              "class Sink(occam._progress.Quiet):\n"
              "    def update(self, done, total, note):\n"
              "        print('going', flush=True)\n"
              "try:\n"
              "    occam.train(occam.problem('one-sample'), 'net.occam', iterations=10**6, progress=Sink())\n"
              "except KeyboardInterrupt as stop:\n"
              "    print('stopped', occam.problem('one-sample').models)\n")
    child = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    for _ in range(5):
        assert child.stdout.readline() == "going\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out.strip().splitlines()[-1].startswith("stopped") and (tmp_path / "net.occam.checkpoint").exists()


def test_progress_in_a_log_is_a_line_now_and_then(monkeypatch, capsys):
    from occam import _progress
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    log = _progress.progress(True, "steps")
    for done in range(1, 26):
        now[0] += 1
        log.update(done, 100, "loss 0.5")
    log.say("half of it")
    log.close()
    assert capsys.readouterr().err.splitlines() == ["10 of 100 steps  loss 0.5", "20 of 100 steps  loss 0.5",
                                                    "occam: half of it"]


def test_two_trainings_in_two_threads(tmp_path):
    nets = {}

    def run(seed):
        nets[seed] = occam.train(problem_of(coins, True), seed=seed, **QUICK)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    alone = occam.train(problem_of(coins, True), seed=1, **QUICK)
    data = [np.ones(10)]
    assert nets[1].compare(data).p.tolist() == alone.compare(data).p.tolist() != nets[2].compare(data).p.tolist()
