"""Test a server whose processes are replaced under a load. No server is started."""

import pytest

from loadtests.observe.processes import Usage
from loadtests.serve.serving import NotServing
from loadtests.trials.reasons import is_setups_own
from tests.fixtures.bench import a_block, measure


@pytest.fixture
def trial(bench_of, monkeypatch):
    """Return a function that runs a trial of a test on a setup and returns the trial."""
    monkeypatch.setattr("loadtests.measure.trial.BEFORE_S", 0.0)

    def run(setup, **test):
        bench, _, [planned] = a_block(bench_of, {"setups": [setup], "tests": {"t": test}})
        return measure(bench, planned)

    return run


def test_failed_restart_is_setups_fault(trial, bench_of):
    def restart():
        raise NotServing("uvicorn did not stop within 25 s", "the end of its log")

    bench_of.server.restart = restart
    found = trial("uvicorn", kind="deployment", way="restart", rate=10, duration="1s")
    assert (found.status, found.result) == ("invalid", None)
    assert [flag.reason for flag in found.flags] == ["did_not_recover"]
    assert is_setups_own(found.flags)
    assert found.log == "uvicorn did not stop within 25 s\nthe end of its log"


@pytest.mark.parametrize(
    ("way", "method", "pids"),
    [("reload", "reload", (11, 12)), ("kill", "kill_worker", (12,)), ("max-requests", None, ()), ("restart", None, ())],
)
def test_replacement_is_recorded_with_memory(trial, bench_of, way, method, pids):
    memory = {11: 40.0, 12: 60.0}  # by PID

    def replace():
        for pid in pids:
            memory[pid + 100] = memory.pop(pid)
        for pid in memory:
            memory[pid] += 1

    def usage(parts, folder):
        own = {pid: Usage("web", "web", pid, 0.0, mb, mb, 0) for pid, mb in memory.items()}
        return own | {7: Usage("redis", "redis", 7, 0.0, 5.0, 5.0, 0, charged=False)}

    bench_of.host.usage = usage
    if method:
        setattr(bench_of.server, method, replace)
    found = trial("gunicorn", kind="deployment", way=way, rate=10, duration="1s")
    done = found.meanwhile.deployment
    assert (found.status, done.way, done.replaced, done.before_mb) == ("ok", way, len(pids), 100.0)
    assert (done.after_mb, done.t is None) == (102.0 if pids else 100.0, way == "max-requests")
    assert [request.closes for request in bench_of.engine.loads[-1].requests] == [False, True]
