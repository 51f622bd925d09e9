"""Test the number of open files that a study needs, in ``doctor`` and before a run."""

import resource

import pytest

from loadtests.errors import UserError
from loadtests.measure import doctor, open_files
from loadtests.observe import machine
from loadtests.plan import study as studies
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
        ("latency", {"rate": 5000}, 0),
        ("idle", {"connections": 2000}, 2000),
        ("broadcast", {"rate": 10, "receivers": 300, "publishers": 2}, 302),
        ("journey", {"users": 1500}, 1500),
    ],
)
def test_connections_count_as_open_files(kind, keys, held):
    assert open_files.needed(a_test(kind, **{"duration": "1s", **keys})) - open_files.RESERVE == held


def test_shipped_studies_need_few_open_files():
    needed = {name: max(map(open_files.needed, studies.load(name).tests)) for name in studies.names()}
    assert {name: count for name, count in needed.items() if count >= 4096} == {}


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


@pytest.mark.parametrize(("hard", "level"), [(1024, "error"), (65_536, "ok")])
def test_doctor_shows_needs_of_study(limit, hard, level):
    limit(hard)
    study = studies.parse({"setups": ["uvicorn"], "tests": {"throughput": WAITING}}, "mine", "mine.toml")
    found = doctor.examine(0.05, study)
    [one] = [finding for finding in found if finding.what.startswith("mine needs 20,200 open files")]
    assert (one.level, bool(one.fix)) == (level, level == "error")
    assert doctor.possible([one]) == (level == "ok")


@pytest.mark.parametrize(
    ("value", "kind", "levels"),
    [("0", "deployment", ["warning"]), ("1", "deployment", []), (None, "deployment", []), ("0", "latency", [])],
)
def test_doctor_checks_sockets_of_replaced_workers(monkeypatch, value, kind, levels):
    facts = machine.describe()
    facts["sysctl"][doctor.MIGRATE] = value
    monkeypatch.setattr(machine, "describe", lambda: facts)
    keys = {"kind": kind, "rate": 10, "duration": "9s"} | ({"way": "reload"} if kind == "deployment" else {})
    study = studies.parse({"setups": ["gunicorn"], "tests": {"one": keys}}, "mine", "mine.toml")
    found = [finding for finding in doctor.examine(0.05, study) if doctor.MIGRATE in finding.what]
    assert [finding.level for finding in found] == levels
    assert all(finding.fix == f"sudo sysctl {doctor.MIGRATE}=1" for finding in found)
