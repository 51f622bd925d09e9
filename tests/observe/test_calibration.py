"""The machine's speed, by a fixed piece of work."""

import os

from loadtests.observe import calibration


def test_the_calibration_loop_runs_on_the_core_that_is_named_and_the_caller_stays_where_it_was(monkeypatch):
    before = os.sched_getaffinity(0)
    core = max(before)
    seen = set()
    monkeypatch.setattr(calibration, "_work", lambda: seen.add(frozenset(os.sched_getaffinity(0))))
    assert calibration.calibrate(core) > 0
    assert seen == {frozenset({core})}
    assert os.sched_getaffinity(0) == before


def test_the_work_is_the_same_each_time():
    assert calibration._work() == calibration._work() == len(calibration.HEADERS)


def test_speeds_are_shares_of_the_usual_one():
    assert calibration.spread([0.1, 0.1, 0.2, 0.1, 0.08]) == (0.5, 1.25)
