"""Progress of long work: in a terminal or a notebook tqdm where it is installed, else one line that is written anew;
elsewhere, as in the log of a job, a line now and then."""

from __future__ import annotations

import sys
import time
import warnings

from ._errors import in_python


class Quiet:
    """Only warnings."""

    def update(self, done, total, note):
        pass

    def say(self, text):
        pass

    def warn(self, text):
        warnings.warn(text, stacklevel=3)

    def close(self):
        pass


class Elsewhere:
    """Another progress, in the words of Python, and without what names a file that nobody will find: a network that is
    kept in memory only."""

    def __init__(self, sink, folder: str):
        self.sink, self.folder = sink, folder
        self.update = sink.update

    def say(self, text):
        if self.folder not in text:
            self.sink.say(in_python(text))

    def warn(self, text):
        self.sink.warn(in_python(text))


def _text(done, total, unit, note):
    return f"{done} of {total} {unit}  {note}" if total else f"{done} {unit}  {note}"


class Log(Quiet):
    """Lines on standard error, as seldom as those of the program."""

    seconds = 10

    def __init__(self, unit):
        self.unit = unit
        self.last = time.monotonic()

    def update(self, done, total, note):
        now = time.monotonic()
        if now - self.last < self.seconds:
            return
        self.last = now
        self.write(_text(done, total, self.unit, note))

    def say(self, text):
        self.write(f"occam: {text}")

    def write(self, text):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


class Line(Quiet):
    """A line on standard error, written anew."""

    def __init__(self, unit):
        self.unit = unit
        self.length = 0

    def update(self, done, total, note):
        text = _text(done, total, self.unit, note)
        sys.stderr.write("\r" + text.ljust(self.length))
        sys.stderr.flush()
        self.length = len(text)

    def say(self, text):
        self.close()
        sys.stderr.write(f"occam: {text}\n")

    def close(self):
        if self.length:
            sys.stderr.write("\r" + " " * self.length + "\r")
            self.length = 0


class Bar(Quiet):
    """A bar of tqdm, in a terminal or a notebook."""

    def __init__(self, tqdm, unit):
        self.bar = tqdm(unit=" " + unit, dynamic_ncols=True)

    def update(self, done, total, note):
        self.bar.total = total or None
        self.bar.n = done
        self.bar.set_postfix_str(note, refresh=True)

    def say(self, text):
        self.bar.write(f"occam: {text}", file=sys.stderr)

    def close(self):
        self.bar.close()


def progress(wanted, unit):
    """`wanted`: True, False, or an object with update, say and warn."""
    if wanted is False:
        return Quiet()
    if wanted is not True:
        return wanted
    if sys.stderr is None:
        return Quiet()
    if not sys.stderr.isatty() and "ipykernel" not in sys.modules:
        return Log(unit)
    tqdm = _tqdm()
    return Line(unit) if tqdm is None else Bar(tqdm, unit)


def _tqdm():
    """That of notebooks only where it can draw there: it warns otherwise."""
    try:
        import ipywidgets  # noqa: F401
        from tqdm.auto import tqdm
    except ImportError:
        try:
            from tqdm import tqdm
        except ImportError:
            return None
    return tqdm
