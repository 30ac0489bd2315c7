"""Progress of long work: tqdm where it is installed, else one line that is written anew."""

from __future__ import annotations

import sys
import warnings


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
    """Another progress, without what names a file that nobody will find: a network that is kept in memory only."""

    def __init__(self, sink, folder: str):
        self.sink, self.folder = sink, folder
        self.update, self.warn = sink.update, sink.warn

    def say(self, text):
        if self.folder not in text:
            self.sink.say(text)


class Line(Quiet):
    """A line on standard error, written anew."""

    def __init__(self, unit):
        self.unit = unit
        self.length = 0

    def update(self, done, total, note):
        text = f"{done} of {total} {self.unit}  {note}" if total else f"{done} {self.unit}  {note}"
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
    tqdm = _tqdm()
    if tqdm is None:
        return Line(unit) if sys.stderr.isatty() else Quiet()
    return Bar(tqdm, unit)


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
