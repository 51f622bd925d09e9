"""Simulate studies with the noise and the duration of real studies on machines with two shared cores.

In committed runs, the logarithm of a figure is changed by these sources of noise:

- Each start of a server changes the figure by 1 to 2%.
- The whole machine drifts slowly, by 7 to 13% within 10 to 30 seconds. It also drifts fast, by the same amount within
  two seconds.
- Each second of a setup's measurements has separate noise of 5%.

Consecutive seconds of a trial differ as if each second had 5 to 7% of noise. Consecutive periods of three seconds
differ as if each period had 8% of noise. So most of the difference between two trials comes from the machine, and not
from the trials.

The simulation compares two methods that need the same time. The first method measures one trial after another, each
after a separate start of the server. The second method starts all setups of a block together and measures slices of a
second or half a second in rounds, whose order is shuffled and then mirrored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, log, sqrt
from statistics import median

import numpy as np

from loadtests.analyse.compare.paired import Row
from loadtests.analyse.intervals import CONFIDENCE, Interval
from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import Verdict
from tools.simulation.studies import read, wrong

BLOCKS = 4
METRICS = 4  # The number of metrics of a study. They share its error rate of 5%.
TESTS = 2  # The number of tests that share the time of a study.
TRIAL_S = 4.0
START_S = 1.0  # Seconds for each setup, if all setups of a block are started together.
STEP_S = 0.5  # The resolution of the machine's drift.
FAST_S = 2.0  # The time scale of the fast drift.
STALL_S, STALL = 2.0, log(3)  # During a stall, requests take three times as long.
EFFECT = 0.3  # The slowdown of the first candidate. The other candidates equal the baseline.
SIZES = ((5, 270.0), (19, 1200.0))  # Numbers of setups, and the duration of their study in seconds.


@dataclass(frozen=True)
class Way:
    """A method of measurement: the number of pieces of a trial, and the duration of a piece in seconds.

    A trial with one piece starts its server. The servers of trials with several pieces are started together.
    """

    name: str
    pieces: int
    piece_s: float


AFTER_ANOTHER = Way("one after another", 1, TRIAL_S)
WAYS = (AFTER_ANOTHER, Way("4 slices of 1 s", 4, 1.0), Way("8 slices of 0.5 s", 8, 0.5))


@dataclass(frozen=True)
class Machine:
    """The noise of a machine, as standard deviations of logarithms.

    Attributes:
        name: The name in the table.
        start: The noise from the start of a server.
        drift: The machine's slow drift.
        scale_s: The time scale of the slow drift in seconds.
        fast: The machine's fast drift.
        own: The separate noise of each setup in a second.
        noisy: The factor for the baseline's ``own`` noise.
        stalls: The number of times that the machine stalls in a study.
        lost: The share of invalid trials.
    """

    name: str
    start: float = 0.015
    drift: float = 0.10
    scale_s: float = 20.0
    fast: float = 0.10
    own: float = 0.05
    noisy: float = 1.0
    stalls: int = 0
    lost: float = 0.0


MIDDLE = Machine("middle")
MACHINES = (
    Machine("calm", 0.01, 0.07, 30.0, 0.07),
    MIDDLE,
    Machine("restless", 0.02, 0.13, 10.0, 0.14),
    replace(MIDDLE, name="a stall", stalls=1),
    replace(MIDDLE, name="one noisy setup", noisy=3.0),
    replace(MIDDLE, name="one trial in ten lost", lost=0.1),
    replace(MIDDLE, name="no shared fast noise", fast=0.0, own=0.20),
)


@dataclass(frozen=True)
class Shape:
    """The number of setups, duration and number of blocks of a study. The first candidate is slower by ``effect``."""

    setups: int
    seconds: float
    blocks: int = BLOCKS
    effect: float = EFFECT


@dataclass(frozen=True)
class MeasuredRates:
    """The results of simulated studies.

    Attributes:
        machine: The noise of the simulated machine.
        way: The method of measurement.
        setups: The number of setups.
        seconds: The duration of a study in seconds.
        false: The share of studies with at least one wrong verdict.
        found: The share of metrics in which the verdict on the slower candidate is ``slower``.
        reach: The median of the factor between a ratio and the limits of its interval.
    """

    machine: Machine
    way: Way
    setups: int
    seconds: float
    false: float
    found: float
    reach: float


def simulate_measured(
    machine: Machine, way: Way, setups: int, seconds: float, studies: int, seed: int
) -> MeasuredRates:
    """Simulate studies of ``METRICS`` metrics. ``seconds`` is the duration of a study."""
    rng = np.random.default_rng(seed)
    false = found = 0
    reaches: list[float] = []
    for _ in range(studies):
        mistaken = False
        for _ in range(METRICS):
            intervals = _judged(trials(machine, way, Shape(setups, seconds), rng))
            first, *others = read(intervals)[0]
            mistaken |= wrong(first, EFFECT) or any(wrong(one, 0.0) for one in others)
            found += first is Verdict.SLOWER
            reaches += [(one.high - one.low) / 2 for one in intervals]
        false += mistaken
    reach = exp(median(reaches))
    return MeasuredRates(machine, way, setups, seconds, false / studies, found / studies / METRICS, reach)


def _judged(values: Array) -> list[Interval]:
    labels = [str(setup) for setup in range(values.shape[1])]
    samples = {
        label: {block: float(value) for block, value in enumerate(own) if np.isfinite(value)}
        for label, own in zip(labels, values.T, strict=True)
    }
    row = Row(samples, labels[:1])
    error = (1 - CONFIDENCE) / METRICS / (len(labels) - 1)
    return [row.against_baseline(label).interval(error) for label in labels[1:]]


def trials(machine: Machine, way: Way, shape: Shape, rng: np.random.Generator) -> Array:
    """Return logarithms of response times, blocks x (baseline, candidates). Lost trials are NaN."""
    begins = _begins(way, shape, rng)
    steps = int(way.piece_s / STEP_S)
    level = np.exp(_machine(machine, shape.seconds, rng))
    places = (begins / STEP_S).astype(int)[..., None] + np.arange(steps)
    times = level[places].mean(axis=(1, 3))
    own = rng.normal(0, machine.own / sqrt(TRIAL_S), times.shape)
    own[:, 0] *= machine.noisy
    values: Array = np.log(times) + own + rng.normal(0, machine.start, times.shape)
    values[:, 1] += log(1 + shape.effect)
    values[rng.random(values.shape) < machine.lost] = np.nan
    return values


def _begins(way: Way, shape: Shape, rng: np.random.Generator) -> Array:
    """Return the start times of all pieces in seconds: blocks x pieces x setups."""
    setups, blocks = shape.setups, shape.blocks
    block_s = shape.seconds / blocks / TESTS
    pieces, start_s = way.pieces, START_S * setups / TESTS if way.pieces > 1 else 0.0
    place_s = (block_s - start_s) / setups / pieces
    begins = np.empty((blocks * pieces, setups))
    for first in range(0, len(begins), 2):
        order = rng.permutation(setups)
        begins[first], begins[first + 1] = order, setups - 1 - order
    begins = begins.reshape(blocks, pieces, setups) * place_s
    rounds = np.arange(pieces)[:, None] * setups * place_s
    found: Array = begins + rounds + np.arange(blocks)[:, None, None] * TESTS * block_s + start_s
    return found


def _machine(machine: Machine, seconds: float, rng: np.random.Generator) -> Array:
    """Return the logarithm of the machine's slowdown for each step."""
    count = int((seconds + TRIAL_S) / STEP_S) + 1
    level = _drift(machine.drift, machine.scale_s, count, rng) + _drift(machine.fast, FAST_S, count, rng)
    for begun in rng.integers(count, size=machine.stalls):
        level[begun : begun + int(STALL_S / STEP_S)] += STALL
    return level


def _drift(sd: float, scale_s: float, count: int, rng: np.random.Generator) -> Array:
    """Return noise whose correlation decays with the time scale (an Ornstein-Uhlenbeck process)."""
    kept = exp(-STEP_S / scale_s)
    shocks = rng.normal(0, sd * sqrt(1 - kept**2), count)
    shocks[0] /= sqrt(1 - kept**2)
    return np.array([*accumulate(shocks.tolist(), lambda level, shock: kept * level + shock)])
