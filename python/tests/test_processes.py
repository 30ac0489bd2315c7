"""Simulators in threads and processes, and occam in processes of the user's."""

import ctypes
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import simulators

import occam

HERE = os.path.dirname(__file__)

libc = ctypes.CDLL(None)
libc.erand48.restype = ctypes.c_double


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
@pytest.mark.parametrize("function, vectorized", [(simulators.coin, False), (simulators.coins, True)])
def test_worker_processes_make_the_same_numbers(make_coins, function, vectorized, start_method):
    here = occam.simulate(make_coins(function, vectorized), 300, seed=2)
    there = occam.simulate(make_coins(function, vectorized, workers=3, start_method=start_method), 300, seed=2)
    assert (here.data == there.data).all() and (here.model == there.model).all()


def test_worker_processes_train(make_coins, quick):
    net = occam.train(make_coins(workers=2), seed=5, **quick)
    alone = occam.train(make_coins(), seed=5, **quick)
    data = [np.ones(10)]
    assert net.compare(data).p.tolist() == alone.compare(data).p.tolist()


def test_exceptions_of_worker_processes_arrive(make_coins):
    with pytest.raises(ArithmeticError, match="no luck") as caught:
        occam.simulate(make_coins(simulators.unlucky_coin, workers=2), 10)
    assert "unlucky_coin" in str(caught.value.__cause__)


def test_a_worker_process_that_dies_is_named_and_replaced(make_coins):
    problem = make_coins(simulators.deadly_coin, workers=1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="model 'f.*' died .exit code 7"):
            occam.simulate(problem, 10)


def test_worker_processes_end_with_their_parent(tmp_path):
    script = textwrap.dedent("""
        import os, occam, simulators, sys
        model = occam.Model(simulators.slow_coin, theta=occam.beta(1, 1))
        problem = occam.Problem({"a": model, "b": model}, n=5, columns=["x"], workers=2)
        import multiprocessing
        print(*[p.pid for p in multiprocessing.active_children()], flush=True)
        occam.simulate(problem, 10**6)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], cwd=HERE, stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in child.stdout.readline().split()]
    assert len(pids) == 2
    child.kill()
    child.wait()
    deadline = time.monotonic() + 30
    alive = pids
    while alive and time.monotonic() < deadline:
        time.sleep(0.1)
        alive = [pid for pid in pids if os.path.exists(f"/proc/{pid}") and
                 open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"]
    assert not alive


def test_worker_processes_end_with_their_problem(make_coins):
    before = set(multiprocessing.active_children())
    problem = make_coins(workers=2)
    started = set(multiprocessing.active_children()) - before
    assert len(started) == 2 and len(occam.simulate(problem, 10)) == 10
    del problem
    gc.collect()
    assert not started & set(multiprocessing.active_children())


def test_functions_that_release_the_lock_run_side_by_side(make_coins):
    together = threading.Barrier(2, timeout=60)
    met = []

    def meeting(theta, n, rng):
        if not met:
            together.wait()  # comes back only when two threads are in here at a time
            met.append(True)
        return rng.random((len(n), n.max())) < theta[:, None]

    occam.simulate(make_coins(meeting, True), 1000, threads=2)
    assert met


def tossed_in_c(theta, n, rng):
    """ctypes releases the lock for each call."""
    state = (ctypes.c_ushort * 3)(*rng.integers(65536, size=3).tolist())
    return [libc.erand48(state) < theta for _ in range(n)]


def sorted_in_numpy(theta, n, rng):
    """NumPy releases the lock while it draws, compares and sorts."""
    return np.sort(rng.standard_normal((len(n), n.max())) + theta[:, None], axis=1)


def numba_coins():
    numba = pytest.importorskip("numba")

    @numba.njit(nogil=True)
    def coins(theta, n, rng):
        rows = np.empty(n.sum())
        row = 0
        for b in range(len(n)):
            for _ in range(n[b]):
                rows[row] = rng.random() < theta[b]
                row += 1
        return rows

    return coins


@pytest.mark.parametrize("make, vectorized", [(lambda: tossed_in_c, False), (lambda: sorted_in_numpy, True),
                                              (numba_coins, True)], ids=["ctypes", "numpy", "numba"])
def test_functions_without_the_lock_make_the_same_numbers_on_any_number_of_threads(make_coins, quick, make, vectorized):
    problem = make_coins(make(), vectorized)
    one = occam.simulate(problem, 2000, seed=3, threads=1)
    for threads in (2, 5):
        many = occam.simulate(problem, 2000, seed=3, threads=threads)
        assert (one.data == many.data).all() and (one.model == many.model).all()
    assert len(np.unique([d.mean() for d in one])) > 100
    answers = [occam.train(problem, threads=threads, **quick).compare([np.ones(10)]).p for threads in (1, 3)]
    assert answers[0].tolist() == answers[1].tolist()


def answer_in_child(path, connection):
    connection.send(occam.load(path).compare([np.ones(10)]).p.tolist())


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_networks_answer_in_processes_of_the_user(make_coins, quick, tmp_path, start_method):
    net = occam.train(make_coins(simulators.coins, True), tmp_path / "net.occam", **quick)
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context(start_method)
    child = context.Process(target=answer_in_child, args=(str(tmp_path / "net.occam"), there))
    child.start()
    assert here.poll(60) and here.recv() == net.compare([np.ones(10)]).p.tolist()
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.parametrize("workers", [0, 2])
def test_ctrl_c_ends_a_slow_simulator_soon(tmp_path, workers):
    script = textwrap.dedent(f"""
        import os, time, occam, simulators
        called = []
        def slow(theta, n, rng):
            if not called:
                called.append(os.write(1, b"called\\n"))
            return simulators.slow_coin(theta, n, rng)
        model = lambda a: occam.Model(slow, theta=occam.beta(a, a))
        problem = occam.Problem({{"flat": model(1), "fair": model(30)}}, n=(1, 100), columns=["x"], workers={workers})
        try:
            occam.train(problem, {str(tmp_path / 'net.occam')!r}, progress=False)
        except KeyboardInterrupt:
            print(time.time(), len(occam.simulate(occam.problem("one-sample"), 3)), flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], cwd=HERE, stdout=subprocess.PIPE, text=True)
    # The simulator says when it is first called; then somewhat later.
    assert child.stdout.readline() == "called\n"
    time.sleep(1)
    asked = time.time()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    stopped, usable = out.split()[-2:]
    assert usable == "3"
    assert float(stopped) - asked < 12  # seconds, of a machine that may be busy; one call for 64 data sets takes 32
    print(f"stopped after {float(stopped) - asked:.2f} s")
