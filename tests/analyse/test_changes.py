from math import inf

import numpy as np
import pytest

from loadtests.analyse.changes import Point, between_runs, changes
from tools.simulation.histories import KINDS, simulate_history

AROUND = (1.0, 1.01, 0.99, 1.0, 1.005, 0.995)
THREE_LEVELS = [level * times for level in (100, 150, 200) for times in AROUND]
WAITING = [100, 101, 99, 100, 101, 99, 300]


def points(values, width=0.02):
    return [
        Point(f"run {number}", value, value / (1 + width), value * (1 + width)) for number, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "width", "marked"),
    [
        pytest.param([], 0.02, {}, id="no run"),
        pytest.param([100, 101, 99, 100, 120, 120, 119, 120], 0.02, {4: 1.2}, id="a step, at its first run"),
        pytest.param([100, 101, 99, 100, 120, 130, 121, 122], 0.02, {4: 1.25}, id="as large as two runs say"),
        # What differs from day to day cannot be distinguished from a change by so few.
        *(pytest.param([100, 101, 99, 50, 51, 49][:runs], 0.02, {}, id=f"{runs} runs") for runs in range(2, 7)),
        pytest.param([100, 101, 99, 50, 51, 49, 50], 0.02, {3: 0.5}, id="seven runs are enough"),
        pytest.param([100, 101, 99, 100, 300, 101, 99, 100], 0.02, {}, id="one run alone"),
        pytest.param([100, 101, 99, 100, 300, 30, 99, 100], 0.02, {}, id="two that disagree"),
        pytest.param(WAITING, 0.02, {}, id="the newest run waits for the next"),
        pytest.param([*WAITING, 300], 0.02, {6: 3.0}, id="which confirms it"),
        pytest.param(THREE_LEVELS, 0.02, {6: 1.51, 12: 1.34}, id="after a change the level is a new one"),
        pytest.param([100, 101, 150, 151, 149, 150, 151, 150], 0.02, {3: 1.49}, id="a level is of three runs"),
        pytest.param([100, 104, 98, 103, 120, 119, 121, 120], 0.2, {}, id="within the intervals"),
        pytest.param([100, 100, 100, 100, 102, 102, 102, 102], 0.001, {}, id="under delta"),
    ],
)
def test_a_change_is_marked_at_its_first_run_and_noise_is_not(values, width, marked):
    found = enumerate(changes(points(values, width)))
    assert {number: round(mark.change, 2) for number, mark in found if mark.change is not None} == marked


def test_only_runs_with_an_interval_count_as_runs():
    open_ended = Point("one block", 300.0, 0.0, inf)
    series = [*points([100, 101, 99]), open_ended, *points([50, 51, 52])]
    assert not any(mark.change for mark in changes(series))


def test_what_varies_between_runs_is_not_moved_by_one_change_or_one_far_run():
    noise = np.random.default_rng(1).normal(0, 0.02, 20)
    changed, far = noise.copy(), noise.copy()
    changed[10:] += 1.0
    far[5] += 1.0
    assert between_runs(changed) <= 2 * between_runs(noise)
    assert between_runs(far) <= 1.5 * between_runs(noise)


def test_a_slow_drift_counts_as_noise():
    drift = np.array([0.01 * abs(run % 8 - 4) for run in range(24)])
    assert between_runs(drift) > 2 * float(np.median(abs(np.diff(drift)))) / (0.6745 * 2**0.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("runs", [10, 20])
@pytest.mark.exhaustive
def test_false_marks_are_rare_in_a_whole_chart(kind, runs):
    # 60 charts at a true rate of 5% give more than 12% once in two hundred times.
    assert simulate_history(kind, runs, histories=60, seed=7).false <= 0.12


@pytest.mark.slow
def test_a_tenth_is_found_where_runs_differ_by_a_percent():
    assert simulate_history("normal", 20, histories=60, seed=7).found[0.01] >= 0.9
