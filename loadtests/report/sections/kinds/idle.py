"""Show refused and lost connections, and memory and CPU time by role, in the section about idle connections."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.idle import memory_kb
from loadtests.records import Connections, Trial
from loadtests.report import tables
from loadtests.report.tables import Additions
from loadtests.report.view import Field, Table


def _connections(trial: Trial) -> Connections | None:
    return trial.result.connections if trial.result else None


def _by_role(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of the memory and CPU time per connection in the processes of each role, including services."""
    roles = [
        (results.cells[label, test.name], role, charged)
        for label in results.by_estimate(test, test.decisive)
        for role, charged in _roles(results.cells[label, test.name])
    ]

    def cpu(cell: Cell, role: str, charged: bool) -> Field:
        used = results.estimate(cell.label, test.name, test.kind.cost_unit.of_role(role, charged).name)
        return Field(number(used.value)) if used else tables.unknown()

    if roles:
        yield tables.listed(
            f"roles-{test.name}",
            f"By role: {test.description}",
            roles,
            {
                "setup": lambda one: one[0].label,
                "role": lambda one: one[1] if one[2] else f"{one[1]}, not charged",
                "KB each": lambda one: _memory(*one),
                "CPU µs/s each": lambda one: cpu(*one),
            },
            "KB each: the growth of a role's processes for each connection (the median over trials).",
            tables.Layout(words=("role",)),
        )


def _roles(cell: Cell) -> list[tuple[str, bool]]:
    return list(dict.fromkeys((one.role, one.charged) for trial in cell.valid for one in trial.processes))


def _memory(cell: Cell, role: str, charged: bool) -> Field:
    grown = [
        memory_kb(trial, [one for one in trial.processes if (one.role, one.charged) == (role, charged)])
        for trial in cell.valid
    ]
    known = [value for value in grown if value is not None]
    return Field(number(median(known))) if known else tables.unknown()


REFUSED, LOST = (tables.summed(_connections, name) for name in ("refused", "lost"))
ADDITIONS = Additions(
    columns={"refused": REFUSED, "lost": LOST, "trials": tables.trials},
    note=f"{tables.MEAN} Lost: closed by the server although the connection should have stayed open.",
    tables=_by_role,
)
