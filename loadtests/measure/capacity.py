"""Finds a capacity with an engine: the search says what to probe, the engine probes, the judge judges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from loadtests.analyse import validity
from loadtests.engines import Load, Result
from loadtests.engines.base import OnSecond, ShouldStop
from loadtests.errors import UserError
from loadtests.plan.objective import Objective
from loadtests.searches import capacity as search
from loadtests.searches import judge
from loadtests.searches.judge import Judgement, Measured, Second
from loadtests.store.result import PERCENTILES

RunLoad = Callable[[Load, OnSecond, ShouldStop], Result]


@dataclasses.dataclass(frozen=True)
class Probed:
    """A probe that was made."""

    probe: search.Probe
    result: Result
    judgement: Judgement

    def to_dict(self) -> dict[str, Any]:
        """As a trial keeps it."""
        return {
            "rate": self.probe.rate,
            "duration_s": self.probe.duration_s,
            "purpose": self.probe.purpose.value,
            "outcome": self.judgement.outcome.value,
            "why": self.judgement.why,
            "planned": self.result.planned,
            "ok": self.result.ok,
            "errors": sum(self.result.errors.values()) + self.result.unfinished,
            "response_time_ms": self.result.response_time_ms,
        }


@dataclasses.dataclass(frozen=True)
class Found:
    """The capacity, and every probe that led to it."""

    capacity: search.Capacity
    objective: Objective
    probes: list[Probed]

    def to_dict(self) -> dict[str, Any]:
        """As a trial keeps it: the rate (None if no rate passed), what limited it, and the probes."""
        return {
            "rate": self.capacity.rate,
            "above": self.capacity.above,
            "limited_by": self.capacity.limited_by.value,
            "sentence": self.capacity.sentence,
            "objective": str(self.objective),
            "probes": [probed.to_dict() for probed in self.probes],
        }


def require_known(objective: Objective) -> None:
    """Raises UserError for a percentile that the engines do not report."""
    for limit in objective.limits:
        if limit.key not in PERCENTILES:
            raise UserError(f"objective: {limit.key} is not measured; allowed: {', '.join(PERCENTILES)}")


def find(
    load: Load,
    objective: Objective,
    plan: search.Plan,
    run_load: RunLoad,
    on_second: OnSecond,
    on_probe: Callable[[Probed], None],
) -> Found:
    """The highest rate at which ``load`` is within the objective.

    ``load`` gives all but rate and duration. ``run_load`` runs one probe (an engine's ``run``, or more around it);
    ``on_second`` is told of each second, ``on_probe`` of each probe when it has been judged.
    """
    steps = search.Search(plan)
    probes: list[Probed] = []
    while isinstance(step := steps.next(), search.Probe):
        result, lost = _probe(
            dataclasses.replace(load, rate=step.rate, duration_s=step.duration_s), objective, run_load, on_second
        )
        judgement = judge.judge(_measured(step, result, objective, lost), objective)
        probes.append(Probed(step, result, judgement))
        on_probe(probes[-1])
        steps.record(judgement)
    return Found(step, objective, probes)


def _probe(load: Load, objective: Objective, run_load: RunLoad, on_second: OnSecond) -> tuple[Result, str | None]:
    """One probe, stopped as soon as it is lost; and why it was lost."""
    rows: list[Second] = []
    lost: str | None = None

    def watch(row: dict[str, Any]) -> None:
        nonlocal lost
        rows.append(_second(row))
        assert load.rate is not None
        lost = lost or judge.lost(rows, load.rate, load.duration_s, objective)
        on_second(row)

    result = run_load(load, watch, lambda: lost is not None)
    return result, lost


def _measured(step: search.Probe, result: Result, objective: Objective, lost: str | None) -> Measured:
    return Measured(
        rate=step.rate,
        planned=result.planned,
        ok=result.ok,
        errors=sum(result.errors.values()),
        percentiles_ms=result.response_time_ms,
        timeline=[_second(row) for row in result.timeline],
        lost=lost,
        generator_limit=generator_limit(result, objective),
    )


def generator_limit(result: Result, objective: Objective) -> str | None:
    """Why the generator, not the server, limited a probe; None where it did not.

    Its lateness is held against what the objective allows: less than half of that seldom turns a pass into a fail.
    """
    allowed_ms = min(limit.ms for limit in objective.limits)
    seen = {**generator_evidence(result), "response_p50_ms": allowed_ms}
    invalid = [flag for flag in validity.judge(validity.Evidence(**seen)) if flag.invalid]
    return invalid[0].sentence if invalid else None


def generator_evidence(result: Result) -> dict[str, Any]:
    """What a result says of the generator, as ``loadtests.analyse.validity.Evidence`` takes it.

    Its lateness is the pacing lag: the rest of the send lag is the wait for a connection, which the server causes. For
    the same reason requests that were never sent are the generator's only where none had to wait. Its CPU is held
    against the time in which it had to send: in the grace period that may follow it only waits.
    """
    return {
        "generator_cpu": max(row["cpu_s"] / min(row["wall_s"], result.duration_s) for row in result.generator),
        "send_lag_p99_ms": result.pacing_lag_ms["p99"],
        "response_p50_ms": result.latency_ms["p50"],
        "planned": result.planned,
        "sent": result.planned if result.waited else result.sent,
        "refused": result.errors.get("refused", 0),
    }


def _second(row: dict[str, Any]) -> Second:
    return Second(row["sent"], row["ok"] + row["errors"], row["errors"], row["p50_ms"], row["p99_ms"])
