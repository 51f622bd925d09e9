"""Capacity: the highest rate within the objective, what kept it from being higher, and the way there."""

from __future__ import annotations

from collections import Counter
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.results import Measured, Results
from loadtests.report import tables
from loadtests.report.sections import curves
from loadtests.report.view import Cell, Section, Table
from loadtests.report.words import DASH, plural, what
from loadtests.store import Trial

LIMITS = {"server": "server", "generator": "generator", "max_rate": "highest rate allowed", "probes": "probes"}


def section(results: Results) -> Section | None:
    """Tables and charts of the capacity tests; None where there are none."""
    tests = [test for test in results.tests if test["kind"] == "capacity"]
    if not tests:
        return None
    unsettled = [_unsettled(results, test) for test in tests]
    return Section(
        "capacity",
        "Capacity",
        (
            "The highest fixed rate at which a whole long probe stays within the objective: response times from the "
            "intended send, errors, at least 99% of the planned requests answered in time, and a backlog that does "
            "not grow. Only a search that the server itself ended counts: where the generator, the highest rate "
            "allowed or the number of probes ended it, the server's capacity is not known and nothing is averaged.",
        ),
        tuple(_table(results, test) for test in tests) + tuple(table for table in unsettled if table.rows),
        tuple(chart for test in tests if (chart := curves.capacity(results, test))),
    )


def _table(results: Results, test: dict[str, Any]) -> Table:
    return tables.measured(
        results,
        test,
        f"capacity-{test['name']}",
        f"Capacity: {what(test)}",
        {metrics.CAPACITY: "capacity, requests/s"},
        {"limited by": _limited_by, "probes": _probes, "trials": tables.counted},
        ("trials", "probes"),
        f"{tables.MEDIAN} Probes: those of a median search.",
    )


def _limited_by(cell: Measured) -> Cell:
    found = Counter(trial.capacity["limited_by"] for trial in cell.valid if trial.capacity)
    if not found:
        return Cell(DASH, tone="muted")
    if len(found) == 1:
        return Cell(LIMITS[next(iter(found))], tone="" if "server" in found else "bad")
    return Cell(", ".join(f"{LIMITS[limit]} {count}" for limit, count in sorted(found.items())), tone="bad")


def _probes(cell: Measured) -> Cell:
    counts = sorted(len(trial.capacity["probes"]) for trial in cell.valid if trial.capacity)
    invalid = sum(probe["outcome"] == "invalid" for trial in cell.valid for probe in curves.probes(trial))
    if not counts:
        return Cell(DASH, tone="muted")
    detail = f"{invalid} invalid in all" if invalid else ""
    return Cell(str(counts[len(counts) // 2]), detail)


def _unsettled(results: Results, test: dict[str, Any]) -> Table:
    """The searches that found no capacity of the server, in their own words."""
    trials = [
        trial
        for label in results.labels
        for trial in results.cells[label, test["name"]].valid
        if metrics.capacity(trial) is None
    ]
    rows = tuple((Cell(trial.label), Cell(str(trial.block)), Cell(_sentence(trial))) for trial in trials)
    return Table(
        f"unsettled-{test['name']}",
        f"{plural(len(rows), 'search', 'searches')} without a capacity of the server",
        ("setup", "block", "what was found"),
        rows,
    )


def _sentence(trial: Trial) -> str:
    return str((trial.capacity or {}).get("sentence") or "no search was made")
