"""Show broken and unanswered streams, the views of clients that left, and slow clients in the section about streams."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.stream import streams_of
from loadtests.records import LeftClients, Trial
from loadtests.report import tables
from loadtests.report.tables import Additions
from loadtests.report.view import Table


def _left(trial: Trial) -> LeftClients | None:
    return found.left if (found := streams_of(trial)) else None


STREAMS = tables.sums(streams_of, {"broken": "broken", "no event": "unanswered"}, bad=True)
LEAVING = tables.sums(
    _left, {"left": "clients", "view ended": "ended", "still running": "running", "not within a second": "late"}
)
SLOW = tables.sums(
    lambda trial: trial.result.slow_streams if trial.result else None,
    {
        "streams": "begun",
        "read to the end": "whole",
        "cut off": "broken",
        "no event": "unanswered",
        "under way": "cut",
    },
)


def _tables(results: Results, test: Test) -> Iterator[Table]:
    """Yield tables about the views of clients that left, and about slow clients."""
    yield from tables.counted_in(results, test, "leaving", "Clients that left", LEAVING)
    yield from tables.counted_in(results, test, "slow", "Slow clients", SLOW)


ADDITIONS = Additions(
    columns={**tables.counts(STREAMS), "others failed": tables.failures, "trials": tables.trials},
    note=f"{tables.MEAN} Streams that broke off or had no event by the end are summed over the valid trials.",
    tables=_tables,
)
