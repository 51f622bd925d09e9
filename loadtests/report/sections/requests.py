"""The requests of a mix, each by itself: the response time of the whole says nothing of a single one."""

from __future__ import annotations

import statistics
from typing import Any

from loadtests.analyse.percentiles import knowable
from loadtests.analyse.results import Measured, Results
from loadtests.report.view import Cell, Section, Table
from loadtests.report.words import DASH, number, plural, what

SHOWN = 12  # requests of one test: those sent most
PERCENTILES = {"p50": 50.0, "p99": 99.0}


def section(results: Results) -> Section | None:
    """A table for each test that sends several requests; None where there is none."""
    tables = [table for test in results.tests if (table := _table(results, test)).rows]
    if not tables:
        return None
    return Section(
        "requests",
        "Request by request",
        (
            "What became of each request of a mix: times are the median of the valid trials, counts their sum. A "
            "percentile of the whole mix can lie between the times of a quick request and those of a slow one, where "
            "no request is.",
        ),
        tuple(tables),
    )


def _table(results: Results, test: dict[str, Any]) -> Table:
    asked = sorted(test.get("requests", ()), key=lambda request: -float(request["weight"]))
    cells = [results.cells[label, test["name"]] for label in results.labels]
    rows = [row for request in asked[:SHOWN] for cell in cells if (row := _row(request["name"], cell))]
    left_out = len(asked) - SHOWN
    return Table(
        f"requests-{test['name']}",
        f"Response time by request, ms: {what(test)}",
        ("request", "setup", *PERCENTILES, "sent", "failed"),
        tuple(rows),
        f"{plural(left_out, 'request')} sent less often not shown." if left_out > 0 else "",
        numeric=frozenset(range(2, 6)),
        folded=len(rows) > SHOWN,
        grouped=0,
    )


def _row(name: str, cell: Measured) -> tuple[Cell, ...] | None:
    found = [row for trial in cell.valid for row in (trial.result or {}).get("requests", ()) if row["name"] == name]
    if not found:
        return None
    times = []
    for key, share in PERCENTILES.items():
        known = [row["response_time_ms"][key] for row in found if knowable(share, row["completed"])]
        whole = len(known) == len(found) and None not in known
        times.append(Cell(number(statistics.median(known))) if whole else Cell(DASH, tone="muted"))
    failed = sum(row["planned"] - row["ok"] for row in found)
    sent = sum(row["sent"] for row in found)
    return (Cell(name), Cell(cell.label), *times, Cell(f"{sent:,}"), Cell(f"{failed:,}", tone="bad" if failed else ""))
