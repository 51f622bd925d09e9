"""Test users' journeys on a real server while its Redis is killed and restarted.

Lost journeys are reported, later journeys complete, and nothing hangs.
"""

import contextlib
import dataclasses
import os
import signal
import threading
from types import SimpleNamespace

import pytest

from loadtests import engines, setups
from loadtests.measure import contract_check
from loadtests.measure.bench import make_bench
from loadtests.measure.observation import PlannedTrial
from loadtests.measure.trial import run_trial
from loadtests.plan import study as studies
from loadtests.plan.schedule import schedule
from loadtests.setups.application import sample

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

USERS = 4
LONGEST = 19  # requests in the longest journey
TABLE = {
    "setups": [{"setup": "gunicorn-gthread", "env": {"SESSIONS": "redis", "THREADS": 4}}],
    "blocks": 1,
    "tests": {
        # The load ends after all expected events. The duration is only a limit.
        "users": {"kind": "journey", "users": USERS, "think": ["10ms", "30ms"], "warmup": "500ms", "duration": "100s"}
    },
}


class Accident:
    """Kill Redis after the first completed journeys.

    The load ends when journeys that started after the restart have been completed. The run calls the watcher for each
    second of the load.
    """

    def __init__(self):
        self.running = None
        self.over = threading.Event()
        self.steps = self.happen()
        next(self.steps)

    def redis(self):
        return next((part.pid for part in self.running.parts() if part.role == "redis"), None)

    def happen(self):
        # After more requests than this, at least one user has completed a journey.
        yield from self.until(lambda ok, failed: ok > USERS * LONGEST)
        killed = self.redis()
        os.kill(killed, signal.SIGKILL)
        yield from self.until(lambda ok, failed: failed and self.redis() not in (None, killed))
        # Each user may have been in the middle of a journey that can't continue.
        yield from self.until(lambda ok, failed: ok > USERS * 2 * LONGEST)
        self.over.set()
        yield from self.until(lambda ok, failed: False)

    def until(self, condition):
        """Count successes and failures from now on, and wait until the counts meet the condition."""
        ok = failed = 0
        while not condition(ok, failed):
            row = yield
            ok, failed = ok + row.ok, failed + row.errors


@pytest.fixture
def accident():
    return Accident()


@pytest.fixture
def trial(accident, monkeypatch, tmp_path, free_port):
    """Return the trial in which Redis is killed and restarted."""
    [setup] = setups.find(["gunicorn-gthread"])
    if (missing := setups.missing(setup) or setups.needs.missing(["redis"])) is not None:
        pytest.skip(missing)
    monkeypatch.setenv("PORT", str(free_port))
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/db.sqlite3")
    monkeypatch.delenv("REDIS_URL", raising=False)
    sample().prepare()
    study = studies.parse(TABLE, "s", "s.toml")
    made = make_bench(study, sample())

    @contextlib.contextmanager
    def serve(*given):
        with made.serve(*given) as running:
            accident.running = running
            yield running

    def engine(name):
        def run(load, watch):
            return engines.get(name).run(load, dataclasses.replace(watch, should_stop=accident.over.is_set))

        return SimpleNamespace(run=run)

    here = dataclasses.replace(made, serve=serve, engine=engine)
    here.contract = contract_check.preflight(here, study).contract
    [slot] = schedule(study, seed=1)
    return run_trial(here, PlannedTrial(slot, study.entries[0], study.tests[0], 1), accident.steps.send)


def test_killed_redis_comes_back(trial, accident):
    assert accident.over.is_set(), trial.log
    result, found = trial.result, trial.result.journeys
    assert found.broken_off > 0
    assert found.completed >= 2  # at least one journey before the failure, and one after it
    assert {"mixed-up", "wrong-body"}.isdisjoint(result.errors)  # no user received another user's page
    assert result.planned == result.ok + sum(result.errors.values()) + result.unfinished
    assert not trial.valid
    [said] = [flag.sentence for flag in trial.flags if flag.reason == "process_died"]
    assert f"{found.broken_off:,} of {found.completed + found.broken_off:,} journeys ended early, " in said
