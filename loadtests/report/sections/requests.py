"""Show each request of a mix separately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import plural
from loadtests.plan.kinds import Test
from loadtests.plan.times import of_request
from loadtests.records import RequestResult
from loadtests.records.result import PERCENTILES
from loadtests.report import tables
from loadtests.report.view import Field, Section, Table

SHOWN = 12  # maximum number of requests in a table; less frequent requests are left out
FOLDED = 24  # a page folds a table with more rows than this
Row = tuple[str, str, Sequence[RequestResult]]  # a request's name, a label, and the request's results in each trial


def section(results: Results) -> Section | None:
    """Return a table for each test that sends several requests, or None if there is no such test."""
    found = [table for test in results.tests if (table := _of_test(results, test)).rows]
    if not found:
        return None
    return Section(
        "requests",
        "Request by request",
        (
            "Each request of a mix: times are medians over valid trials, and counts are sums. A percentile of the "
            "whole mix can be between the times of quick and slow requests.",
        ),
        tuple(found),
    )


def _of_test(results: Results, test: Test) -> Table:
    requests = sorted(test.requests, key=lambda request: -request.weight)
    found = {label: all_requests(results.cells[label, test.name]) for label in results.labels}
    left_out = len(requests) - SHOWN
    note = f"Not shown: {plural(left_out, 'request')} sent less often." if left_out > 0 else ""
    return table(test, "request", "Response time by request", [one.name for one in requests[:SHOWN]], found, note)


def all_requests(cell: Cell) -> list[RequestResult]:
    return [one for trial in cell.valid if trial.result for one in trial.result.requests]


def table(
    test: Test, what: str, title: str, names: Iterable[str], found: Mapping[str, Iterable[RequestResult]], note: str
) -> Table:
    """Return a table of a test's requests, grouped by the names of requests.

    Args:
        test: The test.
        what: The name of a row in the singular, such as request or route.
        title: The title of the table.
        names: The names of the requests to show.
        found: The results of requests, by label.
        note: The text below the table.
    """

    def percentile(key: str) -> Callable[[Row], Field]:
        return lambda row: tables.median_of([of_request(one, key) for one in row[2]])

    def failed(row: Row) -> Field:
        kinds = sum((Counter(one.errors) for one in row[2]), Counter[str]())
        detail = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
        return tables.failed(sum(one.planned - one.ok for one in row[2]), detail)

    rows: list[Row] = []
    for name in names:
        for label, results in found.items():
            if own := [one for one in results if one.name == name]:
                rows.append((name, label, own))
    columns: dict[str, Callable[[Row], Field | str]] = {what: lambda row: row[0], "setup": lambda row: row[1]}
    columns |= {key: percentile(key) for key in PERCENTILES}
    columns |= {"sent": lambda row: f"{sum(one.sent for one in row[2]):,}", "failed": failed}
    layout = tables.Layout(("setup",), ("p95", "p90", "p99.9"), folded=len(rows) > FOLDED, grouped=0)
    return tables.listed(f"{what}s-{test.name}", f"{title}, ms: {test.description}", rows, columns, note, layout)
