"""Check that a process may open as many files as a test needs, including its connections.

The limit is the hard limit of open files. All processes of a run raise their soft limit to the hard limit
(supervisor/defaults.sh).
"""

from __future__ import annotations

import resource
from collections.abc import Iterable

from loadtests.errors import UserError
from loadtests.plan.kinds import Test
from loadtests.setups.fetching import ORIGIN
from loadtests.workload import Load

RESERVE = 200  # the additional files of a process: logs, sockets, a database, and new connections
MAX_TAKEN = 65_536  # supervisor/defaults.sh raises the limit to at most this number
NOWHERE = "http://127.0.0.1:1"


def connections(load: Load) -> int:
    """Return the number of connections that a load keeps open.

    At a fixed rate, only silent connections are included, because the load needs few other connections unless the
    server is slow. Even with a slow server, the load by default needs at most a thousand other connections.
    """
    if load.users is not None:
        return load.users.users or 0
    if (talk := load.conversation) is not None:
        return talk.receivers + talk.sends * load.connection_count * talk.rooms
    if load.streams is not None:
        return sum(streams.count for streams in load.all_streams)
    return load.silent + (load.connection_count if load.rate is None else 0)


def needed(test: Test) -> int:
    """Return the number of open files that the server needs. No other process needs more.

    For each client, the server may also have a connection to an origin.
    """
    clients = connections(test.load(NOWHERE, test.requests, (), None))
    return clients * (2 if ORIGIN in test.services else 1) + RESERVE


def allowed() -> int:
    """Return the number of open files that a started process may have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MAX_TAKEN if hard == resource.RLIM_INFINITY else min(hard, MAX_TAKEN)


def require(tests: Iterable[Test]) -> None:
    """Check that the limit is high enough for all tests.

    Raises:
        UserError: If a test needs more files.
    """
    most = allowed()
    for test in tests:
        if (count := needed(test)) > most:
            raise UserError(f"test {test.name}: needs {count:,} open files per process. Limit: {most:,}; {fix(count)}")


def fix(count: int) -> str:
    """Return a sentence that tells the user how to allow or avoid ``count`` open files per process."""
    if count > MAX_TAKEN:
        return f"use fewer connections, because a process can have at most {MAX_TAKEN:,} open files"
    return f"raise the hard limit (`ulimit -Hn {count}` as root, or nofile in limits.conf), or use fewer connections"
