"""Child processes on given cores, none of which outlives this one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from loadtests.cleanup.program import guarded

_ROOT = Path(__file__).parents[2]


def command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


@contextlib.contextmanager
def running(arguments: Sequence[str], cores: Iterable[int]) -> Iterator[subprocess.Popen[str]]:
    """Runs a command on ``cores`` while the context lasts, under the guard that ends it however we end."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)  # children inherit it; the guard has no option for it
    try:
        guard = subprocess.Popen(
            guarded(arguments),
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.sched_setaffinity(0, allowed)
    try:
        yield guard
    finally:
        guard.communicate()  # closes its standard input, which ends it
