"""Show the cost of a request (or other unit): CPU time by role, memory, and the work of each process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number, series
from loadtests.plan.cost_unit import CostUnit
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import MEMORY_PEAK, MEMORY_SETTLED, Metric
from loadtests.report import cpu_load, findings, points, tables
from loadtests.report.charts import rows as charts
from loadtests.report.charts.shared import Chart
from loadtests.report.points import ChartRow
from loadtests.report.view import Field, Section, Table
from loadtests.setups import HTTP
from loadtests.trials import readings

SPELT_OUT = {"ms": "milliseconds", "µs": "microseconds"}


def _shown(counted: CostUnit) -> dict[Metric, str]:
    return {
        MEMORY_PEAK: "peak MB",
        MEMORY_SETTLED: "settled MB",
        counted.switches: f"switches/{counted.singular}",
    }


def section(results: Results) -> Section | None:
    """Return tables and charts of cost, or None if no processes were observed."""
    tests = [
        test for test in results.tests if test.has_metric(test.kind.cost_unit.cpu) and _has_processes(results, test)
    ]
    if not tests:
        return None
    text = (
        "CPU time of all processes of a setup for each unit of work, such as a successful answer or a delivered "
        "message, including the cost of failures. A busy server needs less CPU time, so a figure at a fixed rate "
        "doesn't give a capacity. Memory is the sum of the processes' resident memory, so shared pages count in each "
        "process."
    )
    return Section(
        "cost",
        "Cost",
        (text, *_about_uncharged(results)),
        tuple(_table(results, test) for test in tests),
        tuple(chart for test in tests for chart in _charts(results, test)),
    )


def _has_processes(results: Results, test: Test) -> bool:
    return any(trial.processes for label in results.labels for trial in results.cells[label, test.name].valid)


def _about_uncharged(results: Results) -> Iterator[str]:
    if results.uncharged:
        yield (
            f"Supporting services ({series(results.uncharged)}) are not charged to a setup: their CPU time has its own "
            "column. Other figures don't include this CPU time or the memory of the services."
        )


def _table(results: Results, test: Test) -> Table:
    counted, unit = test.kind.cost_unit, test.kind.cost_unit.unit
    roles = {counted.of_role(role): f"{role} {unit}" for role in results.roles}
    uncharged = {counted.of_role(role, charged=False): f"{role} {unit}, not charged" for role in results.uncharged}
    shared = {
        f"requests per {role} process": role
        for role in results.roles
        if HTTP in test.setup_features
        and any(_spread(results.cells[label, test.name], role) for label in results.labels)
    }
    more = {heading: _estimated(results, test, metric) for metric, heading in _shown(counted).items()}
    more |= {heading: _sharing(role) for heading, role in shared.items()}
    dropped = [heading for metric, heading in _shown(counted).items() if metric is not MEMORY_PEAK]
    note = f"{tables.MEAN}{_idle_cores(results, test)}"
    if shared:
        note += " Requests per process: fewest, most, and the share of the busiest process, as medians over trials."
    return tables.measured(
        results,
        test,
        f"cost-{test.name}",
        f"Cost: {test.description}{points.by_engine(results, test)}",
        {counted.cpu: f"CPU {cpu_load.at_load(results, test)}".rstrip() + f", {unit}", **roles, **uncharged},
        tables.Additions(more, (*dropped, *shared, *reversed([*roles.values(), *uncharged.values()]), "peak MB"), note),
    )


def _idle_cores(results: Results, test: Test) -> str:
    idle = [label for label in results.labels_in(test.name) if results.is_lower_bound(label, test.name)]
    return f" The cores weren't fully busy, and busier cores may need less CPU time: {series(idle)}." if idle else ""


def _estimated(results: Results, test: Test, metric: Metric) -> tables.Column:
    return lambda cell: tables.estimate(results, cell.label, test, metric)


def _spread(cell: Cell, role: str) -> list[list[int]]:
    """Return the number of requests of each process, for each trial with several processes of the role."""
    by_trial = [readings.requests_by_process(trial, role) for trial in cell.valid]
    return [requests for requests in by_trial if len(requests) > 1 and any(requests)]


def _sharing(role: str) -> tables.Column:
    def field(cell: Cell) -> Field:
        trials = _spread(cell, role)
        if not trials:
            return tables.unknown()
        fewest, most = median(map(min, trials)), median(map(max, trials))
        busiest = median(max(requests) / sum(requests) for requests in trials)
        text = f"{number(fewest)} to {number(most)}"
        return Field(text, f"busiest {busiest:.0%} of {len(trials[0])}", f"{text} ({busiest:.0%})")

    return field


def _charts(results: Results, test: Test) -> Iterator[Chart]:
    counted = test.kind.cost_unit
    labels = results.by_estimate(test, counted.cpu)
    per = f"{counted.unit} per {counted.singular}"
    totals = [points.point(results, label, test, counted.cpu, "CPU", per) for label in labels]
    parts = [part for total in totals for part in _parts(results, test, total)]
    if not parts:
        return
    yield Chart(
        f"cpu-{test.name}",
        f"CPU time per {counted.success} {findings.condition(results, test)}, by the role of the processes."
        f"{points.whisker_note(totals)}",
        f"CPU {SPELT_OUT[counted.unit]} per {counted.singular}, {test.description}: {points.in_words(totals)}.",
        partial(
            charts.bars,
            parts,
            totals,
            results.roles,
            f"CPU time per {counted.success.removesuffix(' well')}, {counted.unit}",
            findings.title(results, test, counted.cpu),
            points.subtitle(results, test),
        ),
    )


def _parts(results: Results, test: Test, total: ChartRow) -> Iterator[ChartRow]:
    """Yield the parts of a setup's bar, one for each role."""
    counted = test.kind.cost_unit
    label, start = total["label"], 0.0
    estimates = {role: results.estimate(label, test.name, counted.of_role(role).name) for role in results.roles}
    known = {role: estimate.value for role, estimate in estimates.items() if estimate is not None}
    # Geometric means don't add up, so the parts are scaled to the length of the total.
    scale = total["value"] / sum(known.values()) if known and "value" in total else 0.0
    for role, value in known.items():
        text = f"{label}: {role} {number(value)} {counted.unit} CPU per {counted.singular}"
        yield {"label": label, "role": role, "start": start, "end": start + value * scale, "text": text}
        start += value * scale
