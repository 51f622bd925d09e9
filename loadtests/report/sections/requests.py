"""The requests of a mix, each by itself."""

from __future__ import annotations

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import plural
from loadtests.plan.kinds import Test
from loadtests.plan.percentiles_with_failures import of_request
from loadtests.report.tables import median_of
from loadtests.report.view import Field, Section, Table

SHOWN = 12  # requests of one test: those sent most
COLUMNS = ("p50", "p99")


def section(results: Results) -> Section | None:
    """A table for each test that sends several requests; None where there is none."""
    tables = [table for test in results.tests if (table := _table(results, test)).rows]
    if not tables:
        return None
    return Section(
        "requests",
        "Request by request",
        (
            "Each request of a mix by itself: times are medians over valid trials, counts sums. A percentile of the "
            "whole mix can lie between the times of quick and slow requests, where no request is.",
        ),
        tuple(tables),
    )


def _table(results: Results, test: Test) -> Table:
    requests = sorted(test.requests, key=lambda request: -request.weight)
    cells = [results.cells[label, test.name] for label in results.labels]
    rows = [row for request in requests[:SHOWN] for cell in cells if (row := _row(request.name, cell))]
    left_out = len(requests) - SHOWN
    return Table(
        f"requests-{test.name}",
        f"Response time by request, ms: {test.description}",
        ("request", "setup", *COLUMNS, "sent", "failed"),
        tuple(rows),
        f"Not shown: {plural(left_out, 'request')} sent less often." if left_out > 0 else "",
        numeric=frozenset(range(2, 6)),
        folded=len(rows) > SHOWN,
        grouped=0,
    )


def _row(name: str, cell: Cell) -> tuple[Field, ...] | None:
    results = [trial.result for trial in cell.valid if trial.result]
    found = [one for result in results for one in result.requests if one.name == name]
    if not found:
        return None
    failed = sum(one.planned - one.ok for one in found)
    return (
        Field(name),
        Field(cell.label),
        *(median_of([of_request(one, key) for one in found]) for key in COLUMNS),
        Field(f"{sum(one.sent for one in found):,}"),
        Field(f"{failed:,}", tone="bad" if failed else ""),
    )
