"""Find a server's capacity: the search selects probes, an engine runs them, and the judge decides if they pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from loadtests.engines.base import Watch
from loadtests.measure.searches import judge
from loadtests.measure.searches.capacity import CapacitySearch, Probe, Purpose
from loadtests.measure.searches.judge import Judgement, Outcome, ProbeFigures
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.plan.times import EVENT_DELAY, LAG
from loadtests.records import CapacityRecord, Evidence, ProbeRecord, Result, Second
from loadtests.records.histogram import Histogram
from loadtests.trials import readings, reasons, validity
from loadtests.trials.overload import slices_pile_up
from loadtests.workload import Load

DELAY_ALLOWED = 0.5  # the maximum delay in the generator, as a share of the objective's limit
ON_THEIR_WAY = 0.01  # the maximum share of due requests that are unsent when a probe is stopped
OF = {"lag": LAG, "delay": EVENT_DELAY}  # a limit can apply to these times instead of the response time

RunLoad = Callable[[Load, Watch], Result]


def find(
    load: Load,
    objective: Objective,
    plan: SearchPlan,
    run_load: RunLoad,
    on_probe: Callable[[ProbeRecord], None] = lambda probe: None,
) -> CapacityRecord:
    """Find the highest rate at which a load meets the objective.

    Args:
        load: The load. Each probe sets its rate and duration, and uses different random arrivals.
        objective: The objective that the load must meet.
        plan: The plan of the search. The rate of a broadcast load counts deliveries, not sent messages.
        run_load: Runs one probe.
        on_probe: Called with each judged probe.
    """
    steps = CapacitySearch(plan)
    probes: list[ProbeRecord] = []
    while isinstance(step := steps.next(), Probe):
        probe = load.probing(step.rate, step.duration_s, len(probes))
        result, lost = _probe(probe, objective, run_load)
        judgement = judge.judge(_figures(probe, result, objective, lost), objective)
        probes.append(_record(step, result, judgement))
        on_probe(probes[-1])
        steps.record(judgement)
    return CapacityRecord(
        rate=step.rate,
        above=step.above,
        limited_by=step.limited_by.value,
        sentence=step.sentence,
        objective=str(objective),
        probes=tuple(probes),
    )


def confirming(found: CapacityRecord) -> int | None:
    """Return the index of the last probe that confirmed the rate, or None if no probe did."""
    confirmed = (Outcome.PASS.value, Purpose.CONFIRM.value, found.rate)
    places = [i for i, one in enumerate(found.probes) if (one.outcome, one.purpose, one.rate) == confirmed]
    return places[-1] if places else None


def _record(probe: Probe, result: Result, judgement: Judgement) -> ProbeRecord:
    return ProbeRecord(
        rate=probe.rate,
        duration_s=probe.duration_s,
        purpose=probe.purpose.value,
        outcome=judgement.outcome.value,
        why=judgement.why,
        planned=result.planned,
        ok=result.ok,
        errors=sum(result.failed.values()),
        response_time_ms=result.response_time_ms,
        lag_ms=result.deliveries.lag_ms if result.deliveries else None,
        delay_ms=result.streams.delay_ms if result.streams else None,
    )


def _probe(load: Load, objective: Objective, run_load: RunLoad) -> tuple[Result, str | None]:
    """Run one probe, and stop it as soon as it can't pass.

    Returns:
        The result, and the reason why the probe was stopped, or None if it wasn't stopped.
    """
    seconds: list[Second] = []
    lost: str | None = None

    def watch(second: Second) -> None:
        nonlocal lost
        seconds.append(second)
        lost = lost or judge.lost(seconds, _rate(load, seconds), load.duration_s, objective)

    result = run_load(load, Watch(watch, lambda: lost is not None))
    return result, lost


def _rate(load: Load, seconds: Sequence[Second]) -> float:
    """Return the requests per second. For journeys, which have no fixed rate, return the rate of the busiest second."""
    return load.rate if load.rate is not None else max((second.sent for second in seconds), default=0)


def _figures(load: Load, result: Result, objective: Objective, lost: str | None) -> ProbeFigures:
    deliveries, due, opened, streams = result.deliveries, result.deliveries_due, result.connections, result.streams
    missing = due - deliveries.delivered if deliveries else 0
    percentiles = dict(result.response_time_ms)
    for limit in objective.limits:
        if limit.of:  # if no delivery was due, because there were no receivers, the time counts as infinite
            late = OF[limit.of].percentile(result, limit.key)
            percentiles[limit.name] = math.inf if late is None else late
    return ProbeFigures(
        rate=_rate(load, result.timeline),
        planned=result.planned,
        ok=result.ok,
        errors=sum(result.errors.values()),
        percentiles_ms=percentiles,
        timeline=result.timeline,
        lost=lost,
        generator_limit=generator_limit(result, objective, stopped=lost is not None),
        over=_over(load, result, objective, missing),
        missing=missing / due if due else 0.0,
        unconnected=min(1.0, (opened.refused + opened.lost) / opened.requested) if opened and opened.requested else 0.0,
        unstreamed=streams.failed / streams.begun if streams and streams.begun else 0.0,
        behind=deliveries is not None and slices_pile_up(deliveries.backlog, deliveries.expected),
    )


def _over(load: Load, result: Result, objective: Objective, missing: float) -> dict[str, float] | None:
    """Return the number of answers above each limit, by the limit's name.

    The number of late and missing deliveries is divided by the number of deliveries per message. The number of late and
    missing events is divided by the number of events per request.

    Returns:
        The numbers, or None if the engine doesn't record these times.
    """
    streams = result.streams
    events, lost = (streams.due / max(result.planned, 1), streams.missing) if streams else (1.0, 0)
    # For each kind of limit: the name of the histogram, the number of missing values, and the values per answer.
    ways = {
        "": ("response_time", 0, 1.0),
        "lag": ("lag", missing, load.counts_each),
        "delay": ("event_delay", lost, events),
    }
    found = {}
    for limit in objective.limits:
        name, absent, each = ways[limit.of]
        if name not in result.histograms:
            return None
        found[limit.name] = (Histogram.decode(result.histograms[name]).over(1000 * limit.ms) + absent) / (each or 1.0)
    return found


def generator_limit(result: Result, objective: Objective, stopped: bool) -> str | None:
    """Return why the generator, not the server, limited a probe, or None if the generator wasn't the limit.

    The function compares the generator's delays in sending and reading with the limit for the same percentile. A delay
    of less than half the limit rarely causes the failure of a probe that would otherwise pass.
    """
    evidence = generator_evidence(result)
    if stopped and result.planned - evidence["sent"] <= max(1, ON_THEIR_WAY * result.planned):
        evidence["sent"] = result.planned
    invalid = [flag for flag in validity.judge(Evidence(**evidence)) if flag.invalid]
    read = result.deliveries or result.streams
    reading = read.reading_lag_ms if read else None
    for limit in objective.limits:
        for delays in (result.pacing_lag_ms, reading or {}):
            delay = delays.get(limit.key)
            if delay is not None and delay > DELAY_ALLOWED * limit.ms:
                figures = f"{limit.key} {delay:.1f} ms, with a limit of {limit.ms:g} ms"
                invalid.append(reasons.Reason.send_lag.flag(figures))
    return invalid[0].sentence if invalid else None


def generator_evidence(result: Result) -> dict[str, Any]:
    """Return the result's information about the generator, as fields of ``Evidence``.

    The pacing lag is the generator's scheduling delay. The rest of the send lag is the wait for a connection, which the
    server causes. If any request waited for a connection, the server may also be the reason for unsent requests.
    Therefore, all planned requests then count as sent.
    """
    return {
        "generator_cpu": readings.generator_cpu(result),
        "send_lag_p99_ms": result.pacing_lag_ms["p99"],
        "response_p50_ms": result.latency_ms["p50"],
        "planned": result.planned,
        "sent": result.planned if result.waited else result.sent,
        "refused": result.errors.get("refused", 0),
    }
