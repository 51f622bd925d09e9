"""Show broken and unanswered streams, the views of clients that left, and slow clients in the section about streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.stream import OF_LEAVING, OF_SLOW, streams_of
from loadtests.plan.metrics import Metric
from loadtests.records import Streams
from loadtests.report import tables
from loadtests.report.sections.kinds import capacity
from loadtests.report.tables import Additions, Column
from loadtests.report.view import Field, Table


def _sum(of: Callable[[Streams | None, Streams | None], object], name: str) -> Column:
    def field(cell: Cell) -> Field:
        results = [trial.result for trial in cell.valid if trial.result]
        known = [found for one in results if (found := of(one.streams, one.slow_streams))]
        return Field(f"{sum(getattr(one, name) for one in known):,}") if known else tables.unknown()

    return field


def _tables(results: Results, test: Test) -> Iterator[Table]:
    """Yield tables about the views of clients that left, and about slow clients."""
    cells = [results.cells[label, test.name] for label in results.by_estimate(test, test.decisive)]
    for name, (metrics, caption, of, columns) in OTHERS.items():
        if all(map(test.has_metric, metrics)):
            yield tables.listed(
                f"{name}-{test.name}",
                f"{caption}: {test.description}",
                cells,
                {"setup": lambda cell: cell.label} | {heading: _sum(of, field) for heading, field in columns.items()},
                "Sums over valid trials.",
            )


# The optional tables by name. Each entry contains the metrics that the test must have, the caption, the function that
# returns the counts, and the columns.
OTHERS: dict[
    str, tuple[tuple[Metric, ...], str, Callable[[Streams | None, Streams | None], object], dict[str, str]]
] = {
    "leaving": (
        OF_LEAVING,
        "Clients that left",
        lambda streams, slow: streams and streams.left,
        {"left": "clients", "view ended": "ended", "still running": "running", "not within a second": "late"},
    ),
    "slow": (
        OF_SLOW,
        "Slow clients",
        lambda streams, slow: slow,
        {
            "streams": "begun",
            "read to the end": "whole",
            "cut off": "broken",
            "no event": "unanswered",
            "under way": "cut",
        },
    ),
}
ADDITIONS = Additions(
    columns={
        "broken": tables.summed(streams_of, "broken", "begun"),
        "no event": tables.summed(streams_of, "unanswered", "begun"),
        "others failed": tables.failures,
        "trials": tables.trials,
    },
    note=f"{tables.MEAN} Streams that broke off or had no event by the end are summed over the valid trials.",
    tables=_tables,
)
OF_CAPACITY = Additions(
    columns=capacity.ADDITIONS.columns,
    note=f"{tables.MEAN} Probes: the median number in a search.",
    tables=capacity.ADDITIONS.tables,
)
