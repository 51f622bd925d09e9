"""One probe against the objective: passed, failed, or invalid because the generator was the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from loadtests.analyse.overload import backlog, backlog_grows
from loadtests.formatting import plural
from loadtests.plan.objective import Limit, Objective
from loadtests.records import Second

# Within these factors of a limit chance could have decided otherwise: the rate is probed again.
DOUBTFUL = (0.5, 2.0)
# What ends the doubling and is not clear is asked again until two probes agree: a stall of the machine is enough to
# lose a short one.
AGREE = 2


class Outcome(str, Enum):
    PASS = "pass"
    FAIL = "fail"
    INVALID = "invalid"


@dataclass(frozen=True)
class ProbeFigures:
    """What a probe measured. ``rate`` is what was sent per second, ``percentiles_ms`` has a key for each limit (p99,
    delay p99). ``over`` counts, by the same keys, the answers that took longer, where known; for a lag or a delay, the
    messages' worth of deliveries or events. ``missing``, ``unconnected`` and ``unstreamed`` are shares of what was due,
    ``behind`` says that deliveries under way became more and more. ``lost`` is why the probe was stopped,
    ``generator_limit`` why the server was not the limit."""

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
    """The ``late`` requests of a probe, over the limit that was nearest to be missed, the number ``allowed`` of those
    ``sent``, how many are sent within the limit's time, and how many were ``answered`` well by the end."""

    late: float
    allowed: float
    sent: float
    within: float
    answered: float


@dataclass(frozen=True)
class Judgement:
    """``clear``: so far from every limit that another probe would be a waste. ``tail`` is there where a limit on
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
        # Cheap to probe again, and one stall of the machine is enough to lose a short probe.
        return Judgement(Outcome.FAIL, measured.lost, clear=False, tail=_tail(measured, objective))
    if measured.planned == 0:
        return Judgement(Outcome.INVALID, "no request was planned", clear=False)
    if failed := _too_many(measured.errors / measured.planned, objective.max_errors, "errors"):
        return failed
    answered = measured.ok / measured.planned
    if answered < objective.min_answered:
        why = f"{answered:.1%} answered in time, at least {objective.min_answered:.0%}"
        return Judgement(Outcome.FAIL, why, clear=answered < 1 - 2 * (1 - objective.min_answered))
    what = "of its connections refused or lost"
    if failed := _too_many(measured.unconnected, objective.max_errors, what):
        return failed
    what = "of its streams without an event or broken off"
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
    """Why a probe of ``duration_s`` cannot be won any more, from its timeline so far; None while it can.

    It counts requests that are late for certain, of those that the whole probe plans: in a second with a p99 over the
    limit 1% of the answers, with a p50 over it half; and of the requests without an answer, those that have waited for
    longer than the limit. A timeline says nothing of lags and delays.
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
    """Whether probes of the doubling are enough: one that is clear, or holds the limit on response times, or two that
    agree."""
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
        raise ValueError(f"the probe holds no {limit.name}; it has {', '.join(measured.percentiles_ms)}")
    return found / limit.ms


def _tail(measured: ProbeFigures, objective: Objective) -> Tail | None:
    """None where the late requests are not known, and where errors lost the probe."""
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
    """The requests that have waited for longer than the limit."""
    waiting = backlog(timeline)[-1] if timeline else 0
    return max(0.0, waiting - rate * limit.ms / 1000)


def _late_share(second: Second, limit: Limit) -> float:
    """The share of a second's answers that was late for certain."""
    if second.p50_ms is not None and second.p50_ms > limit.ms:
        return 0.5
    return 0.01 if second.p99_ms is not None and second.p99_ms > limit.ms else 0.0
