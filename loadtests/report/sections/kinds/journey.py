"""Add tables of methods, routes and whole journeys to the report's section about journeys.

If the run has several steps of load, also add a chart of response time over load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.plan.kinds import Test
from loadtests.plan.percentiles import knowable
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Journeys, RequestResult, Trial
from loadtests.records.result import PERCENTILES
from loadtests.report import tables
from loadtests.report.sections import load_curve, requests
from loadtests.report.tables import Additions
from loadtests.report.view import Table

MEDIANS = "Times are medians over the valid trials. Counts are sums."


def _journeys(trial: Trial) -> Journeys | None:
    return trial.result.journeys if trial.result else None


def _duration(key: str) -> TrialCount:
    """Return a percentile of the duration of completed journeys, which is unknown if too few were completed."""

    def read(trial: Trial) -> float | None:
        found = _journeys(trial)
        return found.duration_ms[key] if found and knowable(PERCENTILES[key], found.completed) else None

    return TrialCount(f"{key}, ms", key, read)


WHOLE = (
    *tables.sums(_journeys, {"completed": "completed"}),
    *tables.sums(_journeys, {"broken off": "broken_off"}, bad=True),
    *map(_duration, ("p50", "p90", "p99")),
    *tables.medians(_journeys, {"under way first": "under_way_first", "under way last": "under_way_last"}),
)


def _tables(results: Results, test: Test) -> Iterator[Table]:
    yield from _by_request(results, test, "method", "GET and POST", _methods)
    yield from tables.counted_in(
        results,
        test,
        "whole",
        "Whole journeys",
        WHOLE,
        "From the intended start of a journey to its end, including pauses. An error ends a journey. Under way: at the "
        "start and at the end of the measured load. If new users arrive at a rate and the second number is much "
        "larger, the server doesn't keep up with the users. Times and users under way are medians, and counts are "
        "sums.",
        tables.Layout(optional=("under way first", "under way last")),
    )
    yield from _by_request(results, test, "route", "Route by route", requests.all_requests)


def _methods(cell: Cell) -> list[RequestResult]:
    return [one for trial in cell.valid if (found := _journeys(trial)) for one in found.methods]


def _by_request(
    results: Results, test: Test, one: str, title: str, read: Callable[[Cell], list[RequestResult]]
) -> Iterator[Table]:
    """Yield a table of percentiles and failures, with a row for each setup and each method or route."""
    found = {label: read(results.cells[label, test.name]) for label in results.labels_in(test.name)}
    if names := dict.fromkeys(row.name for own in found.values() for row in own):
        yield requests.table(test, one, f"{title}, response time", names, found, MEDIANS)


ADDITIONS = Additions(tables=_tables, charts=load_curve.charts)
