"""What comes from outside: full disks, broken and hostile files, names in other encodings. All of it ends in an
exception of occam's with the words of the command line, and the interpreter goes on."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import simulators

import occam

PROGRAM = os.environ.get("OCCAM_PROGRAM")
TINY = dict(iterations=20, batch=16, validation_datasets=50, scope_reference=0, progress=False)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def net():
    return occam.train(occam.problem("beta-binomial"), **TINY)


def refused(kind, work, *command):
    """`work` fails as the command does: the same kind, the same words."""
    with pytest.raises(kind) as caught:
        work()
    if PROGRAM and command:
        run = subprocess.run([PROGRAM, *command], capture_output=True, text=True)
        assert run.returncode == kind.exit_code and str(caught.value) in run.stderr
    return str(caught.value)


def test_networks_cut_short_are_refused(net):
    net.save("whole.occam")
    whole = open("whole.occam", "rb").read()
    for size in [*range(0, 64), *range(64, len(whole), len(whole) // 40), len(whole) - 1]:
        with open("cut.occam", "wb") as file:
            file.write(whole[:size])
        refused(occam.Error, lambda: occam.load("cut.occam"))
    refused(occam.BadConfig, lambda: occam.load("cut.occam"), "info", "cut.occam")


def test_networks_with_wrong_bytes_are_refused_or_answer(net):
    net.save("whole.occam")
    whole = bytearray(open("whole.occam", "rb").read())
    for place in np.random.default_rng(1).integers(len(whole), size=100):
        changed = whole.copy()
        changed[place] ^= 0x55
        with open("changed.occam", "wb") as file:
            file.write(changed)
        try:
            occam.load("changed.occam").compare([np.ones(5)])
        except occam.Error:
            pass


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff" * 8 + b"{}", b"PK\x03\x04", b"\x80\x04\x95pickle"])
def test_what_is_no_network_is_refused(content):
    with open("net.occam", "wb") as file:
        file.write(content)
    refused(occam.BadConfig, lambda: occam.load("net.occam"), "info", "net.occam")


def test_folders_are_no_files(net):
    os.mkdir("folder")
    net.save("net.occam")
    refused(occam.Io, lambda: occam.load("folder"), "info", "folder")
    refused(occam.Io, lambda: net.compare("folder"), "compare", "net.occam", "folder")
    refused(occam.Io, lambda: net.save("folder"))
    assert os.listdir("folder") == []


def test_an_output_that_cannot_be_is_said_before_the_work():
    calls = []

    def counted(theta, n, rng):
        calls.append(n)
        return rng.random(n) < theta

    model = lambda a: occam.Model(counted, theta=occam.beta(a, a))
    problem = occam.Problem({"flat": model(1), "fair": model(30)}, n=(1, 100), columns=["x"])
    for output in (".", "nowhere/net.occam"):
        refused(occam.Io, lambda: occam.train(problem, output, **TINY), "train", "beta-binomial", "-o", output)
    assert not calls


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disks_are_said(net):
    assert "No space left" in refused(occam.Io, lambda: net.save("/dev/full"))


@pytest.mark.skipif(os.name != "posix", reason="there are no limits on the size of files")
def test_a_disk_that_fills_up_leaves_the_old_network(net):
    net.save("net.occam")
    before = open("net.occam", "rb").read()
    script = textwrap.dedent("""
        import resource, occam
        net = occam.load("net.occam")
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        try:
            net.save("net.occam")
        except occam.Io as error:
            print(error, "|", occam.load("net.occam").models)
    """)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "cannot write 'net.occam'" in run.stdout and "| ['flat', 'fair']" in run.stdout, run.stderr
    assert open("net.occam", "rb").read() == before and os.listdir() == ["net.occam"]


def test_a_network_from_a_stranger_starts_nothing(make_coins):
    command = r'["sh", "-c", "touch marker; echo \u001b[2J"]'
    model = "".join(f'[model.{name}]\ntheta = "beta({a}, {a})"\n' for name, a in (("flat", 1), ("fair", 30)))
    with open("evil.toml", "w") as file:
        file.write(f'name = "innocent"\nn = "uniform(1, 100)"\ncolumns = ["x"]\nsimulator = {command}\n{model}')
    table = occam.simulate(make_coins(simulators.coins, True), 400)
    occam.train(occam.problem("evil.toml"), "evil.occam", table=table, **TINY)
    stranger = occam.load("evil.occam")
    assert "\x1b" not in repr(stranger) and stranger.info and len(stranger.compare([np.ones(5)]).p) == 1
    for verb in (lambda: stranger.check(datasets=20, progress=False), lambda: stranger.scope(progress=False)):
        with pytest.raises(occam.NoInput, match="by problem=") as caught:
            verb()
        assert r"touch marker; echo \x1b[2J" in str(caught.value.__cause__)
    assert not os.path.exists("marker")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_names_in_other_encodings(net):
    name = os.fsdecode(b"m\xfcnze.occam")
    said = refused(occam.NoInput, lambda: occam.load(name))
    assert r"m\xfcnze" in said
    occam.train(occam.problem("beta-binomial"), name, **TINY)
    net.save(os.fsencode(name))
    assert occam.load(name).models == occam.load(b"m\xfcnze.occam").models == ["flat", "fair"]
    with open(b"t\xf6sse.csv", "w") as file:
        file.write("x\n1\n0\n")
    assert net.compare(os.fsdecode(b"t\xf6sse.csv"))["n"] == [2]


def test_names_that_steer_a_terminal_are_shown_instead(net):
    """Names come from files of anyone, and a terminal would obey them."""
    answers = net.compare({"who": ["\x1b[2Jone"] * 5, "x": [1] * 5}, by="who")
    groups = occam.groups([[-1.0, -2.0], [-2.0, -1.0]], ["a", "b"], group=["\x1b[31mred", "plain"])
    for text in (repr(answers), answers._repr_html_(), repr(groups)):
        assert "\x1b" not in text and "\\x1b[" in text
    with open("data.csv", "w") as file:
        file.write("dataset,x\n\x1b[2J,1\n\x1b[2J,oops\n")
    assert "\x1b" not in refused(occam.Error, lambda: net.compare("data.csv"))
    assert "\x1b" not in refused(occam.Error, lambda: occam.load("\x1b[2J.occam"))
