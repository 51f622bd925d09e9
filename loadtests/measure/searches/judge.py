"""One probe against the objective: passed, failed, or invalid because the generator was the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import exp, log

from loadtests.analyse.overload import backlog, backlog_grows
from loadtests.formatting import plural
from loadtests.plan.objective import Limit, Objective
from loadtests.records import Second

# Within these factors of a limit a result could have been the other one: the point is asked again.
DOUBTFUL = (0.5, 2.0)


class Outcome(str, Enum):
    PASS = "pass"
    FAIL = "fail"
    INVALID = "invalid"


@dataclass(frozen=True)
class ProbeFigures:
    """What a probe found. ``rate`` is what was sent per second. ``percentiles_ms`` has a key for each limit (p99);
    ``ok`` counts right answers, ``over`` those of them that took longer than each limit, by its key, where that is
    known. Of a lag these are of deliveries, and ``over`` counts them as messages: those of one are late together."""

    rate: float
    planned: int
    ok: int
    errors: int
    percentiles_ms: Mapping[str, float | None]
    timeline: Sequence[Second] = field(default_factory=tuple)
    lost: str | None = None
    """Why the probe was stopped early, as ``lost`` said."""
    generator_limit: str | None = None
    """Why the generator, not the server, limited the probe."""
    over: Mapping[str, float] | None = None
    missing: float = 0.0
    """The share of the deliveries that were due and never came."""
    unconnected: float = 0.0
    """The share of the connections to be held that were refused or lost."""
    behind: bool = False
    """Whether deliveries under way became more and more."""


@dataclass(frozen=True)
class Tail:
    """The requests of a probe that were ``late``, over the limit that was nearest to be missed, and how many of those
    sent it ``allowed``; ``by_second``, about how they were spread."""

    late: float
    allowed: float
    by_second: tuple[float, ...]


@dataclass(frozen=True)
class Judgement:
    """``clear``: far enough from every limit that asking again would be a waste. ``tail`` is there where a limit on
    response times decided, and can be added to those of other probes of the same rate."""

    outcome: Outcome
    why: str
    clear: bool
    tail: Tail | None = None


def judge(measured: ProbeFigures, objective: Objective) -> Judgement:
    """Whether the whole probe was within the objective, and the first reason why not."""
    if measured.generator_limit is not None:
        return Judgement(Outcome.INVALID, measured.generator_limit, clear=False)
    if measured.lost is not None:
        # Cheap to ask again, and one stall of the machine is enough to lose a short probe.
        return Judgement(Outcome.FAIL, measured.lost, clear=False, tail=_tail(measured, objective))
    if measured.planned == 0:
        return Judgement(Outcome.INVALID, "no request was planned", clear=False)
    share = measured.errors / measured.planned
    if share > objective.max_errors:
        why = f"{share:.2%} errors, at most {objective.max_errors:.2%}"
        return Judgement(Outcome.FAIL, why, clear=share > 10 * objective.max_errors)
    answered = measured.ok / measured.planned
    if answered < objective.min_answered:
        why = f"{answered:.1%} answered in time, at least {objective.min_answered:.0%}"
        return Judgement(Outcome.FAIL, why, clear=answered < 1 - 2 * (1 - objective.min_answered))
    if measured.unconnected > objective.max_errors:
        why = f"{measured.unconnected:.2%} of its connections refused or lost, at most {objective.max_errors:.2%}"
        return Judgement(Outcome.FAIL, why, clear=measured.unconnected > 10 * objective.max_errors)
    if objective.max_missing is not None and measured.missing > objective.max_missing:
        why = f"{measured.missing:.2%} of the deliveries missing, at most {objective.max_missing:.2%}"
        return Judgement(Outcome.FAIL, why, clear=measured.missing > 10 * objective.max_missing)
    ratios = [_of_limit(measured, limit) for limit in objective.limits]
    for limit, ratio in zip(objective.limits, ratios, strict=True):
        if ratio > 1:
            of = "lag " if objective.of_lag else ""
            why = f"{of}{limit.key} {ratio * limit.ms:.1f} ms, at most {limit.ms:g} ms"
            return Judgement(Outcome.FAIL, why, ratio > DOUBTFUL[1], _tail(measured, objective))
    if measured.behind or backlog_grows(measured.timeline, measured.rate):
        return Judgement(Outcome.FAIL, "the backlog grew until the end", clear=False)
    return Judgement(Outcome.PASS, "within the objective", max(ratios) < DOUBTFUL[0], _tail(measured, objective))


def lost(timeline: Sequence[Second], rate: float, duration_s: float, objective: Objective) -> str | None:
    """Why a probe of ``duration_s`` cannot be won any more, from its timeline so far; None while it can.

    No guess: it counts requests that are late for certain, out of those that the whole probe plans. Of the answers
    in a second with a p99 over the limit 1% were late, with a p50 over it half; and of the requests without an
    answer, all but those of the last moments have waited for longer than the limit. Of a lag the timeline says nothing.
    """
    planned = rate * duration_s
    errors = sum(second.errors for second in timeline)
    if errors > objective.max_errors * planned:
        return f"{plural(errors, 'error')} by second {len(timeline)}, at most {objective.max_errors * planned:.0f}"
    for limit in () if objective.of_lag else objective.limits:
        late = _late(timeline, rate, limit)
        if late > limit.late_share * planned:
            return f"{plural(round(late), 'request')} over {limit.ms:g} ms by second {len(timeline)}"
    return None


def _of_limit(measured: ProbeFigures, limit: Limit) -> float:
    found = measured.percentiles_ms.get(limit.key)
    if found is None:
        raise ValueError(f"the probe holds no {limit.key}; it has {', '.join(measured.percentiles_ms)}")
    return found / limit.ms


def _tail(measured: ProbeFigures, objective: Objective) -> Tail | None:
    """None where what was late is not known, and where errors are what the probe was lost by."""
    if measured.over is None or measured.errors > objective.max_errors * measured.planned:
        return None
    tails = []
    for limit in objective.limits:
        timeline = measured.timeline
        waiting = backlog(timeline)[-1] if timeline and measured.lost else 0
        overdue = max(0.0, waiting - measured.rate * limit.ms / 1000)
        sent = sum(second.sent for second in timeline) if measured.lost else measured.planned
        late = measured.over[limit.key] + overdue
        # How late deliveries are spread within a probe is not known: the whole of it is one clump.
        spread = (late,) if objective.of_lag else tuple(second.ok * _share_over(second, limit) for second in timeline)
        tails.append(Tail(late, limit.late_share * sent, spread))
    return max(tails, key=lambda tail: tail.late / tail.allowed if tail.allowed else 0.0)


def _share_over(second: Second, limit: Limit) -> float:
    """About which share of a second's answers took longer than the limit: as if, between the two percentiles that are
    known, times were exponential."""
    if second.p50_ms is None or second.p99_ms is None or second.p99_ms <= limit.ms:
        return 0.0
    if second.p50_ms >= limit.ms:
        return 1 - 0.5 * limit.ms / second.p50_ms
    return exp(log(0.5) + log(0.02) * (limit.ms - second.p50_ms) / (second.p99_ms - second.p50_ms))


def _late(timeline: Sequence[Second], rate: float, limit: Limit) -> float:
    late = sum((second.ok + second.errors) * _late_share(second, limit) for second in timeline)
    waiting = backlog(timeline)[-1] if timeline else 0
    return late + max(0.0, waiting - rate * limit.ms / 1000)


def _late_share(second: Second, limit: Limit) -> float:
    if second.p50_ms is not None and second.p50_ms > limit.ms:
        return 0.5
    if second.p99_ms is not None and second.p99_ms > limit.ms:
        return 0.01
    return 0.0
