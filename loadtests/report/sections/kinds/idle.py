"""What idle connections have besides figures: those that were refused or lost, and memory and CPU time by role."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.idle import memory_kb
from loadtests.records import Connections
from loadtests.report import ranking, tables
from loadtests.report.sections.additions import Additions
from loadtests.report.view import Field, Table


def _connections(cell: Cell) -> list[Connections]:
    return [one for trial in cell.valid if trial.result and (one := trial.result.connections)]


def refused(cell: Cell) -> Field:
    """How many connections the server did not take."""
    known = _connections(cell)
    count = sum(one.refused for one in known)
    return Field(f"{count:,}", tone="bad" if count else "") if known else tables.unknown()


def lost(cell: Cell) -> Field:
    """How many it ended, or of those that were to come back how many did not."""
    known = _connections(cell)
    count = sum(one.lost for one in known)
    return Field(f"{count:,}", tone="bad" if count else "") if known else tables.unknown()


def _by_role(results: Results, test: Test) -> Iterator[Table]:
    """Memory and CPU time of a connection in the processes of each role, those of supporting services as well."""
    rows = tuple(
        _row(results, test, results.cells[label, test.name], role, charged)
        for label in ranking.by_estimate(results, test, test.decisive)
        for role, charged in _roles(results.cells[label, test.name])
    )
    if rows:
        yield Table(
            f"roles-{test.name}",
            f"By role: {test.description}",
            ("setup", "role", "KB each", "CPU µs/s each"),
            rows,
            "The median over trials of what the processes of a role grow by with each connection.",
            numeric=frozenset({2, 3}),
        )


def _roles(cell: Cell) -> list[tuple[str, bool]]:
    return list(dict.fromkeys((one.role, one.charged) for trial in cell.valid for one in trial.processes))


def _row(results: Results, test: Test, cell: Cell, role: str, charged: bool) -> tuple[Field, ...]:
    grown = [
        memory_kb(trial, [one for one in trial.processes if (one.role, one.charged) == (role, charged)])
        for trial in cell.valid
    ]
    known = [value for value in grown if value is not None]
    cpu = results.estimate(cell.label, test.name, test.kind.cost_unit.of_role(role, charged).name)
    return (
        Field(cell.label),
        Field(role if charged else f"{role}, not charged"),
        Field(number(median(known))) if known else tables.unknown(),
        Field(number(cpu.value)) if cpu else tables.unknown(),
    )


ADDITIONS = Additions(
    columns={"refused": refused, "lost": lost, "trials": tables.trials},
    note=f"{tables.MEAN} Lost: closed by the server while it was to be held.",
    tables=_by_role,
)
OF_REJOIN = Additions(
    columns={"refused": refused, "never back": lost, "trials": tables.trials},
    note=f"{tables.MEAN} Refused: before the restart.",
)
