"""Simulated histories of known truth: how often is a mark false, how often a change marked?

A run knows of its own noise, 2% of its medians; what differs from one run to the next it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from loadtests.analyse.changes import Mark, Point, changes

SERIES = 20
RUNS = (4, 6, 8, 12, 20, 40)
BETWEEN_RUNS = (0.0, 0.03, 0.05)
CHANGES = (0.3, 1.0)
OWN = 0.02


@dataclass(frozen=True)
class HistoryRates:
    """``false``: the share of histories without a change that hold a mark in any series. ``found``: change -> the
    share of series whose mark is at the run in the middle, where the change is."""

    runs: int
    between: float
    false: float
    found: dict[float, float]


def simulate_history(runs: int, between: float, histories: int, seed: int) -> HistoryRates:
    """That many histories of ``SERIES`` series of ``runs`` runs, which differ by ``between`` for no reason."""
    rng = np.random.default_rng(seed)
    false = sum(any(_marked(_series(rng, runs, between, 0.0)) for _ in range(SERIES)) for _ in range(histories))
    found = {
        change: sum(runs // 2 in _marked(_series(rng, runs, between, change)) for _ in range(histories)) / histories
        for change in CHANGES
    }
    return HistoryRates(runs, between, false / histories, found)


def _marked(marks: list[Mark]) -> list[int]:
    return [number for number, mark in enumerate(marks) if mark.change is not None]


def _series(rng: np.random.Generator, runs: int, between: float, change: float) -> list[Mark]:
    values = rng.normal(0, between, runs) + rng.normal(0, OWN, runs)
    values[runs // 2 :] += log1p(change)
    reach = exp(1.96 * OWN)
    points = [
        Point(f"run {number}", value, value / reach, value * reach)
        for number, value in enumerate(map(float, 100 * np.exp(values)))
    ]
    return changes(points, family=SERIES)
