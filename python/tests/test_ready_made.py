"""Networks that come with the package, asked for by the name of their problem."""

import os

import pytest

import occam


@pytest.fixture
def own(tmp_path, monkeypatch, quick):
    """A folder of the user's own, with a network for the coins."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("nets")
    occam.train(occam.problem("beta-binomial"), "nets/beta-binomial.occam", **{**quick, "iterations": 50})
    monkeypatch.setenv("OCCAM_NETWORKS", "nets")


def test_networks_are_found_by_name(own):
    net = occam.load("beta-binomial")
    assert net.info["record"]["steps"] == 50
    assert occam.abc(occam.problem("beta-binomial"), [[1, 1, 1, 0] * 5], summary="network", populations=1,
                     population_size=20, summary_network="beta-binomial", progress=False).models == net.models


def test_a_file_goes_before(own, quick):
    occam.train(occam.problem("beta-binomial"), "other.occam", **{**quick, "iterations": 60})
    os.rename("other.occam", "beta-binomial")
    assert occam.load("beta-binomial").info["record"]["steps"] == 60


def test_what_is_not_there_is_said(own):
    with pytest.raises(occam.NoInput, match="neither a file nor a ready-made network 'beta-binomal'"):
        occam.load("beta-binomal")
    with pytest.raises(occam.NoInput, match="occam train correlation"):
        occam.load("correlation")


def test_those_of_the_package_load(monkeypatch, tmp_path):
    monkeypatch.delenv("OCCAM_NETWORKS", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = os.path.join(os.path.dirname(occam.__file__), "networks")
    files = [name for name in os.listdir(folder) if name.endswith(".occam")] if os.path.isdir(folder) else []
    if not files:
        pytest.skip("the package has no networks")
    for file in files:
        name = file.removesuffix(".occam").replace(".", ":")
        assert occam.load(name).info["problem_name"] == name
