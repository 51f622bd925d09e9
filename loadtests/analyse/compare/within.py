"""Setups against the study's baseline: ratios, intervals, verdicts, and the floor of the machine's own noise.

Every comparison is a ratio within each block, so that what drifts from block to block cancels; the figure is the
median ratio, its interval is that of ``intervals``. One call is one family: the intervals of all its comparisons
hold at once. Hand in the metrics that the study is about, not all that can be counted: each more widens them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, nan, sqrt

import numpy as np

from loadtests.analyse import intervals, trimmed
from loadtests.analyse.holding import SOUND, Standing
from loadtests.analyse.intervals import Interval
from loadtests.analyse.observations import Observation, Observations
from loadtests.analyse.verdicts import DELTA, Verdict, blocks_needed, verdict, with_failures
from loadtests.plan.kinds import metric as metric_of
from loadtests.words import plus_minus

Standings = Mapping[tuple[str, str], Standing]  # by label and test


@dataclass(frozen=True)
class Comparison:
    """A candidate against the baseline. ``ratio`` is candidate over baseline, whichever way is better: infinite (or 0)
    where the candidate (or the baseline) answered too little to reach the percentile, and not a number where neither
    did."""

    baseline: str
    candidate: str
    test: str
    metric: str
    ratio: float
    low: float
    high: float
    verdict: Verdict
    blocks: int
    """Blocks in which both have a valid trial."""
    blocks_needed: int | None
    """How many would probably settle it; None where it is settled, or where nothing is known of the spread."""
    delta: float
    family: int
    """How many comparisons the interval is corrected for, this one included."""
    method: str
    """How the interval came about: trimmed, student, constant or none."""
    inside_noise: bool = False
    """The ratio is no further from 1 than the same setup under two labels may be on this machine."""
    of_baseline: Standing = SOUND
    of_candidate: Standing = SOUND
    """What failed of the test's requests, and whether its rate was too much."""

    @property
    def tells(self) -> bool:
        """Whether it says anything: there is a block with both, or the candidate cannot hold the rate."""
        return self.blocks > 0 or self.verdict is Verdict.CANNOT_HOLD


@dataclass(frozen=True)
class Estimate:
    """A setup by itself: the median of a metric over blocks, with its own 95% interval, for bars and points."""

    label: str
    test: str
    metric: str
    median: float
    low: float
    high: float
    blocks: int
    method: str


@dataclass(frozen=True)
class NoiseFloor:
    """What the machine alone makes of two labels of one setup: the 95% interval of their ratio."""

    test: str
    metric: str
    ratio: float
    low: float
    high: float
    blocks: int

    def holds(self, ratio: float) -> bool:
        """Whether a ratio is inside the floor. Which label came first is chance, so the floor is symmetric."""
        if not 0 < ratio < inf:
            return False
        if self.low <= 0 or self.high == inf:
            return True
        return abs(log(ratio)) <= max(abs(log(self.low)), abs(log(self.high))) + trimmed.SAME


def compare(
    observations: Iterable[Observation],
    baseline: str,
    delta: float = DELTA,
    aa: str | None = None,
    standings: Standings | None = None,
) -> list[Comparison]:
    """Every other label against ``baseline`` in every test and metric.

    ``aa`` is the label under which the baseline ran a second time: it sets the noise floor, is no candidate and
    does not count in the family. ``standings`` are what the setups made of the tests. Raises ValueError for an unknown
    metric.
    """
    table = Observations(observations)
    known = standings or {}
    floors = {(floor.test, floor.metric): floor for floor in _floors(table, baseline, aa)}
    pairs = [
        (test, metric, label)
        for test, metric, label in table.cells()
        if label not in (baseline, aa) and baseline in table.samples[test, metric]
    ]
    samples = [list(table.log_ratios(test, metric, baseline, label).values()) for test, metric, label in pairs]
    found = intervals.simultaneous(samples)
    return [
        settle(
            Pairing(
                baseline,
                label,
                test,
                metric,
                len(sample),
                _spread(sample),
                known.get((baseline, test), SOUND),
                known.get((label, test), SOUND),
            ),
            interval,
            delta,
            len(pairs),
            floors.get((test, metric)),
        )
        for (test, metric, label), sample, interval in zip(pairs, samples, found, strict=True)
    ]


@dataclass(frozen=True)
class Pairing:
    """What is set against what, in how many blocks, how far their log ratio varies from block to block (the
    interval's standard error times the root of the blocks), and what each made of the test."""

    baseline: str
    candidate: str
    test: str
    metric: str
    blocks: int
    spread: float
    of_baseline: Standing = SOUND
    of_candidate: Standing = SOUND


def settle(
    pairing: Pairing, interval: Interval, delta: float, family: int, floor: NoiseFloor | None = None
) -> Comparison:
    """The comparison that an interval of log ratios amounts to."""
    ratio, low, high = ratios(interval)
    read = verdict(low, high, delta, metric_of(pairing.metric).more_is_better)
    outcome = with_failures(read, pairing.of_baseline, pairing.of_candidate)
    needed = None
    if read is outcome is Verdict.INCONCLUSIVE:
        needed = blocks_needed(interval.estimate, pairing.spread, pairing.blocks, delta, family)
    return Comparison(
        baseline=pairing.baseline,
        candidate=pairing.candidate,
        test=pairing.test,
        metric=pairing.metric,
        ratio=ratio,
        low=low,
        high=high,
        verdict=outcome,
        blocks=pairing.blocks,
        blocks_needed=needed,
        delta=delta,
        family=family,
        method=interval.method,
        inside_noise=(
            floor is not None and pairing.blocks > 0 and outcome is not Verdict.CANNOT_HOLD and floor.holds(ratio)
        ),
        of_baseline=pairing.of_baseline,
        of_candidate=pairing.of_candidate,
    )


def noise_floors(observations: Iterable[Observation], baseline: str, aa: str) -> list[NoiseFloor]:
    """The noise floor of every test and metric that the baseline has under both of its labels."""
    return _floors(Observations(observations), baseline, aa)


def estimates(observations: Iterable[Observation]) -> list[Estimate]:
    """Every label by itself. These intervals are not for comparing: they hold the drift that ratios cancel."""
    table = Observations(observations)
    found = []
    for test, metric, label in table.cells():
        sample = table.sample(test, metric, label)
        interval = intervals.alone(list(sample.values()))
        found.append(Estimate(label, test, metric, *ratios(interval), len(sample), interval.method))
    return found


def widest_interval(comparisons: Sequence[Comparison]) -> float:
    """The widest interval, as plus or minus a share of the ratio: at 0.02 a run ``--until 2%`` has what it wants.

    Stopping on the width, which knows nothing of the direction, does not look for a verdict; the simulation shows
    what the peeking costs. Infinite while an interval is open, or with nothing to compare.
    """
    return max((plus_minus(one.low, one.high) for one in comparisons), default=inf)


def ratios(interval: Interval) -> tuple[float, float, float]:
    """Estimate, low and high back from logarithms; 0 and infinity where the interval is open."""
    return _exp(interval.estimate), _exp(interval.low), _exp(interval.high)


def _spread(sample: Sequence[float]) -> float:
    if len(sample) < 2:
        return nan
    values = np.array(sample, dtype=float)
    if not trimmed.finite(values, trimmed.cut_of(len(values))):
        return nan
    return float(trimmed.centre(values, trimmed.cut(values))[1]) * sqrt(len(values))


def _exp(value: float) -> float:
    if value != value:
        return nan
    return exp(value) if value < 700 else inf


def _floors(table: Observations, baseline: str, aa: str | None) -> list[NoiseFloor]:
    floors = []
    for (test, metric), row in table.samples.items():
        if aa is None or aa not in row or baseline not in row:
            continue
        sample = table.log_ratios(test, metric, baseline, aa)
        interval = intervals.alone(list(sample.values()))
        floors.append(NoiseFloor(test, metric, *ratios(interval), len(sample)))
    return floors
