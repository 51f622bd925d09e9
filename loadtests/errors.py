"""What the person in front of the terminal must act on, as opposed to defects."""

from __future__ import annotations

import difflib
import errno
import re
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAM = "loadtests"  # the command that `make setup` puts next to Python

MOST_SHOWN = 100  # characters
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # somebody has to make room, whatever was to be written


class UserError(Exception):
    """Something the user can put right. Its text is one clear line: what is wrong, where, what would be right."""


def called() -> str:
    """How the person called this, ``loadtests`` or ``python -m loadtests``: for messages that name a command."""
    return PROGRAM if Path(sys.argv[0]).name == PROGRAM else f"python -m {PROGRAM}"


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name that does not exist.

    Takes the kind of thing (``"setup"``), the name that was given and all the names there are; names the nearest
    ones, or all of them where none is near.
    """
    return UserError(f"unknown {kind} {name!r}; {nearest(name, known)}")


def nearest(name: str, known: Iterable[str], there_are: str = "there are") -> str:
    """What to say of a name that is not among those that are known: the nearest ones, or all where none is near."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"{there_are}: {', '.join(names) or 'none'}"


def shown(text: str) -> str:
    """A text that a person gave, as an error tells it back: not over a line, and nothing that a terminal obeys."""
    written = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return written if len(written) <= MOST_SHOWN else f"{written[:MOST_SHOWN]}..."


def shown_end(text: str) -> str:
    """The same of a text whose end says what is wrong, such as one that begins with the name of a file."""
    return shown(text) if len(text) <= MOST_SHOWN else f"...{shown(text[-MOST_SHOWN:])}"


def quoted(value: object) -> str:
    """A value that a person gave, likewise, as it would be written: a text in quotes."""
    try:
        return shown(repr(value))
    except ValueError:  # Python writes no number of over 4,300 digits
        return "a number of thousands of digits"
    except RecursionError:
        return "a deeply nested value"


def require_within(name: str, value: float, low: float, high: float) -> None:
    """Raises UserError where a number that a person gave as ``name`` is not from ``low`` to ``high``."""
    if not low <= value <= high:  # true for NaN as well
        raise UserError(f"{name} {quoted(value)}: from {low:,} to {high:,} is allowed")


def place_of(output: str, folder: Path) -> str:
    """The last line of a file below ``folder`` in a program's traceback, such as ``mysite/settings.py, line 3``; empty
    without one."""
    found = re.findall(r'File "(.+?)", line (\d+)', output)
    inside = [(Path(file), line) for file, line in found if Path(file).is_relative_to(folder)]
    return f"{inside[-1][0].relative_to(folder)}, line {inside[-1][1]}" if inside else ""


def reason_of(output: str) -> str:
    """The line of a program's output that tells why it failed: its last traceback's exception, or its last line."""
    _, traceback, after = output.rpartition("Traceback (most recent call last)")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if traceback:
        raised = [line for line in after.splitlines()[1:] if line.strip() and not line[0].isspace()]
        lines = raised[:1] or lines
    return lines[-1] if lines else "it said nothing"
