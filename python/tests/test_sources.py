"""What a problem knows its simulators by: their sources, and the values that they were made with."""

import functools
import hashlib
import inspect

import numpy as np
import pytest
import simulators

import occam
from occam._simulator import Call, source_of

RATE = 0.5
NAMED = (1, "two", 3.0)
TABLE = {"grows": 1}
COUNT = 0


def plain(theta, n, rng, k=2):
    return rng.random(n) < theta


def reading(theta, n, rng):
    return [RATE * theta for _ in range(n)]


def reading_more(theta, n, rng):
    global COUNT
    COUNT += 1
    return (lambda: (NAMED, TABLE, rng, __name__))()


def weighted(theta, n, rng, weight):
    return weight * (rng.random(n) < theta)


def hash_of(function):
    return Call("a", function, ["theta"], ["x"], [], False).source_hash


def made_with(value):
    def function(theta, n, rng):
        return np.full(n, value)

    return function


@pytest.mark.parametrize("function", [plain, simulators.coin, simulators.slow_coin, lambda theta, n, rng: n])
def test_functions_alone_are_their_source(function):
    assert source_of(function) == inspect.getsource(function)
    assert hash_of(function) == hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:16]


@pytest.mark.parametrize("one, other", [
    (1, 2), (1.0, 1), ("a", "b"), ((1, 2), (1, 3)), ([1, 2], (1, 2)), ({"a": 1}, {"a": 2}), (None, 0),
    (np.arange(3), np.arange(4)), (np.arange(3), np.arange(3.0)), ({"a": [np.zeros(2)]}, {"a": [np.ones(2)]})])
def test_values_that_a_function_was_made_with_count(one, other):
    assert hash_of(made_with(one)) == hash_of(made_with(one)) != hash_of(made_with(other))
    partial = lambda value: functools.partial(weighted, weight=value)
    assert hash_of(partial(one)) == hash_of(partial(one)) != hash_of(partial(other))


def test_what_has_no_text_of_its_own_does_not_count():
    assert hash_of(made_with(object())) == hash_of(made_with(object()))
    partial = lambda: functools.partial(weighted, weight=object())
    assert hash_of(partial()) == hash_of(partial())
    assert hash_of(made_with(np.float64(1.5))) == hash_of(made_with(1.5))


def test_partials_know_their_function():
    assert hash_of(functools.partial(weighted, weight=1)) != hash_of(functools.partial(plain, k=1))
    assert source_of(functools.partial(plain)) == inspect.getsource(plain)


def test_constants_that_a_function_reads_count(monkeypatch):
    before = hash_of(reading), hash_of(reading_more)
    monkeypatch.setitem(globals(), "COUNT", 5)
    monkeypatch.setitem(TABLE, "grows", 2)
    assert before == (hash_of(reading), hash_of(reading_more))
    monkeypatch.setitem(globals(), "RATE", 0.25)
    monkeypatch.setitem(globals(), "NAMED", (1, "two", 4.0))
    assert hash_of(reading) != before[0] and hash_of(reading_more) != before[1]
    assert source_of(reading).endswith("\nRATE = 0.25")


def test_networks_refuse_a_problem_of_other_values():
    def problem(bias):
        model = lambda a: occam.Model(functools.partial(weighted, weight=bias), theta=occam.beta(a, a))
        return occam.Problem({"flat": model(1), "fair": model(30)}, n=(1, 20), columns=["x"])

    net = occam.train(problem(1.0), iterations=20, batch=16, validation_datasets=50, scope_reference=0, progress=False)
    assert net.check(datasets=20, problem=problem(1.0), progress=False).verdict
    with pytest.raises(occam.BadConfig, match="not the one"):
        net.check(datasets=20, problem=problem(2.0), progress=False)
