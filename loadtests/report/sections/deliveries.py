"""Show the deliveries of messages: how many arrived, how many were lost, and the time until they arrived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import DASH
from loadtests.plan.kinds import Test
from loadtests.plan.times import LAG
from loadtests.records import Deliveries, Trial
from loadtests.records.result import PERCENTILES
from loadtests.report import tables
from loadtests.report.view import Field, Table

UNKNOWN_STRAYS = "unknown: without $ROOM, all connections may share a room and receive each other's messages"


def _deliveries(trial: Trial) -> Deliveries | None:
    return trial.result.deliveries if trial.result else None


COUNTED = tables.sums(_deliveries, {name: name for name in ("missing", "duplicate", "reordered")}, bad=True)


def deliveries(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of the deliveries in a test, if the test delivers messages."""
    cells = [results.cells[label, test.name] for label in results.labels_in(test.name)]
    if cells := [cell for cell in cells if _known(cell.valid)]:
        yield tables.listed(
            f"deliveries-{test.name}",
            f"Deliveries: {test.description}",
            cells,
            {
                "setup": lambda cell: cell.label,
                "delivered": _delivered,
                **tables.counts(COUNTED),
                "stray": _stray,
                **{f"lag {key}, ms": _lags(key) for key in PERCENTILES},
            },
            "Delivered: the share of messages that arrived, counted for each receiver. Reordered: messages that "
            "arrived after a later message of the same sender. Stray: messages to a wrong connection, which make a "
            f"trial invalid ({DASH}: {UNKNOWN_STRAYS}). Lag: from the intended send to the arrival, infinite "
            "for missing deliveries. Counts are sums over valid trials, for stray deliveries over all trials. Times "
            "are medians.",
            tables.Layout(optional=("lag p95, ms", "lag p90, ms", "lag p99.9, ms")),
        )


def _known(trials: Iterable[Trial]) -> list[Deliveries]:
    return [found for trial in trials if (found := _deliveries(trial))]


def _stray(cell: Cell) -> Field:
    """Return a field with the number of stray deliveries in all trials, unless it isn't known."""
    counts = [one.stray for one in _known((*cell.valid, *cell.invalid))]
    count = sum(one or 0 for one in counts)
    return tables.unknown() if None in counts and not count else tables.failed(count)


def _delivered(cell: Cell) -> Field:
    found = _known(cell.valid)
    expected, delivered = sum(one.expected for one in found), sum(one.delivered for one in found)
    return Field(f"{delivered / expected:.2%}", f"{delivered:,} of {expected:,}") if expected else tables.unknown()


def _lags(key: str) -> tables.Column:
    return lambda cell: tables.median_of([LAG.read(trial, key) for trial in cell.valid if _deliveries(trial)])
