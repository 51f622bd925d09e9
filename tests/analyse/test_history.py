from math import inf

import numpy as np

from loadtests.analyse.history import Point, changes


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


def test_two_runs_are_enough_for_a_large_change() -> None:
    assert marked([100, 50]) == {1: 0.5}


def test_differences_within_the_intervals_are_noise() -> None:
    assert marked([100, 104, 98, 103], width=0.1) == {}


def test_what_always_varies_between_runs_is_noise() -> None:
    # Each run is sure of itself, but runs differ by 5% for no reason that the intervals know.
    rng = np.random.default_rng(3)
    false = sum(bool(marked(wavering(rng, 0.05, 20), width=0.005)) for _ in range(200))
    assert false / 200 <= 0.07


def test_sure_differences_under_delta_do_not_matter() -> None:
    assert marked([100, 102, 100, 102], width=0.001) == {}


def test_run_without_an_interval_is_no_change_and_no_level() -> None:
    series = [*points([100.0]), Point("one block", 300.0, 0.0, inf), *points([100.0])]
    assert [mark.change for mark in changes(series)] == [None, None, None]


def test_false_marks_are_rare() -> None:
    rng = np.random.default_rng(5)
    width = float(np.expm1(1.96 * 0.02))
    false = sum(bool(marked(wavering(rng, 0.02, 4), width)) for _ in range(200))
    assert false / 200 <= 0.07


def wavering(rng: np.random.Generator, sd: float, runs: int) -> list[float]:
    return [float(value) for value in 100 * np.exp(rng.normal(0, sd, runs))]
