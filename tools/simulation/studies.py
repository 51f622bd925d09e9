"""Simulate studies whose true effects are known, and count false verdicts and found effects.

The verdicts are calculated with the same code as in real runs. A study has a baseline and, by default, four candidates.
The noise of a trial is the standard deviation of its logarithm. The noise of a block, which all trials in the block
share, is twice as large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from loadtests.analyse import intervals
from loadtests.analyse.compare import between as runs
from loadtests.analyse.compare.paired import Row
from loadtests.analyse.verdicts import DELTA, Verdict, verdict
from loadtests.formatting import plus_minus

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, int]], Array]

CANDIDATES = 4
FAMILIES = "two families"
SHARED = 2.0  # The noise that a family of setups shares, relative to the noise of a trial.
MAX_BLOCKS = 40  # The maximum number of blocks with ``until``.


@dataclass(frozen=True)
class Scenario:
    """A kind of study. ``effect`` is the slowdown of the first candidate. Other candidates equal the baseline."""

    name: str
    effect: float = 0.0
    noise: str = "normal"
    sd: float = 0.03
    blocks: int = 10
    candidates: int = CANDIDATES
    until: float | None = None
    """The study adds mirrored pairs of blocks until all intervals are this narrow, up to ``MAX_BLOCKS``."""
    metrics: int = 1
    """The number of metrics that share a study's error rate of 5%. Each metric has separate noise."""


@dataclass(frozen=True)
class Rates:
    """The results of simulated studies.

    Attributes:
        scenario: The kind of study.
        studies: The number of studies.
        false: The share of studies with at least one false verdict.
        found: The share of studies in which the verdict on the first candidate is ``slower``.
        equal: Among the candidates without an effect, the share whose verdict is ``equivalent``.
    """

    scenario: Scenario
    studies: int
    false: float
    found: float
    equal: float
    width: float
    """The half-width of a study's widest interval, as the median over studies."""
    blocks: float
    """The mean number of blocks. This number only varies between studies with ``until``."""


def scenarios() -> list[Scenario]:
    """Return the scenarios in the rows of the table on verdicts."""
    rows = []
    for noise in ("normal", "heavy tails", "slow mode", "drifting machine", "one bad block", "one noisy setup"):
        rows += [Scenario(noise, noise=noise, blocks=blocks) for blocks in (2, 5, 10, 20)]
        rows += [Scenario(noise, 0.10, noise, blocks=blocks) for blocks in (2, 5, 10, 20)]
    rows += [Scenario("normal", effect, blocks=blocks) for effect in (0.01, 0.03) for blocks in (5, 10, 20)]
    rows += [Scenario("normal", effect, sd=sd) for sd in (0.02, 0.04, 0.05) for effect in (0.0, 0.10)]
    rows += [Scenario("normal", 0.10, sd=0.09, blocks=blocks) for blocks in (10, 20, 40)]
    rows += [Scenario("normal", 0.10, sd=sd, candidates=1) for sd in (0.03, 0.04, 0.05, 0.09)]
    rows += [Scenario("normal", effect, candidates=16) for effect in (0.0, 0.10)]
    rows += [
        Scenario(f"{noise}, 4 metrics", noise=noise, blocks=blocks, candidates=candidates, metrics=4)
        for noise in ("normal", FAMILIES)
        for candidates, blocks in ((5, 4), (5, 6), (5, 8), (16, 4))
    ]
    rows += [
        Scenario("rounded figures", effect, "rounded figures", blocks=n) for n in (10, 20) for effect in (0.0, 0.1)
    ]
    return rows


def scenarios_of_until() -> list[Scenario]:
    """Return the scenarios in the rows of the table on ``--precision``."""
    kinds = ("normal", "heavy tails", "one noisy setup", "drifting machine", FAMILIES)
    rows = [
        Scenario(kind, effect, kind, until=until) for kind in kinds for until in (0.1, 0.05) for effect in (0.0, until)
    ]
    return rows + [Scenario("two setups", effect, candidates=1, until=0.03) for effect in (0.0, 0.03)]


def scenarios_of_runs() -> list[Scenario]:
    """Return the scenarios in the rows of the table on comparisons of two runs."""
    return [Scenario("two runs", effect, blocks=blocks) for blocks in (2, 5, 10, 20) for effect in (0.0, 0.10)]


def simulate(scenario: Scenario, studies: int, seed: int) -> Rates:
    """Simulate studies of a scenario, and return their results."""
    rng = np.random.default_rng(seed)
    false = found = equal = blocks = 0.0
    widths = []
    for _ in range(studies):
        sample, verdicts, width = _study(scenario, rng)
        first, others = verdicts[0], verdicts[1:]
        false += wrong(first, scenario.effect) or any(wrong(other, 0.0) for other in others)
        found += first is Verdict.SLOWER
        equal += _share_equivalent(others)
        blocks += sample
        widths.append(width)
    return Rates(
        scenario,
        studies,
        false / studies,
        found / studies,
        equal / studies,
        float(np.median(widths)),
        blocks / studies,
    )


def simulate_runs(scenario: Scenario, studies: int, seed: int) -> Rates:
    """Simulate ``compare RUN_A RUN_B`` for all setups of a scenario. The first setup is slower in the second run.

    The blocks of the two runs aren't pairs, so the drift between blocks doesn't cancel out.
    """
    rng = np.random.default_rng(seed)
    false = found = equal = 0.0
    widths = []
    for _ in range(studies):
        before = trials(replace(scenario, effect=0.0), rng, scenario.blocks)
        after = trials(replace(scenario, effect=0.0), rng, scenario.blocks)
        after[:, 0] += log(1 + scenario.effect)
        pairs = [(np.sort(before[:, j]), np.sort(after[:, j])) for j in range(scenario.candidates + 1)]
        verdicts, width = read(runs.simultaneous(pairs))
        false += wrong(verdicts[0], scenario.effect) or any(wrong(other, 0.0) for other in verdicts[1:])
        found += verdicts[0] is Verdict.SLOWER
        equal += _share_equivalent(verdicts[1:])
        widths.append(width)
    width = float(np.median(widths))
    return Rates(scenario, studies, false / studies, found / studies, equal / studies, width, scenario.blocks)


def trials(scenario: Scenario, rng: np.random.Generator, blocks: int) -> Array:
    """Return logarithms of response times, blocks x (baseline, candidates), on a machine that drifts between blocks."""
    values: Array = NOISES[scenario.noise](rng, (blocks, scenario.candidates + 1)) * scenario.sd
    values += rng.normal(0, 2 * scenario.sd, (blocks, 1))
    values[:, 1] += log(1 + scenario.effect)
    return values


def _study(scenario: Scenario, rng: np.random.Generator) -> tuple[int, list[Verdict], float]:
    if scenario.until is None:
        confidence = 1 - (1 - intervals.CONFIDENCE) / scenario.metrics
        judged = [_judge(trials(scenario, rng, scenario.blocks), confidence) for _ in range(scenario.metrics)]
        return scenario.blocks, [one for verdicts, _ in judged for one in verdicts], max(width for _, width in judged)
    values = trials(scenario, rng, MAX_BLOCKS)
    for blocks in range(intervals.FIRST_LOOK, MAX_BLOCKS + 1, 2):
        verdicts, width = _judge(values[:blocks], intervals.CONFIDENCE_OF_LOOKS)
        if width <= scenario.until:
            break
    return blocks, verdicts, width


def _judge(values: Array, confidence: float = intervals.CONFIDENCE) -> tuple[list[Verdict], float]:
    labels = [str(setup) for setup in range(values.shape[1])]
    row = Row(dict(zip(labels, (dict(enumerate(own)) for own in values.T.tolist()), strict=True)), labels[:1])
    error = (1 - confidence) / (len(labels) - 1)
    return read([row.against_baseline(label).interval(error) for label in labels[1:]])


def read(found: list[intervals.Interval]) -> tuple[list[Verdict], float]:
    """Return the verdicts on response times (more is slower), and the half-width of the widest interval."""
    limits = [(exp(one.low), exp(one.high)) for one in found]
    verdicts = [verdict(low, high, DELTA, more_is_better=False) for low, high in limits]
    return verdicts, max(plus_minus(low, high) for low, high in limits)


def wrong(said: Verdict, effect: float) -> bool:
    """Return whether a verdict is false for a candidate that is slower by ``effect``."""
    if said is Verdict.EQUIVALENT:
        return effect >= DELTA
    return said is Verdict.FASTER or (said is Verdict.SLOWER and effect == 0)


def _share_equivalent(verdicts: list[Verdict]) -> float:
    return sum(one is Verdict.EQUIVALENT for one in verdicts) / max(1, len(verdicts))


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return rng.normal(size=shape)


def _heavy(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return Student's t with 3 degrees of freedom, scaled to unit variance."""
    return rng.standard_t(3, shape) / sqrt(3)


def _slow_mode(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return noise in which a tenth of the trials are slower by five times the noise of a trial."""
    return rng.normal(size=shape) + 5 * (rng.random(shape) < 0.1)


def _drifting(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return noise of a machine that slows down by three times the noise of a trial within each block.

    The order of the setups is shuffled in one block and mirrored in the next block.
    """
    blocks, setups = shape
    values = rng.normal(size=shape)
    for first in range(0, blocks, 2):
        order = rng.permutation(setups)
        for block, position in ((first, order), (first + 1, setups - 1 - order)):
            if block < blocks:
                values[block] += 3 * position / (setups - 1)
    return values


def _bad_block(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return noise in which a single trial is slower by ten times the noise of a trial."""
    values = rng.normal(size=shape)
    values[rng.integers(shape[0]), rng.integers(shape[1])] += 10
    return values


def _rounded(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return noise rounded to steps as large as the noise, as in the results of a search with a limited precision."""
    return np.round(rng.normal(size=shape))


def _noisy_setup(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return noise that is three times as large for the first setup (the baseline, or the best cell of a sweep)."""
    values = rng.normal(size=shape)
    values[:, 0] *= 3
    return values


def _families(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return noise that setups of a family, such as all ASGI setups, share within a block. Two families alternate."""
    blocks, setups = shape
    return rng.normal(size=shape) + SHARED * rng.normal(size=(blocks, 2))[:, np.arange(setups) % 2]


NOISES: dict[str, Noise] = {
    "normal": _normal,
    "heavy tails": _heavy,
    "slow mode": _slow_mode,
    "drifting machine": _drifting,
    "one bad block": _bad_block,
    "rounded figures": _rounded,
    "one noisy setup": _noisy_setup,
    FAMILIES: _families,
}
