"""Simulated histories of known truth: how often is a mark false, how often a change marked?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from loadtests.analyse.changes import Point, changes

Array = NDArray[np.float64]
Between = Callable[[np.random.Generator, int], Array]

SERIES = 20
RUNS = (7, 10, 20, 40)
# Of a run, where nothing changes; a run knows half of it from its own blocks.
NOISE = 0.05
CHANGE = 0.1
NOISES_OF_CHANGE = (0.01, 0.02, 0.03)


@dataclass(frozen=True)
class HistoryRates:
    """``false``: the share of histories without a change that hold a mark in any series. ``found``: noise of a run ->
    the share of series in which a change of ``CHANGE`` in the middle is marked where it is or later."""

    kind: str
    runs: int
    false: float
    found: dict[float, float]


def simulate_history(kind: str, runs: int, histories: int, seed: int) -> HistoryRates:
    """That many histories of ``SERIES`` series of ``runs`` runs, whose noise is of that kind (``KINDS``)."""
    rng = np.random.default_rng(seed)
    false = sum(any(_marked(rng, kind, runs, NOISE, 0.0) for _ in range(SERIES)) for _ in range(histories))
    found = {
        noise: sum(_marked(rng, kind, runs, noise, CHANGE) for _ in range(histories)) / histories
        for noise in NOISES_OF_CHANGE
    }
    return HistoryRates(kind, runs, false / histories, found)


def _marked(rng: np.random.Generator, kind: str, runs: int, noise: float, change: float) -> bool:
    """Whether one series has a mark, from the change on where there is one."""
    values = noise * KINDS[kind](rng, runs)
    values[runs // 2 :] += log1p(change)
    reach = exp(1.96 * noise / 2)
    points = [
        Point(f"run {number}", value, value / reach, value * reach)
        for number, value in enumerate(map(float, 100 * np.exp(values)))
    ]
    first = runs // 2 if change else 0
    return any(mark.change is not None for mark in changes(points)[first:])


def _normal(rng: np.random.Generator, runs: int) -> Array:
    return rng.normal(size=runs)


def _heavy(rng: np.random.Generator, runs: int) -> Array:
    """Student's t with 3 degrees of freedom, at unit variance."""
    return rng.standard_t(3, runs) / sqrt(3)


def _following(rng: np.random.Generator, runs: int) -> Array:
    """Each run is half of the one before: an autocorrelation of 0.5."""
    values = rng.normal(size=runs)
    for run in range(1, runs):
        values[run] = 0.5 * values[run - 1] + sqrt(0.75) * values[run]
    return values


def _drifting(rng: np.random.Generator, runs: int) -> Array:
    """From the first run to the last the level goes up by as much as the noise."""
    return rng.normal(size=runs) + np.linspace(0, 1, runs)


KINDS: dict[str, Between] = {
    "normal": _normal,
    "heavy tails": _heavy,
    "autocorrelated": _following,
    "drift": _drifting,
}
