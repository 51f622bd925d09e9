"""Create the section of each kind of test from the kind's texts and columns (``loadtests.plan.kinds``).

Most kinds also have a module in this package, which adds tables, columns or charts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test, known
from loadtests.report import points, tables
from loadtests.report.sections.database_connections import connections
from loadtests.report.sections.deliveries import deliveries
from loadtests.report.sections.handshakes import handshakes
from loadtests.report.sections.kinds import (
    capacity,
    deployment,
    idle,
    journey,
    journey_capacity,
    latency,
    recovery,
    stream,
    throughput,
)
from loadtests.report.tables import NOTHING, Additions
from loadtests.report.view import Section, Table

ADDITIONS: dict[str, Additions] = {
    "latency": latency.ADDITIONS,
    "throughput": throughput.ADDITIONS,
    "capacity": capacity.ADDITIONS,
    "recovery": recovery.ADDITIONS,
    "deployment": deployment.ADDITIONS,
    "stream": stream.ADDITIONS,
    "stream-capacity": dataclasses.replace(capacity.ADDITIONS, charts=NOTHING.charts),
    "connect": latency.PERCENTILES,
    "connect-capacity": capacity.ADDITIONS,
    "echo": latency.PERCENTILES,
    "echo-throughput": throughput.ADDITIONS,
    "echo-capacity": capacity.ADDITIONS,
    "broadcast-capacity": capacity.ADDITIONS,
    "idle": idle.ADDITIONS,
    "journey": journey.ADDITIONS,
    "journey-capacity": journey_capacity.ADDITIONS,
}


def sections(results: Results) -> Iterator[Section]:
    """Yield a section for each kind of test in the run."""
    for kind in known().values():
        tests = [test for test in results.tests if test.kind is kind]
        if tests:
            yield _section(results, kind, tests)


def _section(results: Results, kind: type[Test], tests: list[Test]) -> Section:
    more = ADDITIONS.get(kind.tag, NOTHING)
    further = [
        table
        for test in tests
        for found in (deliveries, connections, handshakes, more.tables)
        for table in found(results, test)
    ]
    return Section(
        kind.tag,
        kind.heading,
        (kind.about,),
        (*(_figures(results, test, more) for test in tests), *further),
        tuple(chart for test in tests for chart in more.charts(results, test)),
    )


def _figures(results: Results, test: Test, more: Additions) -> Table:
    what = test.description + points.by_engine(results, test)
    return tables.measured(
        results,
        test,
        f"{test.tag}-{test.name}",
        test.kind.caption.format(latency=results.latency(test.name).capitalize(), what=what),
        test.columns,
        dataclasses.replace(more, optional=test.kind.optional),
    )
