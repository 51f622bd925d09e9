"""What a trial makes of processes that are gone, and of a search with many loads; no server is started."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from loadtests import setups
from loadtests.application import sample
from loadtests.measure import trial as trials
from loadtests.measure.trial import Bench
from loadtests.observe.conditions import Conditions
from loadtests.observe.cores import Cores
from loadtests.plan import study as studies
from loadtests.plan.schedule import schedule
from loadtests.store.result import NOTHING, Result

TABLE = {
    "setups": ["gunicorn"],
    "blocks": 1,
    "tests": {
        "throughput": {"duration": "1s"},
        "capacity": {"start_rate": 100, "max_rate": 400, "probe": "1s", "confirm": "1s"},
    },
}
# A server that forks a worker by itself, as Gunicorn does; supervisor knows of the parent only.
FORKS = "import os, sys, time; child = os.fork(); child and print(child, flush=True); time.sleep(60)"
QUIET = Conditions(elapsed_s=1.0, clock_jump_s=0.0, others_cpu=0.0, swapped_pages=0, mhz=None)


def a_result(load, **changes):
    planned = int((load.rate or 100) * load.duration_s)
    times = {**NOTHING, "p50": 1.0, "p99": 2.0}
    lag = {**NOTHING, "p99": 0.1}
    second = {"t": 0.0, "sent": planned, "completed": planned, "ok": planned, "errors": 0, "p50_ms": 1.0, "p99_ms": 2.0}
    counts = dict.fromkeys(("planned", "sent", "completed", "ok"), planned)
    values = {
        **counts,
        "engine": "openloop",
        "unfinished": 0,
        "errors": {},
        "duration_s": load.duration_s,
        "rate": float(planned),
        **dict.fromkeys(("response_time_ms", "service_time_ms"), times),
        **dict.fromkeys(("send_lag_ms", "pacing_lag_ms"), lag),
        "waited": 0,
        "latency_of": "response_time",
        "examples": {},
        "timeline": [second],
        "histograms": {},
        "generator": [{"cpu_s": 0.1, "wall_s": 1.0, "peak_rss_mb": 50.0}],
    }
    return Result(**{**values, **changes})


class Engine:
    """Answers each load with a result of its own; ``loads`` are those it was asked for."""

    def __init__(self):
        self.loads = []
        self.meanwhile = lambda load: {}

    def run(self, load, on_second, should_stop, on_start):
        on_start()
        self.loads.append(load)
        return a_result(load, **self.meanwhile(load))


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def run(monkeypatch, engine):
    """Runs a trial of the test of that name on a setup whose one program has this pid."""

    def of(test, pid, conditions=lambda load: QUIET, calm=True):
        running = SimpleNamespace(
            host="127.0.0.1",
            port=1,
            url="http://127.0.0.1:1",
            folder=None,
            health=None,
            programs=lambda: [SimpleNamespace(role="web", pid=pid)],
            logs=lambda: "the end of the log",
        )
        monkeypatch.setattr(trials, "serving", lambda *arguments: contextlib.nullcontext(running))
        monkeypatch.setattr(trials, "_contract", lambda *arguments: ([None], []))
        monkeypatch.setattr(trials, "calm_down", lambda *arguments: calm)
        monkeypatch.setattr(trials, "seconds_to_answer", lambda *arguments: 0.01)
        monkeypatch.setattr(trials.engines, "get", lambda name: engine)
        monkeypatch.setattr(trials.conditions, "between", lambda *arguments: conditions(engine.loads[-1]))
        study = studies.parse(TABLE, "s", "s.toml")
        known = {"gunicorn": setups.find(["gunicorn"])[0]}
        bench = Bench("127.0.0.1", 1, Cores((0,), (1,)), known, sample())
        [slot] = (slot for slot in schedule(study, seed=1) if slot.test == test)
        asked = next(one for one in study.tests if one.name == test)
        return trials.run_trial(bench, slot, study.entries[0], asked, 1, lambda row: None)

    return of


@pytest.fixture
def forking():
    process = subprocess.Popen([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, text=True)
    worker = int(process.stdout.readline())
    yield process.pid, worker
    for pid in (worker, process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.stdout.close()
    process.wait()


def reasons(trial):
    return {flag["reason"] for flag in trial.flags}


def test_a_worker_that_the_server_forked_and_lost_makes_the_trial_invalid(run, engine, forking):
    server, worker = forking

    def kill_it(load):
        os.kill(worker, signal.SIGKILL)
        end = time.monotonic() + 30
        while psutil.Process(worker).status() != psutil.STATUS_ZOMBIE and time.monotonic() < end:
            time.sleep(0.01)
        return {}

    engine.meanwhile = kill_it
    found = run("throughput", server)
    assert found.evidence["processes_died"] == 1
    assert found.status == "invalid"
    assert found.log == "the end of the log"


def test_a_worker_that_lives_on_is_none_that_died(run, forking):
    found = run("throughput", forking[0])
    assert found.evidence["processes_died"] == 0
    assert (found.status, reasons(found)) == ("ok", set())
    assert {row["pid"] for row in found.processes} == set(forking)


def test_a_search_is_judged_by_all_of_its_probes(run, engine):
    # Only the first of many probes was disturbed; that the last one was quiet does not make it good.
    def first_is_disturbed(load):
        jump, pages = (-3.0, 7) if len(engine.loads) == 1 else (0.1, 0)
        return dataclasses.replace(QUIET, clock_jump_s=jump, swapped_pages=pages)

    def first_has_a_wrong_body(load):
        return {"errors": {"wrong-body": 1}} if len(engine.loads) == 1 else {}

    engine.meanwhile = first_has_a_wrong_body
    found = run("capacity", os.getpid(), first_is_disturbed)
    assert len(engine.loads) >= 3
    assert found.evidence["clock_jump_s"] == -3.0
    assert found.evidence["swapped_pages"] == 7
    assert found.evidence["contract_differences"] == 1
    assert found.status == "invalid"


def test_what_others_took_is_the_mean_over_the_probes(run, engine):
    found = run("capacity", os.getpid(), lambda load: dataclasses.replace(QUIET, others_cpu=len(engine.loads) / 100))
    count = len(engine.loads)
    assert found.evidence["others_cpu"] == pytest.approx((count + 1) / 2 / 100, abs=0.001)


def test_only_the_first_probe_warms_up(run, engine):
    assert run("capacity", os.getpid()).status == "ok"
    assert engine.loads[0].warmup_s > 0
    assert {load.warmup_s for load in engine.loads[1:]} == {0.0}


def test_a_server_that_does_not_recover_from_a_probe_is_invalid(run):
    found = run("capacity", os.getpid(), calm=False)
    assert found.status == "invalid"
    assert "did not recover from a probe" in found.log
