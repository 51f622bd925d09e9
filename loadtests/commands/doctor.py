"""``doctor``: list the problems of this machine that can distort a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtests.commands.console import data, err, fail, out, waiting
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadtests.observe.doctor import MachineFinding

COLOURS = {"error": "bold red", "warning": "yellow", "ok": "green"}


def command() -> None:
    """List problems of this machine that can distort a measurement.

    Each problem has a remedy. The command doesn't change anything.
    """
    with waiting(err, "inspecting this machine"):
        from loadtests import engines
        from loadtests.observe import doctor

        findings = doctor.examine({name: engine.require for name, engine in engines.known().items()})
    print_findings(findings)
    if not doctor.possible(findings):
        fail("fix the errors above before you start a run")


def print_findings(findings: Sequence[MachineFinding]) -> None:
    """Print each problem with its remedy."""
    table = grid(("", ""), right=(0,), whole=(0,))
    for finding in findings:
        table.add_row(data(finding.level, COLOURS[finding.level]), data(finding.what))
        if finding.fix:
            table.add_row("", data(finding.fix))
    print_grid(out, table)
