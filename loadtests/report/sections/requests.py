"""Show each request of a mix separately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import plural
from loadtests.plan.kinds import Test
from loadtests.plan.times import of_request
from loadtests.records import RequestResult
from loadtests.report import tables
from loadtests.report.view import Field, Section, Table

SHOWN = 12  # maximum number of requests in a table; less frequent requests are left out
Row = tuple[str, str, Sequence[RequestResult]]  # a request's name, a label, and the request's results in each trial


@dataclass(frozen=True)
class Named:
    """The texts and limits of a table of requests.

    Attributes:
        one: The name of a row in the singular, such as request or route.
        title: The title of the table.
        percentiles: The percentiles that the table shows.
        folded: The number of rows above which a page folds the table.
    """

    one: str
    title: str
    percentiles: Collection[str]
    folded: int


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
    shown = rows([request.name for request in requests[:SHOWN]], found)
    note = f"Not shown: {plural(left_out, 'request')} sent less often." if left_out > 0 else ""
    return table(test, Named("request", "Response time by request", ("p50", "p99"), SHOWN), shown, note)


def all_requests(cell: Cell) -> list[RequestResult]:
    return [one for trial in cell.valid if trial.result for one in trial.result.requests]


def rows(names: Iterable[str], found: Mapping[str, Iterable[RequestResult]]) -> Iterator[Row]:
    for name in names:
        for label, results in found.items():
            if own := [one for one in results if one.name == name]:
                yield name, label, own


def table(test: Test, what: Named, found: Iterable[Row], note: str) -> Table:
    """Return a table of a test's requests, grouped by the names of requests. A page folds a long table."""

    def percentile(key: str) -> Callable[[Row], Field]:
        return lambda row: tables.median_of([of_request(one, key) for one in row[2]])

    def failed(row: Row) -> Field:
        kinds = sum((Counter(one.errors) for one in row[2]), Counter[str]())
        detail = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
        return tables.failed(sum(one.planned - one.ok for one in row[2]), detail)

    shown = list(found)
    columns: dict[str, Callable[[Row], Field | str]] = {what.one: lambda row: row[0], "setup": lambda row: row[1]}
    columns |= {key: percentile(key) for key in what.percentiles}
    columns |= {"sent": lambda row: f"{sum(one.sent for one in row[2]):,}", "failed": failed}
    layout = tables.Layout(("setup",), ("p95", "p90", "p99.9"), folded=len(shown) > what.folded, grouped=0)
    return tables.listed(
        f"{what.one}s-{test.name}", f"{what.title}, ms: {test.description}", shown, columns, note, layout
    )
