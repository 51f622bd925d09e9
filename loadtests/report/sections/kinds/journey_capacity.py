"""Show the limits and probes of searches, and tables of journeys, in the report's section about capacity in users.

The tables of journeys are from the probe that confirmed the capacity.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.formatting import number, per_second
from loadtests.plan.kinds import Test
from loadtests.records import ProbeRecord
from loadtests.report import tables
from loadtests.report.sections.kinds import capacity, journey
from loadtests.report.tables import Additions
from loadtests.report.view import Field, Table

OUTCOMES = {"pass": "within", "fail": "not within", "invalid": "invalid"}


def _tables(results: Results, test: Test) -> Iterator[Table]:
    yield from _way(results, test)
    yield from journey.ADDITIONS.tables(results, test)


def _way(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of all probes, in the order of the search."""
    probes = [
        (trial, probe)
        for label in results.labels_in(test.name)
        for trial in results.cells[label, test.name].valid
        for probe in (trial.capacity.probes if trial.capacity else ())
    ]
    if probes:
        yield tables.listed(
            f"way-{test.name}",
            f"Probe by probe: {test.description}",
            probes,
            {
                "setup": lambda one: one[0].label,
                "block": lambda one: str(one[0].block),
                test.decisive.unit: lambda one: per_second(one[1].rate),
                "probe": lambda one: f"{one[1].duration_s:g} s",
                "p50, ms": lambda one: number(one[1].response_time_ms.get("p50")),
                "p99, ms": lambda one: number(one[1].response_time_ms.get("p99")),
                "sent": lambda one: f"{one[1].planned:,}",
                "failed": lambda one: tables.failed(one[1].errors),
                "objective": lambda one: _outcome(one[1]),
            },
            "Response time in each probe. Doubtful probes are repeated. The long probes confirm the result.",
            tables.Layout(words=("probe", "objective"), optional=("probe", "sent"), folded=True, grouped=0),
        )


def _outcome(probe: ProbeRecord) -> Field:
    passed = probe.outcome == "pass"
    return Field(OUTCOMES[probe.outcome], "" if passed else probe.why, tone="" if passed else "bad")


ADDITIONS = Additions(
    columns=capacity.ADDITIONS.columns,
    note=f"{tables.MEAN} Probes: the median number in a search. The result isn't a capacity in requests per second.",
    tables=_tables,
)
