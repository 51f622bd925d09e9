"""How many blocks would settle a comparison: in simulated studies that did not, is what is said of it right?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp
from statistics import median

import numpy as np

from loadtests.analyse.compare.paired import Pair, Row
from loadtests.analyse.intervals import CONFIDENCE
from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import DELTA, Verdict, blocks_needed, verdict
from tools.simulation.studies import CANDIDATES, Scenario, trials

SD = 0.06
MOST = 60
PROBABLY = 0.8  # as ``blocks_needed`` means it


@dataclass(frozen=True)
class NeededRates:
    """Of the studies in which the first candidate was inconclusive: ``given`` is the share with a range,
    ``correct`` the share of these ranges that contain ``needed``, and ``low`` and ``high`` are the typical range."""

    scenario: Scenario
    needed: int
    given: float
    correct: float
    low: float
    high: float


def simulate_needed(scenario: Scenario, studies: int, seed: int) -> NeededRates:
    """That many studies, of which those count in which the first candidate's comparison is inconclusive."""
    truth = max(settled_by(scenario.noise, scenario.effect, scenario.sd), scenario.blocks + 2)
    rng = np.random.default_rng(seed)
    open_, ranges = 0, []
    for _ in range(studies):
        pair = _first(trials(scenario, rng, scenario.blocks))
        if _settles(pair):
            continue
        open_ += 1
        estimate = pair.interval(CONFIDENCE).estimate
        ranges.append(blocks_needed(estimate, pair.spread, scenario.blocks, DELTA, CANDIDATES))
    given = [one for one in ranges if one]
    return NeededRates(
        scenario,
        truth,
        len(given) / max(1, open_),
        sum(low <= truth <= high for low, high in given) / max(1, len(given)),
        median([low for low, _ in given] or [0]),
        median([high for _, high in given] or [0]),
    )


@lru_cache(maxsize=64)
def settled_by(noise: str, effect: float, sd: float, studies: int = 300) -> int:
    """In how many blocks (an even number, at most ``MOST``) four studies of five settle the first comparison."""
    scenario = Scenario(noise, effect, noise, sd)
    for blocks in range(4, MOST, 2):
        rng = np.random.default_rng(1)
        settled = sum(_settles(_first(trials(scenario, rng, blocks))) for _ in range(studies))
        if settled >= PROBABLY * studies:
            return blocks
    return MOST


def _first(values: Array) -> Pair:
    labels = [str(setup) for setup in range(values.shape[1])]
    samples = {label: dict(enumerate(own)) for label, own in zip(labels, values.T.tolist(), strict=True)}
    return Row(samples, labels[:1]).against_baseline(labels[1])


def _settles(pair: Pair) -> bool:
    interval = pair.interval((1 - CONFIDENCE) / CANDIDATES)
    return verdict(exp(interval.low), exp(interval.high), DELTA, more_is_better=False) is not Verdict.INCONCLUSIVE
