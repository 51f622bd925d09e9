"""What the capacity in users has besides its figures: what kept it from being higher, the way there, and what journeys
have, of the probe that confirmed it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from loadtests.analyse.results import Results
from loadtests.formatting import number, per_second
from loadtests.plan.kinds import Test
from loadtests.records import ProbeRecord, Trial
from loadtests.report import tables
from loadtests.report.sections.additions import Additions
from loadtests.report.sections.kinds import capacity, journey
from loadtests.report.view import Field, Table

OUTCOMES = {"pass": "within", "fail": "not within", "invalid": "invalid"}


def _tables(results: Results, test: Test) -> Iterator[Table]:
    yield from chain(
        capacity.ADDITIONS.tables(results, test), _way(results, test), journey.ADDITIONS.tables(results, test)
    )


def _way(results: Results, test: Test) -> Iterator[Table]:
    """Every probe, in the order in which they were made."""
    rows = tuple(
        _row(trial, probe)
        for label in results.labels_in(test.name)
        for trial in results.cells[label, test.name].valid
        for probe in (trial.capacity.probes if trial.capacity else ())
    )
    if rows:
        yield Table(
            f"way-{test.name}",
            f"The way there: {test.description}",
            ("setup", "block", test.decisive.unit, "probe", "p50, ms", "p99, ms", "sent", "failed", "objective"),
            rows,
            "Response time in each probe. What is doubtful is asked again; what decides are the long probes, which "
            "confirm.",
            numeric=frozenset({1, 2, 4, 5, 6, 7}),
            optional=(3, 6),
            folded=True,
            grouped=0,
        )


def _row(trial: Trial, probe: ProbeRecord) -> tuple[Field, ...]:
    return (
        Field(trial.label),
        Field(str(trial.block)),
        Field(per_second(probe.rate)),
        Field(f"{probe.duration_s:g} s"),
        *(Field(number(probe.response_time_ms.get(key))) for key in ("p50", "p99")),
        Field(f"{probe.planned:,}"),
        Field(f"{probe.errors:,}", tone="bad" if probe.errors else ""),
        Field(
            OUTCOMES[probe.outcome],
            probe.why if probe.outcome != "pass" else "",
            tone="" if probe.outcome == "pass" else "bad",
        ),
    )


ADDITIONS = Additions(
    columns=capacity.ADDITIONS.columns,
    note=f"{tables.MEAN} Probes: how many the median search made. It is no capacity in requests.",
    tables=_tables,
)
