"""What a setup made of an origin that stumbled: how long until it answered as before, and what was lost until then.

As before is meant to both sides. A response time far above the usual one is a queue that is still being worked off, and
one far below it an error that is answered at once, or a copy of earlier: neither is what users had before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from statistics import median

from loadtests.records import OriginStage, Second, Trial

SHARE_SLACK = 0.01  # of the requests that end well
TIME_SLACK = 0.25  # of the usual p50, to either side
LEAST_ANSWERED = 0.5  # of the usual number in a second: at random moments few may come, but not next to none
FOR_SECONDS = 3  # in a row: one that looks like before may be chance
USUAL = 0.99  # of the requests must end well before anything happens, or there is nothing to go back to
LEAST_USUAL = 3  # seconds that tell what is usual
ROUNDING_S = 0.02  # a stage begins that far from the second, at the most


@dataclasses.dataclass(frozen=True)
class Course:
    """``recovery_s`` is from the end of the last bad stage to the end of the first second as before, infinite where
    none came in time; ``lost`` are the requests that failed from the begin of the first bad stage until then, ``stale``
    those answered with a copy that says so, and ``usual_ms`` the p50 before all that."""

    recovery_s: float
    lost: int
    stale: int
    usual_ms: float


def course(trial: Trial) -> Course | None:
    """What became of a trial whose origin stumbled; None where it did not, or the setup did not hold the rate
    before."""
    stages = trial.meanwhile.origin.stages if trial.meanwhile and trial.meanwhile.origin else ()
    if trial.result is None or not stumbles(stages):
        return None
    usual_from = (stages[0].latency_ms or 0.0) / 1000
    seconds = [second for second in trial.result.timeline if second.t + 1 <= trial.result.duration_s + ROUNDING_S]
    usual = [second for second in seconds if usual_from <= second.t and second.t + 1 <= stages[1].t + ROUNDING_S]
    before = usual_of(usual)
    if before is None:
        return None
    well_s = stages[-1].t
    since = [second for second in seconds if second.t >= well_s - ROUNDING_S]
    again = _first_as_before(since, before)
    until = math.inf if again is None else again.t + 1
    meanwhile = [second for second in trial.result.timeline if stages[1].t - ROUNDING_S <= second.t < until]
    return Course(
        math.inf if again is None else again.t + 1 - well_s,
        sum(second.errors for second in meanwhile),
        sum((second.ends or {}).get("stale", 0) for second in meanwhile),
        before.p50_ms,
    )


def stumbles(stages: Sequence[OriginStage]) -> bool:
    """Whether an origin was well, then not as before, and in the end as in the beginning."""
    return len(stages) > 2 and stages[0].healthy and stages[-1].text == stages[0].text


@dataclasses.dataclass(frozen=True)
class Usual:
    """What seconds are as before anything happens: the share of requests that end well, p50, and answers a second."""

    share: float
    p50_ms: float
    answered: float

    def like(self, second: Second) -> bool:
        if second.p50_ms is None or second.ok < LEAST_ANSWERED * self.answered:
            return False
        share = second.ok / (second.ok + second.errors)
        return share >= self.share - SHARE_SLACK and abs(second.p50_ms / self.p50_ms - 1) <= TIME_SLACK


def usual_of(seconds: Sequence[Second]) -> Usual | None:
    """What is usual, by these seconds; None where there are too few, or too much failed in them."""
    p50 = [second.p50_ms for second in seconds if second.p50_ms]
    ok, errors = sum(second.ok for second in seconds), sum(second.errors for second in seconds)
    if len(p50) < LEAST_USUAL or ok < USUAL * (ok + errors):
        return None
    return Usual(ok / (ok + errors), median(p50), median(second.ok for second in seconds))


def _first_as_before(seconds: Sequence[Second], before: Usual) -> Second | None:
    for place in range(len(seconds) - FOR_SECONDS + 1):
        if all(before.like(second) for second in seconds[place : place + FOR_SECONDS]):
            return seconds[place]
    return None
