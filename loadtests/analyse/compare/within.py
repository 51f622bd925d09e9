"""Setups against the study's baseline: ratios, intervals, verdicts, and the floor of the machine's own noise.

Every comparison is a ratio within each block, so that what drifts from block to block cancels; the figure is the
mean ratio, its interval is that of ``intervals``. One call is one family: the intervals of all its comparisons
hold at once. Hand in the metrics that the study is about, not all that can be counted: each more widens them all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, nan

from loadtests.analyse import intervals, trimmed
from loadtests.analyse.compare.paired import Row
from loadtests.analyse.intervals import CONFIDENCE, FIRST_LOOK, Interval
from loadtests.analyse.moderated import Noise
from loadtests.analyse.observations import Observation, Observations
from loadtests.analyse.overload import SOUND, Standing
from loadtests.analyse.verdicts import DELTA, Verdict, blocks_needed, verdict, with_failures
from loadtests.formatting import plus_minus
from loadtests.plan.kinds import metric as metric_of

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
    blocks_needed: tuple[int, int] | None
    """How many would probably settle it, from and to; None where it is settled, or where that cannot be said."""
    delta: float
    family: int
    """How many comparisons the interval is corrected for, this one included."""
    method: str
    """How the interval came about: moderated, trimmed, student, constant or none."""
    at_least: bool = False
    """The candidate's figure is a lower bound, and so is the ratio: its interval is open above."""
    at_most: bool = False
    """The baseline's figure is a lower bound, which makes the ratio an upper one: its interval is open below."""
    inside_noise: bool = False
    """The ratio is no further from 1 than the same setup under two labels may be on this machine."""
    of_baseline: Standing = SOUND
    of_candidate: Standing = SOUND
    """What failed of the test's requests, or was lost, and whether its rate was too much."""

    @property
    def tells(self) -> bool:
        """Whether it says anything: there is a block with both, or the candidate cannot hold the rate or loses what it
        was to deliver."""
        return self.blocks > 0 or self.verdict.above_ratios


@dataclass(frozen=True)
class Estimate:
    """A setup by itself: the mean of a metric over blocks (``intervals``), with its own 95% interval, for bars and
    points."""

    label: str
    test: str
    metric: str
    value: float
    low: float
    high: float
    blocks: int
    method: str
    at_least: bool = False
    """The value is a lower bound, as one of its blocks' is: the interval is open above."""


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
    candidates: Collection[str] | None = None,
    confidence: float = CONFIDENCE,
) -> list[Comparison]:
    """Every other label (of ``candidates``, where they are given) against ``baseline`` in every test and metric.

    ``aa`` is the label under which the baseline ran a second time: it is a second baseline and sets the noise floor, is
    no candidate and does not count in the family. Labels that are not compared tell of the machine's noise all the
    same. ``standings`` are what the setups made of the tests. All intervals together are made to hold with
    ``confidence``. Raises ValueError for an unknown metric.
    """
    table = Observations(observations)
    known = standings or {}
    rows = _rows(table, baseline, aa)
    floors = {key: _floor(key, row, baseline, aa) for key, row in rows.items() if aa in row.samples}
    pairs = [
        (test, metric, label)
        for test, metric, label in table.cells()
        if label not in (baseline, aa)
        and baseline in table.samples[test, metric]
        and (candidates is None or label in candidates)
    ]
    return [
        settle(
            Pairing(
                baseline,
                label,
                test,
                metric,
                len(pair.ratios),
                pair.spread,
                known.get((baseline, test), SOUND),
                known.get((label, test), SOUND),
                pair.at_least,
                pair.at_most,
            ),
            pair.interval((1 - confidence) / len(pairs)),
            delta,
            len(pairs),
            floors.get((test, metric)),
        )
        for test, metric, label in pairs
        for pair in [rows[test, metric].against_baseline(label)]
    ]


@dataclass(frozen=True)
class Pairing:
    """What is set against what, in how many blocks, how far their log ratio varies from block to block where that is
    known, what each made of the test, and whether the ratio is a bound (see Comparison)."""

    baseline: str
    candidate: str
    test: str
    metric: str
    blocks: int
    spread: Noise | None
    of_baseline: Standing = SOUND
    of_candidate: Standing = SOUND
    at_least: bool = False
    at_most: bool = False


def settle(
    pairing: Pairing, interval: Interval, delta: float, family: int, floor: NoiseFloor | None = None
) -> Comparison:
    """The comparison that an interval of log ratios amounts to."""
    ratio, low, high = ratios(interval)
    read = verdict(low, high, delta, metric_of(pairing.metric).more_is_better)
    outcome = with_failures(read, pairing.of_baseline, pairing.of_candidate)
    needed = None
    if read is outcome is Verdict.INCONCLUSIVE and not (pairing.at_least or pairing.at_most):
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
        at_least=pairing.at_least,
        at_most=pairing.at_most,
        inside_noise=(floor is not None and pairing.blocks > 0 and not outcome.above_ratios and floor.holds(ratio)),
        of_baseline=pairing.of_baseline,
        of_candidate=pairing.of_candidate,
    )


def noise_floors(observations: Iterable[Observation], baseline: str, aa: str) -> list[NoiseFloor]:
    """The noise floor of every test and metric that the baseline has under both of its labels."""
    rows = _rows(Observations(observations), baseline, aa)
    return [_floor(key, row, baseline, aa) for key, row in rows.items() if aa in row.samples]


def estimates(observations: Iterable[Observation]) -> list[Estimate]:
    """Every label by itself. These intervals are not for comparing: they hold the drift that ratios cancel."""
    table = Observations(observations)
    found = []
    for test, metric, label in table.cells():
        sample = table.sample(test, metric, label)
        bounded = table.bounded(test, metric, label)
        interval = intervals.opened(intervals.alone(list(sample.values())), below=False, above=bounded)
        found.append(Estimate(label, test, metric, *ratios(interval), len(sample), interval.method, bounded))
    return found


def ratios_to(observations: Iterable[Observation], baseline: str, aa: str | None = None) -> list[Estimate]:
    """Every other label over ``baseline`` within each block, to be followed from run to run: each ratio has its own 95%
    interval, corrected for no other. ``aa`` is the label under which the baseline ran a second time."""
    table = Observations(observations)
    found = []
    for (test, metric), row in _rows(table, baseline, aa).items():
        for label in [label for label in row.samples if label not in (baseline, aa)]:
            pair = row.against_baseline(label)
            interval = pair.interval(1 - CONFIDENCE)
            found.append(Estimate(label, test, metric, *ratios(interval), len(pair.ratios), interval.method))
    return found


def widest_interval(comparisons: Sequence[Comparison]) -> float:
    """The widest interval, as plus or minus a share of the ratio: at 0.02 a run ``--until 2%`` has what it wants.

    Stopping on the width, which knows nothing of the direction, does not look for a verdict. But an interval of a few
    blocks is narrow by chance now and then, and is wrong just then: so it is infinite where a comparison has fewer than
    ``FIRST_LOOK`` blocks, and looks should be made at ``CONFIDENCE_OF_LOOKS``. Infinite as well while an interval is
    open, or with nothing to compare.
    """
    if any(one.blocks < FIRST_LOOK for one in comparisons):
        return inf
    # That of a bound is open, however many blocks there are.
    return max((plus_minus(one.low, one.high) for one in comparisons if not (one.at_least or one.at_most)), default=inf)


def ratios(interval: Interval) -> tuple[float, float, float]:
    """Estimate, low and high back from logarithms; 0 and infinity where the interval is open."""
    return _exp(interval.estimate), _exp(interval.low), _exp(interval.high)


def _exp(value: float) -> float:
    if value != value:
        return nan
    return exp(value) if value < 700 else inf


def _rows(table: Observations, baseline: str, aa: str | None) -> dict[tuple[str, str], Row]:
    labels = [label for label in (baseline, aa) if label is not None]
    return {
        key: Row(samples, labels, table.bounds.get(key))
        for key, samples in table.samples.items()
        if baseline in samples
    }


def _floor(key: tuple[str, str], row: Row, baseline: str, aa: str | None) -> NoiseFloor:
    assert aa is not None
    pair = row.between(baseline, aa)
    return NoiseFloor(*key, *ratios(pair.interval(1 - CONFIDENCE)), len(pair.ratios))
