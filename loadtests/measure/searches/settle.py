"""What several probes of one rate say together, and when a rate has been probed often enough.

Under random arrivals late requests come in clumps, as a queue that is long stays so for a while. A probe near a limit
has a few clumps, and passes or fails by their number. So the late requests of all probes of a rate are added up until
their number is significantly different from what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from loadtests.measure.searches.judge import Judgement, Outcome, Tail

# An outcome that no limit on response times decided needs two probes.
AGREE = 2
# Standard deviations between late requests and what is allowed: one side of 90% of a normal distribution.
SIGNIFICANT = 1.28
# Consecutive seconds are alike, so they are taken together.
BATCH_S = 5


def settled(judgements: Sequence[Judgement], most: int) -> Outcome | None:
    """What the probes of a rate say; None where one more is needed. After ``most`` probes the sum of late requests
    decides."""
    last = judgements[-1]
    if last.clear:
        return last.outcome
    tails = [judgement.tail for judgement in judgements if judgement.tail]
    if len(tails) == len(judgements):
        return leaning(judgements) if len(tails) >= most or _significant(tails) else None
    agreeing = sum(judgement.outcome is last.outcome for judgement in judgements)
    return last.outcome if agreeing >= AGREE else None


def leaning(judgements: Sequence[Judgement]) -> Outcome:
    """What they say where there can be no more probes."""
    tails = [judgement.tail for judgement in judgements if judgement.tail]
    if len(tails) < len(judgements):
        return judgements[-1].outcome
    late, allowed = _sums(tails)
    return Outcome.PASS if late <= allowed else Outcome.FAIL


def _significant(tails: Sequence[Tail]) -> bool:
    """Whether the late requests are significantly more or fewer than allowed.

    A count of independent events varies by its root (Poisson), and clumps widen that, as batch means show (Law and
    Kelton, Simulation Modeling and Analysis, section 9.5.3). One clump, as a stall of the machine makes, never fails.
    """
    late, allowed = _sums(tails)
    return abs(late - allowed) > SIGNIFICANT * sqrt(max(late, allowed) * (1 + late * _scatter(tails)))


def _scatter(tails: Sequence[Tail]) -> float:
    """The variance of the sum of late requests relative to its square, from batches of seconds."""
    found = []
    for tail in tails:
        starts = range(0, max(len(tail.by_second) - BATCH_S, 0) + 1, BATCH_S)
        found += [sum(tail.by_second[start : start + BATCH_S]) for start in starts]
    batches = np.array(found)
    if not batches.any():
        return 0.0
    return 1.0 if len(batches) == 1 else float(len(batches) * batches.var(ddof=1) / batches.sum() ** 2)


def _sums(tails: Sequence[Tail]) -> tuple[float, float]:
    return sum(tail.late for tail in tails), sum(tail.allowed for tail in tails)
