"""Lock the machine so that only one agent or one `hosts prepare` uses it at a time."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator

from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts.link import LOCK

LOOK_EVERY_S = 0.2


@contextlib.contextmanager
def exclusive(within_s: float) -> Iterator[None]:
    """Wait for the lock, and hold it until the context ends.

    Raises:
        UserError: If the lock isn't free after ``within_s`` seconds.
    """
    end = time.monotonic() + within_s
    with open(ROOT.parent / LOCK, "a") as lock:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > end:
                raise UserError("another run or `hosts prepare` is using the machine. Wait until it ends")
            time.sleep(LOOK_EVERY_S)
        yield
