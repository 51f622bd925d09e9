"""What the types of the records do not say: that a run and its trials fit together, before anything uses them.

A run folder may be somebody else's. What is refused here would be looked up, counted or drawn as if it were so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from loadtests.plan import kinds
from loadtests.plan.kinds import Test
from loadtests.plan.schedule import Slot
from loadtests.records import Advice, Result, Trial
from loadtests.records.histogram import Histogram
from loadtests.records.result import FIGURES, Figures
from loadtests.records.run.run_record import OwnProject, RunRecord
from loadtests.workload import Workload

DEEPEST = 10  # of what is kept of a machine, which is told as it is
LONGEST = 100_000  # seconds of a timeline: over a day
MOST_SHOWN = 1_000_000  # readings of a gauge, ten a second
PACKAGES = ("packages", "node_packages", "stack_2016")  # keys of versions that hold versions by names


def run(record: RunRecord) -> None:
    """Raises ValueError: what of the record does not fit the rest of it, and where."""
    study = record.study
    labels = _each_once("study.entries", [entry.label for entry in study.entries])
    tests = _each_once("study.tests", [test.name for test in study.tests])
    _in("study.baseline", [study.baseline], labels)
    _in("setups", labels, record.setups)
    for test in study.tests:
        _test(test)
    if study.sweep:
        if not study.sweep.swept:
            raise ValueError("study.sweep: no knob has several values")
        for entry in study.entries:
            _in(f"study.entries: env of {entry.label}", study.sweep.knobs, entry.env)
            if entry.setup != study.sweep.setup:
                raise ValueError(f"study.entries: {entry.label} is not of the sweep's setup")
    _each_once("order: numbers", [slot.number for slot in record.order])
    _each_once("order: places", [(slot.block, slot.label, slot.test) for slot in record.order])
    _in("order: labels", {slot.label for slot in record.order}, labels)
    _in("order: tests", {slot.test for slot in record.order}, tests)
    _in("left_out: tests", {one.test for one in record.left_out if one.test is not None}, tests)
    if record.advice:
        _advice(record.advice, labels)
    if record.application:
        _application(record.application)
    _told("machine", record.machine)
    _told("versions", record.versions)
    if record.servers:
        _told("servers.generator", record.servers.generator)
    for client in record.clients:
        _told("clients.machine", client.machine)
    _each_once("service_hosts", [one.service for one in record.service_hosts])
    for one in record.service_hosts:
        _told("service_hosts.machine", one.machine)
    for key in PACKAGES:
        packages = record.versions.get(key, {})
        if not isinstance(packages, dict) or not all(isinstance(version, str) for version in packages.values()):
            raise ValueError(f"versions.{key} are not versions by names")
    memory = record.machine.get("memory_mb")
    if memory is not None and not isinstance(memory, (int, float)):
        raise ValueError("machine.memory_mb is not a number")


def trial(found: Trial, slots: Mapping[int, Slot]) -> None:
    """Raises ValueError: what of the trial does not fit itself, or ``slots``, the run's order by number."""
    if slots.get(found.number) != Slot(found.number, found.block, found.label, found.test):
        raise ValueError(
            f"number {found.number}, {found.label} in {found.test} in block {found.block}, is not in the run's order"
        )
    if found.result:
        _result(found.result)
    for name, shown in found.gauges.items():
        if len(shown) > MOST_SHOWN:
            raise ValueError(f"gauges.{name} has {len(shown):,} readings; at most {MOST_SHOWN:,} are allowed")
    for probe in found.capacity.probes if found.capacity else ():
        _figures("capacity.probes", probe.response_time_ms)
        if probe.lag_ms is not None:
            _figures("capacity.probes", probe.lag_ms)


def _test(test: Test) -> None:
    where = f"study.tests: {test.name}"
    if test.requests:
        Workload(test.requests)
    recorded: Iterable[tuple[float, int]] = getattr(test, "recorded", ())
    if any(index >= len(test.requests) for _, index in recorded):
        raise ValueError(f"{where}: recorded: a request that is not there")
    try:
        told = test.search, test.description, test.condition, test.length, test.exact_description
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None
    assert told


def _advice(advice: Advice, labels: Collection[str]) -> None:
    kinds.metric(advice.metric)
    for one in advice.rounds:
        _in("advice.rounds", one.candidates, labels)
    if advice.outcome:
        _in("advice.outcome", filter(None, (advice.outcome.pick, advice.outcome.runner_up)), labels)


def _application(own: OwnProject) -> None:
    if not isinstance(own.options.get("app"), str):
        raise ValueError("application.options lacks 'app'")
    talk = own.options.get("websocket", {"path": "", "send": ""})
    if not isinstance(talk, dict) or not {"path", "send"} <= talk.keys():
        raise ValueError("application.options.websocket lacks 'path' or 'send'")
    if not all(own.remarks):
        raise ValueError("application.remarks holds an empty one")


def _result(result: Result) -> None:
    times = (result.response_time_ms, result.service_time_ms, result.send_lag_ms, result.pacing_lag_ms)
    of_requests = (of.response_time_ms for of in result.requests)
    told = result.deliveries
    lags = [figures for figures in (told.lag_ms, told.last_ms, told.reading_lag_ms) if figures] if told else []
    openings = [result.connections.opening_ms] if result.connections else []
    if result.connections and result.connections.rejoined:
        openings.append(result.connections.rejoined.away_ms)
    of_journeys = (
        [result.journeys.duration_ms, *(of.response_time_ms for of in result.journeys.methods)]
        if result.journeys
        else []
    )
    for figures in (*times, *of_requests, *of_journeys, *lags, *openings):
        _figures("result", figures)
    if len(result.timeline) > LONGEST:
        raise ValueError(f"result.timeline has {len(result.timeline):,} rows; at most {LONGEST:,} are allowed")
    for name, text in result.histograms.items():
        try:
            Histogram.decode(text)
        except ValueError as error:
            raise ValueError(f"result.histograms.{name}: {error}") from None


def _figures(where: str, figures: Figures) -> None:
    if figures.keys() != set(FIGURES):
        raise ValueError(f"{where}: times are told by {', '.join(FIGURES)}, and not by {', '.join(figures)}")


def _told(where: str, values: Any, depth: int = 0) -> None:
    """Values that have no type of their own: nested a little, with names that are texts."""
    if depth > DEEPEST:
        raise ValueError(f"{where} is nested more than {DEEPEST} deep")
    if isinstance(values, int) and abs(values) >= 2**64:
        raise ValueError(f"{where} holds a number of {len(bin(values))} bits")
    for value in values.values() if isinstance(values, dict) else values if isinstance(values, list) else ():
        _told(where, value, depth + 1)


def _each_once(where: str, values: list[Any]) -> set[Any]:
    if not values and where.startswith("study"):
        raise ValueError(f"{where}: at least one is needed")
    if len(set(values)) < len(values):
        raise ValueError(f"{where}: something stands twice")
    return set(values)


def _in(where: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{where}: {name!r} is not among {', '.join(sorted(known)) or 'those of the run'}")
