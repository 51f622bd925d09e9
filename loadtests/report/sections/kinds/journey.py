"""What journeys have besides their figures: GET and POST apart, every route by itself, the journeys, the arithmetic of
the closed loop and, where there are several steps of load, the response times over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number
from loadtests.plan.kinds import Test
from loadtests.plan.percentiles import knowable
from loadtests.plan.percentiles_with_failures import of_request
from loadtests.records import Journeys, RequestResult
from loadtests.records.result import PERCENTILES
from loadtests.report import tables
from loadtests.report.sections import load_curve
from loadtests.report.sections.additions import Additions
from loadtests.report.view import Field, Table

MEDIANS = (
    "Times are the median of the valid trials, of which each has its own percentile over all of its requests; counts "
    "their sum."
)
FOLDED = 24  # rows of a table that a page folds where it can


def _tables(results: Results, test: Test) -> Iterator[Table]:
    cells = [cell for label in results.labels_in(test.name) if _journeys(cell := results.cells[label, test.name])]
    if not cells:
        return
    yield _by_request(test, cells, "method", "methods", "GET and POST")
    yield from _whole(test, cells)
    yield from _loop(test, cells)
    yield _by_request(test, cells, "route", "routes", "Route by route")


def _journeys(cell: Cell) -> list[Journeys]:
    return [trial.result.journeys for trial in cell.valid if trial.result and trial.result.journeys]


def _by_request(test: Test, cells: Sequence[Cell], column: str, name: str, title: str) -> Table:
    """A row for each method, or route, and setup: percentiles, and what failed."""
    found = {cell.label: _requests(cell, name) for cell in cells}
    names = dict.fromkeys(one.name for requests in found.values() for one in requests)
    rows = tuple(
        _row(which, cell.label, own)
        for which in names
        for cell in cells
        if (own := [one for one in found[cell.label] if one.name == which])
    )
    return Table(
        f"{name}-{test.name}",
        f"{title}, response time, ms: {test.description}",
        (column, "setup", *PERCENTILES, "sent", "failed"),
        rows,
        MEDIANS,
        numeric=frozenset(range(2, len(PERCENTILES) + 4)),
        optional=tuple(2 + list(PERCENTILES).index(key) for key in ("p95", "p90", "p99.9")),
        folded=len(rows) > FOLDED,
        grouped=0,
    )


def _requests(cell: Cell, name: str) -> list[RequestResult]:
    if name == "methods":
        return [one for journeys in _journeys(cell) for one in journeys.methods]
    return [one for trial in cell.valid if trial.result for one in trial.result.requests]


def _row(name: str, label: str, found: Sequence[RequestResult]) -> tuple[Field, ...]:
    sent, failed = sum(one.sent for one in found), sum(one.planned - one.ok for one in found)
    kinds = {kind: sum(one.errors.get(kind, 0) for one in found) for one in found for kind in one.errors}
    detail = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
    return (
        Field(name),
        Field(label),
        *(_time([of_request(one, key) for one in found]) for key in PERCENTILES),
        Field(f"{sent:,}"),
        Field(f"{failed:,}", detail, tone="bad" if failed else ""),
    )


def _time(found: Sequence[float | None]) -> Field:
    """A percentile of several trials; not known where any of them has too few to know it."""
    known = [time for time in found if time is not None]
    return Field(number(median(known))) if len(known) == len(found) else tables.unknown()


def _whole(test: Test, cells: Sequence[Cell]) -> Iterator[Table]:
    """Whole journeys, from the moment in which each was to begin."""
    rows = []
    for cell in cells:
        found = _journeys(cell)
        completed, broken = sum(one.completed for one in found), sum(one.broken_off for one in found)
        rows.append(
            (
                Field(cell.label),
                Field(f"{completed:,}"),
                Field(f"{broken:,}", tone="bad" if broken else ""),
                *(_time([_in_seconds(one, key) for one in found]) for key in ("p50", "p90", "p99")),
                Field(f"{fmean(one.under_way_first for one in found):,.0f}"),
                Field(f"{fmean(one.under_way_last for one in found):,.0f}"),
            )
        )
    yield Table(
        f"whole-{test.name}",
        f"Whole journeys: {test.description}",
        ("setup", "completed", "broken off", "p50, s", "p90, s", "p99, s", "under way first", "under way last"),
        tuple(rows),
        "Seconds from the moment in which a journey was to begin to its end, thinking included. Whoever meets an error "
        "breaks off. Under way: when the measured load began, and when it ended; where new users come at a rate and "
        "the latter is far more, the server does not keep up with them.",
        numeric=frozenset(range(1, 8)),
        optional=(6, 7),
    )


def _in_seconds(found: Journeys, key: str) -> float | None:
    """A percentile of how long journeys took that were completed; None where they were too few."""
    value = found.duration_ms[key] if knowable(PERCENTILES[key], found.completed) else None
    return None if value is None else value / 1000


def _loop(test: Test, cells: Sequence[Cell]) -> Iterator[Table]:
    """The rate that users, think and response time give, next to the one that was measured; none for an open loop."""
    rows = tuple(row for cell in cells if (row := _arithmetic(cell)))
    if rows:
        yield Table(
            f"loop-{test.name}",
            f"The arithmetic of the closed loop: {test.description}",
            (
                "setup",
                "users",
                "think, ms",
                "response, ms",
                "users / (think + response)",
                "measured, requests/s",
                "off",
            ),
            rows,
            "Means by request, over the valid trials. The rate follows from how many users there are and how long they "
            "think: it is no capacity. Where it is off by over 2% the injectors were late.",
            numeric=frozenset(range(1, 7)),
        )


def _arithmetic(cell: Cell) -> tuple[Field, ...] | None:
    found = [one for one in _journeys(cell) if one.disagreement is not None]
    if not found:
        return None
    means = [
        fmean(getattr(one, key) for one in found) for key in ("think_ms", "wait_ms", "expected_per_s", "ended_per_s")
    ]
    off = max((one.disagreement or 0.0 for one in found), key=abs)
    return (
        Field(cell.label),
        Field(f"{found[0].users:,}"),
        *(Field(number(mean)) for mean in means),
        Field(f"{off:+.1%}", tone="bad" if abs(off) > 0.02 else ""),
    )


ADDITIONS = Additions(tables=_tables, charts=load_curve.charts)
