"""The open files that a test needs, a connection being one, and those that this user may have: the hard limit, which
all that is started here takes (supervisor/defaults.sh)."""

from __future__ import annotations

import resource
from collections.abc import Iterable

from loadtests.errors import UserError
from loadtests.plan.kinds import Test
from loadtests.setups.fetching import ORIGIN
from loadtests.workload import Load

RESERVE = 200  # of each process: logs, sockets, a database, what is being opened anew
MOST_TAKEN = 65_536  # more supervisor/defaults.sh does not take
NOWHERE = "http://127.0.0.1:1"


def connections(load: Load) -> int:
    """The connections that a load has open at a time; 0 for a fixed rate, which has few unless the server is slow, and
    never over a thousand."""
    if load.users is not None:
        return load.users.users or 0
    if (talk := load.conversation) is not None:
        return talk.receivers + talk.sends * load.connection_count * talk.rooms
    if load.streams is not None:
        return sum(streams.count for streams in load.all_streams)
    return load.connection_count if load.rate is None else 0


def needed(test: Test) -> int:
    """The open files of the process that needs the most: the server, which has a connection to an origin as well for
    each of its clients'."""
    clients = connections(test.load(NOWHERE, test.requests, (), None))
    return clients * (2 if ORIGIN in test.services else 1) + RESERVE


def allowed() -> int:
    """The open files that a process that is started here may have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MOST_TAKEN if hard == resource.RLIM_INFINITY else min(hard, MOST_TAKEN)


def require(tests: Iterable[Test]) -> None:
    """Raises UserError where a test needs more than this user may have."""
    most = allowed()
    for test in tests:
        if (count := needed(test)) > most:
            raise UserError(
                f"test {test.name}: needs {count:,} open files in a process, and {most:,} are allowed; {fix(count)}"
            )


def fix(count: int) -> str:
    """What to do about too few."""
    if count > MOST_TAKEN:
        return f"ask over fewer connections: no process takes more than {MOST_TAKEN:,}"
    return f"raise the hard limit (as root, `ulimit -Hn {count}` before this; nofile in limits.conf), or ask over fewer"
