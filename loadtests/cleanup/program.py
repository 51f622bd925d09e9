"""Runs a program under the guard: what it started is gone when it has ended, or when it took too long."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from loadtests.errors import UserError, reason_of

GUARD = Path(__file__).with_name("guard.py")
GRACE_S = 1.0  # what is left behind by a program that has ended needs no longer to end as well
STOPPED_WITHIN_S = 15.0
MOST_READ = 16 * 2**20  # bytes
OURS = "JOURNEY_"  # what variables begin with that users sign in by: a password is for nobody whom it would reach else


@dataclasses.dataclass(frozen=True)
class Ended:
    """A program that has ended: its exit status, and what it printed, errors apart."""

    status: int
    printed: str
    errors: str


def guarded(command: Sequence[str | Path]) -> list[str]:
    """The command that runs another one under the guard, which wants its standard input to be a pipe."""
    # Isolated: variables that are meant for the command (PYTHONPATH) say nothing to the guard.
    return [sys.executable, "-I", str(GUARD), *map(str, command)]


def public_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that is not ours, or that runs what is not: without what is secret."""
    return {name: value for name, value in env.items() if not name.startswith(OURS)}


def run(
    command: Sequence[str | Path], within_s: float, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Ended:
    """Runs the command; however this ends, neither it nor anything that it started is left running.

    Raises subprocess.TimeoutExpired where it takes over ``within_s`` seconds.
    """
    given = public_environment(os.environ) if env is None else env
    # Files rather than pipes: something that outlives the command would hold a pipe open.
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        guard = subprocess.Popen(
            guarded(command),
            cwd=cwd,
            env={**given, "GUARD_GRACE_S": str(GRACE_S)},
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=errors,
            start_new_session=True,  # a Ctrl-C is for this process, which then ends the guard
        )
        assert guard.stdin is not None
        try:
            status = guard.wait(within_s)
        finally:
            guard.stdin.close()
            try:
                guard.wait(STOPPED_WITHIN_S)
            except subprocess.TimeoutExpired:
                guard.kill()
                guard.wait()
        return Ended(status, _text(printed), _text(errors))


def output(
    command: Sequence[str | Path],
    failure: str,
    within_s: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """What the command printed. Raises UserError, ``failure`` and the reason, where it fails or takes over ``within_s``
    seconds."""
    try:
        ended = run(command, within_s, cwd, env)
    except subprocess.TimeoutExpired:
        raise UserError(f"{failure}: it had not ended after {within_s:g} s") from None
    if ended.status:
        raise UserError(f"{failure}: {reason_of(ended.errors)}")
    return ended.printed


def _text(file: IO[bytes]) -> str:
    """The end of what was written into a file."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_READ))
    return file.read().decode(errors="replace")
