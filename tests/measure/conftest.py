"""Trials that no server has to run for."""

import pytest

from loadtests import store
from loadtests.measure import preflight
from loadtests.measure import run as runs


class Trials:
    """Stands for loadtests.trial.run_trial: each cell has a rate of its own, blocks differ by far more."""

    def __init__(self, speed):
        self.speed = speed
        self.ran = []
        self.broken = set()

    def __call__(self, bench, slot, entry, test, attempt, on_second):
        self.ran.append((slot.number, slot.block, slot.label))
        fails = slot.label in self.broken
        flags = [{"reason": "server_did_not_start", "severity": "invalid", "sentence": ""}] if fails else []
        rate = self.speed(entry.env) * (1 + slot.block % 3) * (1 + (slot.block * len(self.ran)) % 7 / 2000)
        return store.Trial(
            number=slot.number,
            block=slot.block,
            label=slot.label,
            setup=entry.setup,
            test=test.name,
            attempt=attempt,
            started="",
            status="invalid" if fails else "ok",
            flags=flags,
            result={"rate": rate, "ok": 1000, "completed": 1000, "response_time_ms": {"p50": 1.0, "p99": 1e3 / rate}},
            processes=[],
            cores={},
        )


@pytest.fixture
def trials(monkeypatch, free_port):
    """The rate is the better the more workers there are, and best with two threads."""
    fake = Trials(lambda env: 100.0 * int(env["WORKERS"]) * (1.5 if env.get("THREADS") == "2" else 1))
    monkeypatch.setattr(runs, "run_trial", fake)
    monkeypatch.setattr(preflight, "contract", lambda bench, study: {})
    monkeypatch.setenv("PORT", str(free_port))
    return fake
