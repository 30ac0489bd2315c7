"""Exceptions. Each says what was wrong and what to try; `exit_code` is what the command line would return."""

import difflib


class Error(Exception):
    """Anything that occam refuses or fails at."""

    exit_code = 70


class Usage(Error, ValueError):
    """Arguments that do not fit together."""

    exit_code = 64


class WrongType(Usage, TypeError):
    """An argument of another type than is expected."""


class BadData(Error, ValueError):
    """Observed or simulated data that cannot be used."""

    exit_code = 65


class NoInput(Error, FileNotFoundError):
    """A file that is not there."""

    exit_code = 66


class Io(Error, OSError):
    """Reading or writing failed."""

    exit_code = 74


class BadConfig(Error, ValueError):
    """A problem or a network file that is not usable."""

    exit_code = 78


class Interrupted(Error):
    """The run was asked to stop."""

    exit_code = 130


def of_code(code):
    """The class for an exit code of the program."""
    for one in (Usage, BadData, NoInput, Io, BadConfig, Interrupted):
        if one.exit_code == code:
            return one
    return Error


def in_python(text):
    """Words of the command line as they are written in Python."""
    return text.replace("--resume", "resume=True")


def nearest(name, names):
    """The question whether another name is meant, where one is near."""
    close = difflib.get_close_matches(str(name), [str(one) for one in names], 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
