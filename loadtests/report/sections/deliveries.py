"""Deliveries of messages: how many arrived, after how long, and which did not."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.plan.kinds import Test
from loadtests.plan.percentiles_with_failures import knows_lag, of_deliveries
from loadtests.plan.scheduling_delay import lag_too_late
from loadtests.records import Result
from loadtests.records.result import PERCENTILES
from loadtests.report import tables
from loadtests.report.view import Field, Table

COUNTS = ("missing", "duplicate", "reordered", "stray")
COLUMNS = ("setup", "delivered", *COUNTS, *(f"lag {key}, ms" for key in PERCENTILES))


def deliveries(results: Results, test: Test) -> Iterator[Table]:
    """A table of a test's deliveries; none where it has none."""
    cells = [results.cells[label, test.name] for label in results.labels_in(test.name)]
    rows = tuple(row for cell in cells if (row := _row(cell)))
    if rows:
        yield Table(
            f"deliveries-{test.name}",
            f"Deliveries: {test.description}",
            COLUMNS,
            rows,
            "Delivered: the share of messages that arrived, counted for each intended receiver. Reordered: after one "
            "that the same sender had sent later. Stray: to a receiver in another room, which makes a trial invalid. "
            "Lag: from the intended send to the arrival, infinite for missing deliveries. Counts are sums over valid "
            "trials, of stray deliveries over all; times are medians.",
            numeric=frozenset(range(1, len(COLUMNS))),
            optional=tuple(COLUMNS.index(f"lag {key}, ms") for key in ("p95", "p90", "p99.9")),
        )


def _row(cell: Cell) -> tuple[Field, ...] | None:
    results = [trial.result for trial in cell.valid if trial.result and trial.result.deliveries]
    known = [result.deliveries for result in results if result.deliveries]
    if not known:
        return None
    expected, delivered = sum(one.expected for one in known), sum(one.delivered for one in known)
    trials = (*cell.valid, *cell.invalid)
    everywhere = [trial.result.deliveries for trial in trials if trial.result and trial.result.deliveries]
    counts = (
        sum(one.missing for one in known),
        sum(one.duplicate for one in known),
        sum(one.reordered for one in known),
        sum(one.stray for one in everywhere),
    )
    return (
        Field(cell.label),
        Field(f"{delivered / expected:.2%}", f"{delivered:,} of {expected:,}") if expected else tables.unknown(),
        *(Field(f"{count:,}", tone="bad" if count else "") for count in counts),
        *(tables.median_of([_lag(one, key) for one in results]) for key in PERCENTILES),
    )


def _lag(result: Result, key: str) -> float | None:
    """A percentile of the lag; None with too few messages or too much delay of the generator."""
    return of_deliveries(result, key) if knows_lag(result, key) and not lag_too_late(result, key) else None
