"""What the person in front of the terminal must act on, as opposed to defects."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAM = "loadtests"  # the command that `make setup` puts beside Python


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
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return UserError(f"unknown {kind} {name!r}; did you mean {' or '.join(near)}?")
    return UserError(f"unknown {kind} {name!r}; there are: {', '.join(names) or 'none'}")


def said(output: str) -> str:
    """The line of a program's output that tells why it failed: its last traceback's exception, or its last line."""
    _, traceback, after = output.rpartition("Traceback (most recent call last)")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if traceback:
        raised = [line for line in after.splitlines()[1:] if line.strip() and not line[0].isspace()]
        lines = raised[:1] or lines
    return lines[-1] if lines else "it said nothing"
