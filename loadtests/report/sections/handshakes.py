"""Show how many TLS handshakes of a test were full, and how many resumed a session."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.plan.kinds import Test
from loadtests.records import Handshakes
from loadtests.report import tables
from loadtests.report.tables import Column, Columns
from loadtests.report.view import Field, Table

NOTE = (
    "Sums over valid trials. Only connections that were opened for measured requests count. Resumed: the server "
    "recognized the client from an earlier connection, and didn't sign again."
)


def handshakes(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of the TLS handshakes in a test, if the test uses TLS."""
    cells = [cell for label in results.labels_in(test.name) if _of(cell := results.cells[label, test.name])]
    columns: Columns = {"setup": lambda cell: Field(cell.label), "full": _sum("full"), "resumed": _sum("resumed")}
    if cells:
        yield tables.listed(f"handshakes-{test.name}", f"TLS handshakes: {test.description}", cells, columns, NOTE)


def _of(cell: Cell) -> list[Handshakes]:
    return [found for trial in cell.valid if trial.result and (found := trial.result.handshakes)]


def _sum(name: str) -> Column:
    return lambda cell: Field(f"{sum(getattr(one, name) for one in _of(cell)):,}")
