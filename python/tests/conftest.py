import numpy as np
import pytest
import simulators

import occam


@pytest.fixture(autouse=True)
def names_for_doctests(doctest_namespace):
    doctest_namespace["np"] = np
    doctest_namespace["occam"] = occam


def coins_of(function=simulators.coin, vectorized=False, **more):
    """Flat against fair coins."""
    model = lambda prior: occam.Model(function, vectorized=vectorized, theta=prior)
    return occam.Problem({"flat": model(occam.beta(1, 1)), "fair": model(occam.beta(30, 30))}, n=(1, 100), columns=["x"],
                         **more)


@pytest.fixture
def make_coins():
    return coins_of


@pytest.fixture
def quick():
    return dict(iterations=300, batch=32, validation_datasets=200, scope_reference=1000, scope_calibration=1000,
                progress=False)
