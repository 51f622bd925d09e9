from math import inf

import numpy as np
import pytest

from loadtests.analyse.changes import Point, changes
from loadtests.simulate.histories import simulate_history


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
    assert marked([100, 101, 99, 100, 120, 121, 119, 120]) == {4: 1.2}


@pytest.mark.parametrize("runs", [2, 3, 4, 5])
def test_fewer_than_six_runs_show_no_change(runs: int) -> None:
    # What differs from day to day cannot be told from a change by so few.
    assert marked([100, 50, 52, 49, 51][:runs]) == {}
    assert marked([100, 101, 99, 100, 300][:runs]) == {}


def test_six_runs_are_enough_for_a_large_change() -> None:
    assert marked([100, 101, 99, 50, 51, 49]) == {3: 0.5}


def test_only_runs_with_an_interval_count_as_runs() -> None:
    open_ended = Point("one block", 300.0, 0.0, inf)
    series = [*points([100, 101, 99]), open_ended, *points([50, 51])]
    assert not any(mark.change for mark in changes(series))


def test_differences_within_the_intervals_are_noise() -> None:
    assert marked([100, 104, 98, 103, 99, 104, 97], width=0.1) == {}


def test_more_series_make_a_mark_harder() -> None:
    series = points([100, 104, 99, 103, 98, 125, 121, 124])
    assert any(mark.change for mark in changes(series))
    assert not any(mark.change for mark in changes(series, family=100))


@pytest.mark.parametrize("runs", [6, 8, 20])
def test_what_always_varies_between_runs_is_noise(runs: int) -> None:
    # Each run is sure of itself, but runs differ by 5% for no reason that the intervals know.
    rng = np.random.default_rng(3)
    false = sum(bool(marked(wavering(rng, 0.05, runs), width=0.005)) for _ in range(200))
    assert false / 200 <= 0.09


def test_sure_differences_under_delta_do_not_matter() -> None:
    assert marked([100, 100, 100, 100, 102, 102, 102, 102], width=0.001) == {}


def test_run_without_an_interval_is_no_change_and_no_level() -> None:
    series = [*points([100.0] * 4), Point("one block", 300.0, 0.0, inf), *points([100.0] * 4)]
    assert not any(mark.change for mark in changes(series))


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "between"), [(4, 0.03), (6, 0.0), (6, 0.05), (12, 0.05)])
def test_false_marks_are_rare_in_a_whole_chart(runs: int, between: float) -> None:
    # The limits are for all of a chart's series: 5% at a true rate of 5% is more than 12% once in two hundred times.
    assert simulate_history(runs, between, histories=60, seed=7).false <= 0.12


def wavering(rng: np.random.Generator, sd: float, runs: int) -> list[float]:
    return [float(value) for value in 100 * np.exp(rng.normal(0, sd, runs))]
