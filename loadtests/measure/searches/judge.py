"""Judge a probe against the objective: passed, failed, or invalid because the generator was the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from loadtests.formatting import plural
from loadtests.plan.objective import Limit, Objective
from loadtests.records import Second
from loadtests.trials.overload import backlog, backlog_grows

# If a time is within these factors of its limit, the result may be due to chance, so the rate is probed again.
DOUBTFUL = (0.5, 2.0)
# While the rate is doubled, an unclear probe is repeated until two probes agree, because a single stall of the machine
# can make a short probe fail.
AGREE = 2


class Outcome(str, Enum):
    PASS = "pass"
    FAIL = "fail"
    INVALID = "invalid"


@dataclass(frozen=True)
class ProbeFigures:
    """The measurements of a probe.

    Attributes:
        rate: The requests per second.
        percentiles_ms: The measured time for each limit, such as ``p99`` or ``delay p99``.
        over: The number of answers above each limit, or None if it isn't known. The number of late deliveries is
            divided by the deliveries per message, and the number of late events by the events per request.
        missing: The share of missing deliveries.
        unconnected: The share of refused and lost connections.
        unstreamed: The share of failed streams.
        behind: Whether the number of outstanding deliveries kept growing.
        lost: The reason why the probe was stopped early, or None.
        generator_limit: The reason why the generator, not the server, was the limit, or None.
    """

    rate: float
    planned: int
    ok: int
    errors: int
    percentiles_ms: Mapping[str, float | None]
    timeline: Sequence[Second] = field(default_factory=tuple)
    lost: str | None = None
    generator_limit: str | None = None
    over: Mapping[str, float] | None = None
    missing: float = 0.0
    unconnected: float = 0.0
    unstreamed: float = 0.0
    behind: bool = False


@dataclass(frozen=True)
class Tail:
    """The late requests of a probe for the limit that was closest to failing.

    Attributes:
        late: The number of late requests.
        allowed: The allowed number of late requests.
        sent: The number of sent requests.
        within: The number of requests that the generator sends within the limit's time, such as 50 ms.
        answered: The number of requests that were answered successfully before the end of the probe.
    """

    late: float
    allowed: float
    sent: float
    within: float
    answered: float


@dataclass(frozen=True)
class Judgement:
    """The judgement of a probe.

    ``clear`` means that another probe isn't needed, because the measured times are far from all limits. ``tail`` is set
    if a limit on response times decided the outcome. Tails of probes at the same rate can be added.
    """

    outcome: Outcome
    why: str
    clear: bool
    tail: Tail | None = None


def judge(measured: ProbeFigures, objective: Objective) -> Judgement:
    """Judge whether a probe met the objective. If the probe didn't, the judgement contains the first reason."""
    if measured.generator_limit is not None:
        return Judgement(Outcome.INVALID, measured.generator_limit, clear=False)
    if measured.lost is not None:
        # The probe is repeated, because another short probe takes little time, and a single stall of the machine can
        # make a short probe fail.
        return Judgement(Outcome.FAIL, measured.lost, clear=False, tail=_tail(measured, objective))
    if measured.planned == 0:
        return Judgement(Outcome.INVALID, "no request was planned", clear=False)
    if failed := _too_many(measured.errors / measured.planned, objective.max_errors, "errors"):
        return failed
    answered = measured.ok / measured.planned
    if answered < objective.min_answered:
        why = f"{answered:.1%} answered in time, required: {objective.min_answered:.0%}"
        return Judgement(Outcome.FAIL, why, clear=answered < 1 - 2 * (1 - objective.min_answered))
    what = "of the connections refused or lost"
    if failed := _too_many(measured.unconnected, objective.max_errors, what):
        return failed
    what = "of the streams interrupted or without an event"
    if failed := _too_many(measured.unstreamed, objective.max_errors, what):
        return failed
    if failed := _too_many(measured.missing, objective.max_missing, "of the deliveries missing"):
        return failed
    ratios = [_of_limit(measured, limit) for limit in objective.limits]
    for limit, ratio in zip(objective.limits, ratios, strict=True):
        if ratio > 1:
            why = f"{limit.name} {ratio * limit.ms:.1f} ms, at most {limit.ms:g} ms"
            return Judgement(Outcome.FAIL, why, ratio > DOUBTFUL[1], _tail(measured, objective))
    if measured.behind or backlog_grows(measured.timeline, measured.rate):
        return Judgement(Outcome.FAIL, "the backlog grew until the end", clear=False)
    return Judgement(Outcome.PASS, "within the objective", max(ratios) < DOUBTFUL[0], _tail(measured, objective))


def lost(timeline: Sequence[Second], rate: float, duration_s: float, objective: Objective) -> str | None:
    """Return why a probe of ``duration_s`` can't pass any more, based on its timeline so far, or None if it can.

    The function compares the number of requests that are certainly late with the planned requests of the whole probe.
    If the p99 of a second is above the limit, 1% of the answers in this second are late. If the p50 is above the
    limit, 50% are late. An unanswered request is late if it has waited longer than the limit. A timeline doesn't
    contain lags and delays, so limits on these times are ignored.
    """
    planned = rate * duration_s
    errors = sum(second.errors for second in timeline)
    if errors > objective.max_errors * planned:
        return f"{plural(errors, 'error')} by second {len(timeline)}, at most {objective.max_errors * planned:.0f}"
    for limit in (limit for limit in objective.limits if not limit.of):
        late = sum((second.ok + second.errors) * _late_share(second, limit) for second in timeline)
        late += _overdue(timeline, rate, limit)
        if late > limit.late_share * planned:
            return f"{plural(round(late), 'request')} over {limit.ms:g} ms by second {len(timeline)}"
    return None


def settled(judgements: Sequence[Judgement]) -> bool:
    """Return whether the probes at a doubled rate are enough to decide whether the rate passes.

    A single probe is enough if its judgement is clear, or if the probe meets the limits on response times. Otherwise,
    two probes must agree.
    """
    if not judgements:
        return False
    last = judgements[-1]
    if last.clear or (last.tail and last.outcome is Outcome.PASS):
        return True
    return sum(one.outcome is last.outcome for one in judgements) >= AGREE


def _too_many(share: float, most: float | None, what: str) -> Judgement | None:
    if most is None or share <= most:
        return None
    return Judgement(Outcome.FAIL, f"{share:.2%} {what}, at most {most:.2%}", clear=share > 10 * most)


def _of_limit(measured: ProbeFigures, limit: Limit) -> float:
    found = measured.percentiles_ms.get(limit.name)
    if found is None:
        raise ValueError(f"the probe contains no {limit.name}, only {', '.join(measured.percentiles_ms)}")
    return found / limit.ms


def _tail(measured: ProbeFigures, objective: Objective) -> Tail | None:
    """Return the tail, or None if the late requests aren't known or the probe failed because of errors."""
    if measured.over is None or measured.errors > objective.max_errors * measured.planned:
        return None
    tails = []
    timeline = measured.timeline
    answered = sum(second.ok for second in timeline)
    for limit in objective.limits:
        overdue = _overdue(timeline, measured.rate, limit) if measured.lost and not limit.of else 0.0
        late = measured.over[limit.name] + overdue
        sent = sum(second.sent for second in timeline) if measured.lost else measured.planned
        tails.append(Tail(late, limit.late_share * sent, sent, measured.rate * limit.ms / 1000, answered))
    return max(tails, key=lambda tail: tail.late / tail.allowed if tail.allowed else 0.0)


def _overdue(timeline: Sequence[Second], rate: float, limit: Limit) -> float:
    """Return the number of unanswered requests that have waited longer than the limit."""
    waiting = backlog(timeline)[-1] if timeline else 0
    return max(0.0, waiting - rate * limit.ms / 1000)


def _late_share(second: Second, limit: Limit) -> float:
    """Return the share of the answers within one second that were certainly late."""
    if second.p50_ms is not None and second.p50_ms > limit.ms:
        return 0.5
    return 0.01 if second.p99_ms is not None and second.p99_ms > limit.ms else 0.0
