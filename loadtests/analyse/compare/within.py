"""Compare setups with the study's baseline: ratios, intervals, verdicts, and the machine's noise floor.

Each block has its own ratio, so that drift between blocks cancels out. The reported figure is the mean ratio. All
comparisons of one call to ``compare`` form a family: their intervals hold simultaneously, so each additional metric
makes all intervals wider.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, nan

from loadtests.analyse import intervals, trimmed
from loadtests.analyse.compare.paired import Row
from loadtests.analyse.intervals import CONFIDENCE, FIRST_LOOK, Interval
from loadtests.analyse.verdicts import DELTA, Verdict, verdict, with_failures
from loadtests.formatting import plus_minus
from loadtests.plan.kinds import metric as metric_of
from loadtests.trials.observations import Observation, Observations
from loadtests.trials.overload import SOUND, Standing

Standings = Mapping[tuple[str, str], Standing]  # by label and test


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Two setups to compare in one metric of one test."""

    baseline: str
    candidate: str
    test: str
    metric: str
    blocks: int  # the number of blocks in which both setups have a valid trial
    baseline_standing: Standing = SOUND
    candidate_standing: Standing = SOUND
    at_least: bool = False  # Whether the candidate's figure is a lower bound, so that the interval has no upper end.
    at_most: bool = False  # Whether the baseline's figure is a lower bound, so that the interval has no lower end.


@dataclass(frozen=True, kw_only=True)
class Comparison(Pairing):
    """A pairing with its result. For all metrics, ``ratio`` is the candidate's value divided by the baseline's value.

    The ratio is infinite (or 0) if the candidate (or the baseline) answered too few requests to reach the percentile,
    and NaN if neither setup reached the percentile.
    """

    ratio: float
    low: float
    high: float
    verdict: Verdict
    delta: float
    family: int  # The number of comparisons for which the interval is adjusted.
    method: str  # The method of the interval: moderated, trimmed, student, constant or none.
    inside_noise: bool = False  # Whether two copies of one setup can differ by the same ratio on this machine.

    @property
    def informative(self) -> bool:
        """Whether any block contains both setups, or the verdict doesn't need a ratio."""
        return self.blocks > 0 or self.verdict.above_ratios


@dataclass(frozen=True)
class Estimate:
    """The mean of a setup's values in one metric over all blocks, with its own 95% interval."""

    label: str
    test: str
    metric: str
    value: float
    low: float
    high: float
    blocks: int
    method: str
    at_least: bool = False  # Whether a block's value is a lower bound, so that the interval has no upper end.


@dataclass(frozen=True)
class NoiseFloor:
    """The 95% interval for the ratio between two labels of the same setup."""

    test: str
    metric: str
    ratio: float
    low: float
    high: float
    blocks: int

    def covers(self, ratio: float) -> bool:
        """Return whether a ratio is within the noise floor.

        The floor is symmetric, because the order of the labels is random.
        """
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
    """Compare all other labels, or only the ``candidates``, with ``baseline`` in every test and metric.

    All intervals hold simultaneously with ``confidence``. ``aa`` is the label of the baseline's A/A copy, a second
    baseline that determines the noise floor and isn't a candidate. The noise is estimated from all labels, including
    those that aren't compared.

    Raises:
        ValueError: If a metric is unknown.
    """
    table = Observations(observations)
    known = standings or {}
    rows = _rows(table, baseline, aa)
    floors = {key: _floor(key, row, baseline, aa) for key, row in rows.items() if aa in row.samples}
    cells = [
        (test, metric, label)
        for test, metric, label in table.cells()
        if label not in (baseline, aa)
        and baseline in table.samples[test, metric]
        and (candidates is None or label in candidates)
    ]
    found = []
    for test, metric, label in cells:
        pair = rows[test, metric].against_baseline(label)
        pairing = Pairing(
            baseline=baseline,
            candidate=label,
            test=test,
            metric=metric,
            blocks=len(pair.ratios),
            baseline_standing=known.get((baseline, test), SOUND),
            candidate_standing=known.get((label, test), SOUND),
            at_least=pair.at_least,
            at_most=pair.at_most,
        )
        interval = pair.interval((1 - confidence) / len(cells))
        found.append(settle(pairing, interval, delta, len(cells), floors.get((test, metric))))
    return found


def settle(
    pairing: Pairing, interval: Interval, delta: float, family: int, floor: NoiseFloor | None = None
) -> Comparison:
    """Return the comparison that results from a pairing and the interval of its log ratio."""
    ratio, low, high = ratios(interval)
    metric = metric_of(pairing.metric)
    by_interval = verdict(low, high, delta, metric.more_is_better)
    if metric.is_throughput and (pairing.at_least or pairing.at_most):
        by_interval = Verdict.INCONCLUSIVE
    outcome = with_failures(by_interval, pairing.baseline_standing, pairing.candidate_standing)
    return Comparison(
        **vars(pairing),
        ratio=ratio,
        low=low,
        high=high,
        verdict=outcome,
        delta=delta,
        family=family,
        method=interval.method,
        inside_noise=(floor is not None and pairing.blocks > 0 and not outcome.above_ratios and floor.covers(ratio)),
    )


def noise_floors(observations: Iterable[Observation], baseline: str, aa: str) -> list[NoiseFloor]:
    """Return the noise floor of every test and metric in which the baseline ran under both labels."""
    rows = _rows(Observations(observations), baseline, aa)
    return [_floor(key, row, baseline, aa) for key, row in rows.items() if aa in row.samples]


def estimates(observations: Iterable[Observation]) -> list[Estimate]:
    """Estimate the mean of each label in each test and metric.

    The intervals include the drift between blocks, so don't use them to compare setups.
    """
    table = Observations(observations)
    found = []
    for test, metric, label in table.cells():
        sample = table.sample(test, metric, label)
        bounded = table.bounded(test, metric, label)
        interval = intervals.opened(intervals.alone(list(sample.values())), below=False, above=bounded)
        found.append(Estimate(label, test, metric, *ratios(interval), len(sample), interval.method, bounded))
    return found


def widest_interval(comparisons: Sequence[Comparison]) -> float:
    """Return half the width of the widest interval as a share of its ratio. ``run --precision 2%`` limits this share.

    The result is infinite if there are no comparisons, if an interval is open, or if there are fewer than
    ``FIRST_LOOK`` blocks, because the intervals of few blocks are sometimes narrow by chance.
    """
    if any(one.blocks < FIRST_LOOK for one in comparisons):
        return inf
    # Ignore lower bounds, because more blocks don't close their intervals.
    return max((plus_minus(one.low, one.high) for one in comparisons if not (one.at_least or one.at_most)), default=inf)


def ratios(interval: Interval) -> tuple[float, float, float]:
    """Convert an estimate and its limits from logarithms to ratios. Open ends become 0 and infinity."""
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
