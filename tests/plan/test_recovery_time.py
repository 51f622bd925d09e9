"""Test the time that a setup needs to recover after its origin was slow or failed."""

import dataclasses
import math

import pytest

from loadtests.plan.kinds.requests import RECOVERY
from loadtests.plan.recovery_time import Course, course
from loadtests.records import Meanwhile, OriginObservation, OriginStage, Second

STAGES = (
    OriginStage(0.0, "200 after 1000 ms", True, 1000.0),
    OriginStage(10.0, "503 after 50 ms", False, 50.0),
    OriginStage(20.0, "200 after 5000 ms", True, 5000.0),
    OriginStage(30.0, "200 after 1000 ms", True, 1000.0),
)


def second(t, ok=40, errors=0, p50_ms=1010.0, stale=0):
    ends = {"200": ok - stale, "503": errors, "stale": stale}
    return Second(float(t), 40, ok + errors, ok, errors, p50_ms, p50_ms, ends={k: v for k, v in ends.items() if v})


def failing(first, until):
    return [second(t, ok=0, errors=40, p50_ms=None) for t in range(first, until)]


def slow(until):
    return [second(t, ok=10, p50_ms=6000.0) for t in range(20, until)]


@pytest.fixture
def tried(build_run):
    """Return a function that returns a trial of 45 seconds, which are normal except for the given seconds."""
    [trial, *_] = build_run(labels=("gunicorn", "uvicorn"), tests=("latency",), blocks=1).trials()

    def tried(otherwise=(), stages=STAGES, lasts=45):
        seconds = {t: second(t) for t in range(lasts)} | {one.t: one for one in otherwise}
        result = dataclasses.replace(trial.result, timeline=tuple(seconds[t] for t in sorted(seconds)), duration_s=45.0)
        return dataclasses.replace(trial, result=result, meanwhile=Meanwhile((), OriginObservation(stages, 1, 1.0)))

    return tried


def test_recovery_ends_at_normal_second(tried):
    trial = tried([*failing(10, 20), *slow(34)])
    assert course(trial) == Course(recovery_s=5.0, lost=400, stale=0, usual_ms=1010.0)
    assert RECOVERY.read(trial) == 5.0


@pytest.mark.parametrize(
    ("otherwise", "recovery_s"),
    [
        ([*failing(10, 20), *slow(30)], 1.0),  # the setup recovers immediately
        ([*slow(32), *(second(t, p50_ms=4000.0) for t in (34, 35))], 7.0),  # a single normal second may be chance
        (failing(10, 45), math.inf),  # recovers only after the load
        # In each case, two seconds are abnormal for one reason.
        *(
            ([*slow(30), second(30, **unlike), second(31, **unlike)], 3.0)
            for unlike in (
                {"ok": 39, "errors": 1},  # 2.5% fail
                {"ok": 10},  # few requests are answered
                {"p50_ms": 1300.0},
                {"p50_ms": 700.0},
            )
        ),
    ],
)
def test_recovery_must_last_under_load(tried, otherwise, recovery_s):
    assert course(tried(otherwise, lasts=60)).recovery_s == recovery_s


def test_early_answers_prevent_recovery(tried):
    """Stale copies, or errors that count as answers, take 20 ms instead of the 1 s that a fetch takes."""
    quick = [second(t, p50_ms=20.0, stale=40) for t in range(10, 36)]
    assert course(tried(quick)) == Course(recovery_s=7.0, lost=0, stale=40 * 26, usual_ms=1010.0)


@pytest.mark.parametrize(
    "given",
    [
        {"otherwise": [second(t, ok=30, errors=10) for t in range(10)]},  # the setup didn't sustain the rate before
        {"stages": STAGES[:3]},  # the origin doesn't recover
        {"stages": (STAGES[1], STAGES[0], dataclasses.replace(STAGES[1], t=30.0))},  # the origin was never healthy
    ],
)
def test_missing_reference_makes_recovery_unknown(tried, given):
    assert course(tried(**given)) is None
