"""Report errors that the user can correct, in contrast to defects."""

from __future__ import annotations

import difflib
import errno
import re
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAM = "loadtests"  # `make setup` and pip install this command next to Python.
PROGRAMS = (PROGRAM, "django-serving-benchmark")  # pip also installs the command under the distribution's name.

MAX_SHOWN = 100  # The maximum number of characters of a user's text in a message.
TRACEBACK = "Traceback (most recent call last)"  # the start of a traceback in a log
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # Errors that the user can correct, such as a full disk.


class UserError(Exception):
    """An error that the user can correct. Its message is one line with the object, the problem and what to do."""


def called() -> str:
    """Return the command as the user typed it, ``loadtests`` or ``python -m loadtests``. Messages use this form."""
    name = Path(sys.argv[0]).name
    return name if name in PROGRAMS else f"python -m {PROGRAM}"


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Return the error for an unknown name, with the nearest known names, or all names if no name is similar.

    Args:
        kind: The noun for the name, such as ``"setup"``.
        name: The unknown name.
        known: The allowed names.
    """
    hint = nearest(name, known)
    return UserError(f"unknown {kind} {name!r}. {hint[0].upper()}{hint[1:]}")


def nearest(name: str, known: Iterable[str], there_are: str = "choices are") -> str:
    """Return a hint for an unknown name: the nearest known names, or all names if no name is similar."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"{there_are}: {', '.join(names) or 'none'}"


def shown(text: str) -> str:
    """Return a user's text for an error message: escaped so that a terminal prints it on one line, and shortened."""
    written = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return written if len(written) <= MAX_SHOWN else f"{written[:MAX_SHOWN]}..."


def shown_end(text: str) -> str:
    """Return a user's text in the form of ``shown``, but shorten the start, for example to keep a file's name."""
    return shown(text) if len(text) <= MAX_SHOWN else f"...{shown(text[-MAX_SHOWN:])}"


def quoted(value: object) -> str:
    """Return the ``repr`` of a user's value for an error message, escaped and shortened like ``shown``."""
    try:
        return shown(repr(value))
    except ValueError:  # Python doesn't convert numbers of more than 4,300 digits
        return "a number with thousands of digits"
    except RecursionError:
        return "a deeply nested value"


def require_within(name: str, value: float, low: float, high: float) -> None:
    """Check a number that the user passed as ``name``.

    Raises:
        UserError: If the number isn't between ``low`` and ``high``.
    """
    if not low <= value <= high:  # NaN is refused, too
        raise UserError(f"{name} {quoted(value)}: must be from {low:,} to {high:,}")


def place_of(output: str, folder: Path) -> str:
    """Find the last file below ``folder`` in a traceback, and return the place, such as ``mysite/settings.py, line 3``.

    Returns:
        The file and the line, or an empty string if the output contains no such line.
    """
    found = re.findall(r'File "(.+?)", line (\d+)', output)
    inside = [(Path(file), line) for file, line in found if Path(file).is_relative_to(folder)]
    return f"{inside[-1][0].relative_to(folder)}, line {inside[-1][1]}" if inside else ""


def limit_hint(status: int, worked: bool = False) -> str:
    """Return advice if the status shows that the application limits requests, or an empty string.

    ``worked`` means that the application gave the expected answer to earlier requests.
    """
    if status == 429:
        return ". Switch off the application's rate limit for the measurement"
    return ". If the application limits requests, switch its limit off" if worked and status in (403, 503) else ""


def reason_of(output: str) -> str:
    """Return the reason for a program's failure: its last traceback's exception, or the last line of its output."""
    _, traceback, after = output.rpartition(TRACEBACK)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if traceback:
        raised = [line for line in after.splitlines()[1:] if line.strip() and not line[0].isspace()]
        lines = raised[:1] or lines
    return lines[-1] if lines else "the program printed nothing"
