"""Test the rounds of a profile with simulated servers, including a server that dies during sampling."""

import contextlib
import dataclasses
import os
import subprocess

import pytest

from loadtests.errors import UserError
from loadtests.observe.processes import Part, Usage
from loadtests.profile import record


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
    def served(self, plan, env):
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
def servers(monkeypatch, plan, a_result):
    made = Servers(a_result(plan.load("http://127.0.0.1:1")))
    monkeypatch.setattr(record, "_served", made.served)
    monkeypatch.setattr(record.engines, "get", lambda name: made)
    return made


@pytest.fixture
def recorded(servers, plan):
    return lambda: record.record(dataclasses.replace(plan, rounds=1, host=servers), lambda *step: None)


PARTS = 5  # the plan's 10 s are divided into parts of 2 s


def test_sampled_load_is_divided(servers, recorded):
    [one] = recorded()
    assert len(one.sampled) == PARTS
    assert servers.starts == 2


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(("dies_in", "starts"), [({2}, 3), ({4}, 3), ({3, 5, 6}, 5)])
def test_crash_repeats_one_part(servers, recorded, dies_in, starts, early):
    servers.dies_in, servers.early = dies_in, early
    [one] = recorded()
    assert len(one.sampled) == PARTS
    assert (servers.loads, servers.starts) == (1 + PARTS + len(dies_in), starts)
    [process] = one.processes
    assert process.seconds == PARTS * one.sampled[0].result.generator[0].wall_s
    assert process.cpu_s == sum(row.cpu_s for window in one.sampled for row in window.processes)


def test_repeated_crashes_end_the_profile(servers, recorded):
    servers.dies_in = range(3, 100)
    with pytest.raises(UserError, match="gunicorn: a server process died during the sampling in each of 12 starts"):
        recorded()
    assert servers.loads == 1 + 1 + 1 + record.MAX_STARTS  # the server died again after one part


def test_death_without_sampler_is_an_error(servers, recorded):
    servers.dies_in = {1}
    with pytest.raises(UserError, match="gunicorn: a server process died under load, without sampling"):
        recorded()


def test_missing_pyspy_is_reported(servers, plan, tmp_path, monkeypatch):
    monkeypatch.setattr(record.pyspy, "executable", lambda: None)
    why = record.watch(dataclasses.replace(plan, host=servers), tmp_path)
    assert why == "py-spy is not installed: run `make setup`"
