"""Test the number of open files that a study needs, in ``doctor`` and before a run."""

import resource

import pytest

from loadtests.errors import UserError
from loadtests.measure import open_files
from tests.fixtures.studies import a_test

WAITING = {"path": "/either/fetch", "duration": "1s", "connections": 10_000, "services": ["origin"]}


@pytest.fixture
def limit(monkeypatch):
    """Return a function that sets the hard limit of open files."""
    return lambda hard: monkeypatch.setattr(resource, "getrlimit", lambda which: (256, hard))


@pytest.mark.parametrize(
    ("kind", "keys", "held"),
    [
        ("throughput", {"connections": 10_000}, 10_000),
        ("latency", {"rate": 300, "silent": 2000}, 2000),
        ("throughput", WAITING, 20_000),  # each client also needs a connection to the origin
        ("idle", {"connections": 2000}, 2000),
        ("broadcast", {"rate": 10, "receivers": 300, "publishers": 2}, 302),
        ("journey", {"users": 1500}, 1500),
    ],
)
def test_connections_count_as_open_files(kind, keys, held):
    assert open_files.needed(a_test(kind, **{"duration": "1s", **keys})) - open_files.RESERVE == held


def test_run_is_refused_before_start(limit):
    few, many = (
        a_test("throughput", name, **WAITING | {"connections": n}) for name, n in (("few", 10), ("many", 10_000))
    )
    limit(20_000)
    with pytest.raises(UserError) as refused:
        open_files.require([few, many])
    assert str(refused.value) == (
        "test many: needs 20,200 open files per process. Limit: 20,000; raise the hard limit (`ulimit -Hn "
        "20200` as root, or nofile in limits.conf), or use fewer connections"
    )
    limit(20_200)
    open_files.require([few, many])
    limit(resource.RLIM_INFINITY)
    with pytest.raises(UserError, match="use fewer connections, because a process can have at most 65,536 open files"):
        open_files.require([a_test("throughput", **WAITING | {"connections": 40_000})])
