"""What a request costs: CPU time by role, memory, money, and how evenly the processes share the work."""

from __future__ import annotations

from statistics import median
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.results import Measured, Results
from loadtests.report import tables
from loadtests.report.sections import figures
from loadtests.report.view import Cell, Section, Table
from loadtests.report.words import DASH, closed, number, relative, what

MILLION = "cost of a million requests"
SHOWN = {
    "requests_per_cpu_s": "requests/CPU s",
    "memory_peak_mb": "peak MB",
    "memory_settled_mb": "settled MB",
    "context_switches_per_request": "switches/request",
}


def section(results: Results, price: float | None) -> Section | None:
    """Tables and charts of cost; None where no process was seen. ``price`` goes before the study's."""
    if not results.roles:
        return None
    if price is None:
        price = results.study.get("price_per_core_hour")
    text = (
        "CPU time of all processes of a setup, for each request answered well: what failed requests burn is borne by "
        "those that succeed. Memory is the sum over processes of what each has resident, so pages they share are "
        "counted in each."
    )
    tests = [test for test in results.tests if _measured(results, test)]
    return Section(
        "cost",
        "Cost",
        (text, _about_price(price)),
        tuple(_table(results, test, price) for test in tests),
        tuple(chart for test in tests if (chart := figures.cost(results, test))),
    )


def _measured(results: Results, test: dict[str, Any]) -> bool:
    return any(trial.processes for label in results.labels for trial in results.cells[label, test["name"]].valid)


def _about_price(price: float | None) -> str:
    if price is None:
        return (
            "With a price of a core-hour (python -m loadtests report RUN --price 0.04) a column says what a million "
            "requests cost."
        )
    return (
        f"The cost of a million requests is CPU seconds per request, times a million, over 3,600, at {price:g} for a "
        "core-hour: the CPU time that was used. Cores that are reserved and idle cost as well and are not in it."
    )


def _table(results: Results, test: dict[str, Any], price: float | None) -> Table:
    roles = {metrics.role_cpu(role): f"{role} ms" for role in results.roles}
    shared = {
        f"requests per {role} process": role
        for role in results.roles
        if any(_spread(results.cells[label, test["name"]], role) for label in results.labels)
    }
    more = {MILLION: _million(results, price)} if price is not None else {}
    more |= {heading: _estimated(results, metric) for metric, heading in SHOWN.items()}
    more |= {heading: _sharing(role) for heading, role in shared.items()}
    note = tables.MEDIAN
    if shared:
        note += " Requests per process: the fewest, the most, and the busiest one's share, each the median over trials."
    return tables.measured(
        results,
        test,
        f"cost-{test['name']}",
        f"Cost: {what(test)}",
        {metrics.CPU: "CPU ms", **roles},
        more,
        ("requests/CPU s", "settled MB", "switches/request", *shared, *reversed(roles.values()), "peak MB"),
        note,
    )


def _estimated(results: Results, metric: str) -> tables.Column:
    return lambda cell: tables.estimate(results, cell.label, cell.test, metric)


def _million(results: Results, price: float) -> tables.Column:
    """A million requests' CPU time in core-hours, times the price."""
    each = 1e6 / 1000 / 3600 * price

    def field(cell: Measured) -> Cell:
        cpu_ms = results.estimate(cell.label, cell.test, metrics.CPU)
        if cpu_ms is None:
            return Cell(DASH, tone="muted")
        text = _money(cpu_ms.median * each)
        within = f"{_money(cpu_ms.low * each)} to {_money(cpu_ms.high * each)}" if closed(cpu_ms) else ""
        return Cell(text, within, f"{text} {relative(cpu_ms)}".strip())

    return field


def _money(value: float) -> str:
    return number(value) if value >= 0.001 else f"{value:.2g}"


def _spread(cell: Measured, role: str) -> list[list[int]]:
    """Requests by process, for each trial in which several processes of the role could have had them."""
    by_trial = [metrics.requests_by_process(trial, role) for trial in cell.valid]
    return [requests for requests in by_trial if len(requests) > 1 and any(requests)]


def _sharing(role: str) -> tables.Column:
    def field(cell: Measured) -> Cell:
        trials = _spread(cell, role)
        if not trials:
            return Cell(DASH, tone="muted")
        fewest, most = median(map(min, trials)), median(map(max, trials))
        busiest = median(max(requests) / sum(requests) for requests in trials)
        text = f"{number(fewest)} to {number(most)}"
        return Cell(text, f"busiest {busiest:.0%} of {len(trials[0])}", f"{text} ({busiest:.0%})")

    return field
