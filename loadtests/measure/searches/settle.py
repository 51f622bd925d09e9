"""What several probes of one rate say together: the one rule for when a rate has been asked often enough.

Under random arrivals late requests come in clumps, as a queue that is long stays so for a while. A probe near a limit
holds a few clumps, and passes or fails by how many it met. So the late requests of all probes of a rate are added up
until their number is told from what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from loadtests.measure.searches.judge import Judgement, Outcome, Tail

# An outcome that no limit on response times decided is one that two probes agree on.
AGREE = 2
# So many standard deviations tell late requests from what is allowed: one side of 90% of a normal distribution.
TOLD_BY = 1.28
# Seconds that follow each other are alike, so they are taken together by so many.
BATCH_S = 5


def settled(judgements: Sequence[Judgement], most: int) -> Outcome | None:
    """What the probes of a rate say; None where one more is needed. Late requests that stay too near to what is allowed
    are decided by their sum after ``most`` probes."""
    last = judgements[-1]
    if last.clear:
        return last.outcome
    tails = [judgement.tail for judgement in judgements if judgement.tail]
    if len(tails) == len(judgements):
        return leaning(judgements) if len(tails) >= most or _told(tails) else None
    agreeing = sum(judgement.outcome is last.outcome for judgement in judgements)
    return last.outcome if agreeing >= AGREE else None


def leaning(judgements: Sequence[Judgement]) -> Outcome:
    """What they say where there can be no more of them."""
    tails = [judgement.tail for judgement in judgements if judgement.tail]
    if len(tails) < len(judgements):
        return judgements[-1].outcome
    late, allowed = _sums(tails)
    return Outcome.PASS if late <= allowed else Outcome.FAIL


def _told(tails: Sequence[Tail]) -> bool:
    """Whether the number of late requests differs from the allowed one by more than chance makes it.

    A count of independent events varies by its root (Poisson); clumps widen that, as batch means show (Law and Kelton,
    Simulation Modeling and Analysis, section 9.5.3). Few late requests are held against how they would vary if there
    were as many as allowed. One clump, such as a stall of the machine makes, is never enough to fail.
    """
    late, allowed = _sums(tails)
    return abs(late - allowed) > TOLD_BY * sqrt(max(late, allowed) * (1 + late * _scatter(tails)))


def _scatter(tails: Sequence[Tail]) -> float:
    """The variance of the sum of late requests relative to its square, from batches of seconds."""
    batches = np.array([batch for tail in tails for batch in _batches(tail.by_second)])
    if not batches.any():
        return 0.0
    return 1.0 if len(batches) == 1 else float(len(batches) * batches.var(ddof=1) / batches.sum() ** 2)


def _batches(seconds: Sequence[float]) -> list[float]:
    whole = range(0, max(len(seconds) - BATCH_S, 0) + 1, BATCH_S)
    return [sum(seconds[start : start + BATCH_S]) for start in whole]


def _sums(tails: Sequence[Tail]) -> tuple[float, float]:
    return sum(tail.late for tail in tails), sum(tail.allowed for tail in tails)
