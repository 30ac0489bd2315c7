"""Ctrl-C while the library works.

Python tells the main thread alone, and only once it runs Python code again. While simulators run on other threads, or in
processes of their own, it may not do so for long; so these look for themselves.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

_LOOK_AGAIN_S = 0.05


class _Watch:
    def __init__(self):
        self._reading = -1
        self._pressed = False
        self._looked = 0.0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def on(self):
        """Watches while the library works for the main thread; other threads are not told of Ctrl-C by Python either."""
        if threading.current_thread() is not threading.main_thread() or self._reading >= 0:
            yield
            return
        # The interpreter writes the number of each signal here the moment it comes.
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        self._pressed, self._reading = False, reading
        try:
            yield
        finally:
            with self._lock:
                self._reading = -1
                signal.set_wakeup_fd(before)
                os.close(reading)
                os.close(writing)

    def check(self) -> None:
        """Raises KeyboardInterrupt on any thread, where Ctrl-C means that."""
        now = time.monotonic()
        if now - self._looked < _LOOK_AGAIN_S and not self._pressed:
            return
        with self._lock:
            self._looked = now
            if self._reading >= 0 and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                try:
                    self._pressed = self._pressed or signal.SIGINT in os.read(self._reading, 256)
                except BlockingIOError:
                    pass
                if self._pressed:
                    raise KeyboardInterrupt


watch = _Watch()
