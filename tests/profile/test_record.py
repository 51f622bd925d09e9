"""Test a profile with simulated servers, including a server that dies during sampling."""

import contextlib
import os
import subprocess

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.observe.cores import Cores
from loadtests.observe.processes import Part, Usage
from loadtests.profile import record
from loadtests.setups.application import sample
from loadtests.workload import Load, Request
from tests.fixtures.results import good_result


class Servers:
    """Imitate the server, engine and host of a profile. The server is an idle process."""

    url, ca, folder = "http://127.0.0.1:1", None, None

    def __init__(self, result):
        self.result = result
        self.dies_in, self.early = set(), False
        self.loads = self.starts = 0
        self.process = None
        self.used = 0.0

    @contextlib.contextmanager
    def served(self, plan, folder):
        self.process = subprocess.Popen(["sleep", "60"])
        self.starts += 1
        try:
            yield self
        finally:
            self.die()

    def parts(self):
        return [Part("web", self.process.pid)]

    def die(self):
        self.process.kill()
        self.process.wait()

    def run(self, load, watch):
        self.loads += 1
        dies = self.loads in self.dies_in
        if dies and self.early:
            self.die()
        watch.on_start()
        if dies and not self.early:
            self.die()
        assert watch.should_stop() == dies
        return self.result

    def usage(self, parts, folder):
        self.used += 1.0
        pids = [part.pid for part in parts if os.path.exists(f"/proc/{part.pid}")]
        return {pid: Usage("web", "sleep", pid, self.used, 1.0, 1.0, 0) for pid in pids}


@pytest.fixture
def servers():
    load = Load("http://127.0.0.1:1", (Request("GET /"),), duration_s=10.0)
    return Servers(good_result(load, completed=1000, ok=1000))


@pytest.fixture
def recorded(servers, monkeypatch):
    """Return a function that records a profile of Gunicorn for 10 s, which are divided into parts of 2 s."""
    monkeypatch.setattr(record, "_served", servers.served)
    monkeypatch.setattr(record.engines, "get", lambda name: servers)
    plan = record.Plan(
        setup=setups.known()["gunicorn"],
        application=sample(),
        path="/",
        duration_s=10.0,
        host=servers,
        bind="127.0.0.1",
        port=8000,
        cores=Cores((0,), (1,)),
    )
    return lambda: record.record(plan, lambda *step: None)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(("dies_in", "starts"), [((), 1), ({2}, 2), ({2, 4, 5}, 4)])
def test_crash_repeats_one_part(servers, recorded, dies_in, starts, early):
    servers.dies_in, servers.early = dies_in, early
    recording = recorded()
    assert (servers.loads, servers.starts) == (5 + len(dies_in), starts)
    assert recording.requests == 5 * 1000
    [web] = recording.roles()
    assert (web.role, web.names, web.cpu_s) == ("web", {"sleep"}, 5.0)


def test_repeated_crashes_end_the_profile(servers, recorded):
    servers.dies_in = range(2, 100)
    with pytest.raises(UserError, match="gunicorn: a server process died during the sampling in each of 12 starts"):
        recorded()
    assert servers.loads == 1 + 1 + record.MAX_STARTS  # the server died again after one part
