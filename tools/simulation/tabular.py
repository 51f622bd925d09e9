"""Format a table of simulation results for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SimulatedTable:
    """A table: the name of its file, its title, its header and its rows."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def as_text(table: SimulatedTable) -> str:
    """Return the table as text for a terminal."""
    lines = [table.header, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.header))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([table.title, "", *text, ""])


def as_rst(table: SimulatedTable) -> str:
    """Return the table as a reST list-table for the documentation."""
    lines = [f".. list-table:: {table.title}", "   :header-rows: 1", ""]
    for row in (table.header, *table.rows):
        lines += [f"   {'* -' if column == 0 else '  -'} {cell}" for column, cell in enumerate(row)]
    return "\n".join(lines) + "\n"
