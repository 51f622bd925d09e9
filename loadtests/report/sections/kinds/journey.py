"""Add tables of methods, routes, whole journeys and Little's law to the report's section about journeys.

If the run has several steps of load, also add a chart of response time over load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number
from loadtests.plan.kinds import Test
from loadtests.plan.percentiles import knowable
from loadtests.records import Journeys, RequestResult
from loadtests.records.result import PERCENTILES
from loadtests.report import tables
from loadtests.report.sections import load_curve, requests
from loadtests.report.tables import Additions
from loadtests.report.view import Field, Table

MEDIANS = "Times are medians over the valid trials. Counts are sums."
FOLDED = 24  # a page folds a table with more rows than this


def _tables(results: Results, test: Test) -> Iterator[Table]:
    cells = [cell for label in results.labels_in(test.name) if _journeys(cell := results.cells[label, test.name])]
    if not cells:
        return
    methods = {cell.label: [one for journeys in _journeys(cell) for one in journeys.methods] for cell in cells}
    yield _by_request(test, "method", "GET and POST", methods)
    yield _whole(test, cells)
    if looping := [cell for cell in cells if _loops(cell)]:
        yield _loop(test, looping)
    routes = {cell.label: requests.all_requests(cell) for cell in cells}
    yield _by_request(test, "route", "Route by route", routes)


def _journeys(cell: Cell) -> list[Journeys]:
    return [trial.result.journeys for trial in cell.valid if trial.result and trial.result.journeys]


def _by_request(test: Test, one: str, title: str, found: Mapping[str, Sequence[RequestResult]]) -> Table:
    """Return a table of percentiles and failures, with a row for each setup and each method or route."""
    names = dict.fromkeys(row.name for own in found.values() for row in own)
    what = requests.Named(one, f"{title}, response time", tuple(PERCENTILES), FOLDED)
    return requests.table(test, what, requests.rows(names, found), MEDIANS)


def _whole(test: Test, cells: Sequence[Cell]) -> Table:
    """Return a table of complete journeys, measured from their intended start."""

    def percentile(key: str) -> tables.Column:
        return lambda cell: tables.median_of([_in_seconds(one, key) for one in _journeys(cell)])

    return tables.listed(
        f"whole-{test.name}",
        f"Whole journeys: {test.description}",
        cells,
        {
            "setup": lambda cell: cell.label,
            "completed": lambda cell: f"{sum(one.completed for one in _journeys(cell)):,}",
            "broken off": lambda cell: tables.failed(sum(one.broken_off for one in _journeys(cell))),
            **{f"{key}, s": percentile(key) for key in ("p50", "p90", "p99")},
            "under way first": lambda cell: f"{fmean(one.under_way_first for one in _journeys(cell)):,.0f}",
            "under way last": lambda cell: f"{fmean(one.under_way_last for one in _journeys(cell)):,.0f}",
        },
        "Seconds from the intended start of a journey to its end, including pauses. An error ends a journey. Under "
        "way: at the start and at the end of the measured load. If new users arrive at a rate and the second number is "
        "much larger, the server doesn't keep up with the users.",
        tables.Layout(optional=("under way first", "under way last")),
    )


def _in_seconds(found: Journeys, key: str) -> float | None:
    """Return a percentile of the duration of completed journeys, or None if too few were completed."""
    value = found.duration_ms[key] if knowable(PERCENTILES[key], found.completed) else None
    return None if value is None else value / 1000


def _loops(cell: Cell) -> list[Journeys]:
    """Return the results of journeys in a closed loop. Without a closed loop, the list is empty."""
    return [one for one in _journeys(cell) if one.disagreement is not None]


def _loop(test: Test, cells: Sequence[Cell]) -> Table:
    """Return a table of the measured rate and the rate expected from users, think time and response time."""

    def mean(name: str) -> tables.Column:
        return lambda cell: Field(number(fmean(getattr(one, name) for one in _loops(cell))))

    def off(cell: Cell) -> Field:
        worst = max((one.disagreement or 0.0 for one in _loops(cell)), key=abs)
        return Field(f"{worst:+.1%}", tone="bad" if abs(worst) > 0.02 else "")

    return tables.listed(
        f"loop-{test.name}",
        f"Little's law in the closed loop: {test.description}",
        cells,
        {
            "setup": lambda cell: cell.label,
            "users": lambda cell: f"{_loops(cell)[0].users:,}",
            "think, ms": mean("think_ms"),
            "response, ms": mean("wait_ms"),
            "users / (think + response)": mean("expected_per_s"),
            "measured, requests/s": mean("ended_per_s"),
            "off": off,
        },
        "Means by request, over the valid trials. The rate follows from the number of users and their pauses, so it "
        "isn't a capacity. If the rate differs by over 2% from the formula, the injectors were late.",
    )


ADDITIONS = Additions(tables=_tables, charts=load_curve.charts)
