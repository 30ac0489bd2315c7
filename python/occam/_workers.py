"""Processes of their own for slow simulators, which the interpreter's lock would let run one at a time only."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
import weakref
from typing import Any

from ._interrupts import watch

_LOOK_AFTER_PARENT_S = 2.0
_LOOK_FOR_CTRL_C_S = 0.1


class RemoteTraceback(Exception):
    """Where an exception was raised in a worker process; stands before it as its cause."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


class Workers:
    """Processes that call simulators. Started once; each takes one piece of work at a time.

    With the start method "fork" (where the system has it) a process knows all that was defined when it was started.
    With "spawn" it imports the module of the simulators, so these have to be functions of an importable module.
    They end when nobody has these Workers any more.
    """

    def __init__(self, count: int, calls: dict[str, Any], start_method: str | None = None):
        if count < 1:
            raise ValueError(f"workers is {count}; at least 1 is needed")
        methods = multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context(start_method or ("fork" if "fork" in methods else "spawn"))
        self._calls = calls
        self._free: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self.count = count
        self._processes: list = []
        weakref.finalize(self, _end, self._processes, self._owner)
        for _ in range(count):
            self._free.put(self._started())

    def _started(self):
        with self._lock:
            here, there = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(there, self._calls, os.getpid()), daemon=True)
            process.start()
            there.close()
            self._processes[:] = [one for one in self._processes if one.exitcode is None] + [process]
        return process, here

    def run(self, model: str, pieces) -> list:
        """Answers for each piece of work, (arguments of Call.work). `pieces(k)` cuts the work for k processes."""
        if os.getpid() != self._owner:
            raise RuntimeError("the worker processes of this problem belong to another process; make the problem anew "
                               "in this one")
        taken = [self._free.get()]
        while len(taken) < self.count:
            try:
                taken.append(self._free.get_nowait())
            except queue.Empty:
                break
        # A worker whose answer has not arrived is of no use to the next caller.
        unsettled: set[int] = set()
        try:
            parts = pieces(len(taken))
            for k, part in enumerate(parts):
                unsettled.add(k)
                taken[k][1].send((model, part))
            answers, raised = [], None
            for k in range(len(parts)):
                kind, answer = self._answer(model, *taken[k])
                unsettled.discard(k)
                if kind == "raised":
                    raised = raised or answer
                else:
                    answers.append(answer)
            if raised is not None:
                _raise(*raised)
            return answers
        finally:
            for k, (process, connection) in enumerate(taken):
                if k in unsettled:
                    process.kill()
                    process.join()
                    connection.close()
                    taken[k] = self._started()
                self._free.put(taken[k])

    def _answer(self, model, process, connection):
        try:
            while not connection.poll(_LOOK_FOR_CTRL_C_S):
                watch.check()
            return connection.recv()
        except (EOFError, ConnectionResetError):
            process.join(1)
            code = process.exitcode
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            raise RuntimeError(f"the worker process that ran model '{model}' died ({how})") from None


def _end(processes: list, owner: int) -> None:
    """Not by closing pipes: processes that were forked later hold them open."""
    if os.getpid() != owner:
        return
    for process in processes:
        process.kill()
        process.join()


def _raise(exception: BaseException, text: str):
    exception.__cause__ = RemoteTraceback(text)
    raise exception


def _picklable(error: BaseException) -> BaseException:
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:  # an exception of the user's own may be anything
        return RuntimeError(f"{type(error).__name__}: {error}")


def _serve(connection, calls, parent: int) -> None:
    # Ctrl-C is for the parent, which ends its workers; a parent that was killed leaves them alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        while not connection.poll(_LOOK_AFTER_PARENT_S):
            if os.getppid() != parent:
                return
        try:
            model, work = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = ("done", calls[model].work(*work))
        except BaseException as error:
            answer = ("raised", (_picklable(error), traceback.format_exc()))
        connection.send(answer)
