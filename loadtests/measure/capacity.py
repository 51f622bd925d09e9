"""Finds a capacity with an engine: the search says what to probe, the engine probes, the judge judges."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from loadtests.analyse import readings, reasons, validity
from loadtests.analyse.overload import slices_pile_up
from loadtests.engines.base import OnSecond, ShouldStop
from loadtests.measure.searches import judge
from loadtests.measure.searches.capacity import CapacitySearch, Probe, Purpose, SearchedCapacity
from loadtests.measure.searches.judge import Judgement, Outcome, ProbeFigures
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.plan.percentiles_with_failures import of_deliveries
from loadtests.records import CapacityRecord, Evidence, Figures, ProbeRecord, Result, Second
from loadtests.records.histogram import Histogram
from loadtests.workload import Load

LATE_ALLOWED = 0.5  # of a limit

RunLoad = Callable[[Load, OnSecond, ShouldStop], Result]


@dataclasses.dataclass(frozen=True)
class Probed:
    """A probe that was made."""

    probe: Probe
    result: Result
    judgement: Judgement

    def record(self) -> ProbeRecord:
        """As a trial keeps it."""
        return ProbeRecord(
            rate=self.probe.rate,
            duration_s=self.probe.duration_s,
            purpose=self.probe.purpose.value,
            outcome=self.judgement.outcome.value,
            why=self.judgement.why,
            planned=self.result.planned,
            ok=self.result.ok,
            errors=sum(self.result.failed.values()),
            response_time_ms=self.result.response_time_ms,
            lag_ms=self.result.deliveries.lag_ms if self.result.deliveries else None,
        )


@dataclasses.dataclass(frozen=True)
class FoundCapacity:
    """The capacity, and every probe that led to it."""

    capacity: SearchedCapacity
    objective: Objective
    probes: list[Probed]

    @property
    def confirming(self) -> int | None:
        """The place of the probe that confirmed the rate; None where none did."""
        for place in reversed(range(len(self.probes))):
            probed = self.probes[place]
            passed = probed.judgement.outcome is Outcome.PASS and probed.probe.purpose is Purpose.CONFIRM
            if passed and probed.probe.rate == self.capacity.rate:
                return place
        return None

    def record(self) -> CapacityRecord:
        """As a trial keeps it."""
        return CapacityRecord(
            rate=self.capacity.rate,
            above=self.capacity.above,
            limited_by=self.capacity.limited_by.value,
            sentence=self.capacity.sentence,
            objective=str(self.objective),
            probes=tuple(probed.record() for probed in self.probes),
        )


def find(
    load: Load,
    objective: Objective,
    plan: SearchPlan,
    run_load: RunLoad,
    on_second: OnSecond,
    on_probe: Callable[[Probed], None],
    clock: Callable[[], float] = time.monotonic,
) -> FoundCapacity:
    """The highest rate at which ``load`` is within the objective.

    ``load`` gives all but rate and duration; where it is sent at random moments, each probe has others. The rates of
    the search are of what it counts: of a broadcast, deliveries, of which each send makes several. ``run_load``
    runs one probe (an engine's ``run``, or more around it); ``on_second`` is told of each second, ``on_probe`` of each
    probe when it has been judged. ``clock`` gives seconds.
    """
    end = clock() + (math.inf if plan.max_s is None else plan.max_s)
    steps = CapacitySearch(plan)
    probes: list[Probed] = []
    overhead_s = 0.0
    while isinstance(step := steps.next(), Probe):
        begun = clock()
        probe = load.probing(step.rate, step.duration_s, len(probes))
        result, lost = _probe(probe, objective, run_load, on_second)
        judgement = judge.judge(_figures(probe, result, objective, lost), objective)
        probes.append(Probed(step, result, judgement))
        on_probe(probes[-1])
        overhead_s = max(overhead_s, clock() - begun - result.duration_s)
        steps.record(judgement, end - clock(), overhead_s)
    return FoundCapacity(step, objective, probes)


def _probe(load: Load, objective: Objective, run_load: RunLoad, on_second: OnSecond) -> tuple[Result, str | None]:
    """One probe, stopped as soon as it is lost; and why it was lost."""
    seconds: list[Second] = []
    lost: str | None = None

    def watch(second: Second) -> None:
        nonlocal lost
        seconds.append(second)
        lost = lost or judge.lost(seconds, _most_sent(load, seconds), load.duration_s, objective)
        on_second(second)

    result = run_load(load, watch, lambda: lost is not None)
    return result, lost


def _most_sent(load: Load, seconds: Sequence[Second]) -> float:
    """What is sent per second; of journeys, which may branch and so make more requests or fewer, at the most: as much
    as in the busiest second so far."""
    return load.rate if load.rate is not None else max((second.sent for second in seconds), default=0)


def _figures(load: Load, result: Result, objective: Objective, lost: str | None) -> ProbeFigures:
    deliveries = result.deliveries
    return ProbeFigures(
        rate=_most_sent(load, result.timeline),
        planned=result.planned,
        ok=result.ok,
        errors=sum(result.errors.values()),
        percentiles_ms=_lags(result, objective) if objective.of_lag else result.response_time_ms,
        timeline=result.timeline,
        lost=lost,
        generator_limit=generator_limit(result, objective),
        over=_over(load, result, objective),
        missing=_missing(result),
        unconnected=_unconnected(result),
        behind=deliveries is not None and slices_pile_up(deliveries.backlog, deliveries.expected),
    )


def _lags(result: Result, objective: Objective) -> dict[str, float | None]:
    """The percentiles of the lag that are limited: infinite where nothing was due, for nobody was there to receive."""
    found = {limit.key: of_deliveries(result, limit.key) for limit in objective.limits}
    return {key: math.inf if lag is None else lag for key, lag in found.items()}


def _over(load: Load, result: Result, objective: Objective) -> dict[str, float] | None:
    """How many answers took longer than each limit, by its key, or how many messages' worth of deliveries, those that
    are missing included; None where the engine keeps no times."""
    text = result.histograms.get("lag" if objective.of_lag else "response_time")
    if text is None:
        return None
    times = Histogram.decode(text)
    missing = result.deliveries_due - result.deliveries.delivered if objective.of_lag and result.deliveries else 0
    return {limit.key: (times.over(1000 * limit.ms) + missing) / load.counts_each for limit in objective.limits}


def _missing(result: Result) -> float:
    """The share of the deliveries that were due and are missing."""
    due = result.deliveries_due
    return (due - result.deliveries.delivered) / due if result.deliveries and due else 0.0


def _unconnected(result: Result) -> float:
    """The share of the connections to be held that were refused, or closed by the server."""
    held = result.connections
    return min(1.0, (held.refused + held.lost) / held.wanted) if held and held.wanted else 0.0


def generator_limit(result: Result, objective: Objective) -> str | None:
    """Why the generator, not the server, limited a probe; None where it did not.

    Its lateness at a percentile is held against what the objective allows there, of response times and of lags alike:
    less than half of that seldom turns a pass into a fail.
    """
    invalid = [flag for flag in validity.judge(Evidence(**generator_evidence(result))) if flag.invalid]
    for limit in objective.limits:
        for lateness in _lateness(result):
            late = lateness.get(limit.key)
            if late is not None and late > LATE_ALLOWED * limit.ms:
                figures = f"{limit.key} {late:.1f} ms, under a limit of {limit.ms:g} ms"
                invalid.append(reasons.Reason.send_lag.flag(figures))
    return invalid[0].sentence if invalid else None


def _lateness(result: Result) -> list[Figures]:
    """How late the generator was, in each of what it can be late in: sending, and reading."""
    reading = result.deliveries.reading_lag_ms if result.deliveries else None
    return [result.pacing_lag_ms, *([] if reading is None else [reading])]


def generator_evidence(result: Result) -> dict[str, Any]:
    """What a result says of the generator, as fields of ``Evidence``.

    Its lateness is the pacing lag: the rest of the send lag is the wait for a connection, which the server causes. For
    the same reason requests that were never sent are the generator's only where none had to wait.
    """
    return {
        "generator_cpu": readings.generator_cpu(result),
        "send_lag_p99_ms": result.pacing_lag_ms["p99"],
        "response_p50_ms": result.latency_ms["p50"],
        "planned": result.planned,
        "sent": result.planned if result.waited else result.sent,
        "refused": result.errors.get("refused", 0),
    }
