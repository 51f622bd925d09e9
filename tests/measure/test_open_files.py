"""How many open files a study needs: said by the doctor, and asked for before anything is started."""

import resource

import pytest

from loadtests.errors import UserError
from loadtests.measure import doctor, open_files
from loadtests.plan import study as studies

WAITING = {
    "kind": "throughput",
    "path": "/either/fetch",
    "duration": "1s",
    "connections": 10_000,
    "services": ["origin"],
}


def study(**tests):
    return studies.parse({"setups": ["uvicorn"], "tests": tests}, "mine", "mine.toml")


@pytest.fixture
def limit(monkeypatch):
    """A function: the hard limit of open files is that."""

    def limit(hard):
        monkeypatch.setattr(resource, "getrlimit", lambda which: (256, hard))

    return limit


@pytest.mark.parametrize(
    ("table", "held"),
    [
        ({"kind": "throughput", "duration": "1s", "connections": 10_000}, 10_000),
        (WAITING, 20_000),  # each has one to the origin
        ({"kind": "latency", "rate": 5000, "duration": "1s"}, 0),
        ({"kind": "idle", "connections": 2000, "duration": "1s"}, 2000),
        ({"kind": "broadcast", "rate": 10, "duration": "1s", "receivers": 300, "publishers": 2}, 302),
        ({"kind": "journey", "users": 1500, "duration": "1s"}, 1500),
    ],
)
def test_a_connection_is_an_open_file(table, held):
    [test] = study(one=table).tests
    assert open_files.needed(test) - open_files.RESERVE == held


@pytest.mark.parametrize("name", studies.names())
def test_the_studies_that_ship_need_no_more_than_is_common(name):
    assert all(open_files.needed(test) < 4096 for test in studies.load(name).tests)


def test_a_run_refuses_before_it_starts(limit):
    limit(20_000)
    with pytest.raises(UserError) as refused:
        open_files.require(study(few={**WAITING, "connections": 10}, many=WAITING).tests)
    assert str(refused.value) == (
        "test many: needs 20,200 open files in a process, and 20,000 are allowed; raise the hard limit (as root, "
        "`ulimit -Hn 20200` before this; nofile in limits.conf), or ask over fewer"
    )
    limit(20_200)
    open_files.require(study(many=WAITING).tests)


def test_what_no_process_takes_is_said_so(limit):
    limit(resource.RLIM_INFINITY)
    with pytest.raises(UserError, match="ask over fewer connections: no process takes more than 65,536"):
        open_files.require(study(many={**WAITING, "connections": 40_000}).tests)


@pytest.mark.parametrize(("hard", "level"), [(1024, "error"), (65_536, "ok")])
def test_the_doctor_says_what_a_study_needs(limit, hard, level):
    limit(hard)
    found = doctor.examine(0.05, study(many=WAITING))
    [one] = [finding for finding in found if finding.what.startswith("mine needs 20,200 open files")]
    assert one.level == level
    assert bool(one.fix) == (level == "error")
    assert doctor.possible([one]) == (level == "ok")
