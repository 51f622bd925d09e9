"""Measure how long a setup takes to recover from a failing origin, and how many requests fail until then.

A second is good only if its response times are close to the usual response times. Much longer times show a queue that
isn't empty yet. Much shorter times show immediate errors or old copies.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from statistics import median

from loadtests.records import OriginStage, Second, Trial

SHARE_SLACK = 0.01  # The allowed difference between the shares of successful requests.
TIME_SLACK = 0.25  # The allowed relative difference from the usual p50, in both directions.
MIN_ANSWERED = 0.5  # The minimum share of the usual answers per second. Random arrivals vary less than that.
FOR_SECONDS = 3  # Several good seconds are needed, because a single good second may be chance.
USUAL = 0.99  # If fewer requests succeed before the failure, there is no usual state.
MIN_USUAL = 3  # The number of seconds that are needed to define the usual state.
ROUNDING_S = 0.02  # The maximum time between the start of a stage and the nearest whole second.


@dataclasses.dataclass(frozen=True)
class Course:
    """The course of a recovery.

    Args:
        recovery_s: The seconds from the end of the last bad stage to the end of the first of FOR_SECONDS consecutive
            good seconds, or infinity if there were no such seconds.
        lost: The number of requests that failed between the start of the first bad stage and the recovery.
        stale: The number of requests in that time that were answered with a marked old copy.
        usual_ms: The p50 before the failure, in ms.
    """

    recovery_s: float
    lost: int
    stale: int
    usual_ms: float


def course(trial: Trial) -> Course | None:
    """Return the course of the recovery, or None without a failure or without a usual state before the failure."""
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
    """Return whether an origin was healthy at first, then changed, and was healthy in the same way at the end."""
    return len(stages) > 2 and stages[0].healthy and stages[-1].text == stages[0].text


@dataclasses.dataclass(frozen=True)
class Usual:
    """The values of a usual second: the share of successful requests, the p50 in ms, and the answers per second."""

    share: float
    p50_ms: float
    answered: float

    def like(self, second: Second) -> bool:
        if second.p50_ms is None or second.ok < MIN_ANSWERED * self.answered:
            return False
        share = second.ok / (second.ok + second.errors)
        return share >= self.share - SHARE_SLACK and abs(second.p50_ms / self.p50_ms - 1) <= TIME_SLACK


def usual_of(seconds: Sequence[Second]) -> Usual | None:
    """Return the usual values in these seconds, or None if there are too few seconds or too many failures."""
    p50 = [second.p50_ms for second in seconds if second.p50_ms]
    ok, errors = sum(second.ok for second in seconds), sum(second.errors for second in seconds)
    if len(p50) < MIN_USUAL or ok < USUAL * (ok + errors):
        return None
    return Usual(ok / (ok + errors), median(p50), median(second.ok for second in seconds))


def _first_as_before(seconds: Sequence[Second], before: Usual) -> Second | None:
    for place in range(len(seconds) - FOR_SECONDS + 1):
        if all(before.like(second) for second in seconds[place : place + FOR_SECONDS]):
            return seconds[place]
    return None
