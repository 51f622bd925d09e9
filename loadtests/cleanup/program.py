"""Run a program under the guard, which ends all processes of the program."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from loadtests.errors import UserError, reason_of
from loadtests.files import ROOT

GUARD = Path(__file__).with_name("guard.py")
GRACE_S = 1.0  # the grace period for processes that a program leaves running
STOPPED_WITHIN_S = 15.0
MAX_READ = 16 * 2**20  # The maximum size of the output, in bytes.
MAX_LOG = 300  # The maximum number of characters from a log in an error message.
SECRET_PREFIX = "JOURNEY_"  # The prefix of the variables with users' passwords and cookies.


@dataclasses.dataclass(frozen=True)
class Ended:
    """The result of a program: its exit status, standard output and standard error."""

    status: int
    printed: str
    errors: str


def guarded(command: Sequence[str | Path]) -> list[str]:
    """Return the command that runs ``command`` under the guard. The guard's standard input must be a pipe."""
    # Python runs in isolated mode, because the command's variables (PYTHONPATH) must not affect the guard.
    return [sys.executable, "-I", str(GUARD), *map(str, command)]


def public_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without secrets, for programs of other projects."""
    return {name: value for name, value in env.items() if not name.startswith(SECRET_PREFIX)}


def run(
    command: Sequence[str | Path], within_s: float, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Ended:
    """Run a command until it ends, and end all processes that it started.

    Raises:
        subprocess.TimeoutExpired: If the command takes longer than ``within_s`` seconds.
    """
    env = public_environment(os.environ) if env is None else env
    # The output goes to files, because a process that outlives the command would keep a pipe open.
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        guard = subprocess.Popen(
            guarded(command),
            cwd=cwd,
            env={**env, "GUARD_GRACE_S": str(GRACE_S)},
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=errors,
            start_new_session=True,  # so that Ctrl-C reaches only this process, which then ends the guard
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
    log: Path | None = None,
) -> str:
    """Run a command and return its output.

    Raises:
        UserError: If the command fails or takes longer than ``within_s`` seconds. The message contains ``failure`` and
            the reason, which is the last line of standard error. If ``log`` is set, the reason is the start of
            standard error, and the log contains all of standard error.
    """
    try:
        ended = run(command, within_s, cwd, env)
    except subprocess.TimeoutExpired:
        raise UserError(f"{failure}: the program didn't end within {within_s:g} s") from None
    if ended.status and log is not None:
        log.write_text(ended.errors, encoding="utf-8")
        words = " ".join(re.sub(r"[^\x20-\x7e]", " ", ended.errors).split())
        raise UserError(f"{failure}: {words[:MAX_LOG]} (log: {log})")
    if ended.status:
        raise UserError(f"{failure}: {reason_of(ended.errors)}")
    return ended.printed


@contextlib.contextmanager
def running(command: Sequence[str], cores: Iterable[int]) -> Iterator[subprocess.Popen[str]]:
    """Run a command on ``cores`` until the end of the context."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)  # the guard has no option for cores, but inherits the cores of this process
    try:
        pipe = subprocess.PIPE
        # The guard has its own session, so that Ctrl-C reaches only this process, which then ends the guard.
        guard = subprocess.Popen(
            guarded(command), cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
    finally:
        os.sched_setaffinity(0, allowed)
    try:
        yield guard
    finally:
        guard.communicate()  # closes the guard's standard input, which ends the command


def line(process: subprocess.Popen[str], failure: str) -> str:
    """Return the next line that a running process prints.

    Raises:
        UserError: If the process ends before it prints a line. The message contains ``failure`` and the reason.
    """
    assert process.stdout
    if printed := process.stdout.readline():
        return printed
    raise UserError(f"{failure}: {reason_of(process.communicate()[1])}")


def _text(file: IO[bytes]) -> str:
    """Return the last MAX_READ bytes of a file as text."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_READ))
    return file.read().decode(errors="replace")
