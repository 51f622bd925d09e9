from math import inf

import numpy as np
import pytest

from loadtests.analyse.changes import Point, between_runs, changes
from tools.simulation.histories import KINDS, simulate_history


def points(values: list[float], width: float = 0.02) -> list[Point]:
    return [
        Point(f"run {number}", value, value / (1 + width), value * (1 + width)) for number, value in enumerate(values)
    ]


def marked(values: list[float], width: float = 0.02) -> dict[int, float]:
    return {
        number: round(mark.change, 2)
        for number, mark in enumerate(changes(points(values, width)))
        if mark.change is not None
    }


def test_no_run_is_no_change() -> None:
    assert changes([]) == []


def test_step_is_marked_once_at_its_first_run() -> None:
    assert marked([100, 101, 99, 100, 120, 120, 119, 120]) == {4: 1.2}


def test_a_change_is_as_large_as_two_runs_say() -> None:
    assert marked([100, 101, 99, 100, 120, 130, 121, 122]) == {4: 1.25}


@pytest.mark.parametrize("runs", [2, 3, 4, 5, 6])
def test_fewer_than_seven_runs_show_no_change(runs: int) -> None:
    # What differs from day to day cannot be distinguished from a change by so few.
    assert marked([100, 101, 99, 50, 51, 49][:runs]) == {}


def test_seven_runs_are_enough_for_a_large_change() -> None:
    assert marked([100, 101, 99, 50, 51, 49, 50]) == {3: 0.5}


def test_one_run_alone_is_no_change() -> None:
    assert marked([100, 101, 99, 100, 300, 101, 99, 100]) == {}
    assert marked([100, 101, 99, 100, 300, 30, 99, 100]) == {}


def test_the_newest_run_waits_for_the_next() -> None:
    series = [100.0, 101, 99, 100, 101, 99, 300]
    assert marked(series) == {}
    assert marked([*series, 300.0]) == {6: 3.0}


def test_after_a_change_the_level_is_a_new_one() -> None:
    around = np.array([1.0, 1.01, 0.99, 1.0, 1.005, 0.995])
    assert marked([*(100 * around), *(150 * around), *(200 * around)]) == {6: 1.51, 12: 1.34}


def test_a_level_is_of_three_runs() -> None:
    assert 2 not in marked([100, 101, 150, 151, 149, 150, 151, 150, 149, 151])


def test_only_runs_with_an_interval_count_as_runs() -> None:
    open_ended = Point("one block", 300.0, 0.0, inf)
    series = [*points([100, 101, 99]), open_ended, *points([50, 51, 52])]
    assert not any(mark.change for mark in changes(series))


def test_differences_within_the_intervals_are_noise() -> None:
    assert marked([100, 104, 98, 103, 120, 119, 121, 120], width=0.2) == {}


def test_sure_differences_under_delta_do_not_matter() -> None:
    assert marked([100, 100, 100, 100, 102, 102, 102, 102], width=0.001) == {}


def test_what_varies_between_runs_is_not_moved_by_one_change_or_one_far_run() -> None:
    noise = np.random.default_rng(1).normal(0, 0.02, 20)
    changed, far = noise.copy(), noise.copy()
    changed[10:] += 1.0
    far[5] += 1.0
    assert between_runs(changed) <= 2 * between_runs(noise)
    assert between_runs(far) <= 1.5 * between_runs(noise)


def test_a_slow_drift_counts_as_noise() -> None:
    drift = np.array([0.01 * abs(run % 8 - 4) for run in range(24)])
    assert between_runs(drift) > 2 * float(np.median(abs(np.diff(drift)))) / (0.6745 * 2**0.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("runs", [10, 20])
@pytest.mark.exhaustive
def test_false_marks_are_rare_in_a_whole_chart(kind: str, runs: int) -> None:
    # 60 charts at a true rate of 5% give more than 12% once in two hundred times.
    assert simulate_history(kind, runs, histories=60, seed=7).false <= 0.12


@pytest.mark.slow
def test_a_tenth_is_found_where_runs_differ_by_a_percent() -> None:
    assert simulate_history("normal", 20, histories=60, seed=7).found[0.01] >= 0.9
